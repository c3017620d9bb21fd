//! Schemes that change the spectrum most: opposite, single-way and double-way.

mod choice;
mod climb;
mod comparisons;
mod graphs;
mod outermost;

use fiedler_graph::{Graph, GraphSet, Observer};
use fiedler_spectral::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use choice::Chosen;
pub use choice::SupportChoice;
pub(super) use climb::{Climbed, climb_distance, small_numbers};
pub(super) use comparisons::Comparisons;
pub(super) use graphs::{Outcome, over_graphs};
pub use outermost::OutermostMethod;

use super::settings::RATIOS;
use super::{Augmentation, PairProbabilities, Report, ViewReport};
use crate::ascent::{self, Ascent, Direction, STEPS, StepSize};
use crate::axis::Axis;
use crate::eigen::Eigensolver;
use crate::error::{Error, Result};
use crate::objective::SpectralObjective;
use crate::sample::EdgeFlips;
use crate::support::{Holders, PairSupport, Pairs, Support};
use crate::transport::{SpectrumMethod, SpectrumSolver};
use choice::Limits;
use climb::{StepWatch, climb_apart, climb_in_parts, climb_norm, start};

/// The largest residual of an eigenpair that a derivative is taken from.
pub(super) const TOLERANCE: f64 = 1e-5;

/// Settings of the optimized schemes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spectral {
    /// Whose spectrum.
    pub operator: Operator,
    /// Which norm: that of the expected graph, as in the paper, or the expected norm of the graphs that are drawn. Without it the
    /// latter, where it is known: where one norm of all eigenvalues is pushed up or down.
    pub objective: Option<SpectralObjective>,
    /// How many of the lowest and of the highest eigenvalues count, K in the paper. Without it all do.
    pub k: Option<usize>,
    /// Most flips in expectation as a share of the edges, σ_e in the paper.
    pub ratio: f64,
    /// Most flip probability of any pair. Below 1 drawn views differ from each other.
    pub max_probability: f64,
    /// Most steps.
    pub steps: usize,
    /// Steps end when the first-order gap is at most this share of what was gained. An explicit rate makes all its steps.
    pub tolerance: f64,
    /// How far a step goes.
    pub step_size: StepSize,
    /// How far a step goes that pushes the norm down, where that is not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_size_down: Option<StepSize>,
    /// Where to start. Without it from zero, or at random where zero is a stationary point.
    pub start: Option<Start>,
    /// Which pairs may flip.
    pub support: SupportChoice,
    /// Non-edges considered for each node, where the support is edges and candidates.
    pub candidates: usize,
    /// Symmetric noise that keeps repeated eigenvalues apart, ε in the paper. The closed form of the whole norm needs none.
    pub noise: f64,
    /// How spectra are compared, in the single-way and double-way schemes, and how eigenvalues are found where only the outermost count.
    #[serde(skip_serializing_if = "SpectrumMethod::is_auto")]
    pub spectra: SpectrumMethod,
    /// Bytes that all pairs, or a dense spectrum, may take.
    pub memory: u64,
    /// Seed of random starts, candidates and noise.
    pub seed: u64,
}

impl Default for Spectral {
    fn default() -> Self {
        Spectral {
            operator: Operator::Laplacian,
            objective: None,
            k: None,
            ratio: 0.3,
            max_probability: 1.0,
            steps: STEPS,
            tolerance: ascent::TOLERANCE,
            step_size: StepSize::default(),
            step_size_down: None,
            start: None,
            support: SupportChoice::Auto,
            candidates: 10,
            noise: 1e-5,
            spectra: SpectrumMethod::Auto,
            memory: 1 << 30,
            seed: 0,
        }
    }
}

/// Where an ascent starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Nothing flips.
    Zero,
    /// Every pair flips with a small random probability, U(10⁻⁵, 1/n).
    Uniform,
}

/// What the views of a scheme are to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    Norm(Direction),
    Distance,
}

impl Spectral {
    fn check(&self) -> Result<()> {
        let number = |name: &str, value: f64| match value.is_finite() && value >= 0.0 {
            true => Ok(()),
            false => Err(Error::setting(name, value, "a number that is not negative")),
        };
        number("ratio", self.ratio)?;
        number("noise", self.noise)?;
        number("tolerance", self.tolerance)?;
        if !(self.max_probability > 0.0 && self.max_probability <= 1.0) {
            return Err(Error::setting("max_probability", self.max_probability, "a number above 0 and up to 1"));
        }
        self.step_size.check("step_size")?;
        self.step_size_down.map_or(Ok(()), |step_size| step_size.check("step_size_down"))?;
        if self.k == Some(0) {
            return Err(Error::setting("k", 0, "at least 1, or all"));
        }
        if self.k.is_some() && self.objective == Some(SpectralObjective::Sampled) {
            return Err(Error::setting("objective", "sampled", "expected, where only some eigenvalues count")
                .advise("the norm of a sampled graph is known for all eigenvalues together only"));
        }
        Ok(())
    }

