//! The first-order gap: what a linear model of the objective says is left to gain within the budget.

use crate::kernel::PairKernel;
use crate::support::Support;

/// Passes over the support that a gap may take.
const PASSES: usize = 20;
/// How far from the guess the second threshold lies, relative to it.
const FIRST_REACH: f64 = 0.01;

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
    /// `Σ ∇ x`
    inner: f64,
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
            inner: rise.inner,
        }
    }

    /// This bound, or that of the largest derivative as the threshold, which needs no pass: the better one where many are equal.
    fn or_at_largest(self, budget: f64) -> Gap {
        let value = (self.largest * budget - self.inner).max(0.0);
        if value < self.value { Gap { value, threshold: self.largest, excess: -budget, ..self } } else { self }
    }
}

/// The gap at the current values of a support, of which the derivative is given; `guess` is the threshold to look at first.
pub fn first_order_gap(support: &impl Support, kernel: &PairKernel, sign: f64, budget: f64, guess: f64) -> Gap {
    let mut last = Gap::at(support, kernel, sign, budget, guess.max(0.0));
    let mut best = last.or_at_largest(budget);
    let (mut low, mut high) = (0.0, last.largest.max(last.threshold));
    let mut reach = FIRST_REACH;
    for _ in 1..PASSES {
        // The bound falls with the threshold while more is above it than the budget can take.
        if last.excess > 0.0 {
            low = last.threshold
        } else {
            high = last.threshold
        }
        // What a better threshold within the bracket could still take off the bound.
        let left = (high - low) * last.excess.abs();
        if high - low <= 1e-7 * high || left <= 1e-3 * best.value {
            break;
        }
        // Near the guess first, then halfway: derivatives may be nearly equal, and thresholds must then be told apart.
        let near = last.threshold * if last.excess > 0.0 { 1.0 + reach } else { 1.0 - reach };
        let is_bracketed = low > 0.0 && high < last.largest;
        let threshold = match () {
            () if !is_bracketed && near > low && near < high => near,
            () if low == 0.0 && high < 1e-2 * last.largest => 0.0,
            () => (low + high) / 2.0,
        };
        reach *= 4.0;
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
