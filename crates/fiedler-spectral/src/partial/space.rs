//! A growing orthonormal basis, and the map seen through it.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, get_global_parallelism};
use rand::RngExt;

use super::filter::multiply;
use crate::dense::{Spectrum, decompose};
use crate::error::Result;
use crate::operator::SymmetricMap;
use fiedler_graph::random::stream;

/// Directions weaker than this share of the strongest are rounding errors.
const NOISE: f64 = 1e-12;

/// An orthonormal basis with room for more, and the map's matrix in it.
pub(super) struct Space<'a> {
    map: &'a dyn SymmetricMap,
    basis: Mat<f64>,
    projected: Mat<f64>,
    used: usize,
    seed: u64,
    draws: u64,
}

impl<'a> Space<'a> {
    pub(super) fn new(map: &'a dyn SymmetricMap, room: usize, seed: u64) -> Space<'a> {
        let room = room.min(map.size());
        Space { map, basis: Mat::zeros(map.size(), room), projected: Mat::zeros(room, room), used: 0, seed, draws: 0 }
    }

    /// Number of basis vectors.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Number of basis vectors there is still room for.
    pub(super) fn free(&self) -> usize {
        self.basis.ncols() - self.used
    }

    /// The basis vectors from `first` on.
    pub(super) fn from(&self, first: usize) -> MatRef<'_, f64> {
        self.basis.subcols(first, self.used - first)
    }

    /// Fresh random vectors, the same for the same seed.
    pub(super) fn random(&mut self, columns: usize) -> Mat<f64> {
        let mut numbers = stream(self.seed, "eigensolver start", self.draws);
        self.draws += 1;
        Mat::from_fn(self.map.size(), columns, |_, _| numbers.random::<f64>() - 0.5)
    }

    /// Adds the directions of `block` that the basis lacks, as far as there is room; returns how many.
    pub(super) fn extend(&mut self, block: Mat<f64>) -> usize {
        let block = self.orthonormal(block);
        let added = block.ncols().min(self.free());
        if added == 0 {
            return 0;
        }
        let block = block.subcols(0, added);
        let total = self.used + added;
        self.basis.subcols_mut(self.used, added).copy_from(block);
        let image = multiply(self.map, block);
        let through = self.projected.submatrix_mut(0, self.used, total, added);
        product(through, Accum::Replace, self.basis.subcols(0, total).transpose(), image.as_ref(), 1.0);
        for column in self.used..total {
            for row in 0..column {
                self.projected[(column, row)] = self.projected[(row, column)];
            }
        }
        self.used = total;
        added
    }

    /// Eigenvalues and eigenvectors of the map as the basis sees it.
    pub(super) fn ritz(&self) -> Result<Spectrum> {
        decompose(&self.projected.submatrix(0, 0, self.used, self.used).to_owned(), self.used)
    }

    /// The vectors that coefficients in the basis stand for.
    pub(super) fn lift(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        let mut vectors = Mat::zeros(self.map.size(), coefficients.ncols());
        product(vectors.as_mut(), Accum::Replace, self.basis.subcols(0, self.used), coefficients, 1.0);
        vectors
    }

    /// Forgets all but these vectors, which are orthonormal and see the map as a diagonal of `values`.
    pub(super) fn restart(&mut self, vectors: MatRef<'_, f64>, values: &[f64]) {
        self.used = vectors.ncols();
        self.basis.subcols_mut(0, self.used).copy_from(vectors);
        let mut projected = self.projected.submatrix_mut(0, 0, self.used, self.used);
        projected.fill(0.0);
        values.iter().enumerate().for_each(|(place, &value)| projected[(place, place)] = value);
    }

    /// Orthonormal vectors that span what `block` adds to the basis.
    ///
    /// The block is cleared of the basis, then whitened by the eigenvectors of its own inner products, which shows its rank.
    /// A second pass removes what rounding left in the first.
    fn orthonormal(&self, mut block: Mat<f64>) -> Mat<f64> {
        let known = self.basis.subcols(0, self.used);
        for pass in 0..3 {
            let before = unit_columns(&mut block);
            if self.used > 0 && block.ncols() > 0 {
                let mut shares = Mat::zeros(self.used, block.ncols());
                product(shares.as_mut(), Accum::Replace, known.transpose(), block.as_ref(), 1.0);
                product(block.as_mut(), Accum::Add, known, shares.as_ref(), -1.0);
            }
            let Some((whitened, weakest)) = before.then(|| whiten(block)).flatten() else {
                return Mat::zeros(self.map.size(), 0);
            };
            block = whitened;
            if pass > 0 && weakest > 0.5 {
                break;
            }
        }
        block
    }
}

/// Scales every column to length one and drops those without length; whether any is left.
fn unit_columns(block: &mut Mat<f64>) -> bool {
    let mut kept = 0;
    for column in 0..block.ncols() {
        let length = block.col_as_slice(column).iter().map(|value| value * value).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 0.0) {
            continue;
        }
        let scaled: Vec<f64> = block.col_as_slice(column).iter().map(|value| value / length).collect();
        block.col_as_slice_mut(kept).copy_from_slice(&scaled);
        kept += 1;
    }
    block.truncate(block.nrows(), kept);
    kept > 0
}

/// Orthonormal vectors with the span of the block, strongest first, and the square of the weakest's strength.
fn whiten(block: Mat<f64>) -> Option<(Mat<f64>, f64)> {
    let columns = block.ncols();
    let mut inner = Mat::zeros(columns, columns);
    product(inner.as_mut(), Accum::Replace, block.transpose(), block.as_ref(), 1.0);
    let Spectrum { values, vectors } = decompose(&inner, columns).ok()?;
    // The columns were of length one before the basis was taken out: what is left below this is rounding.
    let least = (NOISE * values.last().copied().unwrap_or(0.0)).max(1e-26);
    let first = values.partition_point(|&value| value <= least);
    if first == columns {
        return None;
    }
    let whitening = Mat::from_fn(columns, columns - first, |row, place| {
        let column = columns - 1 - place;
        vectors[(row, column)] / values[column].sqrt()
    });
    let mut result = Mat::zeros(block.nrows(), columns - first);
    product(result.as_mut(), Accum::Replace, block.as_ref(), whitening.as_ref(), 1.0);
    Some((result, values[first]))
}

/// `to ← factor · left · right`, or added to what is there.
fn product(to: faer::MatMut<'_, f64>, mode: Accum, left: MatRef<'_, f64>, right: MatRef<'_, f64>, factor: f64) {
    matmul(to, mode, left, right, factor, get_global_parallelism());
}