    pub(super) fn check_opposite(&self, set: &GraphSet) -> Result<()> {
        self.check()?;
        Limits::of(set, self).check(self)
    }

    /// As [`Spectral::check_opposite`], for the schemes that compare spectra eigenvalue by eigenvalue.
    pub(super) fn check_distance(&self, set: &GraphSet) -> Result<()> {
        self.check_opposite(set)?;
        if self.start == Some(Start::Zero) {
            return Err(Error::setting(
                "start",
                "zero",
                "uniform, where a spectrum is moved away from where it starts",
            )
            .advise("at zero the distance is at its minimum and has no slope"));
        }
        if self.objective == Some(SpectralObjective::Sampled) {
            return Err(Error::setting("objective", "sampled", "expected, where spectra are compared"));
        }
        Ok(())
    }

    pub(super) fn opposite_axes(&self) -> Vec<Axis> {
        vec![
            Axis::new("scheme.ratio", RATIOS),
            Axis::new("scheme.operator", ["laplacian", "propagation"]),
            Axis::new("scheme.objective", ["expected", "sampled"]),
            Axis::new("scheme.support", ["auto", "candidates", "edges"]),
        ]
    }

    pub(super) fn opposite(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        self.opposite_by(set, observer, |mut support, original, ascent, watch| {
            let climbed = climb_norm(&mut support, original, self, ascent, watch)?;
            Ok((support, climbed))
        })
    }

    /// As [`Spectral::opposite`], with the pairs of one graph held in parts elsewhere.
    pub(super) fn opposite_in_parts(
        &self,
        set: &GraphSet,
        holders: &dyn Holders,
        observer: &dyn Observer,
    ) -> Result<(Vec<Augmentation>, Report)> {
        let refuse = |name: &str, found: &str, expected: &str, advice: &str| {
            Error::setting(name, found, format!("{expected}, where a graph is held in parts")).advise(advice)
        };
        let in_one = "compute the scheme in one process";
        if set.len() != 1 {
            let found = set.len().to_string();
            return Err(refuse("number of graphs", &found, "one", "many graphs are shared out in shards"));
        }
        if !self.is_closed(set.num_nodes()) {
            return Err(refuse("k", "given", "all eigenvalues", in_one));
        }
        if self.norm_objective() != SpectralObjective::Sampled {
            return Err(refuse("objective", "expected", "sampled", in_one));
        }
        self.opposite_by(set, observer, |support, original, ascent, watch| match support {
            PairSupport::Chosen(pairs) => {
                let (pairs, climbed) = climb_in_parts(pairs, original, self, ascent, holders, watch)?;
                Ok((PairSupport::Chosen(pairs), climbed))
            }
            PairSupport::All(_) => {
                let advice = "choose candidates, or compute the scheme in one process";
                Err(refuse("support", "all", "edges or candidates", advice))
            }
        })
    }

