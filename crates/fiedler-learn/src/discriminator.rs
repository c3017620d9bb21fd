//! A bilinear discriminator: does a node belong to a summary?

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::activation::softplus;

use crate::ops::{self, Pooling};
use crate::{GraphOffsets, Initializer};

/// `h · (W s) + b` for a node `h` and a summary `s`: one small product a summary, then one dot product a node. Without a sigmoid.
#[derive(Module, Debug)]
pub struct Discriminator {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Discriminator {
    /// A discriminator of vectors of the given width, which knows nothing at first.
    ///
    /// Weights are evenly spread over `±sqrt(6 / (d² + d))` for `d` columns: what the programs of DGI, MVGRL and GMI draw, whose tensor has a
    /// third dimension that Glorot's rule counts. The bias is zero.
    pub fn new(width: usize, initializer: &mut Initializer) -> Discriminator {
        Discriminator { weight: initializer.bilinear(width, width), bias: initializer.constant([1], 0.0) }
    }

    /// The score of every node with its graph's summary.
    pub fn scores(&self, nodes: Tensor<2>, summaries: Tensor<2>, offsets: &GraphOffsets) -> Tensor<1> {
        let wanted = summaries.matmul(self.weight.val().transpose());
        ops::similarity(nodes, wanted, offsets, ops::Similarity::Dot) + self.bias.val()
    }

    /// Binary cross-entropy, the mean over the scores of as many nodes of a corruption as there are nodes: a single number, `log 2` where
    /// the discriminator knows nothing.
    pub fn loss(
        &self,
        nodes: Tensor<2>,
        corrupted: Tensor<2>,
        summaries: Tensor<2>,
        offsets: &GraphOffsets,
    ) -> Tensor<1> {
        let score = |nodes| self.scores(nodes, summaries.clone(), offsets);
        let terms = softplus(score(nodes).neg(), 1.0) + softplus(score(corrupted), 1.0);
        let all = GraphOffsets::single(offsets.rows());
        ops::pool(terms.unsqueeze_dim(1), &all, Pooling::Mean).sum() / 2.0
    }
}
