//! The features as they are: what any embedding has to beat.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step};
use crate::error::{Error, Result};
use crate::ops::{self, Pooling};
use crate::task::{Task, TaskLevel};
use crate::{GraphOffsets, Initializer, Normalization};

/// How the features of a graph's nodes become one vector.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Raw {
    /// Their sum, mean or maximum.
    pub pooling: Pooling,
    /// Whether the features of a graph's edges are pooled beside those of its nodes, in sets of graphs whose edges have features.
    #[serde(skip_serializing_if = "is_false")]
    pub edges: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// There is nothing to learn.
#[derive(Module, Debug)]
pub struct NoModel {}

impl Method for Raw {
    const INFO: MethodInfo = MethodInfo {
        name: "raw",
        about: "the features as they are, without training",
        citation: "",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = NoModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        // Sparse features are written out.
        let footprint = Footprint { values_per_node: task.dims.nodes as f64, ..Footprint::default() };
        // Features of edges come with sums over neighbors.
        let operators = if self.edges { vec![Normalization::None] } else { Vec::new() };
        Ok(Requirements { trained: false, labels: false, clean: false, operators, footprint })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, _: &mut Initializer) -> Result<NoModel> {
        Ok(NoModel {})
    }

    fn loss(&self, _: &NoModel, _: &(), _: &Step<'_>) -> Result<Loss> {
        Err(Error::setting("method", "raw", "a method that is trained"))
    }

    fn embed(&self, _: &NoModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let features = sample.features.to_dense();
        if step.task.level == TaskLevel::Nodes {
            return Ok(features);
        }
        let nodes = ops::pool(features, &sample.offsets, self.pooling);
        let edges = match self.edges {
            true => sample.graph(Normalization::None)?.edges.as_ref(),
            false => None,
        };
        Ok(match edges {
            Some(edges) => {
                let graph = sample.topology();
                // Edges are in the order of their lower ends, so that those of a graph stand together.
                let mut ends = vec![0];
                for block in 0..sample.offsets.len() {
                    let of_node = |node: usize| graph.higher(node as u32).len() as u32;
                    ends.push(ends[block] + sample.offsets.range(block).map(of_node).sum::<u32>());
                }
                let edges = ops::pool(edges.input.to_dense(), &GraphOffsets::new(ends), self.pooling);
                Tensor::cat(vec![nodes, edges], 1)
            }
            None => nodes,
        })
    }
}
