//! Logistic regression: multinomial, with an L2 penalty, scikit-learn's `LogisticRegression`.
//!
//! What is minimised, over weights `W` and intercepts `b`, is scikit-learn's objective: the mean over rows of the cross-entropy of
//! `softmax(x W + b)`, plus `‖W‖² / (2 C n)`. Intercepts bear no penalty, and two classes share one column of weights.

use fiedler_graph::Labels;
use serde::{Deserialize, Serialize};

use super::columns::{fit_columns, split_known};
use super::grid::{self, GridProbe};
use super::logistic_solver::{Solver, Stop};
use super::{ChosenProbe, Design, Linear, ProbeMethod, ProbeTask, check_grid, is_positive, list};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::target::{LabelKind, Target};

/// The values of C to choose from where none are asked for: those of the paper.
pub const DEFAULT_CS: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];

/// Settings of logistic regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogisticSettings {
    /// Inverse penalties to choose from, scikit-learn's `C`: small is a strong penalty.
    pub cs: Vec<f64>,
    /// Tolerance: length of the gradient to reach. scikit-learn asks the same of the largest entry alone, so this is a little stricter.
    pub tolerance: f64,
    /// Steps to take at most.
    pub max_iterations: usize,
}

impl Default for LogisticSettings {
    fn default() -> Self {
        LogisticSettings { cs: DEFAULT_CS.to_vec(), tolerance: 1e-6, max_iterations: 1000 }
    }
}

impl LogisticSettings {
    pub(super) const HELP: &str =
        "Logistic regression as in scikit-learn, C chosen on validation; for classes and multi-label tasks";

    /// Fits one model for each C, in the order of `cs`. `items` are the labels' indices of the rows; labels are classes or tasks.
    ///
    /// Every task has a model of its own, fitted to the rows whose label is known; a task without both answers scores 0.
    ///
    /// # Errors
    /// When labels are real values.
    pub fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32]) -> Result<Vec<Linear>> {
        if let Labels::Regression(_) = labels {
            return Err(Error::setting("kind of labels", LabelKind::Regression, "classes or multi-label"));
        }
        Ok(GridProbe::fit(self, rows, labels, items, &self.cs))
    }
}

impl ProbeMethod for LogisticSettings {
    fn serves(&self) -> &'static [LabelKind] {
        &[LabelKind::Classes, LabelKind::MultiLabel]
    }

    fn check(&self) -> Result<()> {
        check_grid("cs", &self.cs, is_positive, "a positive number")?;
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::setting("tolerance", self.tolerance, "a number that is not negative"));
        }
        Ok(())
    }

    fn describe(&self, target: &Target) -> String {
        let each = if target.kind() == LabelKind::MultiLabel {
            "one logistic regression a task"
        } else {
            "logistic regression"
        };
        format!("{each} (as in scikit-learn), C from {}", list(&self.cs))
    }

    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        grid::choose(self, task)
    }
}

impl GridProbe for LogisticSettings {
    type Model = Linear;
    const PARAMETER: &str = "c";

    fn grid(&self) -> Vec<f64> {
        let mut cs = self.cs.clone();
        cs.sort_by(f64::total_cmp);
        cs
    }

    fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32], cs: &[f64]) -> Vec<Linear> {
        let settings = LogisticSettings { cs: cs.to_vec(), ..self.clone() };
        match labels {
            Labels::Classes(classes) => {
                let column: Vec<Option<u32>> = items.iter().map(|&item| classes.of()[item as usize]).collect();
                let (places, targets) = split_known(&column);
                let design = Design::new(rows.choose(&places));
                let fits = fit_logistic(&design, &targets, classes.count(), &settings);
                fits.into_iter().map(|fit| fit.model).collect()
            }
            Labels::MultiLabel(tasks) => {
                let column = |task: usize| items.iter().map(|&item| tasks.row(item as usize)[task]).collect();
                fit_columns(rows, tasks.names().len(), column, |design, targets: &[bool]| {
                    let targets: Vec<u32> = targets.iter().map(|answer| u32::from(*answer)).collect();
                    let fits = fit_logistic(design, &targets, 2, &settings);
                    fits.into_iter().map(|fit| yes_against_no(&fit.model)).collect()
                })
            }
            Labels::Regression(_) => Vec::new(),
        }
    }
}

