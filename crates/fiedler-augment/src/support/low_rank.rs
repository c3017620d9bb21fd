//! The part of a derivative that is a matrix, over the rows of a packed triangle.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use fiedler_spectral::polynomial::{PANEL, series_columns};

use crate::kernel::{LowRank, MatrixPart, SeriesPart};

/// Rows of a symmetric matrix, computed a tile at a time.
pub(super) struct LowRankRows<'k> {
    matrix: &'k MatrixPart,
    nodes: usize,
    tile: Range<usize>,
    rows: Vec<f32>,
}

impl<'k> LowRankRows<'k> {
    const TILE: usize = PANEL;

    pub(super) fn new(matrix: &'k MatrixPart, nodes: usize) -> Self {
        LowRankRows { matrix, nodes, tile: 0..0, rows: vec![0.0; Self::TILE * nodes] }
    }

    /// The terms of the pairs `(row, row + 1 ..)`; rows are asked for in ascending order.
    pub(super) fn row(&mut self, row: usize, end: usize) -> &[f32] {
        if !self.tile.contains(&row) {
            self.fill(row..end.min(row + Self::TILE));
        }
        &self.rows[(row - self.tile.start) * self.nodes..][row + 1..self.nodes]
    }

    fn fill(&mut self, tile: Range<usize>) {
        match self.matrix {
            MatrixPart::LowRank(part) => self.fill_low_rank(part, tile.clone()),
            MatrixPart::Series(part) => self.fill_series(part, tile.clone()),
            MatrixPart::Listed(part) => {
                self.rows.fill(0.0);
                for (row, node) in tile.clone().enumerate() {
                    for (place, &other) in part.pairs.places(node).zip(part.pairs.of(node)) {
                        self.rows[row * self.nodes + other as usize] = part.values[place];
                    }
                }
            }
        }
        self.tile = tile;
    }

    fn fill_low_rank(&mut self, part: &LowRank, tile: Range<usize>) {
        let rank = part.coefficients.len();
        let scaled: Vec<f32> =
            tile.clone().flat_map(|row| part.row(row).iter().zip(&part.coefficients).map(|(a, b)| a * b)).collect();
        let rows = MatMut::from_row_major_slice_mut(&mut self.rows[..tile.len() * self.nodes], tile.len(), self.nodes);
        let scaled = MatRef::from_row_major_slice(&scaled, tile.len(), rank);
        let vectors = MatRef::from_row_major_slice(&part.vectors, self.nodes, rank);
        matmul(rows, Accum::Replace, scaled, vectors.transpose(), 1.0, Par::Seq);
    }

    fn fill_series(&mut self, part: &SeriesPart, tile: Range<usize>) {
        let columns = series_columns(&part.map, &part.series, tile.start);
        for (row, node) in tile.enumerate() {
            let to = &mut self.rows[row * self.nodes..][..self.nodes];
            let from = columns.iter().skip(row).step_by(PANEL).zip(&part.scale);
            to.iter_mut().zip(from).for_each(|(to, (value, scale))| *to = part.scale[node] * scale * value);
        }
    }
}
