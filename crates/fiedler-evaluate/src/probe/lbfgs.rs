//! The directions of L-BFGS: Newton's, guessed from the last few steps.

use std::collections::VecDeque;

/// Steps that are remembered, as many as scipy's L-BFGS-B does.
const MEMORY: usize = 10;

/// The last steps and the changes of the gradient that they made.
#[derive(Debug, Default)]
pub(super) struct Memory {
    steps: VecDeque<Step>,
}

#[derive(Debug)]
struct Step {
    moved: Vec<f64>,
    changed: Vec<f64>,
    curvature: f64,
}

impl Memory {
    /// Remembers a step, unless it saw no curvature.
    pub(super) fn remember(&mut self, moved: Vec<f64>, changed: Vec<f64>) {
        let curvature = dot(&moved, &changed);
        if curvature > f64::EPSILON * dot(&changed, &changed) {
            if self.steps.len() == MEMORY {
                self.steps.pop_front();
            }
            self.steps.push_back(Step { moved, changed, curvature });
        }
    }

    /// Forgets all steps; whether there were any.
    pub(super) fn forget(&mut self) -> bool {
        let any = !self.steps.is_empty();
        self.steps.clear();
        any
    }

    /// The direction against the gradient; `precondition` applies an inverse of what the second derivative is about.
    pub(super) fn direction(&self, gradient: &[f64], precondition: impl FnOnce(&mut [f64])) -> Vec<f64> {
        let mut direction: Vec<f64> = gradient.iter().map(|value| -value).collect();
        let mut shares = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            let share = dot(&step.moved, &direction) / step.curvature;
            add(&mut direction, -share, &step.changed);
            shares.push(share);
        }
        precondition(&mut direction);
        for (step, share) in self.steps.iter().zip(shares.into_iter().rev()) {
            let back = dot(&step.changed, &direction) / step.curvature;
            add(&mut direction, share - back, &step.moved);
        }
        direction
    }
}

pub(super) fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

/// `to += factor · vector`.
pub(super) fn add(to: &mut [f64], factor: f64, vector: &[f64]) {
    to.iter_mut().zip(vector).for_each(|(to, value)| *to += factor * value);
}
