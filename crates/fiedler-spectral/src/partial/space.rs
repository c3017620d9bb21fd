//! A growing orthonormal basis, and the map seen through it.

use faer::{Accum, Mat, MatRef};
use rand::RngExt;

use super::filter::multiply;
use crate::dense::Spectrum;
use crate::error::Result;
use crate::linear::{Precision, decompose, inner, product, symmetric_inner, times};
use crate::operator::SymmetricMap;
use fiedler_graph::random::stream;

/// Directions weaker than this share of the strongest are rounding errors.
const NOISE: f64 = 1e-12;

/// The squared length of what rounding leaves of a vector of length one that lies in the basis.
const NOTHING: f64 = 1e-26;

/// An orthonormal basis with room for more, and the map's matrix in it.
pub(super) struct Space<'a> {
    map: &'a dyn SymmetricMap,
    basis: Mat<f64>,
    projected: Mat<f64>,
    used: usize,
    room: usize,
    seed: u64,
    draws: u64,
}

impl<'a> Space<'a> {
    pub(super) fn new(map: &'a dyn SymmetricMap, room: usize, seed: u64) -> Space<'a> {
        let room = room.min(map.size());
        Space { map, basis: Mat::zeros(map.size(), 0), projected: Mat::new(), used: 0, room, seed, draws: 0 }
    }

    /// Takes the memory, which a warm start may never need.
    fn allocate(&mut self) {
        if self.basis.ncols() < self.room {
            self.basis = Mat::zeros(self.map.size(), self.room);
            self.projected = Mat::zeros(self.room, self.room);
        }
    }

    /// Number of basis vectors.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Number of basis vectors there is still room for.
    pub(super) fn free(&self) -> usize {
        self.room - self.used
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
        self.allocate();
        let block = self.orthonormal(block);
        let added = block.ncols().min(self.free());
        if added == 0 {
            return 0;
        }
        let block = block.subcols(0, added);
        let total = self.used + added;
        self.basis.subcols_mut(self.used, added).copy_from(block);
        let image = multiply(self.map, block);
        let through = inner(self.basis.subcols(0, total), image.as_ref());
        self.projected.submatrix_mut(0, self.used, total, added).copy_from(&through);
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
        decompose(self.projected.submatrix(0, 0, self.used, self.used))
    }

    /// The vectors that coefficients in the basis stand for.
    pub(super) fn lift(&self, coefficients: MatRef<'_, f64>) -> Mat<f64> {
        times(self.basis.subcols(0, self.used), coefficients)
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
    /// The block is cleared of the basis, then whitened by the eigenvectors of its own inner products, which shows its
    /// rank. A second pass removes what rounding left in the first.
    fn orthonormal(&self, mut block: Mat<f64>) -> Mat<f64> {
        let known = self.basis.subcols(0, self.used);
        for pass in 0..3 {
            unit_columns(&mut block);
            let shares = inner(known, block.as_ref());
            product(block.as_mut(), Accum::Add, known, shares.as_ref(), -1.0);
            let Some((whitening, weakest)) = whitening(block.as_ref()) else {
                return Mat::zeros(self.map.size(), 0);
            };
            block = times(block.as_ref(), whitening.as_ref());
            if pass > 0 && weakest > 0.5 {
                break;
            }
        }
        block
    }
}

/// Scales every column to length one and drops those without length.
pub(super) fn unit_columns(block: &mut Mat<f64>) {
    let mut kept = 0;
    for column in 0..block.ncols() {
        if !unit_length(block.col_as_slice_mut(column)) {
            continue;
        }
        if kept < column {
            let moved = block.col_as_slice(column).to_vec();
            block.col_as_slice_mut(kept).copy_from_slice(&moved);
        }
        kept += 1;
    }
    block.truncate(block.nrows(), kept);
}

/// Scales a vector to length one and tells whether it has any.
pub(super) fn unit_length<T: Precision>(vector: &mut [T]) -> bool {
    let length = vector.iter().map(|value| value.wide().powi(2)).sum::<f64>().sqrt();
    let usable = length.is_finite() && length > 0.0;
    let factor = if usable { 1.0 / length } else { 0.0 };
    vector.iter_mut().for_each(|value| *value = T::of(value.wide() * factor));
    usable
}

/// What the block is multiplied by to become orthonormal, the strongest direction first, and the weakest's squared
/// strength. `None` when nothing but rounding is left of columns that were of length one.
pub(super) fn whitening(block: MatRef<'_, f64>) -> Option<(Mat<f64>, f64)> {
    let columns = block.ncols();
    let Spectrum { values, vectors } = decompose(symmetric_inner(block, block).as_ref()).ok()?;
    let least = (NOISE * values.last().copied().unwrap_or(0.0)).max(NOTHING);
    let first = values.partition_point(|&value| value <= least);
    let scaled = |row: usize, place: usize| {
        let column = columns - 1 - place;
        vectors[(row, column)] / values[column].sqrt()
    };
    (first < columns).then(|| (Mat::from_fn(columns, columns - first, scaled), values[first]))
}
