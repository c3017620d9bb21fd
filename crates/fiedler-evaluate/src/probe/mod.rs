//! Probes: simple models on top of embeddings, whose success tells how good the embeddings are.

mod adam;
mod design;
mod labels;
mod lbfgs;
mod likelihood;
mod logistic;
mod ridge;

pub use adam::{Adam, AdamSettings};
pub use design::Design;
pub use labels::fit;
pub use logistic::{Fit, LogisticSettings, fit_logistic};
pub use ridge::fit_ridge;

use crate::matrix::Matrix;

/// A linear model: scores are `row · weights + intercepts`.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    /// A row of weights for each column of the embeddings, one weight for each output.
    pub weights: Vec<f64>,
    /// One for each output.
    pub intercepts: Vec<f64>,
}

impl Linear {
    /// Scores of every row, one for each output.
    pub fn scores(&self, rows: &Matrix) -> Matrix {
        let outputs = self.intercepts.len();
        let mut scores = vec![0.0; rows.rows() * outputs];
        rows.times(&self.weights, outputs, &mut scores);
        for row in scores.chunks_exact_mut(outputs.max(1)) {
            row.iter_mut().zip(&self.intercepts).for_each(|(score, intercept)| *score += intercept);
        }
        Matrix::from_values(rows.rows(), outputs, scores)
    }
}
