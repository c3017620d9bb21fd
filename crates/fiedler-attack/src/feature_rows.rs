//! Features as sparse rows of double precision: what the surrogate multiplies with.

use fiedler_graph::Features;
use rayon::prelude::*;

use crate::matrix::{Matrix, add_scaled};

/// Rows that one thread multiplies at a time.
const ROWS: usize = 256;

/// Sparse rows, one a node. Without features, every node has a column of its own.
#[derive(Debug, Clone)]
pub struct FeatureRows {
    columns: usize,
    indptr: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl FeatureRows {
    /// The features of `nodes` nodes; categories become one column for each code.
    pub fn new(features: Option<&Features>, nodes: usize) -> FeatureRows {
        let mut rows = FeatureRows { columns: 0, indptr: vec![0], indices: Vec::new(), values: Vec::new() };
        match features {
            None => {
                rows.columns = nodes;
                (0..nodes).for_each(|node| rows.push([(node as u32, 1.0)]));
            }
            Some(Features::Sparse(sparse)) => {
                rows.columns = sparse.columns();
                for row in 0..nodes {
                    let (indices, values) = sparse.row(row);
                    rows.push(indices.iter().zip(values).map(|(&column, &value)| (column, f64::from(value))));
                }
            }
            Some(Features::Dense(dense)) => {
                rows.columns = dense.columns();
                for row in 0..nodes {
                    let cells = dense.row(row).iter().enumerate().filter(|(_, value)| **value != 0.0);
                    rows.push(cells.map(|(column, &value)| (column as u32, f64::from(value))));
                }
            }
            Some(Features::Categorical(categorical)) => {
                let mut first = Vec::with_capacity(categorical.cardinalities().len());
                for &codes in categorical.cardinalities() {
                    first.push(rows.columns as u32);
                    rows.columns += usize::from(codes);
                }
                for row in 0..nodes {
                    let codes = categorical.row(row).iter().zip(&first);
                    rows.push(codes.map(|(&code, first)| (first + u32::from(code), 1.0)));
                }
            }
        }
        rows
    }

    /// The rows of a matrix, in double precision.
    #[cfg(test)]
    pub(crate) fn from_dense(dense: &Matrix) -> FeatureRows {
        let mut rows =
            FeatureRows { columns: dense.columns(), indptr: vec![0], indices: Vec::new(), values: Vec::new() };
        (0..dense.rows()).for_each(|row| rows.push((0..).zip(dense.row(row).iter().copied())));
        rows
    }

    fn push(&mut self, cells: impl IntoIterator<Item = (u32, f64)>) {
        for (column, value) in cells {
            self.indices.push(column);
            self.values.push(value);
        }
        self.indptr.push(self.indices.len());
    }

    /// The same with every row scaled to sum to one in absolute value.
    pub(crate) fn row_normalized(self) -> FeatureRows {
        self.divided(|values| values.iter().map(|value| value.abs()).sum())
    }

    /// The same with every row scaled to length one.
    pub(crate) fn unit_rows(self) -> FeatureRows {
        self.divided(|values| values.iter().map(|value| value * value).sum::<f64>().sqrt())
    }

    /// The same with every row divided by what is found of it, unless that is zero.
    fn divided(mut self, by: impl Fn(&[f64]) -> f64) -> FeatureRows {
        for row in 0..self.rows() {
            let values = &mut self.values[self.indptr[row]..self.indptr[row + 1]];
            let divisor = by(values);
            if divisor > 0.0 {
                values.iter_mut().for_each(|value| *value /= divisor);
            }
        }
        self
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Columns and values of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The inner product of a row with a dense vector.
    pub(crate) fn dot(&self, row: usize, dense: &[f64]) -> f64 {
        let (columns, values) = self.row(row);
        columns.iter().zip(values).map(|(&column, value)| value * dense[column as usize]).sum()
    }

    /// The inner product of two rows.
    pub(crate) fn product(&self, a: usize, b: usize) -> f64 {
        let ((columns, values), (others, of_others)) = (self.row(a), self.row(b));
        let with = |(column, value): (&u32, &f64)| others.binary_search(column).map_or(0.0, |at| value * of_others[at]);
        columns.iter().zip(values).map(with).sum()
    }

    /// `to += factor · row`.
    pub(crate) fn add_row(&self, row: usize, factor: f64, to: &mut [f64]) {
        let (columns, values) = self.row(row);
        for (&column, value) in columns.iter().zip(values) {
            to[column as usize] += factor * value;
        }
    }

    /// The sum of each row.
    pub(crate) fn row_sums(&self) -> Vec<f64> {
        (0..self.rows()).map(|row| self.row(row).1.iter().sum()).collect()
    }

    /// `X · dense`.
    pub(crate) fn times(&self, dense: &Matrix) -> Matrix {
        let columns = dense.columns();
        let mut to = Matrix::zeros(self.rows(), columns);
        if columns == 0 {
            return to;
        }
        to.values_mut().par_chunks_mut(ROWS * columns).enumerate().for_each(|(place, rows)| {
            for (at, to) in rows.chunks_mut(columns).enumerate() {
                let (indices, values) = self.row(place * ROWS + at);
                for (&column, &value) in indices.iter().zip(values) {
                    add_scaled(to, value, dense.row(column as usize));
                }
            }
        });
        to
    }

    /// `Xᵀ · dense`.
    pub(crate) fn transposed_times(&self, dense: &Matrix) -> Matrix {
        let mut to = Matrix::zeros(self.columns, dense.columns());
        for row in 0..self.rows() {
            let (indices, values) = self.row(row);
            for (&column, &value) in indices.iter().zip(values) {
                add_scaled(to.row_mut(column as usize), value, dense.row(row));
            }
        }
        to
    }
}
