//! Every node pair: the upper triangle, packed row after row in single precision, and streamed.
//!
//! The triangle of a large graph exceeds every cache, so a pass over it costs what memory takes to deliver it. A step of an
//! ascent is therefore made of as few passes as it can: while values are moved, their mass is measured, and while mass is
//! measured, so are the degrees that the next step begins with.

mod derivative;

use std::ops::Range;

use fiedler_graph::Graph;
use fiedler_spectral::simd::Arch;
use rayon::prelude::*;

use super::measure::{Columns, Measured, PartMeasure};
use super::stream::{LightSums, Sums, Weigh};
use super::{Clamp, From, LIGHT, Mass, MiddlePair, Moved, PairsAround, Power, Rise, Split, Support, parts};
use crate::kernel::PairKernel;
use crate::projection::shift_to_budget;

/// The search for a shift may end with its next step once the mass is off by no more than this share of the budget.
const NEAR: f64 = 0.05;

/// All pairs of a graph's nodes.
#[derive(Debug, Clone)]
pub struct Triangle<'g> {
    graph: &'g Graph,
    values: Vec<f32>,
    clamp: Clamp,
    parts: Vec<Range<usize>>,
    /// The rate of the last advance.
    rate: f64,
    /// What the last pass measured of the values as they are.
    measured: Option<Measured>,
    /// Values to go back to.
    held: Option<Held>,
}

/// Values that an attempt moved from, with what was known of them.
#[derive(Debug, Clone)]
struct Held {
    values: Vec<f32>,
    shift: f32,
    measured: Option<Measured>,
}

impl<'g> Triangle<'g> {
    /// Bytes that the triangle of a graph of so many nodes takes.
    pub fn bytes_for(nodes: usize) -> u64 {
        4 * (nodes as u64) * (nodes as u64).saturating_sub(1) / 2
    }

