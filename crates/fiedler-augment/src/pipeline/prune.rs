//! Pruning: edges whose ends have unlike features are left out, as GCN-Jaccard (Wu et al. 2019) does against poisoned graphs.

use fiedler_graph::{Batch, Features, GraphSet};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fit::ViewStep;
use super::unchanged;
use crate::error::{Error, Result, check_share};
use crate::scheme::{View, ViewKey};

/// Settings of pruning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PruneEdges {
    /// Edges are left out whose ends are less alike than this: by Jaccard where all features are 0 or 1, else by cosine.
    pub threshold: f64,
}

impl Default for PruneEdges {
    fn default() -> Self {
        PruneEdges { threshold: 0.01 }
    }
}

impl PruneEdges {
    pub(super) fn check(&self) -> Result<()> {
        check_share("threshold", self.threshold)
    }

    /// Finds the edges to leave out.
    pub(super) fn fit(&self, set: &GraphSet, features: &Features) -> Result<PrunedEdges> {
        let graph = set.block_diagonal();
        if features.rows() != graph.num_nodes() {
            let expected = format!("one for each of {} nodes", graph.num_nodes());
            return Err(Error::setting("number of feature rows", features.rows(), expected));
        }
        let unlike = |&(low, high): &(u32, u32)| features.similarity(low as usize, high as usize) < self.threshold;
        let edges: Vec<(u32, u32)> = graph.edge_pairs().collect();
        Ok(PrunedEdges(edges.into_par_iter().filter(unlike).collect()))
    }
}

/// Edges that are left out, by their nodes' rows in the set, ascending.
#[derive(Debug)]
pub(super) struct PrunedEdges(Vec<(u32, u32)>);

impl ViewStep for PrunedEdges {
    fn kind(&self) -> &'static str {
        "pruning"
    }

    fn apply(&self, batch: &Batch, before: Option<View>, key: ViewKey) -> Result<View> {
        let mut view = before.unwrap_or_else(|| unchanged(batch, key));
        let in_set = |&(low, high): &(u32, u32)| {
            let (a, b) = (batch.node_rows[low as usize], batch.node_rows[high as usize]);
            self.0.binary_search(&(a.min(b), a.max(b))).is_ok()
        };
        let pruned: Vec<(u32, u32)> = view.graph.edge_pairs().filter(in_set).collect();
        // Flipping a pair that is joined parts it.
        view.graph = view.graph.flipped(&pruned)?;
        Ok(view)
    }
}
