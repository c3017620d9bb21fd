//! What training is for: one row of numbers for each node or graph.

use std::sync::Arc;

use burn::Tensor;
use fiedler_graph::Dense;

use crate::error::Result;

/// One row for each node of a graph, or for each graph of a set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    columns: usize,
    values: Arc<Vec<f32>>,
}

impl Embeddings {
    /// Rows of values, one after the other.
    pub fn new(columns: usize, values: Vec<f32>) -> Embeddings {
        debug_assert!(columns > 0 && values.len().is_multiple_of(columns));
        Embeddings { columns, values: Arc::new(values) }
    }

    /// Adds the rows of a matrix.
    pub(crate) fn extend(&mut self, rows: Tensor<2>) {
        self.columns = rows.dims()[1];
        // Encoders work with 32-bit floats throughout.
        let values = rows.into_data().try_into_vec::<f32>().unwrap_or_default();
        match self.values.is_empty() {
            // Features that are written out may be larger than all else: no more copies of them than one.
            true => self.values = Arc::new(values),
            false => Arc::make_mut(&mut self.values).extend(values),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// The same as a dense matrix, as evaluations take it; the values are shared.
    ///
    /// # Errors
    /// When a value is not finite.
    pub fn to_dense(&self) -> Result<Dense> {
        Ok(Dense::shared(self.rows(), self.columns, Arc::clone(&self.values))?)
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Whether every value is a finite number.
    pub fn are_finite(&self) -> bool {
        self.values.iter().all(|value| value.is_finite())
    }

    /// How far rows are from their mean, relative to their length: zero if all are equal, one if their mean is zero.
    ///
    /// ```
    /// use fiedler_learn::Embeddings;
    /// assert_eq!(Embeddings::new(2, vec![1.0, 2.0, 1.0, 2.0]).relative_std(), 0.0);
    /// assert_eq!(Embeddings::new(2, vec![1.0, 2.0, -1.0, -2.0]).relative_std(), 1.0);
    /// ```
    pub fn relative_std(&self) -> f64 {
        let rows = self.rows().max(1) as f64;
        let mut means = vec![0.0; self.columns];
        for row in self.values.chunks_exact(self.columns.max(1)) {
            means.iter_mut().zip(row).for_each(|(mean, &value)| *mean += f64::from(value) / rows);
        }
        let (mut apart, mut length) = (0.0, 0.0);
        for row in self.values.chunks_exact(self.columns.max(1)) {
            for (&value, mean) in row.iter().zip(&means) {
                let value = f64::from(value);
                apart += (value - mean) * (value - mean);
                length += value * value;
            }
        }
        if length > 0.0 { (apart / length).sqrt() } else { 0.0 }
    }
}
