//! Chosen node pairs: the edges, or the edges and candidates for addition. Cost and memory grow with their number.

use std::ops::Range;
use std::sync::OnceLock;

use fiedler_graph::Graph;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::incidence::Incidence;
use super::stream::Weigh;
use super::tiles::{Key, Tile, Tiles};
use super::{Clamp, From, Mass, Moved, Power, Rise, Split, Support};
use crate::kernel::{MatrixPart, PairKernel};
use crate::objective::SampledKernel;
use crate::projection::shift_to_budget;

/// Pairs weighed at a time.
const PIECE: usize = 1 << 13;
/// Pairs whose terms are computed together.
const PIECE_OF_ROW: usize = 64;
/// Pieces a thread takes at a time.
const PIECES: usize = 8;

/// A list of pairs `(low, high)`.
#[derive(Debug, Clone)]
pub struct Pairs {
    tiles: Tiles,
    values: Vec<f32>,
    clamp: Clamp,
    /// The mass of the values as they are, at the last shift it was asked for in a projection.
    weighed: Option<(f32, (f64, f64))>,
    /// Values to go back to, and their shift.
    held: Option<(Vec<f32>, f32)>,
    /// The pairs from both ends, once an objective has asked for them.
    incidence: OnceLock<Incidence>,
}

impl Pairs {
    /// The edges of a graph and further pairs that are no edges, all values zero. Candidates are `(low, high)`, sorted.
    pub fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Pairs {
        let tiles = Tiles::new(graph.num_nodes(), || Merged { edges: graph.edge_pairs().peekable(), candidates });
        let values = vec![0.0; tiles.keys().len()];
        Pairs { tiles, values, clamp: Clamp::default(), weighed: None, held: None, incidence: OnceLock::new() }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every pair `(low, high, whether it is an edge, probability)`, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, bool, f32)> + '_ {
        let keys = self.tiles.keys();
        self.tiles.ascending().map(move |(place, low, high)| (low, high, keys[place].is_edge(), self.x(place)))
    }

    fn x(&self, place: usize) -> f32 {
        self.clamp.of(self.values[place])
    }

    /// Keys and probabilities of a stretch of pairs.
    #[inline(always)]
    fn of(&self, places: Range<usize>) -> impl Iterator<Item = (Key, f32)> + '_ {
        let clamp = self.clamp;
        let values = self.values[places.clone()].iter().map(move |&value| clamp.of(value));
        self.tiles.keys()[places].iter().copied().zip(values)
    }

    /// The sums of the lower nodes of a row of tiles, over the pairs in which they are that.
    fn row_sums<const N: usize>(
        &self,
        row: usize,
        factors: &[Vec<f32>; N],
        terms: &impl Fn(Key, f32) -> [f32; N],
    ) -> [Vec<f64>; N] {
        let mut sums = [(); N].map(|()| vec![0.0; self.tiles.row_nodes(row).len()]);
        for Tile { high, places, .. } in self.tiles.of_row(row) {
            let factors: [&[f32]; N] = std::array::from_fn(|at| &factors[at][high..]);
            for (key, x) in self.of(places) {
                let terms = terms(key, x);
                for at in 0..N {
                    sums[at][key.low()] += f64::from(terms[at] * factors[at][key.high()]);
                }
            }
        }
        sums
    }

    /// The sums of the higher nodes of a column of tiles, over the pairs in which they are that.
    fn column_sums<const N: usize>(
        &self,
        column: usize,
        factors: &[Vec<f32>; N],
        terms: &impl Fn(Key, f32) -> [f32; N],
    ) -> [Vec<f64>; N] {
        let mut sums = [(); N].map(|()| vec![0.0; self.tiles.column_nodes(column).len()]);
        for Tile { low, places, .. } in self.tiles.of_column(column) {
            let factors: [&[f32]; N] = std::array::from_fn(|at| &factors[at][low..]);
            for (key, x) in self.of(places) {
                let terms = terms(key, x);
                for at in 0..N {
                    sums[at][key.high()] += f64::from(terms[at] * factors[at][key.low()]);
                }
            }
        }
        sums
    }

    /// The sums of all nodes in one go: quicker than both of the above, but not for more than one thread.
    fn sums_at_once<const N: usize>(
        &self,
        factors: &[Vec<f32>; N],
        terms: &impl Fn(Key, f32) -> [f32; N],
    ) -> [Vec<f64>; N] {
        let mut sums = [(); N].map(|()| vec![0.0; self.num_nodes()]);
        for Tile { low, high, places } in self.tiles.of_row(0) {
            let mut of_piece = [[0.0f32; N]; PIECE_OF_ROW];
            for (keys, values) in
                self.tiles.keys()[places.clone()].chunks(PIECE_OF_ROW).zip(self.values[places].chunks(PIECE_OF_ROW))
            {
                for ((to, &key), &value) in of_piece.iter_mut().zip(keys).zip(values) {
                    *to = terms(key, self.clamp.of(value));
                }
                for (&key, terms) in keys.iter().zip(&of_piece) {
                    let (low, high) = (low + key.low(), high + key.high());
                    for at in 0..N {
                        sums[at][low] += f64::from(terms[at] * factors[at][high]);
                        sums[at][high] += f64::from(terms[at] * factors[at][low]);
                    }
                }
            }
        }
        sums
    }

    /// For every node the sums over its pairs of their terms, each times a factor of the other node.
    fn all_sums<const N: usize>(
        &self,
        factors: [&[f64]; N],
        terms: impl Fn(Key, f32) -> [f32; N] + Sync,
    ) -> [Vec<f64>; N] {
        let factors = factors.map(|factor| factor.iter().map(|&factor| factor as f32).collect::<Vec<f32>>());
        let (rows, columns) = (self.tiles.rows(), self.tiles.columns());
        if rows == 1 {
            return self.sums_at_once(&factors, &terms);
        }
        let parts: Vec<[Vec<f64>; N]> = (0..rows + columns)
            .into_par_iter()
            .map(|part| match part.checked_sub(rows) {
                None => self.row_sums(part, &factors, &terms),
                Some(column) => self.column_sums(column, &factors, &terms),
            })
            .collect();
        std::array::from_fn(|at| {
            let mut sums: Vec<f64> = parts[..rows].iter().flat_map(|part| &part[at]).copied().collect();
            let of_columns = parts[rows..].iter().flat_map(|part| &part[at]);
            sums.iter_mut().zip(of_columns).for_each(|(sum, value)| *sum += value);
            sums
        })
    }

    /// The values of each row of tiles, to be changed at the same time.
    fn split_values(&mut self) -> (&Tiles, Vec<&mut [f32]>) {
        let mut rest = self.values.as_mut_slice();
        let mut split = Vec::with_capacity(self.tiles.rows());
        for row in 0..self.tiles.rows() {
            let (mine, after) = rest.split_at_mut(self.tiles.places(row).len());
            rest = after;
            split.push(mine);
        }
        (&self.tiles, split)
    }
}

