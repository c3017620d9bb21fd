//! Every node pair: the upper triangle, packed row after row in single precision, and streamed.

use std::ops::Range;

use fiedler_graph::Graph;
use pulp::Arch;
use rayon::prelude::*;

use super::{Mass, Power, Rise, Support, parts};
use crate::kernel::{LowRank, PairKernel};

/// Columns are summed in single precision over this many rows before they enter the double precision total.
const ROWS_A_FLUSH: usize = 256;
/// Partial sums of a row, so that the compiler can work on many at once without changing their order.
const LANES: usize = 16;

/// All pairs of a graph's nodes.
#[derive(Debug, Clone)]
pub struct Triangle<'g> {
    graph: &'g Graph,
    values: Vec<f32>,
    shift: f32,
    parts: Vec<Range<usize>>,
}

impl<'g> Triangle<'g> {
    /// Bytes that the triangle of a graph of so many nodes takes.
    pub fn bytes_for(nodes: usize) -> u64 {
        4 * (nodes as u64) * (nodes as u64).saturating_sub(1) / 2
    }

    /// All pairs, with starting values given row after row.
    pub fn new(graph: &'g Graph, values: Vec<f32>) -> Triangle<'g> {
        let nodes = graph.nodes();
        assert_eq!(values.len(), nodes * nodes.saturating_sub(1) / 2, "one value for each pair");
        let parts = parts(nodes, values.len(), |row| nodes - row - 1);
        Triangle { graph, values, shift: 0.0, parts }
    }

    /// Sets every value, row after row.
    pub fn fill(&mut self, mut value: impl FnMut() -> f32) {
        self.values.iter_mut().for_each(|slot| *slot = value());
        self.shift = 0.0;
    }

    /// The projected values, row after row.
    pub fn into_probabilities(mut self) -> Vec<f32> {
        let shift = self.shift;
        self.values.par_iter_mut().for_each(|value| *value = (*value - shift).clamp(0.0, 1.0));
        self.values
    }

    /// Where a row starts in the packed values.
    fn start(&self, row: usize) -> usize {
        row_start(self.nodes(), row)
    }

    fn part_values(&self, part: &Range<usize>) -> &[f32] {
        &self.values[self.start(part.start)..self.start(part.end)]
    }

    /// The probability of one pair, `low < high`.
    fn at(&self, low: u32, high: u32) -> f32 {
        let value = self.values[self.start(low as usize) + (high - low) as usize - 1];
        (value - self.shift).clamp(0.0, 1.0)
    }
}

/// Where row `row` of a packed upper triangle starts.
pub(crate) fn row_start(nodes: usize, row: usize) -> usize {
    if row == 0 { 0 } else { row * (2 * nodes - row - 1) / 2 }
}

impl Support for Triangle<'_> {
    fn nodes(&self) -> usize {
        self.graph.nodes()
    }

    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64> {
        let nodes = self.nodes();
        let single: Vec<f32> = factor.iter().map(|&value| value as f32).collect();
        let arch = Arch::new();
        let partial: Vec<Vec<f64>> = self
            .parts
            .par_iter()
            .map(|part| {
                let mut sums = vec![0.0f64; nodes - part.start];
                let mut columns = vec![0.0f32; nodes - part.start];
                let mut rest = self.part_values(part);
                for row in part.clone() {
                    let (values, after) = rest.split_at(nodes - row - 1);
                    rest = after;
                    let beside = &mut columns[row + 1 - part.start..];
                    let total = arch.dispatch(|| match power {
                        Power::One => row_sums::<false>(values, self.shift, single[row], &single[row + 1..], beside),
                        Power::Two => row_sums::<true>(values, self.shift, single[row], &single[row + 1..], beside),
                    });
                    sums[row - part.start] += total;
                    if (row + 1 - part.start).is_multiple_of(ROWS_A_FLUSH) || row + 1 == part.end {
                        for (sum, column) in sums.iter_mut().zip(&mut columns) {
                            *sum += f64::from(std::mem::take(column));
                        }
                    }
                    for &other in self.graph.higher(row as u32) {
                        // The stream took the pair for a non-edge; an edge has B = 1 - x.
                        let x = f64::from(self.at(row as u32, other));
                        let correction = match power {
                            Power::One => 1.0 - 2.0 * x,
                            Power::Two => (1.0 - x) * (1.0 - x) - x * x,
                        };
                        sums[row - part.start] += correction * factor[other as usize];
                        sums[other as usize - part.start] += correction * factor[row];
                    }
                }
                sums
            })
            .collect();
        let mut sums = vec![0.0; nodes];
        for (part, partial) in self.parts.iter().zip(partial) {
            for (sum, value) in sums[part.start..].iter_mut().zip(partial) {
                *sum += value;
            }
        }
        sums
    }