/// A fitted model and how it was reached.
#[derive(Debug, Clone, PartialEq)]
pub struct LogisticFit {
    /// One score for each class; classes that no training row has get -∞.
    pub model: Linear,
    /// Value of the objective.
    pub objective: f64,
    /// Length of its gradient.
    pub gradient: f64,
    /// Steps taken.
    pub iterations: usize,
    /// Whether the gradient is as small as asked for, or as rounding allows.
    pub converged: bool,
}

/// Fits one model for each `C`, in the order of `cs`.
///
/// `targets` has the class of each row of the design, below `classes`. Each fit starts where the one with the next smaller `C` ended.
///
/// ```
/// use fiedler_evaluate::Matrix;
/// use fiedler_evaluate::probe::{Design, LogisticSettings, fit_logistic};
///
/// let rows = Matrix::from_fn(6, 1, |row, _| row as f64);
/// let settings = LogisticSettings { cs: vec![1.0], ..Default::default() };
/// let fits = fit_logistic(&Design::new(rows.clone()), &[0, 0, 0, 1, 1, 1], 2, &settings);
/// let scores = fits[0].model.scores(&rows);
/// assert!(scores.row(1)[0] > scores.row(1)[1] && scores.row(4)[0] < scores.row(4)[1]);
/// ```
pub fn fit_logistic(design: &Design, targets: &[u32], classes: usize, settings: &LogisticSettings) -> Vec<LogisticFit> {
    let mut present: Vec<u32> = targets.to_vec();
    present.sort_unstable();
    present.dedup();
    if present.len() < 2 {
        let model = constant(design, &present, classes);
        return vec![
            LogisticFit { model, objective: 0.0, gradient: 0.0, iterations: 0, converged: true };
            settings.cs.len()
        ];
    }
    let codes = targets.iter().map(|target| present.partition_point(|class| class < target) as u32).collect();
    let stop = Stop { tolerance: settings.tolerance, max_iterations: settings.max_iterations };
    let mut solver = Solver::new(design, codes, present.len(), stop);
    let mut order: Vec<usize> = (0..settings.cs.len()).collect();
    order.sort_by(|&a, &b| settings.cs[a].total_cmp(&settings.cs[b]));
    let mut fits: Vec<(usize, LogisticFit)> = Vec::with_capacity(settings.cs.len());
    for at in order {
        let mut fit = solver.solve(1.0 / (settings.cs[at] * design.rows() as f64));
        fit.model = spread(&fit.model, &present, classes);
        fits.push((at, fit));
    }
    fits.sort_by_key(|(at, _)| *at);
    fits.into_iter().map(|(_, fit)| fit).collect()
}

/// The model of those who have seen but one class, or none.
fn constant(design: &Design, present: &[u32], classes: usize) -> Linear {
    let columns = design.columns();
    let score = |class: usize| if present.is_empty() || present[0] as usize == class { 0.0 } else { f64::NEG_INFINITY };
    Linear { weights: vec![0.0; columns * classes], intercepts: (0..classes).map(score).collect() }
}

/// Scores for all classes out of those for the classes that are present.
fn spread(model: &Linear, present: &[u32], classes: usize) -> Linear {
    let outputs = model.intercepts.len();
    // Two classes share one column, which speaks for the second.
    let first = usize::from(outputs == 1 && present.len() == 2);
    let mut intercepts = vec![f64::NEG_INFINITY; classes];
    present.iter().for_each(|&class| intercepts[class as usize] = 0.0);
    let mut weights = vec![0.0; model.weights.len() / outputs * classes];
    for (output, &class) in present[first..].iter().enumerate() {
        let class = class as usize;
        intercepts[class] = model.intercepts[output];
        let from = model.weights.iter().skip(output).step_by(outputs);
        weights.iter_mut().skip(class).step_by(classes).zip(from).for_each(|(to, from)| *to = *from);
    }
    Linear { weights, intercepts }
}

/// One score, positive for yes, out of one for no and one for yes.
fn yes_against_no(model: &Linear) -> Linear {
    let difference = |pair: &[f64]| match pair[1] - pair[0] {
        difference if difference.is_finite() => difference,
        // Only one answer was seen: nothing is known of the other.
        _ => 0.0,
    };
    Linear {
        weights: model.weights.chunks_exact(2).map(difference).collect(),
        intercepts: vec![difference(&model.intercepts)],
    }
}