    /// All pairs, with starting values given row after row.
    pub fn new(graph: &'g Graph, values: Vec<f32>) -> Triangle<'g> {
        let nodes = graph.num_nodes();
        assert_eq!(values.len(), nodes * nodes.saturating_sub(1) / 2, "one value for each pair");
        let parts = parts(nodes, values.len(), |row| nodes - row - 1);
        Triangle { graph, values, clamp: Clamp::default(), parts, rate: 0.0, measured: None, held: None }
    }

    /// The projected values, row after row.
    pub fn into_probabilities(mut self) -> Vec<f32> {
        let clamp = self.clamp;
        self.values.par_iter_mut().for_each(|value| *value = clamp.of(*value));
        self.values
    }

    /// Where a row starts in the packed values.
    fn start(&self, row: usize) -> usize {
        row_start(self.num_nodes(), row)
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.values[self.start(row)..self.start(row + 1)]
    }

    fn part_values(&self, part: &Range<usize>) -> &[f32] {
        &self.values[self.start(part.start)..self.start(part.end)]
    }

    /// The probability of one pair, `low < high`.
    fn at(&self, low: u32, high: u32) -> f32 {
        self.clamp.of(self.values[self.start(low as usize) + (high - low) as usize - 1])
    }

    /// Mass and degrees at a shift, in one pass.
    fn measure(&self, shift: f32) -> Measured {
        let measures = self.parts.par_iter().map(|part| {
            let mut measure = PartMeasure::new(self.graph, part.start, self.clamp.at(shift), false);
            part.clone().for_each(|row| measure.add(row, self.row(row)));
            measure
        });
        PartMeasure::join(measures.collect(), shift)
    }

    /// Sums over light pairs as [`Support::light_sums`] has them, and the middle pairs where they are asked for.
    fn light(&self, factors: [&[f64]; 3], list: bool) -> ([Vec<f64>; 3], Vec<MiddlePair>) {
        let single = factors.map(|factors| factors.iter().map(|&value| value as f32).collect::<Vec<f32>>());
        let (arch, nodes, clamp) = (Arch::new(), self.num_nodes(), self.clamp);
        let parts = self.parts.par_iter().map(|part| {
            let mut columns = [(); 3].map(|()| Columns::new(nodes, part.start));
            let mut middle = Vec::new();
            for row in part.clone() {
                let values = self.row(row);
                let [first, second, third] = &mut columns;
                let found = arch.dispatch(LightSums {
                    values,
                    clamp,
                    own: [0, 1, 2].map(|place| single[place][row]),
                    factors: [0, 1, 2].map(|place| &single[place][row + 1..]),
                    columns: [first.beside(row), second.beside(row), third.beside(row)],
                });
                columns.iter_mut().zip(found.sums).for_each(|(columns, sum)| columns.add(row, sum));
                let mut edges = self.graph.higher(row as u32).iter().map(|&other| other as usize).peekable();
                if list && found.largest > LIGHT {
                    for (place, &value) in values.iter().enumerate() {
                        let (x, other) = (clamp.of(value), row + 1 + place);
                        if x > LIGHT {
                            while edges.next_if(|&edge| edge < other).is_some() {}
                            middle.extend(MiddlePair::of(row, other, edges.peek() == Some(&other), x));
                        }
                    }
                }
                for &other in self.graph.higher(row as u32) {
                    let other = other as usize;
                    let x = self.at(row as u32, other as u32);
                    if list && x <= LIGHT {
                        middle.extend(MiddlePair::of(row, other, true, x));
                    }
                    // The stream took the pair for a non-edge; an edge has B = 1 - x.
                    let light = |weight: f32| f64::from(if weight <= LIGHT { weight } else { 0.0 });
                    let (taken, own) = (light(x), light(1.0 - x));
                    let corrections = [own - taken, own * own - taken * taken, own * own - taken * taken];
                    for ((columns, correction), factors) in columns.iter_mut().zip(corrections).zip(factors) {
                        columns.add(row, correction * factors[other]);
                        columns.add(other, correction * factors[row]);
                    }
                }
            }
            (columns, middle)
        });
        let mut of_parts = [(); 3].map(|()| Vec::with_capacity(self.parts.len()));
        let mut middle = Vec::new();
        for (columns, listed) in parts.collect::<Vec<_>>() {
            of_parts.iter_mut().zip(columns).for_each(|(parts, columns)| parts.push(columns));
            middle.extend(listed);
        }
        (of_parts.map(Columns::join), middle)
    }
}

/// Where row `row` of a packed upper triangle starts.
pub(crate) fn row_start(nodes: usize, row: usize) -> usize {
    if row == 0 { 0 } else { row * (2 * nodes - row - 1) / 2 }
}

impl Support for Triangle<'_> {
    fn num_nodes(&self) -> usize {
        self.graph.num_nodes()
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        if let Some(measured) = self.measured.as_ref().filter(|measured| measured.shift == self.clamp.shift)
            && power == Power::One
            && factor.iter().all(|&factor| factor == 1.0)
        {
            return measured.degrees.clone();
        }
        let single: Vec<f32> = factor.iter().map(|&value| value as f32).collect();
        let (arch, clamp) = (Arch::new(), self.clamp);
        let sums = self.parts.par_iter().map(|part| {
            let mut columns = Columns::new(self.num_nodes(), part.start);
            for row in part.clone() {
                let (values, own, factors) = (self.row(row), single[row], &single[row + 1..]);
                let beside = columns.beside(row);
                let total = match power {
                    Power::One => arch.dispatch(Sums::<false> { values, clamp, own, factors, columns: beside }),
                    Power::Two => arch.dispatch(Sums::<true> { values, clamp, own, factors, columns: beside }),
                };
                columns.add(row, total);
                for &other in self.graph.higher(row as u32) {
                    // The stream took the pair for a non-edge; an edge has B = 1 - x.
                    let x = f64::from(self.at(row as u32, other));
                    let correction = match power {
                        Power::One => 1.0 - 2.0 * x,
                        Power::Two => (1.0 - x) * (1.0 - x) - x * x,
                    };
                    columns.add(row, correction * factor[other as usize]);
                    columns.add(other as usize, correction * factor[row]);
                }
            }
            columns
        });
        Columns::join(sums.collect())
    }

    fn split(&self) -> Split {
        let ones = vec![1.0; self.num_nodes()];
        let ([linear, square, _], middle) = self.light([&ones; 3], true);
        let middle = PairsAround::new(self.num_nodes(), &middle);
        Split { linear, square, whole: self.whole_sums(&ones), middle }
    }

    fn light_sums(&self, linear: &[f64], square: [&[f64]; 2]) -> [Vec<f64>; 3] {
        self.light([linear, square[0], square[1]], false).0
    }

