//! The solver of logistic regression.
//!
//! It is L-BFGS whose first guess of the second derivative is not a multiple of the identity but `Xᵀ H X / n + λ`, with one curvature in
//! `H` for each row. Embeddings have strongly correlated columns; this guess knows the correlations, which plain L-BFGS has to find out in
//! hundreds of steps.

use super::Design;
use super::design::Factor;
use super::lbfgs::{Memory, add, dot};
use super::likelihood::{Along, Likelihood};
use super::logistic::LogisticFit;

/// A slope along the line is small enough when it is this share of the slope at its start.
const SLOPE_SHARE: f64 = 0.5;
const LINE_TRIALS: usize = 30;
/// Steps after which the guess of the second derivative is made anew: it costs as much as several steps, and seldom has to.
const REFRESH: usize = 20;
/// The relative change of the objective that is nothing but rounding, as in scikit-learn.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

/// Where the solver stands; parameters are a row of weights for each coordinate and a last row of intercepts.
pub(super) struct Solver<'a> {
    design: &'a Design,
    likelihood: Likelihood,
    stop: Stop,
    parameters: Vec<f64>,
    /// `x W + b` for every row.
    logits: Vec<f64>,
}

/// The guess of the second derivative: one matrix for the weights of each class, one number for the intercepts.
struct Preconditioner {
    weights: Option<Factor>,
    intercepts: f64,
    outputs: usize,
}

