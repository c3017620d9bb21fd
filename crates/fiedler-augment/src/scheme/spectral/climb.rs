//! One ascent on one graph, from its start to the probabilities.

use fiedler_graph::random::stream;
use rand::RngExt;

use super::outermost::climb_outermost;
use super::{OutermostMethod, Spectral, Start};
use crate::ascent::{Ascent, Climb, Progress, StepSize, Stop};
use crate::error::{Error, Result};
use crate::objective::{Evaluation, SpectralObjective, full_spectrum};
use crate::scheme::NormOf;
use crate::support::{Holders, PairSupport, Pairs, PartedPairs, Support};
use crate::transport::{MeasuredSpectrum, SpectrumMethod, SpectrumSolver};

/// Hears of every step; returning false stops.
pub(crate) type StepWatch<'a> = &'a (dyn Fn(&Progress) -> bool + Sync);

/// How an ascent went.
#[derive(Debug, Clone, Default)]
pub(crate) struct Climbed {
    /// Squared norm of the original spectrum.
    pub(crate) before: f64,
    /// Squared norm of the final spectrum.
    pub(crate) after: f64,
    /// Whose norm that is.
    pub(crate) of: NormOf,
    /// Squared distance of the two, where that was the objective.
    pub(crate) distance: Option<f64>,
    /// How spectra were compared, where they were.
    pub(crate) compared: Option<Compared>,
    pub(crate) rate: f64,
    pub(crate) curve: Vec<Progress>,
    /// First-order gap of the squared norm or distance.
    pub(crate) gap: Option<f64>,
    pub(crate) stop: Option<Stop>,
    /// Whether the start was stationary and left by a perturbation.
    pub(crate) perturbed: bool,
}

/// How the distance between spectra was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(crate) method: SpectrumMethod,
    /// The width below which eigenvalues were not told apart at the end; `None` where they were computed.
    pub(crate) resolution: Option<f64>,
}

/// Fills a support with its starting values and brings them within the budget.
pub(crate) fn start(support: &mut PairSupport<'_>, start: Start, budget: f64, seed: u64, view: usize, graph: usize) {
    if start == Start::Uniform {
        let mut random = small_numbers(support.num_nodes(), seed, view, graph);
        support.fill(&mut || random());
        support.project(budget, 0.0);
    }
}

/// Random numbers U(10⁻⁵, 1/n), each start its own.
pub(crate) fn small_numbers(nodes: usize, seed: u64, view: usize, graph: usize) -> impl FnMut() -> f32 {
    let purpose = if view == 0 { "first start" } else { "second start" };
    let mut random = stream(seed, purpose, graph as u64);
    let high = 1.0 / nodes.max(1) as f32;
    let low = 1e-5f32.min(high / 2.0);
    move || random.random_range(low..high)
}

/// Pushes the norm up or down.
pub(super) fn climb_norm(
    support: &mut PairSupport<'_>,
    original: &Pairs,
    settings: &Spectral,
    ascent: &Ascent,
    watch: StepWatch<'_>,
) -> Result<Climbed> {
    if settings.is_closed(support.num_nodes()) {
        let (operator, objective) = (settings.operator, settings.norm_objective());
        let evaluate = |support: &PairSupport<'_>| Ok(full_spectrum(support, operator, objective));
        let before = full_spectrum(original, operator, objective).squared_norm;
        let of = match objective {
            SpectralObjective::Expected => NormOf::ExpectedGraph,
            SpectralObjective::Sampled => NormOf::DrawnGraphs,
        };
        return Ok(Climbed { of, ..climb(support, before, ascent, evaluate, watch)? });
    }
    if let (Some(k), Some(OutermostMethod::Moments)) = (settings.k, settings.outermost_method(support.num_nodes())) {
        return climb_outermost(support, original, settings, k, ascent, watch);
    }
    let mut solver = settings.solver();
    let before = solver.solve(original)?.norm().squared_norm;
    climb(support, before, ascent, |support| Ok(solver.solve(support)?.norm()), watch)
}

