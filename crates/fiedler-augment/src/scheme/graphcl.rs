//! The augmentations of GraphCL (You et al. 2020) that change the graph; masking attributes is a [`Mask`](crate::mask::Mask).

use fiedler_graph::{GraphSet, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::uniform::shortage;
use super::{Augmentation, DropNodes, Rates, Report, Selection, ViewReport};
use crate::error::{Result, check_share};
use crate::support::Mass;

/// Settings of GraphCL's augmentations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphCl {
    /// What is done to the first view.
    pub first: Operation,
    /// What is done to the second view.
    pub second: Operation,
    /// Share of the nodes dropped, or of the edges removed and again added.
    pub ratio: f64,
}

impl Default for GraphCl {
    fn default() -> Self {
        GraphCl { first: Operation::NodeDropping, second: Operation::Subgraph, ratio: 0.2 }
    }
}

/// Settings of one augmentation of GraphCL that both views have.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphClRatio {
    /// Share of the nodes dropped, or of the edges removed and again added.
    pub ratio: f64,
}

impl Default for GraphClRatio {
    fn default() -> Self {
        GraphClRatio { ratio: GraphCl::default().ratio }
    }
}

/// What is done to a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Nothing.
    Identical,
    /// Nodes are dropped, all alike.
    NodeDropping,
    /// The nodes are kept that a random walk meets first.
    Subgraph,
    /// Edges are removed and as many added.
    EdgePerturbation,
}

impl GraphCl {
    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        check_share("ratio", self.ratio)
    }

    pub(super) fn compute(&self, set: &GraphSet, _: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let (first, of_first) = self.view(set, self.first, "first")?;
        let (second, of_second) = self.view(set, self.second, "second")?;
        let notes = shortage(&of_first, &of_second);
        Ok((vec![first, second], Report { notes, views: vec![of_first, of_second], ..Report::default() }))
    }

    fn view(&self, set: &GraphSet, operation: Operation, name: &str) -> Result<(Augmentation, ViewReport)> {
        let selection = match operation {
            Operation::Identical => return Rates::default().compute(set, name),
            Operation::EdgePerturbation => return Rates::perturbing(self.ratio).compute(set, name),
            Operation::NodeDropping => Selection::Uniform,
            Operation::Subgraph => Selection::Walk,
        };
        let kept = DropNodes { dropped: self.ratio, selection };
        let removed = (0..set.len()).map(|graph| kept.dropped_of(set.node_range(graph).len()) as f64).sum();
        let report = ViewReport {
            name: name.into(),
            support: "nodes".into(),
            places: set.num_nodes() as u64,
            mass: Mass { added: 0.0, removed },
            budget: removed,
            ..ViewReport::default()
        };
        Ok((Augmentation::DropNodes(kept), report))
    }
}

impl GraphClRatio {
    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        check_share("ratio", self.ratio)
    }

    fn both(&self, operation: Operation) -> GraphCl {
        GraphCl { first: operation, second: operation, ratio: self.ratio }
    }

    pub(super) fn edge_perturbation(
        &self,
        set: &GraphSet,
        observer: &dyn Observer,
    ) -> Result<(Vec<Augmentation>, Report)> {
        self.both(Operation::EdgePerturbation).compute(set, observer)
    }

    pub(super) fn node_dropping(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        self.both(Operation::NodeDropping).compute(set, observer)
    }

    pub(super) fn subgraph(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        self.both(Operation::Subgraph).compute(set, observer)
    }
}
