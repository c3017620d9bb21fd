//! Removing edges between peripheral nodes more often: the adaptive removal of GCA (Zhu et al. 2021).

use fiedler_graph::{Graph, GraphSet, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::each_graph::each_graph;
use super::settings::RATIOS;
use super::{Augmentation, PairProbabilities, Report, ViewReport};
use crate::axis::Axis;
use crate::centrality::{Centrality, fading};
use crate::error::{Result, check_share};
use crate::sample::EdgeFlips;
use crate::support::Mass;

/// What GCA's own program adds to every eigenvector centrality, so that components without any have a logarithm.
const SMALLEST: f64 = 1e-8;

/// Settings of removal by centrality.
///
/// An edge is as important as its ends are central on average. It is removed with the probability
/// `min(p (s_max - s) / (s_max - s_mean), cutoff)`, `s` being the logarithm of its importance: with `p` in the mean, as long as
/// nothing is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CentralityRemoval {
    /// What makes a node central.
    pub centrality: Centrality,
    /// Share of the edges removed from the first view, p_e in the paper of GCA.
    pub first: f64,
    /// Share of the edges removed from the second view.
    pub second: f64,
    /// The most probable removal, p_τ.
    pub cutoff: f64,
}

impl Default for CentralityRemoval {
    fn default() -> Self {
        CentralityRemoval { centrality: Centrality::Degree, first: 0.3, second: 0.3, cutoff: 0.7 }
    }
}

impl CentralityRemoval {
    pub(super) fn search_axes(&self) -> Vec<Axis> {
        vec![Axis::tied(["scheme.first", "scheme.second"], RATIOS)]
    }

    pub(super) fn check(&self, _: &GraphSet) -> Result<()> {
        check_share("share of edges removed from the first view", self.first)?;
        check_share("share of edges removed from the second view", self.second)?;
        check_share("cutoff", self.cutoff)
    }

    pub(super) fn compute(&self, set: &GraphSet, observer: &dyn Observer) -> Result<(Vec<Augmentation>, Report)> {
        let of_graphs = each_graph(set, "first and second", observer, |graph| Ok(self.importance(graph)))?;
        let mut views = Vec::new();
        let mut report = Report::default();
        for (name, ratio) in [("first", self.first), ("second", self.second)] {
            let mut removed = 0.0;
            let mut graphs = Vec::with_capacity(set.len());
            for (at, importance) in of_graphs.iter().enumerate() {
                let probabilities = fading(importance, ratio, self.cutoff);
                removed += probabilities.iter().sum::<f64>();
                let nodes = set.node_range(at);
                let inside = |(low, high): (u32, u32)| (low - nodes.start, high - nodes.start);
                let edges = nodes
                    .clone()
                    .flat_map(|node| set.block_diagonal().higher(node).iter().map(move |&other| (node, other)));
                let chances = probabilities.iter().map(|&probability| probability as f32);
                graphs.push(EdgeFlips::of_pairs(nodes.len(), edges.map(inside).zip(chances)));
            }
            views.push(Augmentation::Pairs(PairProbabilities::new(graphs)));
            report.views.push(ViewReport {
                name: name.into(),
                support: "edges".into(),
                places: set.num_edges() as u64,
                mass: Mass { added: 0.0, removed },
                budget: ratio * set.num_edges() as f64,
                ..ViewReport::default()
            });
        }
        Ok((views, report))
    }

    /// The importance of every edge, in the order of [`Graph::edge_pairs`].
    fn importance(&self, graph: &Graph) -> Vec<f64> {
        let mut central = self.centrality.of_nodes(graph);
        if self.centrality == Centrality::Eigenvector {
            central.iter_mut().for_each(|value| *value += SMALLEST);
        }
        graph.edge_pairs().map(|(low, high)| (central[low as usize] + central[high as usize]) / 2.0).collect()
    }
}