/// Pushes the norm of drawn graphs up or down, with the pairs held in parts elsewhere; what comes of it has the same bits.
pub(super) fn climb_in_parts(
    pairs: Pairs,
    original: &Pairs,
    settings: &Spectral,
    ascent: &Ascent,
    holders: &dyn Holders,
    watch: StepWatch<'_>,
) -> Result<(Pairs, Climbed)> {
    let (operator, of) = (settings.operator, NormOf::DrawnGraphs);
    let before = full_spectrum(original, operator, SpectralObjective::Sampled).squared_norm;
    let mut parted = PartedPairs::new(pairs, operator, holders)?;
    let climbed = climb(&mut parted, before, ascent, |parted| parted.evaluate(), watch)?;
    Ok((parted.into_pairs()?, Climbed { of, ..climbed }))
}

/// Moves the spectrum away from another.
pub(crate) fn climb_distance<S: Support>(
    support: &mut S,
    from: &MeasuredSpectrum,
    solver: &mut SpectrumSolver,
    ascent: &Ascent,
    watch: StepWatch<'_>,
) -> Result<Climbed> {
    let before = from.squared_norm();
    let evaluate = |support: &S| {
        let found = solver.measure(support)?;
        Ok(solver.distance(&found, from))
    };
    let climbed = climb(support, before, ascent, evaluate, watch)?;
    let last = solver.measure_fixed(support)?;
    let distance = solver.final_distance(&last, from)?;
    Ok(Climbed {
        after: last.squared_norm(),
        distance: Some(distance.squared),
        compared: Some(Compared { method: solver.used(), resolution: distance.resolution }),
        ..climbed
    })
}

pub(super) fn climb<S: Support>(
    support: &mut S,
    before: f64,
    ascent: &Ascent,
    evaluate: impl FnMut(&S) -> Result<Evaluation>,
    watch: StepWatch<'_>,
) -> Result<Climbed> {
    let mut stopped = false;
    let outcome = ascent.try_run(support, before, evaluate, |progress| {
        stopped = !watch(progress);
        !stopped
    })?;
    if stopped {
        return Err(Error::Stopped);
    }
    Ok(Climbed {
        before,
        after: outcome.relative_norm * outcome.relative_norm * before,
        of: NormOf::ExpectedGraph,
        distance: None,
        compared: None,
        rate: outcome.rate,
        curve: outcome.curve,
        gap: Some(outcome.gap),
        stop: Some(outcome.stop),
        perturbed: outcome.perturbed,
    })
}

/// Steps that the views of [`climb_apart`] make at once, and each in the first round; every further round has twice as many.
const TOGETHER: usize = 20;
const FIRST_ROUND: usize = 8;
/// Rounds end when one that makes all its steps gains less than this share of the squared distance.
const WORTH_A_ROUND: f64 = 0.15;

