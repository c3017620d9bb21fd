//! The first-order gap: what a linear model of the objective says is left to gain within the budget.

use crate::kernel::PairKernel;
use crate::support::Support;

/// Passes over the support that a gap may take.
const PASSES: usize = 10;

/// `max ⟨∇, y − x⟩` over all y with `0 ≤ y ≤ most` and `Σ y ≤ budget`, also known as the Frank–Wolfe gap.
///
/// The best y is a selection of the pairs of largest derivative, and by duality every threshold λ ≥ 0 gives a bound from above,
/// `λ · budget + most · Σ (∇ − λ)⁺ − Σ ∇ x`, which is tight when λ is the least derivative selected. What is given is such a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The bound.
    pub value: f64,
    /// The threshold it belongs to.
    pub threshold: f64,
    /// The largest derivative of any pair.
    pub largest: f64,
    /// By how much what is above the threshold exceeds the budget.
    excess: f64,
}

impl Gap {
    /// The bound that a threshold gives: one pass.
    pub(super) fn at(support: &impl Support, kernel: &PairKernel, sign: f64, budget: f64, threshold: f64) -> Gap {
        let (rise, most) = (support.rise(kernel, sign, threshold), support.most());
        Gap {
            value: (threshold * budget + most * rise.total - rise.inner).max(0.0),
            threshold,
            largest: rise.largest,
            excess: most * rise.count - budget,
        }
    }
}

/// The gap at the current values of a support, of which the derivative is given; `guess` is the threshold to look at first.
pub fn first_order_gap(support: &impl Support, kernel: &PairKernel, sign: f64, budget: f64, guess: f64) -> Gap {
    let mut last = Gap::at(support, kernel, sign, budget, guess.max(0.0));
    let mut best = last;
    let (mut low, mut high) = (0.0, last.largest.max(last.threshold));
    for _ in 1..PASSES {
        // The bound falls with the threshold while more is above it than the budget can take.
        if last.excess > 0.0 {
            low = last.threshold
        } else {
            high = last.threshold
        }
        if high - low <= 1e-4 * high {
            break;
        }
        let threshold = if low == 0.0 && high < 1e-2 * last.largest { 0.0 } else { (low + high) / 2.0 };
        last = Gap::at(support, kernel, sign, budget, threshold);
        if last.value < best.value {
            best = last;
        }
        if threshold == 0.0 && last.excess <= 0.0 {
            break;
        }
    }
    best
}
