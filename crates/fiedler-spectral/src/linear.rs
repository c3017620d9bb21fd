//! Products of tall matrices and small decompositions whose results do not depend on the number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::reborrow::ReborrowMut;
use faer::traits::RealField;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::dense::Spectrum;
use crate::error::{Error, Result};
use crate::operator::SymmetricMap;

/// Rows that one product takes at a time.
const ROWS: usize = 2048;

/// Single or double precision.
pub(crate) trait Precision: RealField + Copy {
    /// Vectors multiplied together: few enough to stay in the cache from one product to the next.
    const PANEL: usize;

    /// The nearest number of this precision.
    fn of(value: f64) -> Self;

    /// The same number in double precision.
    fn wide(self) -> f64;

    /// [`SymmetricMap::recur`] in this precision.
    fn recur(map: &dyn SymmetricMap, x: &[Self], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [Self]);
}

impl Precision for f64 {
    const PANEL: usize = 16;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    fn recur(map: &dyn SymmetricMap, x: &[f64], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f64]) {
        map.recur(x, columns, scale, shift, keep, y);
    }
}

impl Precision for f32 {
    const PANEL: usize = 32;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    fn recur(map: &dyn SymmetricMap, x: &[f32], columns: usize, scale: f64, shift: f64, keep: f64, y: &mut [f32]) {
        map.recur_single(x, columns, scale as f32, shift as f32, keep as f32, y);
    }
}

/// `leftᵀ right`, summed over pieces of fixed height in their order.
pub(crate) fn inner<T: Precision>(left: MatRef<'_, T>, right: MatRef<'_, T>) -> Mat<f64> {
    sum_of_pieces(left, right, |part, left, right| {
        matmul(part, Accum::Replace, left.transpose(), right, T::of(1.0), Par::Seq);
    })
}

/// The lower triangle of `leftᵀ right`, which the caller knows to be symmetric; zeros above. Half the work of [`inner`].
pub(crate) fn symmetric_inner<T: Precision>(left: MatRef<'_, T>, right: MatRef<'_, T>) -> Mat<f64> {
    sum_of_pieces(left, right, |part, left, right| {
        let (lower, whole) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
        triangular::matmul(part, lower, Accum::Replace, left.transpose(), whole, right, whole, T::of(1.0), Par::Seq);
    })
}

fn sum_of_pieces<T: Precision>(
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    multiply: impl Fn(MatMut<'_, T>, MatRef<'_, T>, MatRef<'_, T>) + Sync,
) -> Mat<f64> {
    let height = left.nrows();
    let piece = |first: usize| {
        let rows = ROWS.min(height - first);
        let mut part = Mat::zeros(left.ncols(), right.ncols());
        multiply(part.as_mut(), left.subrows(first, rows), right.subrows(first, rows));
        part
    };
    let starts: Vec<usize> = (0..height).step_by(ROWS).collect();
    let mut sum = Mat::zeros(left.ncols(), right.ncols());
    // A few pieces at a time, so that their memory stays small.
    for some in starts.chunks(16) {
        let parts: Vec<Mat<T>> = some.par_iter().map(|&first| piece(first)).collect();
        for part in &parts {
            for column in 0..part.ncols() {
                let to = sum.col_as_slice_mut(column).iter_mut();
                to.zip(part.col_as_slice(column)).for_each(|(to, value)| *to += value.wide());
            }
        }
    }
    sum
}

/// `to ← factor · left · right`, or added to what is there.
pub(crate) fn product<T: Precision>(
    to: MatMut<'_, T>,
    mode: Accum,
    left: MatRef<'_, T>,
    right: MatRef<'_, T>,
    factor: f64,
) {
    if left.ncols() == 0 || right.ncols() == 0 {
        // Nothing to add; and what would be replaced is empty or zero already.
        return;
    }
    to.par_row_chunks_mut(ROWS).enumerate().for_each(|(place, to)| {
        let left = left.subrows(place * ROWS, to.nrows());
        matmul(to, mode, left, right, T::of(factor), Par::Seq);
    });
}

/// `left · right`.
pub(crate) fn times<T: Precision>(left: MatRef<'_, T>, right: MatRef<'_, T>) -> Mat<T> {
    let mut result = Mat::zeros(left.nrows(), right.ncols());
    product(result.as_mut(), Accum::Replace, left, right, 1.0);
    result
}

/// Copies a matrix into another of the same shape and perhaps another precision.
pub(crate) fn copy<S: Precision, T: Precision>(mut to: MatMut<'_, T>, from: MatRef<'_, S>) {
    for column in 0..from.ncols() {
        let (to, from) = (to.rb_mut().col_mut(column), from.col(column));
        to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = T::of(from.wide()));
    }
}

/// Eigenvalues and eigenvectors of a small symmetric matrix, of which only the lower triangle is read, on one thread.
pub(crate) fn decompose(matrix: MatRef<'_, f64>) -> Result<Spectrum> {
    let nodes = matrix.nrows();
    let mut vectors = Mat::zeros(nodes, nodes);
    let mut values = Diag::zeros(nodes);
    if nodes > 0 {
        let scratch = self_adjoint_evd_scratch::<f64>(nodes, ComputeEigenvectors::Yes, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let stack = MemStack::new(&mut memory);
        self_adjoint_evd(matrix, values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, Default::default())
            .map_err(|_| Error::NoDecomposition { nodes })?;
    }
    Ok(Spectrum { values: values.column_vector().iter().copied().collect(), vectors })
}
