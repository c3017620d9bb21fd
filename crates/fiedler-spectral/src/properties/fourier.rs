//! The graph Fourier transform: signals in terms of eigenvectors.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, get_global_parallelism};

/// The frequencies of `columns` signals: `Uᵀ x`, one row for each eigenvector.
///
/// The signals lie row by row, a row for each node. With some of the eigenvectors only their share of the signal is
/// seen.
///
/// # Panics
/// When the signals do not have one row for each node.
pub fn fourier(vectors: MatRef<'_, f64>, signals: &[f64], columns: usize) -> Vec<f64> {
    product(vectors.transpose(), signals, columns)
}

/// The signals that have these frequencies: `U x̂`, one row for each node.
///
/// # Panics
/// When the frequencies do not have one row for each eigenvector.
pub fn inverse_fourier(vectors: MatRef<'_, f64>, frequencies: &[f64], columns: usize) -> Vec<f64> {
    product(vectors, frequencies, columns)
}

fn product(matrix: MatRef<'_, f64>, rows: &[f64], columns: usize) -> Vec<f64> {
    let right = MatRef::from_row_major_slice(rows, matrix.ncols(), columns);
    let mut result = vec![0.0; matrix.nrows() * columns];
    let to = MatMut::from_row_major_slice_mut(&mut result, matrix.nrows(), columns);
    matmul(to, Accum::Replace, matrix, right, 1.0, get_global_parallelism());
    result
}
