//! The norm of the K outermost eigenvalues: how these are followed, and the ascent that does without an eigensolver.

use fiedler_graph::GraphSet;
use fiedler_spectral::PartialSettings;

use super::Spectral;
use super::climb::{Climbed, StepWatch, climb};
use crate::ascent::{Ascent, Progress, StepSize};
use crate::eigen::Eigensolver;
use crate::error::{Error, Result};
use crate::objective::{SpectralObjective, full_spectrum};
use crate::support::{PairSupport, Pairs, Support};
use crate::transport::{MeasuredSpectrum, SpectrumMethod, SpectrumSolver, quickest_moments};

/// Degree of the polynomials that tell outermost eigenvalues from the others; later steps have twice that. On Cora with candidates the
/// derivative of the norm of 1,000 of each end has a cosine of 0.9995 with that by eigenpairs, of 200 one of 0.986, and then of 0.995.
pub(super) const OUTERMOST_DEGREE: usize = 20;

/// Graphs up to this many nodes have all their eigenpairs in less than a second.
const LARGEST_QUICK_WHOLE: usize = 1500;

/// How the K outermost eigenvalues of a graph are followed from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutermostMethod {
    /// By their eigenpairs, each time from those of the step before.
    Block,
    /// By all eigenpairs.
    Whole,
    /// By moments of all eigenvalues, without an eigensolver.
    Moments,
}

impl Spectral {
    /// How the K outermost eigenvalues of a graph of so many nodes are followed: by what is the quickest, unless the settings say
    /// otherwise. Nothing where all eigenvalues count, which have a closed form.
    ///
    /// ```
    /// use fiedler_augment::scheme::{OutermostMethod, Spectral};
    ///
    /// let method = |k, nodes| Spectral { k: Some(k), ..Spectral::default() }.outermost_method(nodes);
    /// assert_eq!(method(1000, 2708), Some(OutermostMethod::Moments));
    /// assert_eq!(method(200, 2708), Some(OutermostMethod::Block));
    /// assert_eq!(method(200, 1000), Some(OutermostMethod::Whole));
    /// assert_eq!(method(500, 1000), None);
    /// ```
    pub fn outermost_method(&self, nodes: usize) -> Option<OutermostMethod> {
        let k = self.k.filter(|&k| 2 * k < nodes)?;
        let wanted = PartialSettings { lowest: k, highest: k, dense_limit: self.memory, ..PartialSettings::default() };
        let by_moments = match self.spectra {
            SpectrumMethod::Exact => false,
            SpectrumMethod::Chebyshev | SpectrumMethod::Probes => true,
            SpectrumMethod::Auto => nodes > LARGEST_QUICK_WHOLE && wanted.takes_much(nodes),
        };
        Some(match by_moments {
            true => OutermostMethod::Moments,
            false if wanted.takes_whole(nodes) => OutermostMethod::Whole,
            false => OutermostMethod::Block,
        })
    }

    /// How outermost eigenvalues are followed, in words.
    pub(super) fn outermost_note(&self, set: &GraphSet) -> Option<String> {
        let (k, nodes) = (self.k?, (0..set.len()).map(|graph| set.node_range(graph).len()).max()?);
        let start = match self.step_size {
            StepSize::Rate(_) => "steps",
            StepSize::LargestChange(_) => "the norm of all leads to a start, and steps from there",
        };
        Some(match self.outermost_method(nodes)? {
            OutermostMethod::Moments => format!(
                "{k} eigenvalues of each end are so many that {start} follow Chebyshev moments of degree {OUTERMOST_DEGREE} and more, \
                 without an eigensolver"
            ),
            OutermostMethod::Whole => {
                format!(
                    "{k} eigenvalues of each end are so many that all {nodes} eigenpairs are computed at every step"
                )
            }
            OutermostMethod::Block => {
                format!("{k} eigenpairs of each end are computed at every step, from those of the step before")
            }
        })
    }
}

/// Pushes the norm of the K lowest and K highest eigenvalues up or down, without an eigensolver.
///
/// Where so many eigenvalues count, what moves the norm of all moves theirs: its closed form, which costs next to nothing, leads to where
/// steps by moments begin. Without that they are hundreds.
pub(super) fn climb_outermost(
    support: &mut PairSupport<'_>,
    original: &Pairs,
    settings: &Spectral,
    k: usize,
    ascent: &Ascent,
    watch: StepWatch<'_>,
) -> Result<Climbed> {
    let method = match settings.spectra {
        SpectrumMethod::Auto => quickest_moments(support.num_nodes(), support.len(), OUTERMOST_DEGREE),
        asked => asked,
    };
    let all = Eigensolver { k: None, ..settings.solver() };
    let solver = || SpectrumSolver::new(method, all.clone()).with_degree(OUTERMOST_DEGREE);
    let outermost = |solver: &mut SpectrumSolver, found: &MeasuredSpectrum| {
        solver.outermost(found, k).ok_or_else(|| Error::setting("spectra", method.name(), "chebyshev or probes"))
    };
    let mut fixed = solver();
    let before = {
        let first = fixed.measure_fixed(original)?;
        outermost(&mut fixed, &first)?.squared_norm
    };
    let mut following = solver();
    let mut evaluate = |support: &PairSupport<'_>| {
        let found = following.measure(support)?;
        outermost(&mut following, &found)
    };
    let climbed = if matches!(ascent.step_size, StepSize::Rate(_)) || ascent.steps == 0 {
        climb(support, before, ascent, evaluate, watch)?
    } else {
        let start = climb_whole(support, original, settings, ascent, watch)?;
        let met = evaluate(support)?;
        let gained = ascent.direction.sign() * (met.squared_norm - before);
        let rest = Ascent { steps: ascent.steps - 1, gained, ..*ascent };
        let mut met = Some(met);
        let evaluate = |support: &PairSupport<'_>| met.take().map_or_else(|| evaluate(support), Ok);
        let later = |progress: &Progress| Progress { step: progress.step + 1, ..*progress };
        let climbed = climb(support, before, &rest, evaluate, &|progress| watch(&later(progress)))?;
        // What led to the start is one step of the curve: it followed another norm.
        let first = Progress { step: 0, relative_norm: 1.0, mass: 0.0 };
        let curve = std::iter::once(first).chain(climbed.curve.iter().map(later)).collect();
        Climbed { curve, rate: start.rate, perturbed: start.perturbed || climbed.perturbed, ..climbed }
    };
    // Moments tell how the norm moves; what it is, eigenvalues alone tell soon enough where the graph is not too large.
    Ok(match (fixed.final_outermost(original, k)?, fixed.final_outermost(support, k)?) {
        (Some(before), Some(after)) => Climbed { before, after, ..climbed },
        _ => climbed,
    })
}

/// Pushes the norm of all eigenvalues, that of the expected graph, without a word of its steps.
fn climb_whole(
    support: &mut PairSupport<'_>,
    original: &Pairs,
    settings: &Spectral,
    ascent: &Ascent,
    watch: StepWatch<'_>,
) -> Result<Climbed> {
    let norm = |support: &PairSupport<'_>| Ok(full_spectrum(support, settings.operator, SpectralObjective::Expected));
    let before = full_spectrum(original, settings.operator, SpectralObjective::Expected).squared_norm;
    let start = |progress: &Progress| watch(&Progress { step: 0, ..*progress });
    climb(support, before, ascent, norm, &start)
}
