//! A view that never changes.

use std::sync::Arc;

use fiedler_graph::{Batch, GraphSet, NodeMarks};

use super::View;
use crate::error::{Error, Result};

/// The same weighted graph for every epoch, such as a diffusion.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticView {
    graphs: GraphSet,
    self_loop_weights: Vec<f32>,
}

impl StaticView {
    /// Weighted graphs, and what each of their nodes gives to itself.
    ///
    /// # Errors
    /// When there is not one weight for each node.
    pub fn new(graphs: GraphSet, self_loop_weights: Vec<f32>) -> Result<StaticView> {
        if self_loop_weights.len() != graphs.num_nodes() {
            let expected = format!("one for each of {} nodes", graphs.num_nodes());
            return Err(Error::setting("number of own weights", self_loop_weights.len(), expected));
        }
        Ok(StaticView { graphs, self_loop_weights })
    }

    /// The weighted graphs.
    pub fn graphs(&self) -> &GraphSet {
        &self.graphs
    }

    /// What every node gives to itself.
    pub fn self_loop_weights(&self) -> &[f32] {
        &self.self_loop_weights
    }

    pub(super) fn draw(&self, batch: &Batch) -> Result<View> {
        if batch.is_block {
            return self.block(batch);
        }
        let sizes = |block: usize, graph: usize| {
            graph < self.graphs.len() && self.graphs.node_range(graph).len() == batch.node_range(block).len()
        };
        if !batch.graphs.iter().enumerate().all(|(block, &graph)| sizes(block, graph)) {
            return Err(Error::setting("batch", "of another set", "some of the scheme's own graphs"));
        }
        let self_loop_weights = batch.node_rows.iter().map(|&row| self.self_loop_weights[row as usize]).collect();
        let graph = Arc::unwrap_or_clone(self.graphs.batch(&batch.graphs).graph);
        Ok(View { self_loop_weights: Some(self_loop_weights), ..View::of(graph) })
    }

    /// Of a block, the weights among its nodes. What they give to other nodes is lost.
    fn block(&self, batch: &Batch) -> Result<View> {
        let known = batch.node_rows.last().is_none_or(|&last| (last as usize) < self.graphs.num_nodes());
        if self.graphs.len() != 1 || !known {
            return Err(Error::setting("batch", "of another set", "some nodes of the scheme's own graph"));
        }
        let mut marks = NodeMarks::new(self.graphs.num_nodes());
        let graph = self.graphs.block_diagonal().induced(&batch.node_rows, &mut marks);
        let self_loop_weights = batch.node_rows.iter().map(|&row| self.self_loop_weights[row as usize]).collect();
        Ok(View { self_loop_weights: Some(self_loop_weights), ..View::of(graph) })
    }
}