/// The derivative for any pair, `sign · g(i, j)`, from numbers that lie beside each other for a node.
struct Derivative<'k> {
    slope: f32,
    level: f32,
    /// `1 / d_i` and `sign · q_i`
    nodes: Vec<[f32; 2]>,
    /// The part that is a matrix, and the sign.
    low_rank: Option<(&'k MatrixPart, f32)>,
    /// The kernel where it is that of drawn graphs, and the sign.
    sampled: Option<(&'k SampledKernel, f64)>,
}

impl<'k> Derivative<'k> {
    fn new(kernel: &'k PairKernel, sign: f64) -> Derivative<'k> {
        let of_node = |(&inverse, &pull): (&f64, &f64)| [inverse as f32, (sign * pull) as f32];
        Derivative {
            slope: (sign * kernel.slope) as f32,
            level: (sign * kernel.level) as f32,
            nodes: kernel.inverse.iter().zip(&kernel.pull).map(of_node).collect(),
            low_rank: kernel.low_rank.as_ref().map(|low_rank| (low_rank, sign as f32)),
            sampled: kernel.sampled.as_deref().map(|sampled| (sampled, sign)),
        }
    }

    /// With respect to the probability that the pair flips.
    #[inline(always)]
    fn at(&self, low: usize, high: usize, key: Key, x: f32) -> f32 {
        if let Some((kernel, sign)) = self.sampled {
            let derivative = (sign * kernel.at(low, high, f64::from(key.weight(x)))) as f32;
            return if key.is_edge() { -derivative } else { derivative };
        }
        let ([inverse, pull], [other_inverse, other_pull]) = (self.nodes[low], self.nodes[high]);
        let mut derivative = (self.slope * key.weight(x) + self.level) * (inverse * other_inverse) - pull - other_pull;
        if let Some((low_rank, sign)) = self.low_rank {
            derivative += sign * low_rank.at(low, high) as f32;
        }
        if key.is_edge() { -derivative } else { derivative }
    }
}

/// Moves the values of a tile along the derivative.
struct AdvanceTile<'a, 'k> {
    values: &'a mut [f32],
    keys: &'a [Key],
    clamp: Clamp,
    derivative: &'a Derivative<'k>,
    tile: Tile,
}

impl WithSimd for AdvanceTile<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Tile { low, high, .. } = self.tile;
        for (value, &key) in self.values.iter_mut().zip(self.keys) {
            let x = self.clamp.of(*value);
            *value = x + self.derivative.at(low + key.low(), high + key.high(), key, x);
        }
    }
}