    fn whole_sums(&self, factor: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.num_nodes()];
        for (low, high) in self.graph.edge_pairs().filter(|&(low, high)| self.at(low, high) == 0.0) {
            sums[low as usize] += factor[high as usize];
            sums[high as usize] += factor[low as usize];
        }
        sums
    }

    fn places(&self) -> usize {
        self.values.len()
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        self.held = None;
        // The shift that will be needed grows with the step.
        let ratio = if self.rate == 0.0 { 1.0 } else { (rate / self.rate).abs() };
        self.rate = rate;
        self.advance_from(None, kernel, rate, self.shift() * ratio);
    }

    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, guess: f64) {
        let held = match (from, self.held.take()) {
            (From::Held, Some(held)) => held,
            (_, before) => {
                let other = before.map_or_else(|| vec![0.0; self.values.len()], |held| held.values);
                let values = std::mem::replace(&mut self.values, other);
                Held { values, shift: self.clamp.shift, measured: self.measured.take() }
            }
        };
        self.advance_from(Some((&held.values, held.shift)), kernel, rate, guess);
        self.held = Some(held);
    }

    fn blend(&mut self, share: f64) {
        let Some(held) = &self.held else { return };
        let (nodes, graph) = (self.num_nodes(), self.graph);
        let (now, before) = (self.clamp, self.clamp.at(held.shift));
        let measures = split_parts(&mut self.values, &self.parts, nodes).into_par_iter().map(|(part, mut rest)| {
            let mut measure = PartMeasure::new(graph, part.start, now.at(0.0), false);
            for row in part {
                let (values, after) = rest.split_at_mut(nodes - row - 1);
                rest = after;
                let held = &held.values[row_start(nodes, row)..];
                for (value, &held) in values.iter_mut().zip(held) {
                    *value = now.blended(*value, before.of(held), share);
                }
                measure.add(row, values);
            }
            measure
        });
        self.measured = Some(PartMeasure::join(measures.collect(), 0.0));
        self.clamp.shift = 0.0;
    }

    fn restore(&mut self) {
        if let Some(held) = &mut self.held {
            std::mem::swap(&mut self.values, &mut held.values);
            self.clamp.shift = held.shift;
            self.measured = held.measured.take();
        }
    }

    fn release(&mut self) {
        self.held = None;
    }

    fn moved(&self) -> Moved {
        let Some(held) = &self.held else { return Moved::default() };
        let (now, before) = (self.clamp, self.clamp.at(held.shift));
        let blocks = self.values.par_chunks(1 << 13).zip(held.values.par_chunks(1 << 13));
        let of_blocks: Vec<Moved> = blocks.map(|(values, held)| Moved::of(values, held, now, before)).collect();
        of_blocks.into_iter().sum()
    }

    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise {
        self.rise_of(kernel, sign, threshold)
    }

    fn fill(&mut self, value: &mut dyn FnMut() -> f32) {
        self.values.iter_mut().for_each(|slot| *slot = value());
        (self.clamp.shift, self.measured, self.held) = (0.0, None, None);
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let shift = shift as f32;
        if let Some(mass) = self.measured.as_ref().and_then(|measured| measured.mass_at(shift)) {
            return mass;
        }
        let (arch, clamp) = (Arch::new(), self.clamp.at(shift));
        let partial: Vec<(f64, f64)> = self
            .parts
            .par_iter()
            .map(|part| {
                let blocks = self.part_values(part).chunks(1 << 13);
                blocks
                    .map(|values| arch.dispatch(Weigh { values, clamp }))
                    .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
            })
            .collect();
        partial.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        let guess = self.measured.as_ref().map_or(guess, |measured| f64::from(measured.shift));
        let mut last: Option<Measured> = None;
        let mut near = true;
        let shift = shift_to_budget(budget, guess, |shift| {
            let known = self.measured.as_ref().and_then(|measured| measured.mass_at(shift as f32));
            // Degrees are measured only where the search may end.
            let mass = known.unwrap_or_else(|| match near {
                true => last.insert(self.measure(shift as f32)).mass,
                false => self.mass_at(shift),
            });
            near = shift > 0.0 && (mass.0 - budget).abs() < NEAR * budget;
            mass
        });
        self.clamp.shift = shift as f32;
        if let Some(last) = last.filter(|last| last.shift == self.clamp.shift) {
            self.measured = Some(last);
        }
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
        (self.clamp.most, self.measured) = (most as f32, None);
    }

    fn mass(&self) -> Mass {
        let (total, _) = self.mass_at(self.shift());
        let removed: f64 = self.graph.edge_pairs().map(|(low, high)| f64::from(self.at(low, high))).sum();
        Mass { added: (total - removed).max(0.0), removed }
    }

    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32)) {
        for low in 0..self.num_nodes() as u32 {
            let mut edges = self.graph.higher(low).iter().copied().peekable();
            for high in low + 1..self.num_nodes() as u32 {
                visit(low, high, edges.next_if_eq(&high).is_some(), self.at(low, high));
            }
        }
    }

    fn bytes(&self) -> u64 {
        Triangle::bytes_for(self.num_nodes())
    }
}

/// Mutable values of each part, in order.
fn split_parts<'v>(
    mut values: &'v mut [f32],
    parts: &[Range<usize>],
    nodes: usize,
) -> Vec<(Range<usize>, &'v mut [f32])> {
    let mut split = Vec::with_capacity(parts.len());
    for part in parts {
        let length = row_start(nodes, part.end) - row_start(nodes, part.start);
        let (mine, rest) = values.split_at_mut(length);
        values = rest;
        split.push((part.clone(), mine));
    }
    split
}
