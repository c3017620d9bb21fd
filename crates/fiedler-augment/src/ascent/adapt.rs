//! Steps that adapt to the objective.

use std::time::Instant;

use fiedler_graph::random::stream;
use rand::RngExt;

use super::gap::Gap;
use super::{Ascent, Outcome, Progress, Stop, first_order_gap, relative, scale};
use crate::objective::Evaluation;
use crate::support::{From, Rise, Support};

/// What a step must gain at least of what the derivative promises: the usual constant of Armijo's condition.
const SUFFICIENT: f64 = 1e-4;
/// A step that gains too little is shortened to this share, at most so often.
const SHORTER: f64 = 0.25;
const ATTEMPTS: usize = 14;
/// A step that is accepted at once makes the next one longer, up to where a pair that just gets its share of the budget moves by so
/// much: single precision has room for no more. More sensitive pairs are at their bound long before and set no limit.
const LONGER: f64 = 2.0;
const LONGEST: f64 = 16.0;
/// The least sensitive pair that counts in that, relative to the most sensitive.
const LEAST_SENSITIVE: f64 = 1e-4;
/// A step is slow that gains less than this share of all that was gained.
const SLOW: f64 = 0.02;
/// The least share of the way to a selection that is tried, and how many shares are tried in a step.
const LEAST_SHARE: f64 = 1e-4;
const SELECTIONS: usize = 3;
/// Steps between two looks at the gap, and between two searches for its threshold.
const CHECKED_EVERY: usize = 3;
const SEARCHED_EVERY: usize = 9;
/// Derivatives smaller than this share of what they are the difference of are zero but for rounding.
const VANISHING: f64 = 1e-5;
/// Derivatives are equal when their mean is so near to the largest.
const EQUAL: f64 = 1e-3;
/// Mass of the perturbation that leaves a stationary start, as a share of the budget.
const PERTURBATION: f64 = 0.1;

