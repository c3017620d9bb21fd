//! Exactly so many edges of each graph are removed, and as many added: edge perturbation as GraphCL means it, on undirected graphs.

use fiedler_graph::{Batch, Graph};
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ViewStep, unchanged};
use crate::error::{Result, check_share};
use crate::sample::choose;
use crate::scheme::{View, ViewKey};

/// Edge perturbation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerturbEdges {
    /// Share of each graph's edges: of `m` edges, `⌊m · rate⌋` are removed.
    pub rate: f64,
    /// Whether as many pairs are joined that were not.
    pub add: bool,
}

impl Default for PerturbEdges {
    fn default() -> Self {
        PerturbEdges { rate: 0.2, add: true }
    }
}

impl PerturbEdges {
    pub(super) fn check(&self) -> Result<()> {
        check_share("rate", self.rate)
    }

    /// Pairs of one graph that change.
    fn flips(&self, graph: &Graph, nodes: &[u32], random: &mut impl Rng, flips: &mut Vec<(u32, u32)>) {
        let edges: Vec<(u32, u32)> =
            nodes.iter().flat_map(|&node| graph.higher(node).iter().map(move |&other| (node, other))).collect();
        // A share such as 0.29 of 100 must not lose an edge to rounding.
        let count = (self.rate * edges.len() as f64 + 1e-9) as usize;
        let removed = choose(edges.len(), count, random);
        flips.extend(edges.iter().zip(&removed).filter(|(_, removed)| **removed).map(|(edge, _)| *edge));
        let pairs = nodes.len() * nodes.len().saturating_sub(1) / 2;
        let wanted = if self.add { count.min(pairs - edges.len()) } else { 0 };
        let mut added: Vec<(u32, u32)> = Vec::with_capacity(wanted);
        if 2 * (edges.len() + wanted) > pairs {
            // Where most pairs are joined, those that are not are few enough to be listed.
            let others = |(at, &low): (usize, &u32)| nodes[at + 1..].iter().map(move |&high| (low, high));
            let free: Vec<(u32, u32)> =
                nodes.iter().enumerate().flat_map(others).filter(|&(low, high)| !graph.has_edge(low, high)).collect();
            let chosen = choose(free.len(), wanted, random);
            added.extend(free.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(pair, _)| *pair));
        }
        while added.len() < wanted {
            let [a, b] = [0; 2].map(|_| nodes[random.random_range(0..nodes.len())]);
            let pair = (a.min(b), a.max(b));
            if a != b && !graph.has_edge(a, b) && !added.contains(&pair) {
                added.push(pair);
            }
        }
        flips.extend(added);
    }
}

impl ViewStep for PerturbEdges {
    fn kind(&self) -> &'static str {
        "structure"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let mut view = before.unwrap_or_else(|| unchanged(batch, key));
        let mut flips = Vec::new();
        for (block, &graph) in batch.graphs.iter().enumerate() {
            // A node that is gone must not get edges back.
            let is_left = |node: &u32| view.dropped.as_ref().is_none_or(|dropped| !dropped[*node as usize]);
            let nodes: Vec<u32> = batch.node_range(block).filter(is_left).collect();
            self.flips(&view.graph, &nodes, &mut key.numbers(graph), &mut flips);
        }
        view.graph = view.graph.flipped(&flips)?;
        Ok(view)
    }
}
