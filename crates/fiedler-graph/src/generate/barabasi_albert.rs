//! Barabási–Albert graphs: new nodes prefer those that have many edges already.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::spec::{self, Parameter, Spec};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::random::stream;

pub(super) const SPEC: Spec = Spec {
    name: "barabasi-albert",
    about: "new nodes join those that have many edges already",
    parameters: &[
        Parameter { name: "nodes", about: "number of nodes" },
        Parameter { name: "edges_per_node", about: "edges that each new node brings" },
    ],
    defaults: || spec::defaults(BarabasiAlbert::default()),
    make: |settings, seed| barabasi_albert(&spec::settings(settings)?, seed),
};

/// Settings of [`barabasi_albert`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BarabasiAlbert {
    /// Number of nodes.
    pub nodes: usize,
    /// Edges that each new node brings.
    pub edges_per_node: usize,
}

impl Default for BarabasiAlbert {
    fn default() -> Self {
        BarabasiAlbert { nodes: 1000, edges_per_node: 2 }
    }
}

/// Grows a graph from a star: each new node joins `edges_per_node` others, drawn in proportion to their degrees.
///
/// The graph is connected and has `edges_per_node * (nodes - edges_per_node)` edges.
///
/// # Errors
/// When there are not more nodes than edges per node, or the graph would be too large.
pub fn barabasi_albert(settings: &BarabasiAlbert, seed: u64) -> Result<Dataset> {
    let &BarabasiAlbert { nodes, edges_per_node } = settings;
    super::check_nodes(nodes, 2)?;
    if !(1..nodes).contains(&edges_per_node) {
        return Err(Error::setting(
            "edges_per_node",
            edges_per_node,
            format!("a whole number from 1 to {}", nodes - 1),
        ));
    }
    super::check_size("number of edges", edges_per_node as f64 * (nodes - edges_per_node) as f64)?;

    let mut random = stream(seed, "barabasi-albert/edges", 0);
    let mut pairs = Vec::with_capacity(edges_per_node * (nodes - edges_per_node));
    pairs.extend((1..=edges_per_node as u32).map(|leaf| (0, leaf)));
    let mut last_joined_by = vec![0; nodes];
    for node in edges_per_node as u32 + 1..nodes as u32 {
        let before = pairs.len();
        while pairs.len() < before + edges_per_node {
            // An end of a random edge is a node drawn in proportion to its degree.
            let (a, b) = pairs[random.random_range(..before)];
            let target = if random.random() { a } else { b };
            if last_joined_by[target as usize] != node {
                last_joined_by[target as usize] = node;
                pairs.push((node, target));
            }
        }
    }
    super::dataset("barabasi-albert", nodes, pairs)
}
