//! All pairs of the rows of a matrix, a tile of them at a time: what losses that compare nodes with nodes spend their time in.
//!
//! The products of rows are a symmetric matrix, of which only one tile a thread is ever held. Rows are cut into blocks, and any two blocks
//! meet once, as in a tournament: in each round every block meets one other, so that both may be written to. Blocks and rounds depend on
//! the number of rows alone, and so does the order in which a block's sums are taken: results are the same to the last bit however many
//! threads there are.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows of a block, at most: tiles and the rows they are made of stay in the cache.
const ROWS: usize = 256;
/// Where there are several blocks, their number is a multiple of this one, so that a round has equal work for two or four threads.
const BLOCKS: usize = 8;

/// Consecutive rows, and what is collected for them.
#[derive(Debug)]
pub(super) struct Block<S> {
    pub rows: Range<usize>,
    pub state: S,
}

/// Visits all pairs of blocks of so many rows, each pair once and each block with itself, and returns what was collected, in the order of
/// the rows. Every thread has a scratch of its own.
pub(super) fn for_all_pairs<S: Send, T>(
    rows: usize,
    state: impl Fn(Range<usize>) -> S,
    scratch: impl Fn() -> T + Sync,
    within: impl Fn(&mut T, &mut Block<S>) + Sync,
    across: impl Fn(&mut T, &mut Block<S>, &mut Block<S>) + Sync,
) -> Vec<S> {
    let mut blocks: Vec<Block<S>> = cut(rows).map(|rows| Block { state: state(rows.clone()), rows }).collect();
    blocks.par_iter_mut().for_each_init(&scratch, &within);
    // The first stays where it is while the others go round the table: after as many rounds as there are others, all have met.
    for _ in 1..blocks.len() {
        let half = blocks.len() / 2;
        let (one, other) = blocks.split_at_mut(half);
        let pairs = one.par_iter_mut().zip(other.par_iter_mut().rev());
        pairs.for_each_init(&scratch, |scratch, (one, other)| across(scratch, one, other));
        blocks[1..].rotate_right(1);
    }
    blocks.sort_unstable_by_key(|block| block.rows.start);
    blocks.into_iter().map(|block| block.state).collect()
}

/// Blocks of nearly equal size: one, or an even number of them.
fn cut(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let blocks = match rows.div_ceil(ROWS) {
        0 | 1 => 1,
        blocks => blocks.next_multiple_of(BLOCKS),
    };
    (0..blocks).map(move |block| block * rows / blocks..(block + 1) * rows / blocks)
}

/// A matrix, row after row, whose rows are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows<'a> {
    pub values: &'a [f32],
    pub width: usize,
}

impl Rows<'_> {
    pub(super) fn count(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    fn block(&self, rows: &Range<usize>) -> MatRef<'_, f32> {
        let values = &self.values[rows.start * self.width..rows.end * self.width];
        MatRef::from_row_major_slice(values, rows.len(), self.width)
    }

    /// `scale ·` the products of all rows of one block with all of another, row after row.
    pub(super) fn products<'t>(
        &self,
        one: &Range<usize>,
        other: &Range<usize>,
        scale: f32,
        tile: &'t mut Vec<f32>,
    ) -> &'t mut [f32] {
        tile.resize(one.len() * other.len(), 0.0);
        let product = MatMut::from_row_major_slice_mut(tile, one.len(), other.len());
        matmul(product, Accum::Replace, self.block(one), self.block(other).transpose(), scale, Par::Seq);
        tile
    }

    /// Adds to each row of one block the sum of all rows of another, each times its weight in a tile and `scale`.
    pub(super) fn add_sums(
        &self,
        sums: &mut [f32],
        one: &Range<usize>,
        tile: &[f32],
        other: &Range<usize>,
        scale: f32,
    ) {
        let tile = MatRef::from_row_major_slice(tile, one.len(), other.len());
        self.add_product(sums, tile, other, scale);
    }

    /// The same for the rows of the other block.
    pub(super) fn add_transposed_sums(
        &self,
        sums: &mut [f32],
        one: &Range<usize>,
        tile: &[f32],
        other: &Range<usize>,
        scale: f32,
    ) {
        let tile = MatRef::from_row_major_slice(tile, one.len(), other.len());
        self.add_product(sums, tile.transpose(), one, scale);
    }

    fn add_product(&self, sums: &mut [f32], weights: MatRef<'_, f32>, of: &Range<usize>, scale: f32) {
        let sums = MatMut::from_row_major_slice_mut(sums, weights.nrows(), self.width);
        matmul(sums, Accum::Add, weights, self.block(of), scale, Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_blocks_meet_once() {
        for rows in [0, 1, 2, 255, 256, 257, 300, 2048, 2049, 5416] {
            let met = for_all_pairs(
                rows,
                |_| vec![0u8; rows],
                || (),
                |(), block| block.rows.clone().for_each(|row| block.state[row] += 1),
                |(), one, other| {
                    other.rows.clone().for_each(|row| one.state[row] += 1);
                    one.rows.clone().for_each(|row| other.state[row] += 1);
                },
            );
            assert!(met.len() == 1 || met.len().is_multiple_of(BLOCKS), "{rows}: {}", met.len());
            assert!(met.iter().all(|met| met.iter().all(|&times| times == 1)), "{rows}");
            let sizes: Vec<usize> = cut(rows).map(|block| block.len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), rows);
            assert!(sizes.iter().all(|&size| size <= ROWS), "{rows}");
        }
    }
}