/// How strongly the values of a tile are pulled up.
struct RiseTile<'a, 'k> {
    values: &'a [f32],
    keys: &'a [Key],
    clamp: Clamp,
    derivative: &'a Derivative<'k>,
    tile: Tile,
    threshold: f64,
}

impl WithSimd for RiseTile<'_, '_> {
    type Output = Rise;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Rise {
        let Tile { low, high, .. } = self.tile;
        let mut rise = Rise::default();
        for (&value, &key) in self.values.iter().zip(self.keys) {
            let x = self.clamp.of(value);
            let derivative = self.derivative.at(low + key.low(), high + key.high(), key, x);
            rise = rise.with(derivative.into(), x.into(), self.threshold);
        }
        rise
    }
}

/// Edges and candidates in ascending order, and whether each is an edge.
struct Merged<'a, I: Iterator> {
    edges: std::iter::Peekable<I>,
    candidates: &'a [(u32, u32)],
}

impl<I: Iterator<Item = (u32, u32)>> Iterator for Merged<'_, I> {
    type Item = (u32, u32, bool);

    fn next(&mut self) -> Option<(u32, u32, bool)> {
        let Some((&candidate, rest)) = self.candidates.split_first() else {
            return self.edges.next().map(|(low, high)| (low, high, true));
        };
        debug_assert!(self.edges.peek() != Some(&candidate), "a candidate is no edge");
        if let Some((low, high)) = self.edges.next_if(|&edge| edge < candidate) {
            return Some((low, high, true));
        }
        self.candidates = rest;
        Some((candidate.0, candidate.1, false))
    }
}

impl Support for Pairs {
    fn num_nodes(&self) -> usize {
        self.tiles.num_nodes()
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        let [sums] = match power {
            Power::One => self.all_sums([factor], |key, x| [key.weight(x)]),
            Power::Two => self.all_sums([factor], |key, x| [key.weight(x) * key.weight(x)]),
        };
        sums
    }

    fn split(&self) -> Split {
        self.incidence.get_or_init(|| Incidence::new(&self.tiles)).split(self.tiles.keys(), &self.values, self.clamp)
    }

    fn places(&self) -> usize {
        self.values.len()
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let (clamp, derivative, arch) = (self.clamp, Derivative::new(kernel, rate), Arch::new());
        let (tiles, split) = self.split_values();
        split.into_par_iter().enumerate().for_each(|(row, values)| {
            let first = tiles.places(row).start;
            for tile in tiles.of_row(row) {
                let values = &mut values[tile.places.start - first..tile.places.end - first];
                let keys = &tiles.keys()[tile.places.clone()];
                arch.dispatch(AdvanceTile { values, keys, clamp, derivative: &derivative, tile });
            }
        });
        self.clamp.shift = 0.0;
        self.weighed = None;
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, _guess: f64) {
        match (from, self.held.take()) {
            (From::Held, Some((values, shift))) => {
                self.values.copy_from_slice(&values);
                self.clamp.shift = shift;
                self.held = Some((values, shift));
            }
            (_, held) => {
                let mut values = held.map_or_else(Vec::new, |(values, _)| values);
                values.clone_from(&self.values);
                self.held = Some((values, self.clamp.shift));
            }
        }
        self.advance(kernel, rate);
    }

