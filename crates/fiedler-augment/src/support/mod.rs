//! The node pairs that may flip, and the passes an optimizer makes over them.
//!
//! A support holds one number in [0, 1] for each of its pairs, Δ in the paper, and with it the expected augmented graph
//! `B = A + C∘Δ`. Values are kept as they come out of a gradient step, together with the shift that projects them:
//! `x = clamp(value - shift, 0, most)`, so that projecting costs no pass of its own.

mod candidates;
mod either;
mod incidence;
mod low_rank;
mod measure;
mod nodes;
mod pairs;
mod parts;
mod split;
mod stream;
mod tiles;
mod triangle;

pub(crate) use triangle::row_start;

pub use candidates::draw_candidates;
pub use either::PairSupport;
pub use nodes::Nodes;
pub use pairs::Pairs;
pub(crate) use parts::PartedPairs;
pub use parts::{Answer, Holders, Part, Question};
pub use split::{LIGHT, MiddlePair, PairsAround, Split, light_sums_by_visiting, whole_sums_by_visiting};
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

    /// All pairs from both of their ends, where the support lists them: the norm of drawn graphs is then found from these alone.
    fn pairs_around(&self) -> Option<PairsAround> {
        None
    }

    /// The pairs by their weight, as the norm of drawn graphs looks at them where it streams over them.
    fn split(&self) -> Split {
        Split::by_visiting(self)
    }

    /// For every node the sums over its partners of light weight: `Σ_k B_ik · linear_k`, and with `B_ik²` those of both squares.
    fn light_sums(&self, linear: &[f64], square: [&[f64]; 2]) -> [Vec<f64>; 3] {
        split::light_sums_by_visiting(self, linear, square)
    }

    /// For every node the sum of a factor over its partners by edges that never flip.
    fn whole_sums(&self, factor: &[f64]) -> Vec<f64> {
        split::whole_sums_by_visiting(self, factor)
    }

    /// Number of pairs, or of nodes, that have a value.
    fn places(&self) -> usize;

    /// Moves every value by `rate` times the derivative for it, leaving the result unprojected.
    fn advance(&mut self, kernel: &PairKernel, rate: f64);

    /// As [`Support::advance`], and holds on to the values it moves from: the current ones, or again those that are held already.
    /// `guess` is the shift that the projection of the result may need.
    fn attempt(&mut self, from: From, kernel: &PairKernel, rate: f64, guess: f64);

    /// The largest derivative along `sign` over the stiffness of its pair, where the objective tells of that and the support steps by it:
    /// what the rate of [`Support::attempt_in_metric`] multiplies.
    fn steepest_in_metric(&self, _kernel: &PairKernel, _sign: f64) -> Option<f64> {
        None
    }

    /// As [`Support::attempt`] and [`Support::project`] in one, each pair by as much as its stiffness allows: `(sign, rate)` goes to the
    /// nearest point within the budget from `x + rate · sign · ∂F/∂x / h`, where distances are `Σ h (·)²`. `guess` is the threshold
    /// that the result may have.
    fn attempt_in_metric(
        &mut self,
        _from: From,
        _kernel: &PairKernel,
        _step: (f64, f64),
        _budget: f64,
        _guess: f64,
    ) -> Option<MetricStep> {
        None
    }

    /// Moves the current values back towards those that are held: `x = held x + share · (x - held x)`.
    fn blend(&mut self, share: f64);

    /// Goes back to the values that are held. The current ones are lost.
    fn restore(&mut self);

    /// Lets go of held values.
    fn release(&mut self);

    /// How far an attempt went from what is held, once it is projected.
    fn moved(&self) -> Moved;

    /// How strongly a step along `sign` would raise values whose derivative exceeds a threshold.
    fn rise(&self, kernel: &PairKernel, sign: f64, threshold: f64) -> Rise;

    /// Sets every value, in the order of pairs.
    fn fill(&mut self, value: &mut dyn FnMut() -> f32);

    /// `Σ clamp(value - shift, 0, most)` and the number of pairs strictly inside, for the projection.
    fn mass_at(&self, shift: f64) -> (f64, f64);

    /// The largest value that projection leaves, 1 unless [`Support::set_most`] says otherwise.
    fn most(&self) -> f64;

    /// Sets the largest value that projection leaves.
    fn set_most(&mut self, most: f64);

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

/// Which values an attempt moves from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The current ones, which are held from now on.
    Current,
    /// Those that are held.
    Held,
}

/// An attempt in a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricStep {
    /// The derivative that just gets its share of the budget.
    pub threshold: f64,
    /// `Σ h (x - held x)²`
    pub squared: f64,
    /// What the derivative promises of the move.
    pub promised: f64,
}

/// How far an attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Moved {
    /// `Σ (x - held x)²`
    pub squared: f64,
    /// `Σ (x - held x) (value - held x)`: the rate times what the derivative promises of the move.
    pub promised: f64,
}

impl Moved {
    /// Over values in the order of pairs.
    fn of(values: &[f32], held: &[f32], now: Clamp, before: Clamp) -> Moved {
        // Sums of a few lanes at once, so that they need not wait for each other.
        const LANES: usize = 16;
        let mut squared = [0.0f32; LANES];
        let mut promised = [0.0f32; LANES];
        for (values, held) in values.chunks(LANES).zip(held.chunks(LANES)) {
            for (((&value, &held), squared), promised) in values.iter().zip(held).zip(&mut squared).zip(&mut promised) {
                let from = before.of(held);
                let moved = now.of(value) - from;
                *squared += moved * moved;
                *promised += moved * (value - from);
            }
        }
        let total = |lanes: [f32; LANES]| lanes.into_iter().map(f64::from).sum();
        Moved { squared: total(squared), promised: total(promised) }
    }
}

impl std::iter::Sum for Moved {
    fn sum<I: Iterator<Item = Moved>>(all: I) -> Moved {
        all.fold(Moved::default(), |sum, moved| Moved {
            squared: sum.squared + moved.squared,
            promised: sum.promised + moved.promised,
        })
    }
}

/// How a value becomes a probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clamp {
    pub(crate) shift: f32,
    pub(crate) most: f32,
}

impl Default for Clamp {
    fn default() -> Self {
        Clamp { shift: 0.0, most: 1.0 }
    }
}

impl Clamp {
    #[inline(always)]
    pub(crate) fn of(self, value: f32) -> f32 {
        (value - self.shift).clamp(0.0, self.most)
    }

    /// A share of the way from a probability to that of a value.
    #[inline(always)]
    fn blended(self, value: f32, from: f32, share: f64) -> f32 {
        from + share as f32 * (self.of(value) - from)
    }

    pub(crate) fn at(self, shift: f32) -> Clamp {
        Clamp { shift, ..self }
    }
}

/// How strongly an objective pulls values up.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Rise {
    /// The largest derivative of any pair.
    pub largest: f64,
    /// The sum of what derivatives have above the threshold.
    pub total: f64,
    /// The number of derivatives above the threshold.
    pub count: f64,
    /// The sum of all derivatives times values.
    pub inner: f64,
}

impl Rise {
    fn with(self, derivative: f64, x: f64, threshold: f64) -> Rise {
        let above = derivative - threshold;
        Rise {
            largest: self.largest.max(derivative),
            total: self.total + above.max(0.0),
            count: self.count + f64::from(u8::from(above > 0.0)),
            inner: self.inner + x * derivative,
        }
    }

    fn and(self, other: Rise) -> Rise {
        Rise {
            largest: self.largest.max(other.largest),
            total: self.total + other.total,
            count: self.count + other.count,
            inner: self.inner + other.inner,
        }
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
