//! Steps that adapt to the objective.

use std::time::Instant;

use fiedler_graph::random::stream;
use rand::RngExt;

use super::gap::Gap;
use super::{Ascent, Outcome, Progress, Stop, first_order_gap, relative, scale};
use crate::objective::Evaluation;
use crate::support::{From, MetricStep, Moved, Rise, Support};

/// What a step must gain at least of what the derivative promises: the usual constant of Armijo's condition.
const SUFFICIENT: f64 = 1e-4;
/// A step that gains too little is shortened to this share, at most so often.
const SHORTER: f64 = 0.25;
const ATTEMPTS: usize = 14;
/// A step makes the next one so many times as long at most, up to where a pair that just gets its share of the budget moves by so
/// much: single precision has room for no more. More sensitive pairs are at their bound long before and set no limit.
const LONGER: f64 = 2.0;
const LONGEST: f64 = 16.0;
/// A step is too long for single precision where its projection needs a larger shift: derivatives may grow after limits were set by them.
const LARGEST_SHIFT: f64 = 256.0;
/// The least sensitive pair that counts in that, relative to the most sensitive.
const LEAST_SENSITIVE: f64 = 1e-4;
/// A step is slow that gains less than this share of all that was gained.
const SLOW: f64 = 0.02;
/// Steps lead nowhere when so many in a row gain less than this share of all that was gained.
const STALLED: f64 = 1e-6;
const STALLED_STEPS: usize = 20;
/// The least share of the way to a selection that is tried, and how many shares are tried in a step.
const LEAST_SHARE: f64 = 1e-4;
const SELECTIONS: usize = 3;
/// Steps after which the kind of step that gained less is tried again.
const OTHER_EVERY: usize = 10;
/// Steps along the derivative are preferred where they gain so many times as much: selections have more lasting effects.
const PREFERRED: f64 = 12.0;
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
        let steepest = support.steepest_in_metric(&now.kernel, sign);
        let rate = steepest.map_or(first_rate, |steepest| change / steepest);
        let in_metric = steepest.is_some();
        let mut along = Along { rate, in_metric, shift: 0.0, gain: f64::INFINITY, last: 0, threshold: 0.0 };
        let mut selection = Selection { share: 1.0, shift: None, gain: f64::INFINITY, last: 0 };
        let mut threshold = 0.0;
        let (mut steps, mut checked, mut searched) = (0, 0, 0);
        let (mut is_slow, mut stalled) = (false, 0);
        while may_move && along.rate.is_finite() && steps < self.steps {
            let longest = LONGEST / f64::max(threshold, LEAST_SENSITIVE * rise.largest);
            let mut attempt = Attempt { ascent: self, now: &now, from: From::Current, evaluate: &mut evaluate };
            let selects = is_slow && selection.is_due(steps, &along);
            let mut accepted =
                if selects { attempt.select(support, &mut selection, longest, threshold)? } else { None };
            if accepted.is_none() {
                accepted = attempt.follow(support, &mut along, rise.largest)?;
                if accepted.is_some() {
                    (along.last, threshold) = (steps, along.threshold);
                } else if !selects {
                    accepted = attempt.select(support, &mut selection, longest, threshold)?;
                }
            }
            if selects {
                selection.last = steps;
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
            let gained = self.gained + sign * (now.squared_norm - start);
            is_slow = gain <= SLOW * gained;
            stalled = if gain <= STALLED * gained { stalled + 1 } else { 0 };
            if stalled == STALLED_STEPS {
                stop = Stop::NoBetterStep;
                break;
            }
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
        if gap.value <= self.tolerance * (self.gained + sign * (now.squared_norm - start)) {
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

/// Steps along the derivative.
struct Along {
    /// The rate of the next, and the shift that its projection may need.
    rate: f64,
    shift: f64,
    /// Whether pairs go as their stiffness allows.
    in_metric: bool,
    /// What the last one gained, which it was, and the derivative that just got its share of the budget in it.
    gain: f64,
    last: usize,
    threshold: f64,
}

/// Steps a share of the way to the best selection of pairs, as those of Frank and Wolfe: steps along the derivative leave pairs of
/// small derivatives behind where a few steep ones forbid longer steps.
struct Selection {
    share: f64,
    /// The shift that the projection of the last one needed, at a rate of one.
    shift: Option<f64>,
    /// What the last one gained, and which it was.
    gain: f64,
    last: usize,
}

impl Selection {
    /// Whether the next step goes towards a selection: of both kinds that which gained more of late, and the other now and then.
    fn is_due(&self, steps: usize, along: &Along) -> bool {
        match PREFERRED * self.gain > along.gain {
            true => steps < along.last + OTHER_EVERY,
            false => steps >= self.last + OTHER_EVERY,
        }
    }
}

/// A step that is tried from where an ascent stands.
struct Attempt<'a, F> {
    ascent: &'a Ascent,
    now: &'a Evaluation,
    from: From,
    evaluate: &'a mut F,
}

/// A step along the derivative as it was made.
struct Tried {
    /// Its squared length, in the metric where there is one.
    squared: f64,
    /// What the derivative promises of it.
    promised: f64,
    /// The derivative that just got its share of the budget.
    threshold: f64,
    /// Whether single precision has room for it.
    is_precise: bool,
}

/// An accepted step: what is known after it, and what it gained.
type Accepted = Option<(Evaluation, f64)>;

impl<F> Attempt<'_, F> {
    /// A step along the derivative, shortened until it gains enough.
    fn follow<S: Support, E>(&mut self, support: &mut S, along: &mut Along, largest: f64) -> Result<Accepted, E>
    where
        F: FnMut(&S) -> Result<Evaluation, E>,
    {
        for _ in 0..ATTEMPTS {
            let tried = self.try_along(support, along);
            self.from = From::Held;
            let next = (self.evaluate)(support)?;
            let gain = self.ascent.direction.sign() * (next.squared_norm - self.now.squared_norm);
            let Tried { squared, promised, threshold, is_precise } = tried;
            let is_sufficient = is_precise && gain > 0.0 && gain >= SUFFICIENT * promised;
            let factor = if is_sufficient {
                (along.gain, along.threshold) = (gain, threshold);
                // From the curvature that the step has met, as Barzilai and Borwein: its squared length by what the derivative
                // promised of it and it did not gain, twice.
                let missed = 2.0 * (promised - gain);
                let rate = if missed > 0.0 { squared / missed } else { f64::INFINITY };
                let factor = (rate / along.rate).clamp(SHORTER, LONGER);
                let longest = LONGEST / f64::max(along.threshold, LEAST_SENSITIVE * largest);
                if along.in_metric { factor } else { factor.min(longest / along.rate) }
            } else {
                SHORTER
            };
            (along.rate, along.shift) = (factor * along.rate, factor * along.shift);
            if is_sufficient {
                return Ok(Some((next, gain)));
            }
        }
        Ok(None)
    }

    /// Moves the support along the derivative and onto the budget.
    fn try_along<S: Support>(&self, support: &mut S, along: &mut Along) -> Tried {
        let (sign, budget, kernel) = (self.ascent.direction.sign(), self.ascent.budget, &self.now.kernel);
        if along.in_metric {
            let step = support.attempt_in_metric(self.from, kernel, (sign, along.rate), budget, along.threshold);
            if let Some(MetricStep { threshold, squared, promised }) = step {
                return Tried { squared, promised, threshold, is_precise: true };
            }
            along.in_metric = false;
        }
        support.attempt(self.from, kernel, sign * along.rate, along.shift);
        along.shift = support.project(budget, along.shift);
        let Moved { squared, promised } = support.moved();
        let (promised, threshold) = (promised / along.rate, along.shift / along.rate);
        Tried { squared, promised, threshold, is_precise: along.shift <= LARGEST_SHIFT }
    }

    /// A step towards the best selection of pairs, which is what the longest step along the derivative leads to.
    fn select<S: Support, E>(
        &mut self,
        support: &mut S,
        selection: &mut Selection,
        longest: f64,
        threshold: f64,
    ) -> Result<Accepted, E>
    where
        F: FnMut(&S) -> Result<Evaluation, E>,
    {
        let (sign, budget) = (self.ascent.direction.sign(), self.ascent.budget);
        let guess = selection.shift.unwrap_or(threshold) * longest;
        support.attempt(self.from, &self.now.kernel, sign * longest, guess);
        self.from = From::Held;
        let shift = support.project(budget, guess);
        if shift > LARGEST_SHIFT {
            selection.gain = 0.0;
            return Ok(None);
        }
        selection.shift = Some(shift / longest);
        let promised = support.moved().promised / longest;
        let mut blended = 1.0;
        for _ in 0..SELECTIONS {
            let share = selection.share;
            support.blend(share / blended);
            blended = share;
            let next = (self.evaluate)(support)?;
            let gain = sign * (next.squared_norm - self.now.squared_norm);
            let promised = share * promised;
            if gain > 0.0 && gain >= SUFFICIENT * promised {
                // The share that would have gained the most, were the objective quadratic on the way.
                let best = if promised > gain { promised / (2.0 * (promised - gain)) } else { LONGER };
                selection.share = (share * best.clamp(SHORTER, LONGER)).clamp(LEAST_SHARE, 1.0);
                selection.gain = gain;
                return Ok(Some((next, gain)));
            }
            selection.share = f64::max(SHORTER * share, LEAST_SHARE);
        }
        selection.gain = 0.0;
        Ok(None)
    }
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
