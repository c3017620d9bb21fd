//! Logistic regression trained step by step, as programs built on PyTorch do it: kept for comparison with published numbers.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use fiedler_graph::Dense;
use fiedler_graph::random::stream;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::Linear;
use crate::matrix::Matrix;

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// How the probe is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamSettings {
    /// Learning rate.
    pub rate: f32,
    /// Steps to take; the best of those looked at counts.
    pub steps: usize,
    /// Steps between looks at the part that is chosen on.
    pub look_every: usize,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { rate: 1e-3, steps: 5000, look_every: 20 }
    }
}

/// A logistic model under training by full-batch Adam, in `f32` as PyTorch does it. Weight decay is added to the gradient, that of
/// intercepts too.
#[derive(Debug, Clone)]
pub struct Adam {
    rows: Dense,
    targets: Vec<u32>,
    classes: usize,
    rate: f32,
    decay: f32,
    /// A row of weights for each column, and a last one of intercepts.
    parameters: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl Adam {
    /// A model that starts with the given weights (a row for each column, one weight a class) and intercepts.
    pub fn new(rows: Dense, targets: Vec<u32>, start: &Linear, rate: f32, decay: f32) -> Adam {
        let parameters: Vec<f32> = start.weights.iter().chain(&start.intercepts).map(|&value| value as f32).collect();
        let zeros = vec![0.0; parameters.len()];
        let classes = start.intercepts.len();
        Adam { rows, targets, classes, rate, decay, parameters, first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// The random start of PyTorch programs: Xavier-uniform weights, intercepts uniform within `1/√columns`.
    pub fn start(columns: usize, classes: usize, seed: u64) -> Linear {
        let mut random = stream(seed, "probe", 0);
        let mut uniform = |bound: f64| bound * (2.0 * random.random::<f64>() - 1.0);
        let bound = (6.0 / (columns + classes) as f64).sqrt();
        let weights = (0..columns * classes).map(|_| uniform(bound)).collect();
        let intercepts = (0..classes).map(|_| uniform(1.0 / (columns as f64).sqrt())).collect();
        Linear { weights, intercepts }
    }

    /// One step on all rows.
    pub fn step(&mut self) {
        let gradient = self.gradient();
        self.steps += 1;
        let first_bias = 1.0 - FIRST_DECAY.powi(self.steps);
        let second_bias = (1.0 - SECOND_DECAY.powi(self.steps)).sqrt();
        let moments = self.first.iter_mut().zip(&mut self.second);
        for ((parameter, gradient), (first, second)) in self.parameters.iter_mut().zip(gradient).zip(moments) {
            let gradient = gradient + self.decay * *parameter;
            *first += (1.0 - FIRST_DECAY) * (gradient - *first);
            *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * gradient * gradient;
            *parameter -= self.rate / first_bias * *first / (second.sqrt() / second_bias + EPSILON);
        }
    }

    /// The model as it stands.
    pub fn model(&self) -> Linear {
        let (weights, intercepts) = self.parameters.split_at(self.parameters.len() - self.classes);
        let wide = |values: &[f32]| values.iter().map(|&value| value.into()).collect();
        Linear { weights: wide(weights), intercepts: wide(intercepts) }
    }

    /// Scores of rows by the model as it stands.
    pub fn scores(&self, rows: &Dense) -> Matrix {
        let logits = self.logits(rows);
        Matrix::from_fn(rows.rows(), self.classes, |row, class| logits[row * self.classes + class].into())
    }

    fn logits(&self, rows: &Dense) -> Vec<f32> {
        let (weights, intercepts) = self.parameters.split_at(self.parameters.len() - self.classes);
        let mut logits = vec![0.0; rows.rows() * self.classes];
        matmul(
            MatMut::from_row_major_slice_mut(&mut logits, rows.rows(), self.classes),
            Accum::Replace,
            MatRef::from_row_major_slice(rows.values(), rows.rows(), rows.columns()),
            MatRef::from_row_major_slice(weights, rows.columns(), self.classes),
            1.0,
            Par::Seq,
        );
        for row in logits.chunks_exact_mut(self.classes) {
            row.iter_mut().zip(intercepts).for_each(|(logit, intercept)| *logit += intercept);
        }
        logits
    }

    fn gradient(&self) -> Vec<f32> {
        let mut residuals = self.logits(&self.rows);
        let mean = 1.0 / self.rows.rows() as f32;
        let mut gradient = vec![0.0; self.parameters.len()];
        let (weights, intercepts) = gradient.split_at_mut(self.parameters.len() - self.classes);
        for (row, &target) in residuals.chunks_exact_mut(self.classes).zip(&self.targets) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            row.iter_mut().for_each(|logit| *logit = (*logit - largest).exp());
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|share| *share *= mean / sum);
            row[target as usize] -= mean;
            intercepts.iter_mut().zip(row).for_each(|(sum, residual)| *sum += *residual);
        }
        let rows = MatRef::from_row_major_slice(self.rows.values(), self.rows.rows(), self.rows.columns());
        matmul(
            MatMut::from_row_major_slice_mut(weights, self.rows.columns(), self.classes),
            Accum::Replace,
            rows.transpose(),
            MatRef::from_row_major_slice(&residuals, self.rows.rows(), self.classes),
            1.0,
            Par::Seq,
        );
        gradient
    }
}
