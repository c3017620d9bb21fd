//! Chosen node pairs: the edges, or the edges and candidates for addition. Cost and memory grow with their number.

mod derivative;
mod metric;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use fiedler_graph::Graph;
use fiedler_spectral::simd::Arch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use self::derivative::{Derivative, OfTile};
use super::incidence::Incidence;
use super::stream::Weigh;
use super::tiles::{Key, Tile, Tiles};
use super::{Clamp, From, Mass, MetricStep, Moved, PairsAround, Power, Rise, Support};
use crate::kernel::{Computed, PairKernel};
use crate::projection::shift_to_budget;

/// Pairs weighed at a time.
pub(super) const PIECE: usize = 1 << 13;
/// Pairs whose terms are computed together.
const PIECE_OF_ROW: usize = 64;
/// Pieces a thread takes at a time.
pub(super) const PIECES: usize = 8;

/// A list of pairs `(low, high)`.
#[derive(Debug, Clone)]
pub struct Pairs {
    tiles: Tiles,
    values: Vec<f32>,
    clamp: Clamp,
    /// Names the values as they are: what is known of them goes by it.
    state: u64,
    /// The mass of the values as they are, at the last shift it was asked for in a projection.
    weighed: Option<(f32, (f64, f64))>,
    /// Values to go back to.
    held: Option<Held>,
    /// The pairs from both ends, once an objective has asked for them.
    incidence: OnceLock<Incidence>,
}

/// Values that an attempt moved from.
#[derive(Debug, Clone)]
struct Held {
    values: Vec<f32>,
    shift: f32,
    state: u64,
    /// How far each goes in a metric, once it was asked for.
    lengths: Option<Vec<f32>>,
}

/// Values, of the present or held.
struct Values<'a> {
    values: &'a [f32],
    clamp: Clamp,
    state: u64,
}

/// A name that no values have had so far.
fn new_state() -> u64 {
    static STATES: AtomicU64 = AtomicU64::new(0);
    STATES.fetch_add(1, Ordering::Relaxed)
}

impl Pairs {
    /// The edges of a graph and further pairs that are no edges, all values zero. Candidates are `(low, high)`, sorted.
    pub fn new(graph: &Graph, candidates: &[(u32, u32)]) -> Pairs {
        let tiles = Tiles::new(graph.num_nodes(), || Merged { edges: graph.edge_pairs().peekable(), candidates });
        let values = vec![0.0; tiles.keys().len()];
        Pairs {
            tiles,
            values,
            clamp: Clamp::default(),
            state: new_state(),
            weighed: None,
            held: None,
            incidence: OnceLock::new(),
        }
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

    /// Hands over every pair in the order of values: its lower and its higher node, whether it is an edge.
    pub(super) fn in_place(&self, mut visit: impl FnMut(usize, u32, u32, bool)) {
        let keys = self.tiles.keys();
        self.tiles.for_each(|place, low, high| visit(place, low as u32, high as u32, keys[place].is_edge()));
    }

    /// The values, and what projects them.
    pub(super) fn raw(&self) -> (&[f32], Clamp) {
        (&self.values, self.clamp)
    }

    /// Sets all values, in their order, and the shift that projects them.
    pub(super) fn set_raw(&mut self, values: Vec<f32>, shift: f32) {
        assert_eq!(values.len(), self.values.len(), "one value for each pair");
        (self.values, self.held) = (values, None);
        self.changed(shift);
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

    /// The values as they are.
    fn now(&self) -> Values<'_> {
        Values { values: &self.values, clamp: self.clamp, state: self.state }
    }

    /// The values to move from; those of the present are for overwriting from now on.
    fn hold(&mut self, from: From) -> Held {
        match (from, self.held.take()) {
            (From::Held, Some(held)) => held,
            (_, before) => {
                let other = before.map_or_else(|| vec![0.0; self.values.len()], |held| held.values);
                let values = std::mem::replace(&mut self.values, other);
                Held { values, shift: self.clamp.shift, state: self.state, lengths: None }
            }
        }
    }

    /// Forgets what was known of the values.
    fn changed(&mut self, shift: f32) {
        (self.clamp.shift, self.weighed, self.state) = (shift, None, new_state());
    }
}

impl Values<'_> {
    /// The derivative with respect to every probability: as it was computed before, if it was for these values.
    fn derivatives<'k>(&self, tiles: &Tiles, kernel: &'k PairKernel) -> Cow<'k, [f32]> {
        let compute = || self.compute_derivatives(tiles, kernel);
        let computed = kernel.computed.get_or_init(|| Computed { state: self.state, derivatives: compute() });
        match computed.state == self.state {
            true => Cow::Borrowed(&computed.derivatives),
            false => Cow::Owned(compute()),
        }
    }

    fn compute_derivatives(&self, tiles: &Tiles, kernel: &PairKernel) -> Vec<f32> {
        let (derivative, clamp, arch) = (Derivative::new(kernel), self.clamp, Arch::new());
        let mut derivatives = vec![0.0; self.values.len()];
        let mut rest = derivatives.as_mut_slice();
        let mut of_rows = Vec::with_capacity(tiles.rows());
        for row in 0..tiles.rows() {
            let (mine, after) = rest.split_at_mut(tiles.places(row).len());
            rest = after;
            of_rows.push(mine);
        }
        of_rows.into_par_iter().enumerate().for_each(|(row, mut rest)| {
            for tile in tiles.of_row(row) {
                let (derivatives, after) = rest.split_at_mut(tile.places.len());
                rest = after;
                let (values, keys) = (&self.values[tile.places.clone()], &tiles.keys()[tile.places.clone()]);
                arch.dispatch(OfTile { derivatives, values, keys, clamp, derivative: &derivative, tile });
            }
        });
        derivatives
    }
}

