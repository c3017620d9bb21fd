//! Every node pair: the upper triangle, packed row after row in single precision, and streamed.
//!
//! The triangle of a large graph exceeds every cache, so a pass over it costs what memory takes to deliver it. A step of an
//! ascent is therefore made of as few passes as it can: while values are moved, their mass is measured, and while mass is
//! measured, so are the degrees that the next step begins with.

use std::ops::Range;

use fiedler_graph::Graph;
use pulp::Arch;
use rayon::prelude::*;

use super::low_rank::LowRankRows;
use super::stream::{Advance, Measure, Pull, RowMass, Sums, Weigh};
use super::{Mass, Power, Rise, Support, parts};
use crate::kernel::PairKernel;
use crate::projection::shift_to_budget;

/// Columns are summed in single precision over this many rows before they enter the double precision total.
const ROWS_A_FLUSH: usize = 256;

/// All pairs of a graph's nodes.
#[derive(Debug, Clone)]
pub struct Triangle<'g> {
    graph: &'g Graph,
    values: Vec<f32>,
    shift: f32,
    parts: Vec<Range<usize>>,
    /// The rate of the last advance.
    rate: f64,
    /// What the last pass measured of the values as they are.
    measured: Option<Measured>,
}

/// What a pass over all values finds out at a shift.
#[derive(Debug, Clone)]
struct Measured {
    shift: f32,
    /// At the shift, and, where the pass looked for it, without: `(Σ x, values strictly inside)`.
    mass: (f64, f64),
    mass_unshifted: Option<(f64, f64)>,
    /// `Σ_k B_ik` of every node at the shift.
    degrees: Vec<f64>,
}

