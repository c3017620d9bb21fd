//! Products of tall matrices and small decompositions whose results do not depend on the number of threads.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::dense::Spectrum;
use crate::error::{Error, Result};

/// Rows that one product takes at a time.
const ROWS: usize = 2048;

/// `leftᵀ right`, summed over pieces of fixed height in their order.
pub(crate) fn inner(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let height = left.nrows();
    let piece = |first: usize| {
        let rows = ROWS.min(height - first);
        let mut part = Mat::zeros(left.ncols(), right.ncols());
        let (left, right) = (left.subrows(first, rows), right.subrows(first, rows));
        matmul(&mut part, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
        part
    };
    let starts: Vec<usize> = (0..height).step_by(ROWS).collect();
    let mut sum = Mat::zeros(left.ncols(), right.ncols());
    // A few pieces at a time, so that their memory stays small.
    for some in starts.chunks(16) {
        let parts: Vec<Mat<f64>> = some.par_iter().map(|&first| piece(first)).collect();
        parts.iter().for_each(|part| sum += part);
    }
    sum
}

/// `to ← factor · left · right`, or added to what is there.
pub(crate) fn product(to: MatMut<'_, f64>, mode: Accum, left: MatRef<'_, f64>, right: MatRef<'_, f64>, factor: f64) {
    if left.ncols() == 0 || right.ncols() == 0 {
        // Nothing to add; and what would be replaced is empty or zero already.
        return;
    }
    to.par_row_chunks_mut(ROWS).enumerate().for_each(|(place, to)| {
        let left = left.subrows(place * ROWS, to.nrows());
        matmul(to, mode, left, right, factor, Par::Seq);
    });
}

/// `left · right`.
pub(crate) fn times(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut result = Mat::zeros(left.nrows(), right.ncols());
    product(result.as_mut(), Accum::Replace, left, right, 1.0);
    result
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
