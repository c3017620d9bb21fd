//! One probability for each node.

use fiedler_graph::{Batch, Graph};
use rand::RngExt;

use super::{View, ViewKey};
use crate::error::{Error, Result};

/// The probability of dropping each node of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeProbabilities {
    of_nodes: Vec<f32>,
}

impl NodeProbabilities {
    /// One probability for each node of the arena.
    pub fn new(of_nodes: Vec<f32>) -> NodeProbabilities {
        NodeProbabilities { of_nodes }
    }

    /// The probabilities, in the order of the arena's nodes.
    pub fn of_nodes(&self) -> &[f32] {
        &self.of_nodes
    }

    pub(super) fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let mut dropped = Vec::with_capacity(batch.node_rows.len());
        for (block, &graph) in batch.graphs.iter().enumerate() {
            let mut numbers = key.numbers(graph);
            for node in batch.node_range(block) {
                let row = batch.node_rows[node as usize] as usize;
                let probability = self.of_nodes.get(row);
                let probability = probability
                    .ok_or_else(|| Error::setting("batch", "of another set", "one of the scheme's own graphs"))?;
                dropped.push(numbers.random::<f32>() < *probability);
            }
        }
        View::without_nodes(batch, dropped)
    }
}

impl View {
    /// The view in which the marked nodes have lost all their edges.
    pub(crate) fn without_nodes(batch: &Batch, dropped: Vec<bool>) -> Result<View> {
        let graph = without_edges_of(Graph::clone(&batch.graph), &dropped)?;
        Ok(View { dropped: Some(dropped), ..View::of(graph) })
    }
}

/// The graph in which the marked nodes have no edges.
pub(crate) fn without_edges_of(graph: Graph, dropped: &[bool]) -> Result<Graph> {
    let lost = |&(low, high): &(u32, u32)| dropped[low as usize] || dropped[high as usize];
    let flips: Vec<(u32, u32)> = graph.edge_pairs().filter(lost).collect();
    if flips.is_empty() { Ok(graph) } else { Ok(graph.flipped(&flips)?) }
}
