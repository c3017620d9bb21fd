//! Rows of numbers, and products of them whose results do not depend on the number of threads.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use fiedler_graph::Dense;
use rayon::prelude::*;

/// Rows that one product with few columns takes at a time.
const ROWS: usize = 256;
/// Rows that one part of a Gram matrix takes; larger, because each part is a matrix itself.
const GRAM_ROWS: usize = 2048;

/// Row after row of `f64`.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A matrix whose value at each row and column a function tells.
    pub fn from_fn(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> Matrix {
        let values = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Matrix { rows, columns, values: values.map(|(row, column)| value(row, column)).collect() }
    }

    /// The chosen rows of a table, in the order given.
    pub fn gather(table: &Dense, rows: &[u32]) -> Matrix {
        let values = rows.iter().flat_map(|&row| table.row(row as usize)).map(|&value| f64::from(value)).collect();
        Matrix { rows: rows.len(), columns: table.columns(), values }
    }

    pub(crate) fn from_values(rows: usize, columns: usize, values: Vec<f64>) -> Matrix {
        debug_assert_eq!(rows * columns, values.len());
        Matrix { rows, columns, values }
    }

    /// The rows of several matrices of the same columns, one after the other.
    pub(crate) fn stack(parts: impl IntoIterator<Item = Matrix>) -> Matrix {
        let mut stacked = Matrix { rows: 0, columns: 0, values: Vec::new() };
        for part in parts {
            stacked.rows += part.rows;
            stacked.columns = part.columns;
            stacked.values.extend(part.values);
        }
        stacked
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// The chosen rows, in the order given.
    pub fn choose(&self, rows: &[u32]) -> Matrix {
        let values = rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Matrix { rows: rows.len(), columns: self.columns, values }
    }

    /// Mean of each column.
    pub(crate) fn column_means(&self) -> Vec<f64> {
        let mut means = vec![0.0; self.columns];
        for row in self.values.chunks_exact(self.columns.max(1)) {
            means.iter_mut().zip(row).for_each(|(mean, value)| *mean += value);
        }
        means.iter_mut().for_each(|mean| *mean /= self.rows.max(1) as f64);
        means
    }

    /// Takes a vector away from every row.
    pub(crate) fn subtract(&mut self, vector: &[f64]) {
        for row in self.values.chunks_exact_mut(self.columns.max(1)) {
            row.iter_mut().zip(vector).for_each(|(value, taken)| *value -= taken);
        }
    }

    pub(crate) fn view(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.columns)
    }

    /// `self · right` into `to`, both of `width` columns, row after row.
    pub(crate) fn times(&self, right: &[f64], width: usize, to: &mut [f64]) {
        if width == 0 || self.columns == 0 {
            return to.fill(0.0);
        }
        let right = MatRef::from_row_major_slice(right, self.columns, width);
        to.par_chunks_mut(ROWS * width).enumerate().for_each(|(place, to)| {
            let rows = to.len() / width;
            let left = self.view().subrows(place * ROWS, rows);
            matmul(MatMut::from_row_major_slice_mut(to, rows, width), Accum::Replace, left, right, 1.0, Par::Seq);
        });
    }

    /// `selfᵀ · right`, for `right` of `width` columns, row after row: summed over parts of fixed height in their order.
    pub(crate) fn transposed_times(&self, right: &[f64], width: usize) -> Vec<f64> {
        let mut sum = vec![0.0; self.columns * width];
        if sum.is_empty() || self.rows == 0 {
            return sum;
        }
        let part = |(place, right): (usize, &[f64])| {
            let rows = right.len() / width;
            let left = self.view().subrows(place * ROWS, rows);
            let right = MatRef::from_row_major_slice(right, rows, width);
            let mut part = vec![0.0; self.columns * width];
            let to = MatMut::from_row_major_slice_mut(&mut part, self.columns, width);
            matmul(to, Accum::Replace, left.transpose(), right, 1.0, Par::Seq);
            part
        };
        let parts: Vec<Vec<f64>> = right.par_chunks(ROWS * width).enumerate().map(part).collect();
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(sum, value)| *sum += value);
        }
        sum
    }

    /// `selfᵀ · diag(weights) · self`, of which only the lower triangle is meant; without weights they are all one.
    pub(crate) fn gram(&self, weights: Option<&[f64]>) -> Mat<f64> {
        let part = |first: usize| {
            let rows = GRAM_ROWS.min(self.rows - first);
            let left = self.view().subrows(first, rows);
            let weighted = weights.map(|weights| {
                let weights = &weights[first..first + rows];
                let mut values = self.values[first * self.columns..(first + rows) * self.columns].to_vec();
                for (row, weight) in values.chunks_exact_mut(self.columns).zip(weights) {
                    row.iter_mut().for_each(|value| *value *= weight);
                }
                values
            });
            let right = match &weighted {
                Some(values) => MatRef::from_row_major_slice(values, rows, self.columns),
                None => left,
            };
            lower_product(left.transpose(), right)
        };
        let mut sum = Mat::zeros(self.columns, self.columns);
        if self.columns == 0 {
            return sum;
        }
        let starts: Vec<usize> = (0..self.rows).step_by(GRAM_ROWS).collect();
        // A few parts at a time, so that their memory stays small.
        for some in starts.chunks(8) {
            let parts: Vec<Mat<f64>> = some.par_iter().map(|&first| part(first)).collect();
            parts.iter().for_each(|part| sum += part);
        }
        sum
    }

    /// `self · selfᵀ`, of which only the lower triangle is meant.
    pub(crate) fn outer_gram(&self) -> Mat<f64> {
        if self.values.is_empty() {
            return Mat::zeros(self.rows, self.rows);
        }
        lower_product(self.view(), self.view().transpose())
    }
}

fn lower_product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut product = Mat::zeros(left.nrows(), right.ncols());
    triangular::matmul(
        product.as_mut(),
        triangular::BlockStructure::TriangularLower,
        Accum::Replace,
        left,
        triangular::BlockStructure::Rectangular,
        right,
        triangular::BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
    product
}
