//! Dropping the nodes whose absence moves the spectrum most (Appendix E of the paper).

use fiedler_graph::{GraphSet, Observer};
use fiedler_spectral::Operator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::spectral::{
    Chosen, Comparisons, Outcome, SupportChoice, TOLERANCE, climb_distance, over_graphs, small_numbers,
};
use super::{Augmentation, NodeProbabilities, Report, ViewReport};
use crate::ascent::{Ascent, Direction, StepSize};
use crate::eigen::Eigensolver;
use crate::error::{Error, Result};
use crate::support::{Nodes, Support};
use crate::transport::{SpectrumMethod, SpectrumSolver};

/// Settings of spectral node dropping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeDropping {
    /// Whose spectrum.
    pub operator: Operator,
    /// How many of the lowest and of the highest eigenvalues count. Without it all do.
    pub k: Option<usize>,
    /// Most nodes dropped in expectation, as a share of all.
    pub ratio: f64,
    /// Number of steps.
    pub steps: usize,
    /// How far a step goes.
    pub step_size: StepSize,
    /// Symmetric noise that keeps repeated eigenvalues apart.
    pub noise: f64,
    /// How spectra are compared.
    #[serde(skip_serializing_if = "SpectrumMethod::is_auto")]
    pub spectra: SpectrumMethod,
    /// Bytes that a dense spectrum may take.
    pub memory: u64,
    /// Seed of the start and of the noise.
    pub seed: u64,
}

impl Default for NodeDropping {
    fn default() -> Self {
        NodeDropping {
            operator: Operator::Laplacian,
            k: None,
            ratio: 0.2,
            steps: 50,
            step_size: StepSize::default(),
            noise: 1e-5,
            spectra: SpectrumMethod::Auto,
            memory: 1 << 30,
            seed: 0,
        }
    }
}

impl NodeDropping {
    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        if !(self.ratio.is_finite() && self.ratio >= 0.0) {
            return Err(Error::setting("ratio", self.ratio, "a number that is not negative"));
        }
        if !(self.noise.is_finite() && self.noise >= 0.0) {
            return Err(Error::setting("noise", self.noise, "a number that is not negative"));
        }
        self.step_size.check("step_size")?;
        if self.k == Some(0) {
            return Err(Error::setting("k", 0, "at least 1, or all"));
        }
        Ok(())
    }

    pub(super) fn compute(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let comparisons = Comparisons::default();
        let mut views = over_graphs(set, &["nodes"], self.steps, observer, |graph, at, watch| {
            let nodes = graph.num_nodes();
            let budget = self.ratio * nodes as f64;
            let (steps, step_size, seed) = (self.steps, self.step_size, self.seed);
            let ascent = Ascent { direction: Direction::Max, budget, steps, step_size, seed, ..Ascent::default() };
            let mut solver = self.solver();
            let original = solver.measure_fixed(&Nodes::new(graph, vec![0.0; nodes]))?;
            let mut random = small_numbers(nodes, self.seed, 0, at);
            let mut support = Nodes::new(graph, (0..nodes).map(|_| random()).collect());
            support.project(budget, 0.0);
            let climbed = climb_distance(&mut support, &original, &mut solver, &ascent, watch[0])?;
            comparisons.add(&climbed);
            let (mass, places) = (support.mass(), nodes as u64);
            let chosen = Chosen { support: SupportChoice::Auto, reason: None };
            Ok(vec![Outcome { probabilities: support.into_probabilities(), places, mass, climbed, chosen, ascent }])
        })?;
        let (probabilities, mut report) = views.pop().unwrap_or_default();
        report.support = "nodes".into();
        // Both views are drawn from what was computed once.
        let first = ViewReport { name: "first".into(), ..report.clone() };
        let second = ViewReport { name: "second".into(), seconds: 0.0, ..report };
        let nodes = NodeProbabilities::new(probabilities.concat());
        let views = vec![Augmentation::Nodes(nodes.clone()), Augmentation::Nodes(nodes)];
        let report = Report { views: vec![first, second], notes: comparisons.notes(), ..Report::default() };
        Ok((views, report))
    }

    fn solver(&self) -> SpectrumSolver {
        let eigensolver = Eigensolver {
            operator: self.operator,
            k: self.k,
            noise: self.noise,
            seed: self.seed,
            memory: self.memory,
            tolerance: TOLERANCE,
            warm: None,
        };
        SpectrumSolver::new(self.spectra, eigensolver).with_affordable_degree()
    }
}
