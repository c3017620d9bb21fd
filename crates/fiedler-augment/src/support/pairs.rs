//! Chosen node pairs: the edges, or the edges and candidates for addition. Cost and memory grow with their number.

use std::ops::Range;

use fiedler_graph::Graph;
use pulp::Arch;
use rayon::prelude::*;

use super::stream::Weigh;
use super::tiles::{Key, Tile, Tiles};
use super::{Mass, Power, Rise, Support};
use crate::kernel::{MatrixPart, PairKernel};
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
    shift: f32,
    /// The mass of the values as they are, at the last shift it was asked for in a projection.
    weighed: Option<(f32, (f64, f64))>,
}

impl Pairs {
    /// The edges of a graph and further pairs that are no edges, all values zero. Candidates are `(low, high)`, sorted.
    pub fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Pairs {
        let tiles = Tiles::new(graph.num_nodes(), || Merged { edges: graph.edge_pairs().peekable(), candidates });
        let values = vec![0.0; tiles.keys().len()];
        Pairs { tiles, values, shift: 0.0, weighed: None }
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Sets every value, in the order of pairs.
    pub fn fill(&mut self, mut value: impl FnMut() -> f32) {
        for (place, _, _) in self.tiles.ascending() {
            self.values[place] = value();
        }
        self.shift = 0.0;
        self.weighed = None;
    }

    /// Every pair `(low, high, whether it is an edge, probability)`, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, bool, f32)> + '_ {
        let keys = self.tiles.keys();
        self.tiles.ascending().map(move |(place, low, high)| (low, high, keys[place].is_edge(), self.x(place)))
    }

    fn x(&self, place: usize) -> f32 {
        (self.values[place] - self.shift).clamp(0.0, 1.0)
    }

