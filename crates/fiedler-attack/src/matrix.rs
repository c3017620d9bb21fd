//! Dense matrices, row after row, and products whose results do not depend on the number of threads.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Rows of a product that one thread computes: fixed, so that results do not depend on the number of threads.
const ROWS: usize = 64;

/// Products of fewer multiplications than this are not worth a second thread.
const ALONE: usize = 1 << 18;

/// A dense matrix, row after row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// All zeros.
    pub fn zeros(rows: usize, columns: usize) -> Matrix {
        Matrix { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// Row after row of values; their number must be that of the places.
    pub fn from_values(rows: usize, columns: usize, values: Vec<f64>) -> Matrix {
        assert_eq!(values.len(), rows * columns, "as many values as places");
        Matrix { rows, columns, values }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.columns)
    }

    /// `self · other`.
    pub(crate) fn times(&self, other: &Matrix) -> Matrix {
        product(self.view(), other.view())
    }

    /// `selfᵀ · other`.
    pub(crate) fn transposed_times(&self, other: &Matrix) -> Matrix {
        product(self.view().transpose(), other.view())
    }

    /// `self · otherᵀ`.
    pub(crate) fn times_transposed(&self, other: &Matrix) -> Matrix {
        product(self.view(), other.view().transpose())
    }

    /// `self += left · right`.
    pub(crate) fn add_product(&mut self, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
        multiply(self, Accum::Add, left, right);
    }

    /// `self ← keep · self + factor · other`.
    pub(crate) fn mix(&mut self, keep: f64, factor: f64, other: &Matrix) {
        for (own, other) in self.values.iter_mut().zip(&other.values) {
            *own = keep * *own + factor * other;
        }
    }

    /// Columns of several matrices side by side.
    pub(crate) fn beside(parts: &[&Matrix]) -> Matrix {
        let rows = parts.first().map_or(0, |part| part.rows);
        let columns = parts.iter().map(|part| part.columns).sum();
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            parts.iter().for_each(|part| values.extend_from_slice(part.row(row)));
        }
        Matrix { rows, columns, values }
    }
}

/// `left · right`.
fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Matrix {
    let mut to = Matrix::zeros(left.nrows(), right.ncols());
    multiply(&mut to, Accum::Replace, left, right);
    to
}

fn multiply(to: &mut Matrix, mode: Accum, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let columns = to.columns;
    if columns == 0 || to.rows == 0 || left.ncols() == 0 {
        return;
    }
    let piece = |(place, to): (usize, &mut [f64])| {
        let rows = to.len() / columns;
        let left = left.subrows(place * ROWS, rows);
        matmul(MatMut::from_row_major_slice_mut(to, rows, columns), mode, left, right, 1.0, Par::Seq);
    };
    match left.nrows() * left.ncols() * columns < ALONE {
        true => to.values.chunks_mut(ROWS * columns).enumerate().for_each(piece),
        false => to.values.par_chunks_mut(ROWS * columns).enumerate().for_each(piece),
    }
}

/// The inner product of two slices.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `to += factor · from`.
pub(crate) fn add_scaled(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}
