//! The node pairs that may flip, and the passes an optimizer makes over them.
//!
//! A support holds one number in [0, 1] for each of its pairs, Δ in the paper, and with it the expected augmented graph
//! `B = A + C∘Δ`. Values are kept as they come out of a gradient step, together with the shift that projects them:
//! `x = clamp(value - shift, 0, 1)`, so that projecting costs no pass of its own.

mod candidates;
mod either;
mod low_rank;
mod nodes;
mod pairs;
mod stream;
mod tiles;
mod triangle;

pub(crate) use triangle::row_start;

pub use candidates::draw_candidates;
pub use either::PairSupport;
pub use nodes::Nodes;
pub use pairs::Pairs;
pub use triangle::Triangle;

use crate::kernel::PairKernel;
use crate::projection::shift_to_budget;

/// Which power of `B` a sum is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Power {
    /// Σ B
    One,
    /// Σ B²
    Two,
}

/// Pairs that may flip, with their current values.
pub trait Support {
    /// Number of nodes.
    fn num_nodes(&self) -> usize;

    /// For every node `i` the sum over its partners, `Σ_k B_ik^power · factor_k`.
    fn sums(&self, power: Power, factor: &[f64]) -> Vec<f64>;

    /// Moves every value by `rate` times the derivative for it, leaving the result unprojected.
    fn advance(&mut self, kernel: &PairKernel, rate: f64);

    /// The largest and the summed derivative of the pairs that a step along `sign` would raise.
    fn rise(&self, kernel: &PairKernel, sign: f64) -> Rise;

    /// `Σ clamp(value - shift, 0, 1)` and the number of pairs strictly inside, for the projection.
    fn mass_at(&self, shift: f64) -> (f64, f64);

    /// Finds and sets the shift that projects the values onto the budget, and returns it. `guess` is where to look first.
    fn project(&mut self, budget: f64, guess: f64) -> f64 {
        let shift = shift_to_budget(budget, guess, |shift| self.mass_at(shift));
        self.set_shift(shift);
        shift
    }

    /// The shift in force.
    fn shift(&self) -> f64;

    /// Sets the shift that projects the values.
    fn set_shift(&mut self, shift: f64);

    /// Expected numbers of edges added and removed.
    fn mass(&self) -> Mass;

    /// Hands over every pair in ascending order: its lower and its higher node, whether it is an edge, its probability.
    fn visit(&self, visit: &mut dyn FnMut(u32, u32, bool, f32));

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// How strongly an objective pulls values up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rise {
    /// The largest derivative of any pair.
    pub largest: f64,
    /// The sum of all derivatives that are positive.
    pub total: f64,
}

impl Rise {
    fn with(self, derivative: f64) -> Rise {
        Rise { largest: self.largest.max(derivative), total: self.total + derivative.max(0.0) }
    }

    fn and(self, other: Rise) -> Rise {
        Rise { largest: self.largest.max(other.largest), total: self.total + other.total }
    }
}

/// Expected numbers of flips.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Mass {
    /// Of pairs that are no edge.
    pub added: f64,
    /// Of edges.
    pub removed: f64,
}

impl Mass {
    /// All flips.
    pub fn total(&self) -> f64 {
        self.added + self.removed
    }
}

/// Rows of the upper triangle in a fixed number of parts of about equal size, whatever the number of threads.
pub(crate) fn parts<F: Fn(usize) -> usize>(rows: usize, total: usize, row_length: F) -> Vec<std::ops::Range<usize>> {
    const PARTS: usize = 32;
    const SMALLEST: usize = 1 << 14;
    let target = total.div_ceil(PARTS).max(SMALLEST);
    let mut parts = Vec::with_capacity(PARTS + 1);
    let (mut start, mut held) = (0, 0);
    for row in 0..rows {
        held += row_length(row);
        if held >= target {
            parts.push(start..row + 1);
            (start, held) = (row + 1, 0);
        }
    }
    if start < rows || parts.is_empty() {
        parts.push(start..rows);
    }
    parts
}
