//! Loops over rows of `f32`, in fixed parts for as many threads as there are.
//!
//! Parts never depend on the number of threads, and sums over rows are taken part by part in order, so that results are the same
//! to the last bit however many threads there are.
//!
//! Closures handed to these loops are marked `#[inline(always)]`: only then are they compiled for the processor's widest vectors.

use std::ops::Range;

use fiedler_spectral::simd::Arch;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Rows of a part. Sums over many rows are sums of such parts, which keeps rounding small.
const ROWS_OF_PART: usize = 64;
/// Values one thread works on at a time, at least: below that, handing them over takes longer than doing them.
const VALUES_AT_ONCE: usize = 1 << 15;
/// Columns summed in registers at once.
const TILE: usize = 64;
/// Columns summed at once where a tile does not fit.
const NARROW: usize = 8;
/// Sums of a row are taken in this many lanes.
pub(crate) const LANES: usize = 16;

/// Rows of the given width that one thread works on at a time, at least.
pub(crate) fn rows_at_once(width: usize) -> usize {
    (VALUES_AT_ONCE / width.max(1)).max(1)
}

/// The same for parts of so many rows.
fn parts_at_once(width: usize) -> usize {
    rows_at_once(width).div_ceil(ROWS_OF_PART)
}

/// Runs a closure that is marked `#[inline(always)]` compiled for the processor's widest vectors.
#[inline(always)]
pub(crate) fn vectorised<R>(arch: Arch, work: impl FnMut() -> R) -> R {
    // Handed over as it is, a closure would be called through a function of its own, which is not compiled for those vectors.
    struct Vectorised<F>(F);
    impl<R, F: FnMut() -> R> WithSimd for Vectorised<F> {
        type Output = R;

        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> R {
            (self.0)()
        }
    }
    arch.dispatch(Vectorised(work))
}

/// The rows of a sparse matrix.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SparseRows<'a> {
    pub offsets: &'a [usize],
    pub columns: &'a [u32],
    pub values: &'a [f32],
}

impl SparseRows<'_> {
    fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline(always)]
    fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// The product with a dense matrix of the given width; `finish` has the last word on each piece of a row, and gets the first
    /// column of the piece.
    pub(crate) fn times(&self, dense: &[f32], width: usize, finish: impl Fn(usize, &mut [f32]) + Sync) -> Vec<f32> {
        let tiles = width / TILE;
        if tiles == 0 || tiles * TILE < width {
            let mut product = vec![0.0; self.rows() * width];
            self.times_into(dense, width, &mut product, finish);
            return product;
        }
        // Whole tiles are handed over as they are made: there is no memory to fill with zeros first, which only one thread would do.
        let arch = Arch::new();
        let product = (0..self.rows() * tiles).into_par_iter().with_min_len(VALUES_AT_ONCE / TILE).map(|place| {
            let (columns, values) = self.row(place / tiles);
            let first = place % tiles * TILE;
            let mut tile = [0.0; TILE];
            vectorised(
                arch,
                #[inline(always)]
                || {
                    combine(columns, values, dense, width, first, &mut tile);
                    finish(first, &mut tile);
                },
            );
            tile
        });
        product.collect::<Vec<[f32; TILE]>>().into_flattened()
    }

    /// The same, written to where there is memory for it.
    pub(crate) fn times_into(
        &self,
        dense: &[f32],
        width: usize,
        product: &mut [f32],
        finish: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        for_each_part(
            product,
            width,
            #[inline(always)]
            |first, part| {
                for (place, image) in part.chunks_exact_mut(width).enumerate() {
                    let (columns, values) = self.row(first + place);
                    let mut done = 0;
                    let (tiles, rest) = image.as_chunks_mut::<TILE>();
                    for tile in tiles {
                        combine(columns, values, dense, width, done, tile);
                        finish(done, tile);
                        done += TILE;
                    }
                    let (tiles, rest) = rest.as_chunks_mut::<NARROW>();
                    for tile in tiles {
                        combine(columns, values, dense, width, done, tile);
                        finish(done, tile);
                        done += NARROW;
                    }
                    for tile in rest {
                        let tile = std::array::from_mut(tile);
                        combine(columns, values, dense, width, done, tile);
                        finish(done, tile);
                        done += 1;
                    }
                }
            },
        );
    }

    /// The product of the transpose, which has the given number of rows, with a dense matrix of the given width.
    pub(crate) fn transposed_times(&self, rows: usize, dense: &[f32], width: usize) -> Vec<f32> {
        let mut product = TransposedProduct::new(rows, width);
        product.add(self, dense);
        product.finish()
    }

    /// Adds to the columns of a transposed product from `first` on, row after row.
    #[inline(always)]
    fn scatter<const WIDTH: usize>(&self, dense: &[f32], width: usize, first: usize, sums: &mut [f32]) {
        let (sums, _) = sums.as_chunks_mut::<WIDTH>();
        for row in 0..self.rows() {
            let start = row * width + first;
            let source: &[f32; WIDTH] = dense[start..start + WIDTH].try_into().expect("as many as asked for");
            let (columns, values) = self.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                for (sum, &source) in sums[column as usize].iter_mut().zip(source) {
                    *sum += value * source;
                }
            }
        }
    }
}