impl Ascent {
    pub(super) fn adapt<S: Support, E>(
        &self,
        change: f64,
        support: &mut S,
        original: f64,
        mut evaluate: impl FnMut(&S) -> Result<Evaluation, E>,
        mut watch: impl FnMut(&Progress) -> bool,
    ) -> Result<Outcome, E> {
        let started = Instant::now();
        let (sign, budget) = (self.direction.sign(), self.budget);
        let mut evaluations = 0;
        let mut evaluate = |support: &S| {
            evaluations += 1;
            evaluate(support)
        };
        let point = |step: usize, support: &S, now: &Evaluation| {
            let (mass, _) = support.mass_at(support.shift());
            Progress { step, relative_norm: relative(now.squared_norm, original), mass }
        };
        let mut now = evaluate(support)?;
        let start = now.squared_norm;
        let mut curve = vec![point(0, support, &now)];
        let mut stop = if self.steps == 0 { Stop::StepLimit } else { Stop::NoBetterStep };
        let may_move = watch(&curve[0]) && self.steps > 0 && budget > 0.0 && original > 0.0 && change > 0.0;

        let mut perturbed = false;
        if may_move && curve[0].mass == 0.0 && is_stationary(support, &now, sign) {
            perturb(support, budget, self.seed);
            now = evaluate(support)?;
            perturbed = true;
        }
        let rise = support.rise(&now.kernel, sign, 0.0);
        let first_rate = (change / rise.largest).min(budget / rise.total);
        let mut rate = first_rate;
        let (mut shift, mut threshold) = (0.0, 0.0);
        let (mut steps, mut checked, mut searched) = (0, 0, 0);
        // Short steps along the derivative leave pairs of small derivatives behind where a few steep ones forbid longer steps. Once
        // steps gain little, they therefore go a share of the way to the best selection of pairs instead, as those of Frank and Wolfe.
        let (mut share, mut is_slow) = (1.0, false);
        while may_move && rate.is_finite() && steps < self.steps {
            let longest = LONGEST / f64::max(threshold, LEAST_SENSITIVE * rise.largest);
            let mut selects = is_slow && share > LEAST_SHARE;
            let mut from = From::Current;
            let mut accepted = None;
            let mut attempts = 0;
            while attempts < ATTEMPTS {
                attempts += 1;
                let tried = if selects { longest } else { rate };
                support.attempt(from, &now.kernel, sign * tried);
                let reached = support.project(budget, if selects { threshold * longest } else { shift });
                if selects {
                    support.blend(share);
                } else {
                    shift = reached;
                }
                let next = evaluate(support)?;
                let gain = sign * (next.squared_norm - now.squared_norm);
                if gain > 0.0 && is_sufficient(gain, tried, support, budget) {
                    accepted = Some((next, gain));
                    break;
                }
                from = From::Held;
                if selects {
                    share *= SHORTER;
                    // No selection helps for now: a step along the derivative does.
                    if share <= LEAST_SHARE || attempts == SELECTIONS {
                        (selects, attempts) = (false, 0);
                    }
                } else {
                    (rate, shift) = (rate * SHORTER, shift * SHORTER);
                }
            }
            let Some((next, gain)) = accepted else {
                support.restore();
                now = evaluate(support)?;
                stop = Stop::NoBetterStep;
                break;
            };
            now = next;
            steps += 1;
            stop = Stop::StepLimit;
            let progress = point(steps, support, &now);
            curve.push(progress);
            if !watch(&progress) {
                break;
            }
            if selects {
                share = f64::min(LONGER * share, 1.0);
            } else {
                threshold = shift / rate;
                if from == From::Current {
                    let longest = LONGEST / f64::max(threshold, LEAST_SENSITIVE * rise.largest);
                    (rate, shift) = ((LONGER * rate).min(longest), shift * LONGER);
                }
            }
            let gained = sign * (now.squared_norm - start);
            is_slow = gain <= SLOW * gained;
            // Worth a pass only once steps gain little. A good threshold stays one for a while.
            if gain <= self.tolerance * gained && steps >= checked + CHECKED_EVERY {
                let gap = if steps >= searched + SEARCHED_EVERY {
                    searched = steps;
                    first_order_gap(support, &now.kernel, sign, budget, threshold)
                } else {
                    Gap::at(support, &now.kernel, sign, budget, threshold)
                };
                if gap.value <= self.tolerance * gained {
                    stop = Stop::NoGainLeft;
                    break;
                }
                (checked, threshold) = (steps, gap.threshold);
                share = f64::max(share, 2.0 * LEAST_SHARE);
            }
        }
        if perturbed && sign * (now.squared_norm - start) <= 0.0 {
            // What the perturbation led to is no better than the start.
            support.fill(&mut || 0.0);
            now = evaluate(support)?;
            curve.push(point(steps, support, &now));
        }
        support.release();
        let gap = first_order_gap(support, &now.kernel, sign, budget, threshold);
        if gap.value <= self.tolerance * sign * (now.squared_norm - start) {
            stop = Stop::NoGainLeft;
        }
        let rate = first_rate / scale(now.squared_norm, original) * std::f64::consts::SQRT_2;
        Ok(Outcome {
            relative_norm: relative(now.squared_norm, original),
            rate: if rate.is_finite() { rate } else { 0.0 },
            curve,
            gap: gap.value,
            stop,
            perturbed,
            evaluations,
            elapsed: started.elapsed(),
        })
    }
}

/// Armijo's condition on the projected step: the gain is at least a small share of `|Δx|² / rate`, which is no more than what the
/// derivative promises.
fn is_sufficient(gain: f64, rate: f64, support: &impl Support, budget: f64) -> bool {
    let asked = SUFFICIENT / rate;
    // No two points within the budget are further apart, and knowing that mostly spares a pass.
    gain >= asked * 2.0 * budget * support.most() || gain >= asked * support.squared_move()
}

/// Whether derivatives vanish, or all that are positive are equal: a step from there keeps whatever symmetry there is.
fn is_stationary(support: &impl Support, now: &Evaluation, sign: f64) -> bool {
    let kernel = &now.kernel;
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
    let inverse = largest(&kernel.inverse);
    let size = (kernel.level + kernel.slope) * inverse * inverse + 2.0 * largest(&kernel.pull);
    let Rise { largest, total, count, .. } = support.rise(kernel, sign, -VANISHING * size);
    // What is counted is above zero less a little, and so is what is summed.
    let mean = if count > 0.0 { total / count - VANISHING * size } else { return false };
    largest <= VANISHING * size || count > 1.0 && mean >= (1.0 - EQUAL) * largest
}

/// Gives every place a small random value.
fn perturb(support: &mut impl Support, budget: f64, seed: u64) {
    let most = (2.0 * PERTURBATION * budget / support.places().max(1) as f64).min(support.most() / 2.0);
    let mut random = stream(seed, "perturbation", 0);
    support.fill(&mut || random.random_range(0.0..1.0f32) * most as f32);
    support.project(budget, 0.0);
}
