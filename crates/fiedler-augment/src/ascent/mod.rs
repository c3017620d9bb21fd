//! Projected gradient ascent and descent on the spectral norm.
//!
//! By default steps adapt: a step is taken only where it improves the objective enough (Armijo's condition on the projected step) and
//! is shortened until it does; the next one is as long as the curvature that was met suggests (Barzilai and Borwein). Where the objective
//! tells how fast the derivative of each pair changes, each goes as far as that allows. Where such steps
//! gain little, others go a share of the way to the best selection of pairs (Frank and Wolfe). An explicit rate makes the paper's steps
//! instead, whatever they lead to.
//! Either way the outcome says what a linear model of the objective has left to gain within the budget (the first-order gap).

mod adapt;
mod gap;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::objective::Evaluation;
use crate::support::Support;
pub use gap::{Gap, first_order_gap};

/// Which way the norm is pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Towards a larger norm: Δ₁ in the paper.
    Max,
    /// Towards a smaller norm: Δ₂ in the paper.
    Min,
}

impl Direction {
    /// +1 or −1.
    pub fn sign(self) -> f64 {
        match self {
            Direction::Max => 1.0,
            Direction::Min => -1.0,
        }
    }
}

/// How far a step goes.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name", content = "value")]
pub enum StepSize {
    /// Steps adapt to the objective. The first one that is tried moves the most sensitive pair by this much, or spends the budget,
    /// whichever is less: independent of the graph's size and of the objective's scale.
    LargestChange(f64),
    /// η in the paper: step `t`, counted from one, has the rate `η / √(t + 1)`. It multiplies the derivative of the norm relative to that
    /// of the original graph.
    Rate(f64),
}

impl StepSize {
    /// Refuses a size that is negative or no number.
    pub(crate) fn check(&self, name: &str) -> Result<()> {
        let (StepSize::LargestChange(size) | StepSize::Rate(size)) = *self;
        if size.is_finite() && size >= 0.0 {
            return Ok(());
        }
        Err(Error::setting(name, size, "a number that is not negative"))
    }
}

impl Default for StepSize {
    fn default() -> Self {
        StepSize::LargestChange(0.5)
    }
}

/// What an ascent is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ascent {
    /// Which way.
    pub direction: Direction,
    /// Most flips in expectation, ε in the paper.
    pub budget: f64,
    /// Most steps.
    pub steps: usize,
    /// How far a step goes.
    pub step_size: StepSize,
    /// Adaptive steps end when the first-order gap is at most this share of what was gained.
    pub tolerance: f64,
    /// What earlier parts of the same ascent have gained.
    pub gained: f64,
    /// Seed of the perturbation that leaves a stationary start.
    pub seed: u64,
}

impl Default for Ascent {
    fn default() -> Self {
        Ascent {
            direction: Direction::Max,
            budget: 0.0,
            steps: STEPS,
            step_size: StepSize::default(),
            tolerance: TOLERANCE,
            gained: 0.0,
            seed: 0,
        }
    }
}

/// Steps that settings allow unless they say otherwise.
pub(crate) const STEPS: usize = 300;
/// The share of the gain that the first-order gap has fallen to when adaptive steps end.
pub(crate) const TOLERANCE: f64 = 0.01;

/// One point of the convergence curve.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Progress {
    /// Steps made so far.
    pub step: usize,
    /// Norm relative to that of the original graph.
    pub relative_norm: f64,
    /// Expected number of flips.
    pub mass: f64,
}

/// Why an ascent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The first-order gap is a small share of what was gained.
    NoGainLeft,
    /// However short, no step along the derivative improves the objective beyond rounding.
    NoBetterStep,
    /// All the steps of a fixed rate were made.
    FixedSteps,
    /// The most steps allowed were made.
    StepLimit,
}

/// How an ascent went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Norm at the end relative to that of the original graph.
    pub relative_norm: f64,
    /// Rate of the first step.
    pub rate: f64,
    /// One point before each step and one after the last.
    pub curve: Vec<Progress>,
    /// First-order gap at the end, of the squared norm.
    pub gap: f64,
    /// Why it ended.
    pub stop: Stop,
    /// Whether the start was stationary and left by a perturbation.
    pub perturbed: bool,
    /// How often the objective was evaluated.
    pub evaluations: usize,
    /// Time taken.
    pub elapsed: Duration,
}