    fn blend(&mut self, share: f64) {
        let Some((held, shift)) = &self.held else { return };
        let (now, before) = (self.clamp, self.clamp.at(*shift));
        self.values
            .iter_mut()
            .zip(held)
            .for_each(|(value, &held)| *value = now.blended(*value, before.of(held), share));
        (self.clamp.shift, self.weighed) = (0.0, None);
    }

    fn restore(&mut self) {
        if let Some((values, shift)) = &self.held {
            self.values.copy_from_slice(values);
            self.clamp.shift = *shift;
            self.weighed = None;
        }
    }

    fn release(&mut self) {
        self.held = None;
    }

    fn moved(&self) -> Moved {
        let Some((held, shift)) = &self.held else { return Moved::default() };
        let (now, before) = (self.clamp, self.clamp.at(*shift));
        let blocks = self.values.par_chunks(PIECE).zip(held.par_chunks(PIECE)).with_min_len(PIECES);
        let of_blocks: Vec<Moved> = blocks.map(|(values, held)| Moved::of(values, held, now, before)).collect();
        of_blocks.into_iter().sum()
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        let (derivative, arch) = (Derivative::new(kernel, sign), Arch::new());
        let of_tile = |tile: Tile| {
            let (values, keys) = (&self.values[tile.places.clone()], &self.tiles.keys()[tile.places.clone()]);
            arch.dispatch(RiseTile { values, keys, clamp: self.clamp, derivative: &derivative, tile, threshold })
        };
        let of_row = |row: usize| self.tiles.of_row(row).map(of_tile).fold(Rise::default(), Rise::and);
        let of_rows: Vec<Rise> = (0..self.tiles.rows()).into_par_iter().map(of_row).collect();
        of_rows.into_iter().fold(Rise::default(), Rise::and)
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        for (place, _, _) in self.tiles.ascending() {
            self.values[place] = value();
        }
        self.clamp.shift = 0.0;
        (self.weighed, self.held) = (None, None);
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let (arch, shift) = (Arch::new(), shift as f32);
        let clamp = self.clamp.at(shift);
        if let Some((_, mass)) = self.weighed.filter(|(weighed, _)| *weighed == shift) {
            return mass;
        }
        let pieces = self.values.par_chunks(PIECE).with_min_len(PIECES);
        let masses: Vec<(f64, f64)> = pieces.map(|values| arch.dispatch(Weigh { values, clamp })).collect();
        masses.into_iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.0, sum.1 + piece.1))
    }

    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        let mut weighed = None;
        let shift = shift_to_budget(budget, guess, |shift| {
            let mass = self.mass_at(shift);
            weighed = Some((shift as f32, mass));
            mass
        });
        self.weighed = weighed;
        self.clamp.shift = shift as f32;
        shift
    }

    fn shift(&self) -> f64 {
        f64::from(self.clamp.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.clamp.shift = shift as f32;
    }

    fn most(&self) -> f64 {
        f64::from(self.clamp.most)
    }

    fn set_most(&mut self, most: f64) {
        (self.clamp.most, self.weighed) = (most as f32, None);
    }

    fn mass(&self) -> Mass {
        let mut mass = Mass::default();
        for (key, x) in self.of(0..self.len()) {
            if key.is_edge() { mass.removed += f64::from(x) } else { mass.added += f64::from(x) }
        }
        mass
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        self.iter().for_each(|(low, high, edge, x)| visit(low, high, edge, x));
    }

    fn bytes(&self) -> u64 {
        let incidence = self.incidence.get().map_or(0, |_| Incidence::bytes_for(self.num_nodes(), self.len()));
        self.tiles.bytes() + 4 * self.values.len() as u64 + incidence
    }
}
