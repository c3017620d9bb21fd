//! InfoNCE of all pairs: every row of one matrix is to find its partner in another, among all other rows of both.

use std::ops::Range;

use burn::Tensor;
use burn::backend::flex::FlexTensor;
use fiedler_spectral::simd::Arch;

use super::all_pairs::{Block, Rows, for_all_pairs};
use super::operation::{self, Operation, width};
use super::{kernel, scalar};

/// `mean_i(log Σ_{k≠i} exp(w_i·w_k / τ) - w_i·w_p(i) / τ)` over all rows `w` of both matrices, where `p(i)` is the row that stands at the
/// same place in the other matrix, and `τ` the temperature: a single number.
///
/// With rows of length one this is the loss of GRACE and of SimCLR (NT-Xent). Of `n` rows each, `4 n²` similarities are computed twice, once
/// for each direction of the pass, and never held: memory grows with the rows, not with their pairs.
pub fn info_nce(one: Tensor<2>, other: Tensor<2>, temperature: f64) -> Tensor<1> {
    assert_eq!(one.dims(), other.dims(), "rows of both matrices belong together");
    if !operation::is_on_cpu(&one) || !operation::is_on_cpu(&other) {
        return super::plain::info_nce(one, other, temperature);
    }
    let scale = (1.0 / temperature) as f32;
    operation::apply(InfoNce { scale }, [one.into_dispatch(), other.into_dispatch()])
}

/// The most that a similarity may lie below the bound of all of them: its exponential is then still far above that of what is left out.
const MOST: f32 = 60.0;

#[derive(Debug, Clone)]
struct InfoNce {
    scale: f32,
}

/// What the derivative is computed from.
#[derive(Debug, Clone)]
struct Saved {
    /// Both matrices, one below the other.
    rows: Vec<f32>,
    width: usize,
    shift: Shift,
    /// Of each row, the logarithm of its sum of exponentials.
    logarithms: Vec<f32>,
}

/// What is subtracted from similarities before the exponential is taken.
#[derive(Debug, Clone, Copy)]
enum Shift {
    /// A bound of all of them, if none can lie too far below it: one exponential serves both rows of a pair.
    Bound(f32),
    /// The largest of each row.
    Largest,
}

impl Shift {
    /// By the lengths of rows: no product is larger than the square of the longest.
    fn of(rows: Rows<'_>, scale: f32) -> Shift {
        let squares = (0..rows.count()).map(|row| kernel::dot(rows.row(row), rows.row(row)));
        let bound = squares.fold(0.0, f32::max) * scale;
        if 2.0 * bound <= MOST { Shift::Bound(bound) } else { Shift::Largest }
    }
}

/// A sum of exponentials: `sum · exp(largest)`.
#[derive(Debug, Clone, Copy)]
struct Sum {
    largest: f32,
    sum: f64,
}

impl Sum {
    const EMPTY: Sum = Sum { largest: f32::MIN, sum: 0.0 };

    fn add(&mut self, largest: f32, sum: f32) {
        let most = self.largest.max(largest);
        let factor = |largest: f32| if largest == most { 1.0 } else { f64::from(largest - most).exp() };
        self.sum = self.sum * factor(self.largest) + f64::from(sum) * factor(largest);
        self.largest = most;
    }

    fn logarithm(self) -> f32 {
        (self.sum.ln() + f64::from(self.largest)) as f32
    }
}

/// What a thread works on.
#[derive(Default)]
struct Scratch {
    tile: Vec<f32>,
    sums: Vec<f32>,
    largest: Vec<f32>,
}

impl Operation<2> for InfoNce {
    type Saved = Saved;