impl Ascent {
    /// Runs on a support from its current values. `original` is the squared norm of the unperturbed graph; `evaluate` gives the
    /// squared norm and its derivative; `watch` hears of every point of the curve and may stop the run by returning false.
    pub fn run<S: Support>(
        &self,
        support: &mut S,
        original: f64,
        mut evaluate: impl FnMut(&S) -> Evaluation,
        watch: impl FnMut(&Progress) -> bool,
    ) -> Outcome {
        let outcome: Result<Outcome, Infallible> =
            self.try_run(support, original, |support| Ok(evaluate(support)), watch);
        match outcome {
            Ok(outcome) => outcome,
        }
    }

    /// As [`Ascent::run`], with an objective that may fail. With adaptive steps the support is left with the best values met; either
    /// way, the objective was last evaluated at the values that are left.
    ///
    /// # Errors
    /// Those of the objective.
    pub fn try_run<S: Support, E>(
        &self,
        support: &mut S,
        original: f64,
        evaluate: impl FnMut(&S) -> Result<Evaluation, E>,
        watch: impl FnMut(&Progress) -> bool,
    ) -> Result<Outcome, E> {
        match self.step_size {
            StepSize::Rate(_) => self.fixed(support, original, evaluate, watch),
            StepSize::LargestChange(change) => self.adapt(change, support, original, evaluate, watch),
        }
    }

    /// The paper's steps.
    fn fixed<S: Support, E>(
        &self,
        support: &mut S,
        original: f64,
        mut evaluate: impl FnMut(&S) -> Result<Evaluation, E>,
        mut watch: impl FnMut(&Progress) -> bool,
    ) -> Result<Outcome, E> {
        let started = Instant::now();
        let mut curve: Vec<Progress> = Vec::with_capacity(self.steps + 1);
        let mut climb = Climb::new(*self);
        let last = loop {
            let evaluation = evaluate(support)?;
            let progress = climb.progress(support, &evaluation, original);
            curve.push(progress);
            let ends = !watch(&progress) || climb.taken == self.steps;
            if ends || !climb.step(support, &evaluation, original) {
                break evaluation;
            }
        };
        let (sign, guess) = (self.direction.sign(), 0.0);
        Ok(Outcome {
            relative_norm: relative(last.squared_norm, original),
            rate: climb.rate.unwrap_or(0.0),
            evaluations: curve.len(),
            curve,
            gap: first_order_gap(support, &last.kernel, sign, self.budget, guess).value,
            stop: Stop::FixedSteps,
            perturbed: false,
            elapsed: started.elapsed(),
        })
    }
}

/// An ascent of fixed steps under way: what one step leaves to the next.
#[derive(Debug, Clone)]
pub struct Climb {
    ascent: Ascent,
    taken: usize,
    rate: Option<f64>,
    shift: f64,
}

impl Climb {
    /// An ascent before its first step.
    pub fn new(ascent: Ascent) -> Climb {
        Climb { ascent, taken: 0, rate: None, shift: 0.0 }
    }

    /// Where the ascent stands.
    pub fn progress(&self, support: &impl Support, evaluation: &Evaluation, original: f64) -> Progress {
        let (mass, _) = support.mass_at(support.shift());
        Progress { step: self.taken, relative_norm: relative(evaluation.squared_norm, original), mass }
    }

    /// Makes one step along the derivative and projects; false when there is nowhere to go.
    pub fn step(&mut self, support: &mut impl Support, evaluation: &Evaluation, original: f64) -> bool {
        let Ascent { direction, budget, step_size, .. } = self.ascent;
        let sign = direction.sign();
        let scale = scale(evaluation.squared_norm, original);
        if !scale.is_finite() {
            return false;
        }
        let rate = *self.rate.get_or_insert_with(|| match step_size {
            StepSize::Rate(rate) => rate,
            StepSize::LargestChange(change) => {
                let rise = support.rise(&evaluation.kernel, sign, 0.0);
                let by_largest = change / (scale * rise.largest);
                let by_budget = budget / (scale * rise.total);
                let rate = by_largest.min(by_budget) * std::f64::consts::SQRT_2;
                if rate.is_finite() { rate } else { 0.0 }
            }
        });
        support.advance(&evaluation.kernel, sign * rate * scale / ((self.taken + 2) as f64).sqrt());
        self.shift = support.project(budget, self.shift);
        self.taken += 1;
        true
    }

    /// Rate of the first step, once it is made.
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }
}

/// The derivative of sqrt(L / L₀) is so many times that of L.
fn scale(squared: f64, original: f64) -> f64 {
    1.0 / (2.0 * (squared * original).sqrt())
}

fn relative(squared: f64, original: f64) -> f64 {
    if original > 0.0 { (squared / original).sqrt() } else { 1.0 }
}