    fn advance(&mut self, kernel: &PairKernel, rate: f64) {
        let nodes = self.nodes();
        let inverse: Vec<f32> = kernel.inverse.iter().map(|&value| value as f32).collect();
        let pull: Vec<f32> = kernel.pull.iter().map(|&value| (rate * value) as f32).collect();
        let (graph, shift) = (self.graph, self.shift);
        let arch = Arch::new();
        split_parts(&mut self.values, &self.parts, nodes).into_par_iter().for_each(|(part, mut rest)| {
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
                let line = Line {
                    shift,
                    slope: scale * kernel.slope as f32,
                    level: scale * kernel.level as f32,
                    pull: pull[row],
                };
                arch.dispatch(|| advance_row(values, &line, &inverse[row + 1..], &pull[row + 1..]));
                if let Some(low_rank) = &mut low_rank {
                    for (value, term) in values.iter_mut().zip(low_rank.row(row, part.end)) {
                        *value += rate as f32 * term;
                    }
                }
                for (&other, &x) in graph.higher(row as u32).iter().zip(&edges) {
                    let derivative = kernel.at(row, other as usize, 1.0 - f64::from(x));
                    values[position(other)] = (f64::from(x) - rate * derivative) as f32;
                }
                // Below zero is zero after any projection.
                arch.dispatch(|| values.iter_mut().for_each(|value| *value = value.max(0.0)));
            }
        });
        self.shift = 0.0;
    }

    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise {
        let nodes = self.nodes();
        let of_row = |row: usize| -> Rise {
            let mut edges = self.graph.higher(row as u32).iter().copied().peekable();
            let mut rise = Rise::default();
            for other in row as u32 + 1..nodes as u32 {
                let x = f64::from(self.at(row as u32, other));
                let derivative = match edges.next_if_eq(&other) {
                    Some(_) => -kernel.at(row, other as usize, 1.0 - x),
                    None => kernel.at(row, other as usize, x),
                };
                rise = rise.with(sign * derivative);
            }
            rise
        };
        let of_parts: Vec<Rise> =
            self.parts.par_iter().map(|part| part.clone().map(of_row).fold(Rise::default(), Rise::and)).collect();
        of_parts.into_iter().fold(Rise::default(), Rise::and)
    }

    fn mass_at(&self, shift: f64) -> (f64, f64) {
        let arch = Arch::new();
        let partial: Vec<(f64, f64)> = self
            .parts
            .par_iter()
            .map(|part| {
                let blocks = self.part_values(part).chunks(1 << 13);
                blocks
                    .map(|block| arch.dispatch(|| block_mass(block, shift as f32)))
                    .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
            })
            .collect();
        partial.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
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
        for low in 0..self.nodes() as u32 {
            let mut edges = self.graph.higher(low).iter().copied().peekable();
            for high in low + 1..self.nodes() as u32 {
                visit(low, high, edges.next_if_eq(&high).is_some(), self.at(low, high));
            }
        }
    }

    fn bytes(&self) -> u64 {
        Triangle::bytes_for(self.nodes())
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

/// What a row's update needs beside the columns.
struct Line {
    shift: f32,
    slope: f32,
    level: f32,
    pull: f32,
}

#[inline(always)]
fn advance_row(values: &mut [f32], line: &Line, inverse: &[f32], pull: &[f32]) {
    for ((value, &inverse), &pull) in values.iter_mut().zip(inverse).zip(pull) {
        let x = (*value - line.shift).clamp(0.0, 1.0);
        *value = x + ((line.slope * x + line.level) * inverse - line.pull - pull);
    }
}

#[inline(always)]
fn row_sums<const SQUARE: bool>(values: &[f32], shift: f32, own: f32, factor: &[f32], columns: &mut [f32]) -> f64 {
    let term = |value: f32| {
        let x = (value - shift).clamp(0.0, 1.0);
        if SQUARE { x * x } else { x }
    };
    let mut lanes = [0.0f32; LANES];
    let (values, last_values) = values.as_chunks::<LANES>();
    let (factor, last_factor) = factor.as_chunks::<LANES>();
    let (columns, last_columns) = columns.as_chunks_mut::<LANES>();
    for ((values, factor), columns) in values.iter().zip(factor).zip(columns) {
        for lane in 0..LANES {
            let term = term(values[lane]);
            lanes[lane] += term * factor[lane];
            columns[lane] += term * own;
        }
    }
    let mut total: f64 = lanes.iter().map(|&lane| f64::from(lane)).sum();
    for ((&value, &factor), column) in last_values.iter().zip(last_factor).zip(last_columns) {
        let term = term(value);
        total += f64::from(term * factor);
        *column += term * own;
    }
    total
}

#[inline(always)]
fn block_mass(block: &[f32], shift: f32) -> (f64, f64) {
    let mut sums = [0.0f32; LANES];
    let mut inside = [0u32; LANES];
    let (chunks, last) = block.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            let x = (chunk[lane] - shift).clamp(0.0, 1.0);
            sums[lane] += x;
            inside[lane] += u32::from(x > 0.0 && x < 1.0);
        }
    }
    for &value in last {
        let x = (value - shift).clamp(0.0, 1.0);
        sums[0] += x;
        inside[0] += u32::from(x > 0.0 && x < 1.0);
    }
    (sums.iter().map(|&sum| f64::from(sum)).sum(), inside.iter().sum::<u32>().into())
}

