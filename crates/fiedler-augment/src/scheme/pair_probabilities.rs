//! One probability for each node pair.

use fiedler_graph::Batch;

use super::{View, ViewKey};
use crate::error::{Error, Result};
use crate::sample::EdgeFlips;

/// The flip probabilities of the node pairs of each graph of a set.
#[derive(Debug, Clone)]
pub struct PairProbabilities {
    graphs: Vec<EdgeFlips>,
}

impl PairProbabilities {
    /// One set of probabilities for each graph.
    pub fn new(graphs: Vec<EdgeFlips>) -> PairProbabilities {
        PairProbabilities { graphs }
    }

    /// The probabilities, graph by graph.
    pub fn graphs(&self) -> &[EdgeFlips] {
        &self.graphs
    }

    pub(super) fn draw(&self, batch: &Batch, key: ViewKey) -> Result<View> {
        let of_another = || Error::setting("batch", "of another set", "one of the scheme's own graphs");
        let mut flips = Vec::new();
        if batch.is_block {
            let known = |own: &&EdgeFlips| batch.node_rows.last().is_none_or(|&last| (last as usize) < own.num_nodes());
            let own = self.graphs.first().filter(|_| self.graphs.len() == 1).filter(known).ok_or_else(of_another)?;
            own.draw_within(&batch.node_rows, &mut key.numbers(0), &mut flips);
            return Ok(View::of(batch.graph.flipped(&flips)?));
        }
        for (block, &graph) in batch.graphs.iter().enumerate() {
            let nodes = batch.node_range(block);
            let own = self.graphs.get(graph).filter(|own| own.num_nodes() == nodes.len());
            let own = own.ok_or_else(of_another)?;
            let before = flips.len();
            own.draw_into(&mut key.numbers(graph), &mut flips);
            for (low, high) in &mut flips[before..] {
                *low += nodes.start;
                *high += nodes.start;
            }
        }
        Ok(View::of(batch.graph.flipped(&flips)?))
    }
}