/// A product of a transposed sparse matrix and a dense one, to which rows of both are added as they come: the same bits however many
/// come at once.
///
/// Each thread takes some columns of the dense matrix and all of its rows in their order, so that sums need not be shared and what
/// they are added to stays in the cache.
pub(crate) struct TransposedProduct {
    rows: usize,
    width: usize,
    tiles: Vec<(usize, usize)>,
    sums: Vec<Vec<f32>>,
}

impl TransposedProduct {
    /// Of so many rows, which are columns of the sparse matrix.
    pub(crate) fn new(rows: usize, width: usize) -> TransposedProduct {
        let tiles: Vec<(usize, usize)> = tiles(width).collect();
        let sums = tiles.iter().map(|&(_, size)| vec![0.0; rows * size]).collect();
        TransposedProduct { rows, width, tiles, sums }
    }

    pub(crate) fn add(&mut self, sparse: &SparseRows<'_>, dense: &[f32]) {
        let (arch, width) = (Arch::new(), self.width);
        self.tiles.par_iter().zip(&mut self.sums).for_each(|(&(first, size), sums)| {
            vectorised(
                arch,
                #[inline(always)]
                || match size {
                    TILE => sparse.scatter::<TILE>(dense, width, first, sums),
                    NARROW => sparse.scatter::<NARROW>(dense, width, first, sums),
                    _ => sparse.scatter::<1>(dense, width, first, sums),
                },
            );
        });
    }

    pub(crate) fn finish(self) -> Vec<f32> {
        let TransposedProduct { rows, width, tiles, sums } = self;
        let mut product = vec![0.0; rows * width];
        for_each_part(
            &mut product,
            width,
            #[inline(always)]
            |start, part| {
                for (place, image) in part.chunks_exact_mut(width).enumerate() {
                    for (&(first, size), sums) in tiles.iter().zip(&sums) {
                        let row = (start + place) * size;
                        image[first..first + size].copy_from_slice(&sums[row..row + size]);
                    }
                }
            },
        );
        product
    }
}

/// Leaves a piece of a product as it is.
#[inline(always)]
pub(crate) fn as_it_is(_: usize, _: &mut [f32]) {}

/// The tiles a row of the given width is cut into: first column and size.
fn tiles(width: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut first = 0;
    std::iter::from_fn(move || {
        let size = match width - first {
            0 => return None,
            left if left >= TILE => TILE,
            left if left >= NARROW => NARROW,
            _ => 1,
        };
        first += size;
        Some((first - size, size))
    })
}

/// `Σ values[k] · dense[columns[k]]` for the columns from `first` on.
#[inline(always)]
fn combine<const WIDTH: usize>(
    columns: &[u32],
    values: &[f32],
    dense: &[f32],
    width: usize,
    first: usize,
    tile: &mut [f32; WIDTH],
) {
    let mut sums = [0.0; WIDTH];
    for (&column, &value) in columns.iter().zip(values) {
        let start = column as usize * width + first;
        let source: &[f32; WIDTH] = dense[start..start + WIDTH].try_into().expect("as many as asked for");
        for (sum, &source) in sums.iter_mut().zip(source) {
            *sum += value * source;
        }
    }
    *tile = sums;
}

