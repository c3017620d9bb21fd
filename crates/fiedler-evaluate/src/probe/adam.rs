//! Logistic regression by a fixed number of Adam's steps, as programs built on PyTorch do it: kept for comparison with published numbers.

use std::collections::BTreeMap;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use fiedler_graph::random::stream;
use fiedler_graph::{Classes, Dense, Labels};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{ChosenProbe, Linear, ProbeMethod, ProbeTask, check_grid, list, meaningless};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::scaling::{FittedScaling, Scaling};
use crate::target::{LabelKind, Target};

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Weight decays of the reference program, which depend on what is embedded.
const DECAYS_OF_NODES: [f64; 5] = [0.0, 0.001, 0.005, 0.01, 0.1];
const DECAYS_OF_GRAPHS: [f64; 7] = [0.0, 0.001, 0.01, 0.1, 0.5, 1.0, 5.0];

/// Settings of logistic regression by Adam.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamSettings {
    /// Learning rate.
    pub learning_rate: f32,
    /// Steps to take; the best of those validated counts.
    pub steps: usize,
    /// Steps between two looks at the validation set.
    pub validate_every: usize,
    /// Weight decays to choose from; without them those of the reference program, which has one list for nodes and one for graphs.
    pub weight_decays: Option<Vec<f64>>,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { learning_rate: 1e-3, steps: 5000, validate_every: 20, weight_decays: None }
    }
}

impl AdamSettings {
    pub(super) const HELP: &str = "Logistic regression by fixed steps of Adam, weight decay and step chosen on validation, as the paper's \
                                   program; for classes";

    fn weight_decays(&self, graphs: bool) -> &[f64] {
        match &self.weight_decays {
            Some(decays) => decays,
            None if graphs => &DECAYS_OF_GRAPHS,
            None => &DECAYS_OF_NODES,
        }
    }
}

impl ProbeMethod for AdamSettings {
    fn serves(&self) -> &'static [LabelKind] {
        &[LabelKind::Classes]
    }

    fn check(&self) -> Result<()> {
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0) {
            return Err(Error::setting("learning_rate", self.learning_rate, "a positive number"));
        }
        if self.validate_every == 0 || self.steps < self.validate_every {
            let found = format!("{} in {} steps", self.validate_every, self.steps);
            return Err(Error::setting("validate_every", found, "at least 1, and at most the number of steps"));
        }
        let Some(decays) = &self.weight_decays else { return Ok(()) };
        check_grid("weight_decays", decays, |decay| decay.is_finite() && decay >= 0.0, "a number that is not negative")
    }

    fn describe(&self, target: &Target) -> String {
        let decays = list(self.weight_decays(target.graphs));
        let (rate, steps) = (self.learning_rate, self.steps);
        format!("logistic regression by Adam at {rate}, weight decay from {decays}, the best of up to {steps} steps")
    }

    fn scaling(&self) -> &'static [Scaling] {
        &[Scaling::None]
    }

    fn needs_validation(&self) -> bool {
        true
    }

    fn steps(&self, target: &Target, scalings: usize) -> usize {
        scalings * self.weight_decays(target.graphs).len()
    }

    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        let Labels::Classes(classes) = task.labels else {
            return Err(Error::setting("kind of labels", LabelKind::of(task.labels), "classes"));
        };
        let scaled: Vec<Scaled> =
            task.scaling.iter().map(|&scaling| Scaled::of(task, scaling)).collect::<Result<_>>()?;
        let decays = self.weight_decays(task.graphs);
        let candidates: Vec<(&Scaled, f64)> =
            scaled.iter().flat_map(|scaled| decays.iter().map(move |&decay| (scaled, decay))).collect();
        let train_with = |&(scaled, decay): &(&Scaled, f64)| self.train(task, classes, scaled, decay);
        let mut found: Vec<Option<(f64, Linear)>> = candidates.par_iter().map(train_with).collect::<Result<_>>()?;
        let values: Vec<Option<f64>> = found.iter().map(|found| found.as_ref().map(|(value, _)| *value)).collect();
        let (at, _) = task.best(&values)?;
        let (Scaled { scaling, fitted, .. }, decay) = candidates[at];
        let (validation, model) =
            found.swap_remove(at).ok_or_else(|| meaningless(task.metric, "validation", task.split))?;
        Ok(ChosenProbe {
            model: Box::new(model),
            scaling: *scaling,
            fitted_scaling: fitted.clone(),
            hyperparameters: BTreeMap::from([("weight_decay".to_owned(), decay)]),
            validation,
            validation_items: task.validation.len(),
        })
    }
}