    fn forward(&self, [one, other]: [FlexTensor; 2]) -> (FlexTensor, Saved) {
        let width = width(&one);
        let stacked = [one.storage::<f32>(), other.storage::<f32>()].concat();
        let rows = Rows { values: &stacked, width };
        let shift = Shift::of(rows, self.scale);
        let sums = for_all_pairs(
            rows.count(),
            |block| vec![Sum::EMPTY; block.len()],
            Scratch::default,
            |scratch, Block { rows: block, state }| {
                let tile = rows.products(block, block, self.scale, &mut scratch.tile);
                leave_out_diagonal(tile, block.len());
                add_rows(tile, shift, state);
            },
            |Scratch { tile, sums, largest }, one, other| {
                let tile = rows.products(&one.rows, &other.rows, self.scale, tile);
                match shift {
                    Shift::Bound(bound) => add_both(tile, bound, &mut one.state, sums, &mut other.state),
                    Shift::Largest => {
                        add_rows(tile, shift, &mut one.state);
                        add_columns(tile, sums, largest, &mut other.state);
                    }
                }
            },
        );
        let logarithms: Vec<f32> = sums.iter().flatten().map(|sum| sum.logarithm()).collect();
        let half = rows.count() / 2;
        let of_pair = |row: usize| kernel::dot(rows.row(row), rows.row(row + half)) * self.scale;
        let positives: f64 = (0..half).map(|row| 2.0 * f64::from(of_pair(row))).sum();
        let all: f64 = logarithms.iter().copied().map(f64::from).sum();
        let value = (all - positives) / rows.count().max(1) as f64;
        (operation::tensor(vec![value as f32], [1]), Saved { rows: stacked, width, shift, logarithms })
    }

    fn backward(&self, saved: Saved, gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let rows = Rows { values: &saved.rows, width: saved.width };
        let factor = gradient.storage::<f32>()[0] * self.scale / rows.count().max(1) as f32;
        let half = rows.count() / 2;
        // A pair of partners stands in the loss twice.
        let towards_partner = |row: usize| {
            let partner = if row < half { row + half } else { row - half };
            rows.row(partner).iter().map(|value| -2.0 * factor * value)
        };
        let shifts = saved.shifts();
        let of_rows = for_all_pairs(
            rows.count(),
            |block| block.flat_map(towards_partner).collect::<Vec<f32>>(),
            Scratch::default,
            |scratch, Block { rows: block, state }| {
                let tile = rows.products(block, block, self.scale, &mut scratch.tile);
                leave_out_diagonal(tile, block.len());
                saved.weigh(tile, block, block, &shifts);
                rows.add_sums(state, block, tile, block, factor);
            },
            |scratch, one, other| {
                let tile = rows.products(&one.rows, &other.rows, self.scale, &mut scratch.tile);
                saved.weigh(tile, &one.rows, &other.rows, &shifts);
                rows.add_sums(&mut one.state, &one.rows, tile, &other.rows, factor);
                rows.add_transposed_sums(&mut other.state, &one.rows, tile, &other.rows, factor);
            },
        );
        let mut of_one = of_rows.concat();
        let of_other = of_one.split_off(half * saved.width);
        let matrix = |values: Vec<f32>| operation::tensor(values, [half, saved.width]);
        [wanted[0].then(|| matrix(of_one)), wanted[1].then(|| matrix(of_other))]
    }
}

impl Saved {
    /// What each row brings to the weights of its pairs: where one exponential serves both rows, `exp(shift - logarithm)`, else the
    /// logarithm.
    fn shifts(&self) -> Vec<f32> {
        match self.shift {
            Shift::Bound(bound) => self.logarithms.iter().map(|logarithm| (bound - logarithm).exp()).collect(),
            Shift::Largest => self.logarithms.clone(),
        }
    }

    /// From similarities to the shares that they have in the sums of both rows, added up.
    fn weigh(&self, tile: &mut [f32], one: &Range<usize>, other: &Range<usize>, shifts: &[f32]) {
        let columns = &shifts[other.clone()];
        kernel::vectorised(
            Arch::new(),
            #[inline(always)]
            || {
                for (row, &own) in tile.chunks_exact_mut(columns.len().max(1)).zip(&shifts[one.clone()]) {
                    match self.shift {
                        Shift::Bound(bound) => {
                            for (value, &column) in row.iter_mut().zip(columns) {
                                *value = scalar::exp(*value - bound) * (own + column);
                            }
                        }
                        Shift::Largest => {
                            for (value, &column) in row.iter_mut().zip(columns) {
                                *value = scalar::exp(*value - own) + scalar::exp(*value - column);
                            }
                        }
                    }
                }
            },
        );
    }
}

