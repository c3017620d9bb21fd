//! Nodes of one view against graphs of the other: what both objectives look at.

use burn::Tensor;
use burn::tensor::{Bool, TensorData};

use crate::GraphOffsets;
use crate::error::{Error, Result};
use crate::ops::{self, Pooling, Similarity};

/// What is contrasted: nodes of the first view with graphs of the second, and the other way round.
#[derive(Debug, Clone)]
pub struct LocalGlobal {
    /// Both directions.
    pub sides: [LocalGlobalSide; 2],
    /// Which nodes belong to which graph.
    pub offsets: GraphOffsets,
}

/// One direction: nodes of one view, graphs of the other.
#[derive(Debug, Clone)]
pub struct LocalGlobalSide {
    /// One row a node: H in the paper.
    pub nodes: Tensor<2>,
    /// One row a graph: z in the paper.
    pub graphs: Tensor<2>,
    /// What the graphs must be told apart from: H~ in the paper.
    pub negatives: Negatives,
}

/// Where negatives come from.
#[derive(Debug, Clone)]
pub enum Negatives {
    /// The nodes of a corrupted twin of the view, each against its own graph.
    Corrupted(Tensor<2>),
    /// The nodes of all other graphs of the batch.
    InBatch,
}

/// Similarities of one direction.
pub(super) struct Similarities {
    /// For each node, with its graph.
    pub positives: Tensor<1>,
    pub negatives: NegativeSimilarities,
}

pub(super) enum NegativeSimilarities {
    /// For each corrupted node, with its graph.
    OwnGraph(Tensor<1>),
    /// For each node and each graph; where the node is the graph's own it is no negative.
    AllGraphs { values: Tensor<2>, own: Tensor<2, Bool> },
}

impl LocalGlobalSide {
    pub(super) fn similarities(&self, offsets: &GraphOffsets, how: Similarity) -> Result<Similarities> {
        let compare = |nodes: &Tensor<2>| ops::similarity(nodes.clone(), self.graphs.clone(), offsets, how);
        let negatives = match &self.negatives {
            Negatives::Corrupted(nodes) => NegativeSimilarities::OwnGraph(compare(nodes)),
            Negatives::InBatch if offsets.len() < 2 => {
                return Err(Error::setting(
                    "number of graphs in a batch",
                    offsets.len(),
                    "at least 2 where negatives come from the batch; one graph needs a corrupted twin",
                ));
            }
            Negatives::InBatch => {
                let (nodes, graphs) = match how {
                    Similarity::Dot => (self.nodes.clone(), self.graphs.clone()),
                    Similarity::Cosine => (to_length_one(&self.nodes), to_length_one(&self.graphs)),
                };
                NegativeSimilarities::AllGraphs {
                    values: nodes.matmul(graphs.transpose()),
                    own: self.own_graph(offsets),
                }
            }
        };
        Ok(Similarities { positives: compare(&self.nodes), negatives })
    }

    fn own_graph(&self, offsets: &GraphOffsets) -> Tensor<2, Bool> {
        let graphs = offsets.len();
        let mut own = vec![false; offsets.rows() * graphs];
        for (node, graph) in offsets.of_rows().into_iter().enumerate() {
            own[node * graphs + graph as usize] = true;
        }
        Tensor::from_data(TensorData::new(own, [offsets.rows(), graphs]), &self.nodes.device())
    }
}

/// Far below any similarity, so that it adds nothing to a sum of exponentials.
pub(super) const NEVER: f32 = f32::MIN / 2.0;

/// `log Σ exp(value)` along a dimension.
pub(super) fn log_sum_exp(values: Tensor<2>, dimension: usize) -> Tensor<2> {
    let largest = values.clone().detach().max_dim(dimension);
    (values - largest.clone()).exp().sum_dim(dimension).log() + largest
}

/// Every row divided by its length.
pub(super) fn to_length_one(matrix: &Tensor<2>) -> Tensor<2> {
    // Squares are kept from zero, where the root has no derivative.
    let shortest = ops::SHORTEST * ops::SHORTEST;
    matrix.clone() / matrix.clone().square().sum_dim(1).clamp_min(shortest).sqrt()
}

/// Pools one value a node to one a graph; unlike a plain sum, in the same order whatever the number of threads.
pub(super) fn pool(values: Tensor<1>, offsets: &GraphOffsets, pooling: Pooling) -> Tensor<1> {
    ops::pool(values.unsqueeze_dim(1), offsets, pooling).squeeze_dim(1)
}

/// The mean over the graphs that have nodes of one value a graph.
pub(super) fn mean_over_graphs(values: Tensor<1>, offsets: &GraphOffsets) -> Tensor<1> {
    let is_inhabited = |graph: &usize| !offsets.range(*graph).is_empty();
    let inhabited = (0..offsets.len()).filter(is_inhabited).count().max(1) as f32;
    let shares = (0..offsets.len()).map(|graph| if is_inhabited(&graph) { 1.0 / inhabited } else { 0.0 });
    let shares = TensorData::new(shares.collect::<Vec<f32>>(), [offsets.len()]);
    let shares = Tensor::from_data(shares, &values.device());
    (values * shares).sum()
}