/// Rows of a low-rank matrix, computed a tile at a time.
struct LowRankRows<'k> {
    kernel: &'k LowRank,
    nodes: usize,
    tile: Range<usize>,
    rows: Vec<f32>,
}

impl<'k> LowRankRows<'k> {
    const TILE: usize = 32;

    fn new(kernel: &'k LowRank, nodes: usize) -> Self {
        LowRankRows { kernel, nodes, tile: 0..0, rows: vec![0.0; Self::TILE * nodes] }
    }

    /// The terms of the pairs `(row, row + 1 ..)`; rows are asked for in ascending order.
    fn row(&mut self, row: usize, end: usize) -> &[f32] {
        if !self.tile.contains(&row) {
            self.fill(row..end.min(row + Self::TILE));
        }
        &self.rows[(row - self.tile.start) * self.nodes..][row + 1..self.nodes]
    }

    fn fill(&mut self, tile: Range<usize>) {
        let rank = self.kernel.coefficients.len();
        let scaled: Vec<f32> = tile
            .clone()
            .flat_map(|row| self.kernel.row(row).iter().zip(&self.kernel.coefficients).map(|(a, b)| a * b))
            .collect();
        for (row, scaled) in scaled.chunks(rank).enumerate() {
            for (slot, other) in
                self.rows[row * self.nodes..(row + 1) * self.nodes].iter_mut().zip(self.kernel.vectors.chunks(rank))
            {
                *slot = scaled.iter().zip(other).map(|(a, b)| a * b).sum();
            }
        }
        self.tile = tile;
    }
}