impl AdamSettings {
    /// The best of the models validated on the way, with its metric on the validation set.
    fn train(
        &self,
        task: &ProbeTask<'_>,
        classes: &Classes,
        scaled: &Scaled,
        weight_decay: f64,
    ) -> Result<Option<(f64, Linear)>> {
        let rows = scaled.train.clone();
        let targets = task.train.iter().filter_map(|&item| classes.of()[item as usize]).collect();
        let start = AdamTrainer::start(rows.columns(), classes.count(), task.seed);
        let mut adam = AdamTrainer::new(rows, targets, &start, self.learning_rate, weight_decay as f32);
        let mut found: Option<(f64, Linear)> = None;
        for step in 1..=self.steps {
            adam.step();
            if step % self.validate_every != 0 {
                continue;
            }
            task.progress.ask(task.split)?;
            if let Some(value) = task.metric.measure(task.labels, task.validation, &adam.scores(&scaled.validation))
                && found.as_ref().is_none_or(|(than, _)| task.metric.is_better(value, *than))
            {
                found = Some((value, adam.model()));
            }
        }
        task.progress.advance(task.split);
        Ok(found)
    }
}

/// The rows of one scaling, in `f32` as PyTorch has them.
struct Scaled {
    scaling: Scaling,
    fitted: FittedScaling,
    train: Dense,
    validation: Dense,
}

impl Scaled {
    fn of(task: &ProbeTask<'_>, scaling: Scaling) -> Result<Scaled> {
        let train = Matrix::gather(task.embeddings, task.train);
        let fitted = scaling.fit(&train);
        let validation = Matrix::gather(task.embeddings, task.validation);
        let narrow = |rows: Matrix| {
            let values = rows.values().iter().map(|&value| value as f32).collect();
            Dense::new(rows.rows(), rows.columns(), values)
        };
        let (train, validation) = (narrow(fitted.apply(train))?, narrow(fitted.apply(validation))?);
        Ok(Scaled { scaling, fitted, train, validation })
    }
}

/// Logistic model under training by full-batch Adam, in `f32` as PyTorch does it. Weight decay is added to the gradient, that of
/// intercepts too.
#[derive(Debug, Clone)]
pub struct AdamTrainer {
    rows: Dense,
    targets: Vec<u32>,
    classes: usize,
    learning_rate: f32,
    weight_decay: f32,
    /// A row of weights for each column, and a last one of intercepts.
    parameters: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    steps: i32,
}

impl AdamTrainer {
    /// A model that starts with the given weights (a row for each column, one weight a class) and intercepts.
    pub fn new(rows: Dense, targets: Vec<u32>, start: &Linear, learning_rate: f32, weight_decay: f32) -> AdamTrainer {
        let parameters: Vec<f32> = start.weights.iter().chain(&start.intercepts).map(|&value| value as f32).collect();
        let zeros = vec![0.0; parameters.len()];
        let classes = start.intercepts.len();
        AdamTrainer {
            rows,
            targets,
            classes,
            learning_rate,
            weight_decay,
            parameters,
            first: zeros.clone(),
            second: zeros,
            steps: 0,
        }
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
            let gradient = gradient + self.weight_decay * *parameter;
            *first += (1.0 - FIRST_DECAY) * (gradient - *first);
            *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * gradient * gradient;
            *parameter -= self.learning_rate / first_bias * *first / (second.sqrt() / second_bias + EPSILON);
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
