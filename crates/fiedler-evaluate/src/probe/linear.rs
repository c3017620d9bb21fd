//! Linear models.

use std::fmt;

use crate::matrix::Matrix;

/// A fitted model: scores of rows, one for each class, task or column of values.
pub(crate) trait ProbeModel: fmt::Debug + Send + Sync {
    fn scores(&self, rows: &Matrix) -> Matrix;

    /// Whether its solver came as near to the optimum as was asked for.
    fn converged(&self) -> bool {
        true
    }
}

/// Linear model: scores are `row · weights + intercepts`.
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

impl ProbeModel for Linear {
    fn scores(&self, rows: &Matrix) -> Matrix {
        Linear::scores(self, rows)
    }
}
