//! Chosen pairs in an order that keeps what they refer to in the cache, however large the graph.
//!
//! Pairs are cut into tiles by stretches of their higher nodes and longer stretches of their lower nodes, and ascend within.
//! While a tile is worked on, arrays over nodes are followed along the lower end, and jumped about in at the higher end,
//! within a stretch that fits into a core's own cache.

use std::ops::Range;

/// Set in a key when the pair is an edge.
const EDGE: u32 = 1 << 31;
/// Bits of the higher node's place in its stretch; the lower node's has one more.
const BITS: u32 = 15;
/// Higher nodes of a tile where the graph is small: so many that its pairs are worth handing to a thread.
const SMALLEST: usize = 1 << 12;

/// A pair within its tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key(u32);

impl Key {
    /// Place of the lower node in its stretch.
    #[inline(always)]
    pub(super) fn low(self) -> usize {
        (self.0 >> BITS & ((1 << (BITS + 1)) - 1)) as usize
    }

    /// Place of the higher node in its stretch.
    #[inline(always)]
    pub(super) fn high(self) -> usize {
        (self.0 & ((1 << BITS) - 1)) as usize
    }

    #[inline(always)]
    pub(super) fn is_edge(self) -> bool {
        self.0 & EDGE != 0
    }

    /// The expected weight of the pair when it flips with probability `x`: `1 - x` for an edge, otherwise `x`.
    #[inline(always)]
    pub(super) fn weight(self, x: f32) -> f32 {
        ((self.0 >> 31) as f32 - x).abs()
    }
}

/// Pairs whose ends are in the same two stretches.
#[derive(Debug, Clone)]
pub(super) struct Tile {
    /// First nodes of the stretches.
    pub(super) low: usize,
    pub(super) high: usize,
    /// Where its pairs are.
    pub(super) places: Range<usize>,
}

/// Where every pair is.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    nodes: usize,
    /// Length of the stretches of higher nodes; those of lower nodes are twice as long.
    stretch: usize,
    /// Where each tile starts, row after row; and the end of the last.
    starts: Vec<usize>,
    keys: Vec<Key>,
}

impl Tiles {
    /// Arranges pairs `(low, high, whether it is an edge)`, handed over twice in the same ascending order.
    pub(super) fn new<I: Iterator<Item = (u32, u32, bool)>>(nodes: usize, pairs: impl Fn() -> I) -> Tiles {
        let stretch = nodes.div_ceil(16).clamp(SMALLEST, 1 << BITS);
        let mut tiles = Tiles { nodes, stretch, starts: Vec::new(), keys: Vec::new() };
        tiles.starts = vec![0; tiles.rows() * tiles.columns() + 1];
        for (low, high, _) in pairs() {
            let tile = tiles.index(low as usize / (2 * stretch), high as usize / stretch);
            tiles.starts[tile + 1] += 1;
        }
        let mut total = 0;
        for start in &mut tiles.starts {
            total += *start;
            *start = total;
        }
        tiles.keys = vec![Key(0); total];
        let mut next = tiles.starts.clone();
        for (low, high, edge) in pairs() {
            let (low, high) = (low as usize, high as usize);
            let place = &mut next[tiles.index(low / (2 * stretch), high / stretch)];
            let key = (low % (2 * stretch)) << BITS | (high % stretch);
            tiles.keys[*place] = Key(key as u32 | if edge { EDGE } else { 0 });
            *place += 1;
        }
        tiles
    }

    pub(super) fn num_nodes(&self) -> usize {
        self.nodes
    }

    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.starts.len() * size_of::<usize>() + self.keys.len() * size_of::<Key>()) as u64
    }

    /// Number of stretches of lower nodes.
    pub(super) fn rows(&self) -> usize {
        self.nodes.div_ceil(2 * self.stretch)
    }

    /// Number of stretches of higher nodes.
    pub(super) fn columns(&self) -> usize {
        self.nodes.div_ceil(self.stretch)
    }

    /// The lower nodes of a row of tiles.
    pub(super) fn row_nodes(&self, row: usize) -> Range<usize> {
        row * 2 * self.stretch..self.nodes.min((row + 1) * 2 * self.stretch)
    }

    /// The higher nodes of a column of tiles.
    pub(super) fn column_nodes(&self, column: usize) -> Range<usize> {
        column * self.stretch..self.nodes.min((column + 1) * self.stretch)
    }

    /// Where the pairs of a row of tiles are.
    pub(super) fn places(&self, row: usize) -> Range<usize> {
        self.starts[self.index(row, 0)]..self.starts[self.index(row + 1, 0)]
    }

    pub(super) fn of_row(&self, row: usize) -> impl Iterator<Item = Tile> + '_ {
        (0..self.columns()).map(move |column| self.tile(row, column))
    }

    pub(super) fn of_column(&self, column: usize) -> impl Iterator<Item = Tile> + '_ {
        (0..self.rows()).map(move |row| self.tile(row, column))
    }

    /// Hands over every pair's place, lower and higher node, tile after tile.
    pub(super) fn for_each(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for Tile { low, high, places } in (0..self.rows()).flat_map(|row| self.of_row(row)) {
            for (place, key) in places.clone().zip(&self.keys[places]) {
                visit(place, low + key.low(), high + key.high());
            }
        }
    }

    /// Every pair's place and nodes, the pairs ascending.
    pub(super) fn ascending(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        (0..self.rows()).flat_map(move |row| {
            let mut tiles: Vec<Tile> = self.of_row(row).filter(|tile| !tile.places.is_empty()).collect();
            let (mut node, mut tile) = (0, 0);
            let nodes = self.row_nodes(row).len();
            std::iter::from_fn(move || {
                while node < nodes {
                    let Some(now) = tiles.get_mut(tile) else {
                        (node, tile) = (node + 1, 0);
                        continue;
                    };
                    let place = now.places.start;
                    if !now.places.is_empty() && self.keys[place].low() == node {
                        now.places.start += 1;
                        let (low, high) = (now.low + node, now.high + self.keys[place].high());
                        return Some((place, low as u32, high as u32));
                    }
                    tile += 1;
                }
                None
            })
        })
    }

    fn tile(&self, row: usize, column: usize) -> Tile {
        let index = self.index(row, column);
        let places = self.starts[index]..self.starts[index + 1];
        Tile { low: row * 2 * self.stretch, high: column * self.stretch, places }
    }

    fn index(&self, row: usize, column: usize) -> usize {
        row * self.columns() + column
    }
}