impl Measured {
    fn mass_at(&self, shift: f32) -> Option<(f64, f64)> {
        if shift == self.shift { Some(self.mass) } else { self.mass_unshifted.filter(|_| shift == 0.0) }
    }
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
        Triangle { graph, values, shift: 0.0, parts, rate: 0.0, measured: None }
    }

    /// Sets every value, row after row.
    pub fn fill(&mut self, mut value: impl FnMut() -> f32) {
        self.values.iter_mut().for_each(|slot| *slot = value());
        (self.shift, self.measured) = (0.0, None);
    }

    /// The projected values, row after row.
    pub fn into_probabilities(mut self) -> Vec<f32> {
        let shift = self.shift;
        self.values.par_iter_mut().for_each(|value| *value = (*value - shift).clamp(0.0, 1.0));
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
        let value = self.values[self.start(low as usize) + (high - low) as usize - 1];
        (value - self.shift).clamp(0.0, 1.0)
    }

    /// Mass and degrees at a shift, in one pass.
    fn measure(&self, shift: f32) -> Measured {
        let measures = self.parts.par_iter().map(|part| {
            let mut measure = PartMeasure::new(self.graph, part.start, shift, false);
            part.clone().for_each(|row| measure.add(row, self.row(row)));
            measure
        });
        PartMeasure::join(measures.collect(), shift)
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
        if let Some(measured) = self.measured.as_ref().filter(|measured| measured.shift == self.shift)
            && power == Power::One
            && factor.iter().all(|&factor| factor == 1.0)
        {
            return measured.degrees.clone();
        }
        let single: Vec<f32> = factor.iter().map(|&value| value as f32).collect();
        let (arch, shift) = (Arch::new(), self.shift);
        let sums = self.parts.par_iter().map(|part| {
            let mut columns = Columns::new(self.num_nodes(), part.start);
            for row in part.clone() {
                let (values, own, factors) = (self.row(row), single[row], &single[row + 1..]);
                let beside = columns.beside(row);
                let total = match power {
                    Power::One => arch.dispatch(Sums::<false> { values, shift, own, factors, columns: beside }),
                    Power::Two => arch.dispatch(Sums::<true> { values, shift, own, factors, columns: beside }),
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

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let nodes = self.num_nodes();
        let inverse: Vec<f32> = kernel.inverse.iter().map(|&value| value as f32).collect();
        let pulls: Vec<f32> = kernel.pull.iter().map(|&value| (rate * value) as f32).collect();
        let (graph, shift) = (self.graph, self.shift);
        // The shift that will be needed grows with the step: measuring there spares the projection a pass.
        let ratio = if self.rate == 0.0 { 1.0 } else { (rate / self.rate).abs() };
        let expected = (f64::from(shift) * ratio) as f32;
        let arch = Arch::new();
        let measures = split_parts(&mut self.values, &self.parts, nodes).into_par_iter().map(|(part, mut rest)| {
            let mut measure = PartMeasure::new(graph, part.start, expected, true);
            let mut low_rank = kernel.low_rank.as_ref().map(|low_rank| LowRankRows::new(low_rank, nodes));
            let mut edges: Vec<f32> = Vec::new();
            for row in part.clone() {
                let (values, after) = rest.split_at_mut(nodes - row - 1);
                rest = after;
                let position = |other: u32| other as usize - row - 1;
                edges.clear();
                edges.extend(
                    graph.higher(row as u32).iter().map(|&other| (values[position(other)] - shift).clamp(0.0, 1.0)),
                );
                let scale = (rate * kernel.inverse[row]) as f32;
                arch.dispatch(Advance {
                    values,
                    shift,
                    slope: scale * kernel.slope as f32,
                    level: scale * kernel.level as f32,
                    pull: pulls[row],
                    inverses: &inverse[row + 1..],
                    pulls: &pulls[row + 1..],
                    // Below zero is zero after any projection, but not before all of the derivative is added.
                    floor: if low_rank.is_some() { f32::NEG_INFINITY } else { 0.0 },
                });
                if let Some(low_rank) = &mut low_rank {
                    for (value, term) in values.iter_mut().zip(low_rank.row(row, part.end)) {
                        *value = (*value + rate as f32 * term).max(0.0);
                    }
                }
                for (&other, &x) in graph.higher(row as u32).iter().zip(&edges) {
                    let derivative = kernel.at(row, other as usize, 1.0 - f64::from(x));
                    values[position(other)] = (f64::from(x) - rate * derivative).max(0.0) as f32;
                }
                measure.add(row, values);
            }
            measure
        });
        let measured = PartMeasure::join(measures.collect(), expected);
        self.shift = 0.0;
        self.rate = rate;
        self.measured = Some(measured);
    }

    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise {
        let inverse: Vec<f32> = kernel.inverse.iter().map(|&value| value as f32).collect();
        let pulls: Vec<f32> = kernel.pull.iter().map(|&value| (sign * value) as f32).collect();
        let nodes = self.num_nodes();
        let arch = Arch::new();
        let of_pair = |row: usize, other: usize| {
            let x = f64::from(self.at(row as u32, other as u32));
            let edge = self.graph.has_edge(row as u32, other as u32);
            sign * if edge { -kernel.at(row, other, 1.0 - x) } else { kernel.at(row, other, x) }
        };
        let of_stretch = |row: usize, others: Range<usize>| {
            let scale = (sign * kernel.inverse[row]) as f32;
            arch.dispatch(Pull {
                values: &self.row(row)[others.start - row - 1..others.end - row - 1],
                shift: self.shift,
                slope: scale * kernel.slope as f32,
                level: scale * kernel.level as f32,
                pull: pulls[row],
                inverses: &inverse[others.clone()],
                pulls: &pulls[others],
            })
        };
        let of_row = |row: usize, matrix: Option<&[f32]>| -> Rise {
            if let Some(terms) = matrix {
                let mut edges = self.graph.higher(row as u32).iter().copied().peekable();
                return (row + 1..nodes).zip(terms).fold(Rise::default(), |rise, (other, &term)| {
                    let x = f64::from(self.at(row as u32, other as u32));
                    let edge = edges.next_if_eq(&(other as u32)).is_some();
                    let weight = if edge { 1.0 - x } else { x };
                    let derivative = kernel.without_matrix(row, other, weight) + f64::from(term);
                    rise.with(sign * if edge { -derivative } else { derivative })
                });
            }
            let mut rise = Rise::default();
            let mut next = row + 1;
            for &other in self.graph.higher(row as u32) {
                let other = other as usize;
                rise = rise.and(of_stretch(row, next..other)).with(of_pair(row, other));
                next = other + 1;
            }
            rise.and(of_stretch(row, next..nodes))
        };
        let of_part = |part: &Range<usize>| {
            let mut matrix = kernel.low_rank.as_ref().map(|matrix| LowRankRows::new(matrix, nodes));
            let of_row = |row: usize| of_row(row, matrix.as_mut().map(|matrix| matrix.row(row, part.end)));
            part.clone().map(of_row).fold(Rise::default(), Rise::and)
        };
        let of_parts: Vec<Rise> = self.parts.par_iter().map(of_part).collect();
        of_parts.into_iter().fold(Rise::default(), Rise::and)
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let shift = shift as f32;
        if let Some(mass) = self.measured.as_ref().and_then(|measured| measured.mass_at(shift)) {
            return mass;
        }
        let arch = Arch::new();
        let partial: Vec<(f64, f64)> = self
            .parts
            .par_iter()
            .map(|part| {
                let blocks = self.part_values(part).chunks(1 << 13);
                blocks
                    .map(|values| arch.dispatch(Weigh { values, shift }))
                    .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
            })
            .collect();
        partial.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }

    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        let guess = self.measured.as_ref().map_or(guess, |measured| f64::from(measured.shift));
        let mut last: Option<Measured> = None;
        let shift = shift_to_budget(budget, guess, |shift| {
            let shift = shift as f32;
            if let Some(mass) = self.measured.as_ref().and_then(|measured| measured.mass_at(shift)) {
                return mass;
            }
            last.insert(self.measure(shift)).mass
        });
        self.shift = shift as f32;
        if let Some(last) = last.filter(|last| last.shift == self.shift) {
            self.measured = Some(last);
        }
        shift
    }

    fn shift(&self) -> f64 {
        f64::from(self.shift)
    }

    fn set_shift(&mut self, shift: f64) {
        self.shift = shift as f32;
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

/// Sums for every node from `first` on, gathered by one part of the rows.
struct Columns {
    first: usize,
    sums: Vec<f64>,
    /// What single precision holds until the next flush.
    pending: Vec<f32>,
    rows: usize,
}

impl Columns {
    fn new(nodes: usize, first: usize) -> Columns {
        Columns { first, sums: vec![0.0; nodes - first], pending: vec![0.0; nodes - first], rows: 0 }
    }

    /// The pending sums of the columns beside a row, which are taken over once enough rows went into them.
    fn beside(&mut self, row: usize) -> &mut [f32] {
        if self.rows == ROWS_A_FLUSH {
            self.flush();
        }
        self.rows += 1;
        &mut self.pending[row + 1 - self.first..]
    }

    fn flush(&mut self) {
        for (sum, pending) in self.sums.iter_mut().zip(&mut self.pending) {
            *sum += f64::from(std::mem::take(pending));
        }
        self.rows = 0;
    }

    fn add(&mut self, node: usize, value: f64) {
        self.sums[node - self.first] += value;
    }

    /// The sums of all parts, the first of which begins with the first node.
    fn join(parts: Vec<Columns>) -> Vec<f64> {
        let mut sums = vec![0.0; parts.first().map_or(0, |part| part.sums.len())];
        for mut part in parts {
            part.flush();
            sums[part.first..].iter_mut().zip(part.sums).for_each(|(sum, value)| *sum += value);
        }
        sums
    }
}

/// What one part of the rows has measured.
struct PartMeasure<'g> {
    graph: &'g Graph,
    shift: f32,
    both: bool,
    mass: RowMass,
    columns: Columns,
    arch: Arch,
}

impl<'g> PartMeasure<'g> {
    /// `both` measures the mass without the shift as well.
    fn new(graph: &'g Graph, first: usize, shift: f32, both: bool) -> PartMeasure<'g> {
        let columns = Columns::new(graph.num_nodes(), first);
        PartMeasure { graph, shift, both: both && shift != 0.0, mass: RowMass::default(), columns, arch: Arch::new() }
    }

    fn add(&mut self, row: usize, values: &[f32]) {
        let (shift, columns) = (self.shift, self.columns.beside(row));
        let mass = if self.both {
            self.arch.dispatch(Measure::<true> { values, shift, columns })
        } else {
            self.arch.dispatch(Measure::<false> { values, shift, columns })
        };
        self.mass += mass;
        self.columns.add(row, mass.sum);
        for &other in self.graph.higher(row as u32) {
            // As measured, the pair is no edge; an edge has B = 1 - x.
            let x = (values[other as usize - row - 1] - shift).clamp(0.0, 1.0);
            let correction = 1.0 - 2.0 * f64::from(x);
            self.columns.add(row, correction);
            self.columns.add(other as usize, correction);
        }
    }

    fn join(parts: Vec<PartMeasure<'_>>, shift: f32) -> Measured {
        let both = parts.iter().all(|part| part.both);
        let mut mass = RowMass::default();
        parts.iter().for_each(|part| mass += part.mass);
        let columns = parts.into_iter().map(|part| part.columns).collect();
        Measured {
            shift,
            mass: (mass.sum, mass.inside),
            mass_unshifted: both.then_some((mass.sum_unshifted, mass.inside_unshifted)),
            degrees: Columns::join(columns),
        }
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
