//! The derivative's low-rank part over the rows of a packed triangle.

use std::ops::Range;

use crate::kernel::LowRank;

/// Rows of a low-rank matrix, computed a tile at a time.
pub(super) struct LowRankRows<'k> {
    kernel: &'k LowRank,
    nodes: usize,
    tile: Range<usize>,
    rows: Vec<f32>,
}

impl<'k> LowRankRows<'k> {
    const TILE: usize = 32;

    pub(super) fn new(kernel: &'k LowRank, nodes: usize) -> Self {
        LowRankRows { kernel, nodes, tile: 0..0, rows: vec![0.0; Self::TILE * nodes] }
    }

    /// The terms of the pairs `(row, row + 1 ..)`; rows are asked for in ascending order.
    pub(super) fn row(&mut self, row: usize, end: usize) -> &[f32] {
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