    /// Keys and probabilities of a stretch of pairs.
    #[inline(always)]
    fn of(&self, places: Range<usize>) -> impl Iterator<Item = (Key, f32)> + '_ {
        let shift = self.shift;
        let values = self.values[places.clone()].iter().map(move |value| (value - shift).clamp(0.0, 1.0));
        self.tiles.keys()[places].iter().copied().zip(values)
    }

    /// The sums of the lower nodes of a row of tiles, over the pairs in which they are that.
    fn row_sums<const SQUARE: bool>(&self, row: usize, factor: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.tiles.row_nodes(row).len()];
        for Tile { high, places, .. } in self.tiles.of_row(row) {
            let factor = &factor[high..];
            for (key, x) in self.of(places) {
                sums[key.low()] += f64::from(term::<SQUARE>(key, x) * factor[key.high()]);
            }
        }
        sums
    }

    /// The sums of the higher nodes of a column of tiles, over the pairs in which they are that.
    fn column_sums<const SQUARE: bool>(&self, column: usize, factor: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.tiles.column_nodes(column).len()];
        for Tile { low, places, .. } in self.tiles.of_column(column) {
            let factor = &factor[low..];
            for (key, x) in self.of(places) {
                sums[key.high()] += f64::from(term::<SQUARE>(key, x) * factor[key.low()]);
            }
        }
        sums
    }

    /// The sums of all nodes in one go: quicker than both of the above, but not for more than one thread.
    fn sums_at_once<const SQUARE: bool>(&self, factor: &[f32]) -> Vec<f64> {
        let mut sums = vec![0.0; self.num_nodes()];
        for Tile { low, high, places } in self.tiles.of_row(0) {
            let mut terms = [0.0f32; PIECE_OF_ROW];
            for (keys, values) in
                self.tiles.keys()[places.clone()].chunks(PIECE_OF_ROW).zip(self.values[places].chunks(PIECE_OF_ROW))
            {
                for ((to, &key), value) in terms.iter_mut().zip(keys).zip(values) {
                    *to = term::<SQUARE>(key, (value - self.shift).clamp(0.0, 1.0));
                }
                for (&key, &term) in keys.iter().zip(&terms) {
                    let (low, high) = (low + key.low(), high + key.high());
                    sums[low] += f64::from(term * factor[high]);
                    sums[high] += f64::from(term * factor[low]);
                }
            }
        }
        sums
    }

    fn all_sums<const SQUARE: bool>(&self, factor: &[f64]) -> Vec<f64> {
        let factor: Vec<f32> = factor.iter().map(|&factor| factor as f32).collect();
        let (rows, columns) = (self.tiles.rows(), self.tiles.columns());
        if rows == 1 {
            return self.sums_at_once::<SQUARE>(&factor);
        }
        let parts: Vec<Vec<f64>> = (0..rows + columns)
            .into_par_iter()
            .map(|part| match part.checked_sub(rows) {
                None => self.row_sums::<SQUARE>(part, &factor),
                Some(column) => self.column_sums::<SQUARE>(column, &factor),
            })
            .collect();
        let mut sums = parts[..rows].concat();
        sums.iter_mut().zip(parts[rows..].iter().flatten()).for_each(|(sum, value)| *sum += value);
        sums
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

#[inline(always)]
fn term<const SQUARE: bool>(key: Key, x: f32) -> f32 {
    let weight = key.weight(x);
    if SQUARE { weight * weight } else { weight }
}

/// The derivative for any pair, `sign · g(i, j)`, from numbers that lie beside each other for a node.
struct Derivative<'k> {
    slope: f32,
    level: f32,
    /// `1 / d_i` and `sign · q_i`
    nodes: Vec<[f32; 2]>,
    /// The part that is a matrix, and the sign.
    low_rank: Option<(&'k MatrixPart, f32)>,
}

impl<'k> Derivative<'k> {
    fn new(kernel: &'k PairKernel, sign: f64) -> Derivative<'k> {
        let of_node = |(&inverse, &pull): (&f64, &f64)| [inverse as f32, (sign * pull) as f32];
        Derivative {
            slope: (sign * kernel.slope) as f32,
            level: (sign * kernel.level) as f32,
            nodes: kernel.inverse.iter().zip(&kernel.pull).map(of_node).collect(),
            low_rank: kernel.low_rank.as_ref().map(|low_rank| (low_rank, sign as f32)),
        }
    }

    /// With respect to the probability that the pair flips.
    #[inline(always)]
    fn at(&self, low: usize, high: usize, key: Key, x: f32) -> f32 {
        let ([inverse, pull], [other_inverse, other_pull]) = (self.nodes[low], self.nodes[high]);
        let mut derivative = (self.slope * key.weight(x) + self.level) * (inverse * other_inverse) - pull - other_pull;
        if let Some((low_rank, sign)) = self.low_rank {
            derivative += sign * low_rank.at(low, high) as f32;
        }
        if key.is_edge() { -derivative } else { derivative }
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
        match power {
            Power::One => self.all_sums::<false>(factor),
            Power::Two => self.all_sums::<true>(factor),
        }
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let (shift, derivative) = (self.shift, Derivative::new(kernel, rate));
        let (tiles, split) = self.split_values();
        split.into_par_iter().enumerate().for_each(|(row, values)| {
            let first = tiles.places(row).start;
            for Tile { low, high, places } in tiles.of_row(row) {
                let values = &mut values[places.start - first..places.end - first];
                for (value, &key) in values.iter_mut().zip(&tiles.keys()[places]) {
                    let x = (*value - shift).clamp(0.0, 1.0);
                    *value = (x + derivative.at(low + key.low(), high + key.high(), key, x)).max(0.0);
                }
            }
        });
        self.shift = 0.0;
        self.weighed = None;
    }

    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise {
        let derivative = Derivative::new(kernel, sign);
        let of_row = |row: usize| {
            let mut rise = Rise::default();
            for Tile { low, high, places } in self.tiles.of_row(row) {
                for (key, x) in self.of(places) {
                    rise = rise.with(derivative.at(low + key.low(), high + key.high(), key, x).into());
                }
            }
            rise
        };
        let of_rows: Vec<Rise> = (0..self.tiles.rows()).into_par_iter().map(of_row).collect();
        of_rows.into_iter().fold(Rise::default(), Rise::and)
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let (arch, shift) = (Arch::new(), shift as f32);
        if let Some((_, mass)) = self.weighed.filter(|(weighed, _)| *weighed == shift) {
            return mass;
        }
        let pieces = self.values.par_chunks(PIECE).with_min_len(PIECES);
        let masses: Vec<(f64, f64)> = pieces.map(|values| arch.dispatch(Weigh { values, shift })).collect();
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
        self.shift = shift as f32;
        shift
    }

    fn shift(&self) -> f64 {
        f64::from(self.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.shift = shift as f32;
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
        self.tiles.bytes() + 4 * self.values.len() as u64
    }
}