impl<'a> Solver<'a> {
    pub(super) fn new(design: &'a Design, targets: Vec<u32>, classes: usize, stop: Stop) -> Solver<'a> {
        let likelihood = Likelihood::new(targets, classes);
        let outputs = likelihood.outputs();
        let parameters = vec![0.0; (design.coordinates().columns() + 1) * outputs];
        let logits = vec![0.0; design.rows() * outputs];
        Solver { design, likelihood, stop, parameters, logits }
    }

    /// Minimises with the penalty `λ ‖W‖² / 2`, from where the solver stands.
    pub(super) fn solve(&mut self, penalty: f64) -> LogisticFit {
        let outputs = self.likelihood.outputs();
        let mut memory = Memory::default();
        let mut at = self.likelihood.at(&self.logits);
        let mut objective = at.loss + 0.5 * penalty * self.squared_weights();
        let mut gradient = self.gradient(&at.residuals, penalty);
        let mut preconditioner = self.preconditioner(&at.residuals, penalty);
        let (mut iterations, mut converged) = (0, false);
        while iterations < self.stop.max_iterations {
            converged = length(&gradient) <= self.stop.tolerance;
            if converged {
                break;
            }
            if iterations > 0 && iterations % REFRESH == 0 {
                preconditioner = self.preconditioner(&at.residuals, penalty);
            }
            iterations += 1;
            let direction = memory.direction(&gradient, |direction| preconditioner.apply(direction));
            let Some((step, found, value)) = self.search(&direction, dot(&gradient, &direction), objective, penalty)
            else {
                // No way down: the direction is spoilt by rounding, or the minimum is reached as closely as can be.
                if memory.forget() {
                    continue;
                }
                converged = true;
                break;
            };
            add(&mut self.parameters, step, &direction);
            let after = self.gradient(&found.residuals, penalty);
            let moved = direction.iter().map(|value| step * value).collect();
            let changed = after.iter().zip(&gradient).map(|(after, before)| after - before).collect();
            memory.remember(moved, changed);
            let gained = objective - value;
            (objective, gradient, at) = (value, after, found);
            if gained <= ROUNDING * objective.abs().max(1.0) {
                converged = true;
                break;
            }
        }
        let (weights, intercepts) = self.parameters.split_at(self.parameters.len() - outputs);
        let model = self.design.model(weights, intercepts);
        let gradient = length(&gradient);
        LogisticFit { model, objective, gradient, iterations, converged }
    }

    /// A step along the direction to where the slope is much smaller, with what was found there; logits move along.
    fn search(&mut self, direction: &[f64], slope: f64, value: f64, penalty: f64) -> Option<(f64, Along, f64)> {
        if slope >= 0.0 {
            return None;
        }
        let outputs = self.likelihood.outputs();
        let along = without_intercepts(direction, outputs);
        let (squares, product) = (dot(along, along), dot(without_intercepts(&self.parameters, outputs), along));
        let mut change = vec![0.0; self.logits.len()];
        self.logits_of(direction, &mut change);
        let start = 0.5 * penalty * self.squared_weights();
        let (mut low, mut high, mut step) = (0.0, f64::INFINITY, 1.0);
        for _ in 0..LINE_TRIALS {
            let found = self.likelihood.along(&self.logits, &change, step);
            let slope_here = found.slope + penalty * (product + step * squares);
            let value_here = found.loss + start + penalty * step * (product + 0.5 * step * squares);
            let is_lower = value_here <= value + ROUNDING * value.abs();
            if slope_here.abs() <= SLOPE_SHARE * slope.abs() && is_lower {
                add(&mut self.logits, step, &change);
                return Some((step, found, value_here));
            }
            if slope_here > 0.0 || !is_lower {
                high = step;
            } else {
                low = step;
            }
            let newton = step - slope_here / (found.curvature + penalty * squares);
            step = match (newton > low && newton < high, high.is_finite()) {
                (true, true) => newton,
                (true, false) => newton.min(10.0 * step),
                (false, true) => 0.5 * (low + high),
                (false, false) => 4.0 * step,
            };
        }
        None
    }

    fn logits_of(&self, parameters: &[f64], to: &mut [f64]) {
        let outputs = self.likelihood.outputs();
        let (weights, intercepts) = parameters.split_at(parameters.len() - outputs);
        self.design.coordinates().times(weights, outputs, to);
        for row in to.chunks_exact_mut(outputs) {
            row.iter_mut().zip(intercepts).for_each(|(logit, intercept)| *logit += intercept);
        }
    }

    fn squared_weights(&self) -> f64 {
        let weights = without_intercepts(&self.parameters, self.likelihood.outputs());
        dot(weights, weights)
    }

    /// The gradient, from the residuals `p − y` of every row.
    fn gradient(&self, residuals: &[f64], penalty: f64) -> Vec<f64> {
        let outputs = self.likelihood.outputs();
        let rows = 1.0 / self.design.rows() as f64;
        let mut gradient = self.design.coordinates().transposed_times(residuals, outputs);
        gradient.iter_mut().for_each(|value| *value *= rows);
        add(&mut gradient, penalty, without_intercepts(&self.parameters, outputs));
        let mut intercepts = vec![0.0; outputs];
        for row in residuals.chunks_exact(outputs) {
            intercepts.iter_mut().zip(row).for_each(|(sum, residual)| *sum += residual * rows);
        }
        gradient.extend(intercepts);
        gradient
    }

    fn preconditioner(&self, residuals: &[f64], penalty: f64) -> Preconditioner {
        let curvatures = self.likelihood.curvatures(residuals);
        let rows = 1.0 / self.design.rows() as f64;
        let gram = self.design.coordinates().gram(Some(&curvatures));
        let mean = rows * curvatures.iter().sum::<f64>();
        Preconditioner {
            weights: Factor::of(&gram, rows, penalty),
            intercepts: mean.max(1e-12),
            outputs: self.likelihood.outputs(),
        }
    }
}

impl Preconditioner {
    fn apply(&self, vector: &mut [f64]) {
        let (weights, intercepts) = vector.split_at_mut(vector.len() - self.outputs);
        if let Some(factor) = &self.weights {
            factor.solve(weights, self.outputs);
        }
        intercepts.iter_mut().for_each(|value| *value /= self.intercepts);
    }
}

/// Parameters without their last row, the intercepts.
fn without_intercepts(parameters: &[f64], outputs: usize) -> &[f64] {
    &parameters[..parameters.len() - outputs]
}

fn length(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}