/// How strongly values are pulled up.
pub(super) struct RiseOf<'a> {
    pub(super) values: &'a [f32],
    pub(super) derivatives: &'a [f32],
    pub(super) clamp: Clamp,
    pub(super) sign: f64,
    pub(super) threshold: f64,
}

impl WithSimd for RiseOf<'_> {
    type Output = Rise;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Rise {
        // Sums of a few lanes at once, so that they need not wait for each other.
        const LANES: usize = 8;
        let mut lanes = [Rise::default(); LANES];
        let (values, last_values) = self.values.as_chunks::<LANES>();
        let (derivatives, last_derivatives) = self.derivatives.as_chunks::<LANES>();
        for (values, derivatives) in values.iter().zip(derivatives) {
            for lane in 0..LANES {
                let x = f64::from(self.clamp.of(values[lane]));
                lanes[lane] = lanes[lane].with(self.sign * f64::from(derivatives[lane]), x, self.threshold);
            }
        }
        for ((&value, &derivative), rise) in last_values.iter().zip(last_derivatives).zip(&mut lanes) {
            let x = f64::from(self.clamp.of(value));
            *rise = rise.with(self.sign * f64::from(derivative), x, self.threshold);
        }
        lanes.into_iter().fold(Rise::default(), Rise::and)
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

    fn pairs_around(&self) -> Option<PairsAround> {
        let incidence = self.incidence.get_or_init(|| Incidence::new(&self.tiles));
        Some(incidence.weighed(&self.values, self.clamp))
    }

    fn places(&self) -> usize {
        self.values.len()
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let (clamp, rate) = (self.clamp, rate as f32);
        let derivatives = self.now().derivatives(&self.tiles, kernel);
        let pieces = self.values.par_chunks_mut(PIECE).zip(derivatives.par_chunks(PIECE)).with_min_len(PIECES);
        pieces.for_each(|(values, derivatives)| {
            for (value, derivative) in values.iter_mut().zip(derivatives) {
                *value = clamp.of(*value) + rate * derivative;
            }
        });
        self.changed(0.0);
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, _guess: f64) {
        let held = self.hold(from);
        let (clamp, rate) = (self.clamp.at(held.shift), rate as f32);
        let derivatives = Values { values: &held.values, clamp, state: held.state }.derivatives(&self.tiles, kernel);
        let from = held.values.par_chunks(PIECE).zip(derivatives.par_chunks(PIECE));
        let pieces = self.values.par_chunks_mut(PIECE).zip(from).with_min_len(PIECES);
        pieces.for_each(|(values, (held, derivatives))| {
            for ((value, &held), derivative) in values.iter_mut().zip(held).zip(derivatives) {
                *value = clamp.of(held) + rate * derivative;
            }
        });
        self.held = Some(held);
        self.changed(0.0);
    }

    fn steepest_in_metric(&self, kernel: &PairKernel, sign: f64) -> Option<f64> {
        self.steepest(kernel, sign)
    }

    fn attempt_in_metric(
        &mut self,
        from: From,
        kernel: &PairKernel,
        (sign, rate): (f64, f64),
        budget: f64,
        guess: f64,
    ) -> Option<MetricStep> {
        self.step_in_metric(from, kernel, (sign, rate), budget, guess)
    }

    fn blend(&mut self, share: f64) {
        let Some(held) = &self.held else { return };
        let (now, before) = (self.clamp, self.clamp.at(held.shift));
        let values = self.values.iter_mut().zip(&held.values);
        values.for_each(|(value, &held)| *value = now.blended(*value, before.of(held), share));
        self.changed(0.0);
    }

    fn restore(&mut self) {
        if let Some(held) = &self.held {
            self.values.copy_from_slice(&held.values);
            (self.clamp.shift, self.state, self.weighed) = (held.shift, held.state, None);
        }
    }

    fn release(&mut self) {
        self.held = None;
    }

    fn moved(&self) -> Moved {
        let Some(held) = &self.held else { return Moved::default() };
        let (now, before) = (self.clamp, self.clamp.at(held.shift));
        let blocks = self.values.par_chunks(PIECE).zip(held.values.par_chunks(PIECE)).with_min_len(PIECES);
        let of_blocks: Vec<Moved> = blocks.map(|(values, held)| Moved::of(values, held, now, before)).collect();
        of_blocks.into_iter().sum()
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        let (arch, clamp) = (Arch::new(), self.clamp);
        let derivatives = self.now().derivatives(&self.tiles, kernel);
        let pieces = self.values.par_chunks(PIECE).zip(derivatives.par_chunks(PIECE)).with_min_len(PIECES);
        let of_piece = |(values, derivatives)| arch.dispatch(RiseOf { values, derivatives, clamp, sign, threshold });
        let of_pieces: Vec<Rise> = pieces.map(of_piece).collect();
        of_pieces.into_iter().fold(Rise::default(), Rise::and)
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        for (place, _, _) in self.tiles.ascending() {
            self.values[place] = value();
        }
        self.held = None;
        self.changed(0.0);
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
        self.changed(shift as f32);
        self.weighed = weighed;
        shift
    }

    fn shift(&self) -> f64 {
        f64::from(self.clamp.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.changed(shift as f32);
    }

    fn most(&self) -> f64 {
        f64::from(self.clamp.most)
    }

    fn set_most(&mut self, most: f64) {
        self.clamp.most = most as f32;
        self.changed(self.clamp.shift);
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