/// A row is not among those that it is told apart from. Its exponential is that of a number far below all others.
fn leave_out_diagonal(tile: &mut [f32], rows: usize) {
    tile.iter_mut().step_by(rows + 1).for_each(|value| *value = f32::MIN / 2.0);
}

/// Adds the exponentials of each row of a tile to its sum.
fn add_rows(tile: &[f32], shift: Shift, sums: &mut [Sum]) {
    let columns = tile.len() / sums.len().max(1);
    kernel::vectorised(
        Arch::new(),
        #[inline(always)]
        || {
            for (row, sum) in tile.chunks_exact(columns.max(1)).zip(sums.iter_mut()) {
                let shift = match shift {
                    Shift::Bound(bound) => bound,
                    Shift::Largest => row.iter().copied().fold(f32::MIN, f32::max),
                };
                sum.add(shift, sum_of_exponentials(row, shift));
            }
        },
    );
}

/// Adds the exponentials of each row and of each column of a tile to their sums.
fn add_both(tile: &[f32], bound: f32, of_rows: &mut [Sum], parts: &mut Vec<f32>, of_columns: &mut [Sum]) {
    parts.clear();
    parts.resize(of_columns.len(), 0.0);
    kernel::vectorised(
        Arch::new(),
        #[inline(always)]
        || {
            for (row, sum) in tile.chunks_exact(parts.len().max(1)).zip(of_rows.iter_mut()) {
                let mut lanes = [0.0; kernel::LANES];
                let (chunks, rest) = row.as_chunks::<{ kernel::LANES }>();
                let (parts, parts_of_rest) = parts.as_chunks_mut::<{ kernel::LANES }>();
                for (chunk, parts) in chunks.iter().zip(parts) {
                    add_chunk(chunk, bound, &mut lanes, parts);
                }
                add_chunk(rest, bound, &mut lanes, parts_of_rest);
                sum.add(bound, lanes.iter().sum());
            }
        },
    );
    of_columns.iter_mut().zip(parts.iter()).for_each(|(sum, &part)| sum.add(bound, part));
}

#[inline(always)]
fn add_chunk(values: &[f32], bound: f32, lanes: &mut [f32; kernel::LANES], parts: &mut [f32]) {
    for ((&value, lane), part) in values.iter().zip(lanes).zip(parts) {
        let exponential = scalar::exp(value - bound);
        *lane += exponential;
        *part += exponential;
    }
}

/// Adds the exponentials of each column of a tile to its sum, each column shifted by its largest value.
fn add_columns(tile: &[f32], parts: &mut Vec<f32>, largest: &mut Vec<f32>, sums: &mut [Sum]) {
    let columns = sums.len().max(1);
    parts.clear();
    parts.resize(sums.len(), 0.0);
    largest.clear();
    largest.resize(sums.len(), f32::MIN);
    kernel::vectorised(
        Arch::new(),
        #[inline(always)]
        || {
            for row in tile.chunks_exact(columns) {
                largest.iter_mut().zip(row).for_each(|(largest, &value)| *largest = largest.max(value));
            }
            for row in tile.chunks_exact(columns) {
                for ((part, &value), &largest) in parts.iter_mut().zip(row).zip(largest.iter()) {
                    *part += scalar::exp(value - largest);
                }
            }
        },
    );
    for ((sum, &part), &largest) in sums.iter_mut().zip(parts.iter()).zip(largest.iter()) {
        sum.add(largest, part);
    }
}

/// `Σ exp(value - shift)`, in lanes.
#[inline(always)]
fn sum_of_exponentials(values: &[f32], shift: f32) -> f32 {
    let mut lanes = [0.0; kernel::LANES];
    let (chunks, rest) = values.as_chunks::<{ kernel::LANES }>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane += scalar::exp(value - shift);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane += scalar::exp(value - shift);
    }
    lanes.iter().sum()
}