    /// Both views, each climbed as told: from the pairs at their start and those of the graph as it is.
    fn opposite_by(
        &self,
        set: &GraphSet,
        observer: &dyn Observer,
        climb: impl for<'g> Fn(PairSupport<'g>, &Pairs, &Ascent, StepWatch<'_>) -> Result<(PairSupport<'g>, Climbed)> + Sync,
    ) -> Result<(Vec<Augmentation>, Report)> {
        let limits = Limits::of(set, self);
        let mut views = Vec::new();
        for (view, (name, direction)) in [("max", Direction::Max), ("min", Direction::Min)].into_iter().enumerate() {
            views.extend(over_graphs(set, &[name], self.steps, observer, |graph, at, watch| {
                let goal = Goal::Norm(direction);
                let chosen = limits.choose(graph, self, goal);
                let ascent = self.ascent(graph, direction);
                let mut support = self.support(&chosen, graph, goal, at);
                start(&mut support, self.start.unwrap_or(Start::Zero), ascent.budget, self.seed, view, at);
                let (support, climbed) = climb(support, &Pairs::new(graph, &[]), &ascent, watch[0])?;
                Ok(vec![outcome(support, climbed, chosen, ascent)])
            })?);
        }
        let (augmentations, mut report) = gather(views, limits.note(self));
        report.notes.extend(self.outermost_note(set));
        Ok((augmentations, report))
    }

    pub(super) fn single(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (limits, comparisons) = (Limits::of(set, self), Comparisons::default());
        let views = over_graphs(set, &["single"], self.steps, observer, |graph, at, watch| {
            let chosen = limits.choose(graph, self, Goal::Distance);
            let ascent = self.ascent(graph, Direction::Max);
            let mut support = self.support(&chosen, graph, Goal::Distance, at);
            let mut solver = self.spectrum_solver();
            let original = solver.measure_fixed(&support)?;
            start(&mut support, Start::Uniform, ascent.budget, self.seed, 0, at);
            let climbed = climb_distance(&mut support, &original, &mut solver, &ascent, watch[0])?;
            comparisons.add(&climbed);
            Ok(vec![outcome(support, climbed, chosen, ascent)])
        })?;
        let (mut augmentations, mut report) = gather(views, limits.note(self));
        report.notes.extend(comparisons.notes());
        augmentations.push(Augmentation::Unchanged);
        report.views.push(ViewReport::unchanged());
        Ok((augmentations, report))
    }

    pub(super) fn double(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (limits, comparisons) = (Limits::of(set, self), Comparisons::default());
        let views = over_graphs(set, &["first", "second"], self.steps, observer, |graph, at, watch| {
            let chosen = limits.choose(graph, self, Goal::Distance);
            let ascent = self.ascent(graph, Direction::Max);
            let mut first = self.support(&chosen, graph, Goal::Distance, at);
            let before = self.spectrum_solver().squared_norm(&first)?;
            let mut second = first.clone();
            start(&mut first, Start::Uniform, ascent.budget, self.seed, 0, at);
            start(&mut second, Start::Uniform, ascent.budget, self.seed, 1, at);
            let mut supports = [first, second];
            let climbed = climb_apart(&mut supports, before, self, &ascent, [watch[0], watch[1]])?;
            comparisons.add(&climbed[0]);
            let both = supports.into_iter().zip(climbed);
            Ok(both.map(|(support, climbed)| outcome(support, climbed, chosen.clone(), ascent)).collect())
        })?;
        let (augmentations, mut report) = gather(views, limits.note(self));
        report.notes.extend(comparisons.notes());
        Ok((augmentations, report))
    }

    /// The pairs that may flip, all values zero.
    fn support<'g>(&self, chosen: &Chosen, graph: &'g Graph, goal: Goal, at: usize) -> PairSupport<'g> {
        let mut support = chosen.pairs(graph, self, goal, at);
        support.set_most(self.max_probability);
        support
    }

    fn ascent(&self, graph: &Graph, direction: Direction) -> Ascent {
        let budget = self.ratio * graph.num_edges() as f64;
        let step_size = match direction {
            Direction::Max => self.step_size,
            Direction::Min => self.step_size_down.unwrap_or(self.step_size),
        };
        let (steps, tolerance, seed) = (self.steps, self.tolerance, self.seed);
        Ascent { direction, budget, steps, step_size, tolerance, seed, ..Ascent::default() }
    }

    /// The objective of a norm that has its closed form.
    fn norm_objective(&self) -> SpectralObjective {
        self.objective.unwrap_or(SpectralObjective::Sampled)
    }

    /// Whether the norm has its closed form: all eigenvalues count.
    fn is_closed(&self, nodes: usize) -> bool {
        self.k.is_none_or(|k| 2 * k >= nodes)
    }

    fn spectrum_solver(&self) -> SpectrumSolver {
        SpectrumSolver::new(self.spectra, self.solver())
    }

    fn solver(&self) -> Eigensolver {
        Eigensolver {
            operator: self.operator,
            k: self.k,
            noise: self.noise,
            seed: self.seed,
            memory: self.memory,
            tolerance: TOLERANCE,
            warm: None,
        }
    }
}

fn outcome(support: PairSupport<'_>, climbed: Climbed, chosen: Chosen, ascent: Ascent) -> Outcome<EdgeFlips> {
    let (places, mass) = (support.len() as u64, support.mass());
    Outcome { probabilities: support.into_flips(), places, mass, climbed, chosen, ascent }
}

fn gather(views: Vec<(Vec<EdgeFlips>, ViewReport)>, notes: Vec<String>) -> (Vec<Augmentation>, Report) {
    let (flips, views): (Vec<_>, Vec<_>) = views.into_iter().unzip();
    let pairs = |flips| Augmentation::Pairs(PairProbabilities::new(flips));
    (flips.into_iter().map(pairs).collect(), Report { views, notes, ..Report::default() })
}