/// Moves two spectra away from each other: after some steps of both at once they move in turns, each away from where the other stands.
///
/// At the start the two differ by little, and a view that moved alone would decide for both which way they part. Later both push the same distance up, so that it rises from round to round, by steps that adapt as those of any other ascent. An explicit
/// rate makes the paper's steps of both at once.
pub(super) fn climb_apart(
    supports: &mut [PairSupport<'_>; 2],
    before: f64,
    settings: &Spectral,
    ascent: &Ascent,
    watch: [StepWatch<'_>; 2],
) -> Result<[Climbed; 2]> {
    let mut solvers = [settings.spectrum_solver(), settings.spectrum_solver()];
    let mut climbed = [0, 1].map(|_| Climbed { before, ..Climbed::default() });
    if let StepSize::Rate(_) = ascent.step_size {
        fixed_apart(supports, &mut solvers, &mut climbed, ascent, watch)?;
    } else {
        let first = Ascent { steps: ascent.steps.min(TOGETHER), ..*ascent };
        fixed_apart(supports, &mut solvers, &mut climbed, &first, watch)?;
        adapt_apart(supports, &mut solvers, &mut climbed, ascent, watch)?;
    }
    let last = [solvers[0].measure_fixed(&supports[0])?, solvers[1].measure_fixed(&supports[1])?];
    let distance = solvers[0].final_distance(&last[0], &last[1])?;
    for view in 0..2 {
        climbed[view].after = last[view].squared_norm();
        climbed[view].distance = Some(distance.squared);
        climbed[view].compared = Some(Compared { method: solvers[view].used(), resolution: distance.resolution });
    }
    Ok(climbed)
}

fn adapt_apart(
    supports: &mut [PairSupport<'_>; 2],
    solvers: &mut [SpectrumSolver; 2],
    climbed: &mut [Climbed; 2],
    ascent: &Ascent,
    watch: [StepWatch<'_>; 2],
) -> Result<()> {
    let mut made = climbed.each_ref().map(|climbed| climbed.curve.len().saturating_sub(1));
    let (mut gained, mut at_once) = (0.0, FIRST_ROUND);
    while made.iter().any(|&made| made < ascent.steps) {
        let (before_round, made_before) = (gained, made);
        for view in 0..2 {
            let from = solvers[1 - view].measure_fixed(&supports[1 - view])?;
            let solver = &mut solvers[view];
            let round = Ascent { steps: at_once.min(ascent.steps - made[view]), gained, ..*ascent };
            let watch = |progress: &Progress| watch[view](&Progress { step: made[view] + progress.step, ..*progress });
            let evaluate = |support: &PairSupport<'_>| {
                let found = solver.measure(support)?;
                Ok(solver.distance(&found, &from))
            };
            let found = climb(&mut supports[view], climbed[view].before, &round, evaluate, &watch)?;
            gained = found.after;
            let known = usize::from(!climbed[view].curve.is_empty());
            let points = found.curve.iter().skip(known);
            climbed[view].curve.extend(points.map(|point| Progress { step: made[view] + point.step, ..*point }));
            climbed[view].rate = if known == 0 { found.rate } else { climbed[view].rate };
            made[view] += found.curve.len() - 1;
            (climbed[view].gap, climbed[view].stop) = (found.gap, found.stop);
        }
        // Of fewer steps than it may have, less is asked.
        let share = (made[0] + made[1] - made_before[0] - made_before[1]) as f64 / (2 * at_once) as f64;
        if gained - before_round <= f64::max(WORTH_A_ROUND * share, ascent.tolerance) * gained {
            break;
        }
        at_once *= 2;
    }
    Ok(())
}

/// The paper's steps, both views at once.
fn fixed_apart(
    supports: &mut [PairSupport<'_>; 2],
    solvers: &mut [SpectrumSolver; 2],
    climbed: &mut [Climbed; 2],
    ascent: &Ascent,
    watch: [StepWatch<'_>; 2],
) -> Result<()> {
    let mut climbs = [Climb::new(*ascent), Climb::new(*ascent)];
    for step in 0..=ascent.steps {
        let spectra = [solvers[0].measure(&supports[0])?, solvers[1].measure(&supports[1])?];
        let mut moved = step < ascent.steps;
        for view in 0..2 {
            let evaluation = solvers[view].distance(&spectra[view], &spectra[1 - view]);
            let progress = climbs[view].progress(&supports[view], &evaluation, climbed[view].before);
            climbed[view].curve.push(progress);
            if !watch[view](&progress) {
                return Err(Error::Stopped);
            }
            moved = moved && climbs[view].step(&mut supports[view], &evaluation, climbed[view].before);
        }
        if !moved {
            break;
        }
    }
    for (climbed, climb) in climbed.iter_mut().zip(&climbs) {
        climbed.rate = climb.rate().unwrap_or(0.0);
    }
    Ok(())
}