/// Calls `work` on parts of consecutive rows, with the number of the first; on the processor's widest vectors.
pub(crate) fn for_each_part(matrix: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
    if width == 0 {
        return;
    }
    let arch = Arch::new();
    let parts = matrix.par_chunks_mut(ROWS_OF_PART * width).enumerate();
    parts.with_min_len(parts_at_once(width)).for_each(|(part, rows)| {
        vectorised(
            arch,
            #[inline(always)]
            || work(part * ROWS_OF_PART, rows),
        );
    });
}

/// Calls `work` on parts of consecutive rows, with the number of the first, and adds up the vectors that it fills.
pub(crate) fn sum_over_parts<const SUMS: usize>(
    matrix: &mut [f32],
    width: usize,
    work: impl Fn(usize, &mut [f32], &mut [Vec<f32>; SUMS]) + Sync,
) -> [Vec<f32>; SUMS] {
    // A matrix without columns has no parts, however they are cut.
    add_up(matrix.par_chunks_mut(ROWS_OF_PART * width.max(1)), width, work)
}

/// As [`sum_over_parts`], of rows that are only read.
pub(crate) fn sum_over_parts_of<const SUMS: usize>(
    matrix: &[f32],
    width: usize,
    work: impl Fn(usize, &[f32], &mut [Vec<f32>; SUMS]) + Sync,
) -> [Vec<f32>; SUMS] {
    add_up(matrix.par_chunks(ROWS_OF_PART * width.max(1)), width, work)
}

/// Adds up the vectors that `work` fills for each part, in the order of the parts.
fn add_up<Part: Send, const SUMS: usize>(
    parts: impl IndexedParallelIterator<Item = Part>,
    width: usize,
    work: impl Fn(usize, Part, &mut [Vec<f32>; SUMS]) + Sync,
) -> [Vec<f32>; SUMS] {
    let arch = Arch::new();
    let sums: Vec<[Vec<f32>; SUMS]> = parts
        .enumerate()
        .with_min_len(parts_at_once(width))
        .map(|(part, rows)| {
            let mut sums = std::array::from_fn(|_| vec![0.0; width]);
            let mut rows = Some(rows);
            vectorised(
                arch,
                #[inline(always)]
                || {
                    if let Some(rows) = rows.take() {
                        work(part * ROWS_OF_PART, rows, &mut sums);
                    }
                },
            );
            sums
        })
        .collect();
    let mut totals = std::array::from_fn(|_| vec![0.0; width]);
    for of_part in sums {
        for (total, sum) in totals.iter_mut().zip(&of_part) {
            add_to(total, sum);
        }
    }
    totals
}

/// Adds one row to another.
#[inline(always)]
pub(crate) fn add_to(total: &mut [f32], row: &[f32]) {
    for (total, &value) in total.iter_mut().zip(row) {
        *total += value;
    }
}

/// Adds a multiple of one row to another.
#[inline(always)]
pub(crate) fn add_multiple(total: &mut [f32], factor: f32, row: &[f32]) {
    for (total, &value) in total.iter_mut().zip(row) {
        *total += factor * value;
    }
}

/// The dot product of two rows, summed in a fixed number of lanes whatever the processor.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for ((lane, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    for ((lane, &a), &b) in lanes.iter_mut().zip(a_rest).zip(b_rest) {
        *lane += a * b;
    }
    lanes.iter().sum()
}

/// Consecutive rows of one segment, small enough for one thread at a time.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub segment: usize,
    pub rows: Range<usize>,
}

/// Cuts offsets of rows into pieces, in order.
pub(crate) fn pieces(offsets: &[u32]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (segment, bounds) in offsets.windows(2).enumerate() {
        let (start, end) = (bounds[0] as usize, bounds[1] as usize);
        for first in (start..end).step_by(ROWS_OF_PART) {
            pieces.push(Piece { segment, rows: first..end.min(first + ROWS_OF_PART) });
        }
    }
    pieces
}

/// How many of these pieces one thread should take at a time, at least.
pub(crate) fn pieces_at_once(pieces: &[Piece], width: usize) -> usize {
    let rows: usize = pieces.iter().map(|piece| piece.rows.len()).sum();
    rows_at_once(width) * pieces.len() / rows.max(1) + 1
}
