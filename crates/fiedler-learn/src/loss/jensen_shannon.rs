//! The Jensen–Shannon bound of mutual information: positives are pushed above zero, negatives below.

use std::f64::consts::LN_2;

use burn::Tensor;
use burn::tensor::activation::softplus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local_global::{LocalGlobal, LocalGlobalSide, NegativeSimilarities, Similarities, pool};
use crate::GraphOffsets;
use crate::error::Result;
use crate::ops::{self, Pooling, Similarity};

/// The Jensen–Shannon bound between what belongs together in both views and what does not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JensenShannon {
    /// How vectors are compared.
    pub similarity: Similarity,
}

impl Default for JensenShannon {
    fn default() -> Self {
        JensenShannon { similarity: Similarity::Dot }
    }
}

impl JensenShannon {
    /// The loss: a single number.
    ///
    /// # Errors
    /// When a batch of one graph is to supply its own negatives.
    pub fn loss(&self, contrast: &LocalGlobal) -> Result<Tensor<1>> {
        let [one, other] = &contrast.sides;
        Ok(self.loss_of_side(one, &contrast.offsets)? + self.loss_of_side(other, &contrast.offsets)?)
    }

    /// The loss of one direction: a single number.
    ///
    /// # Errors
    /// As [`JensenShannon::loss`].
    pub fn loss_of_side(&self, side: &LocalGlobalSide, offsets: &GraphOffsets) -> Result<Tensor<1>> {
        Ok(loss(side.similarities(offsets, self.similarity)?, offsets))
    }
}

/// `mean(softplus(negative)) + mean(softplus(-positive)) - 2 log 2`: zero for similarities of zero.
fn loss(similarities: Similarities, offsets: &GraphOffsets) -> Tensor<1> {
    let mean_of_nodes = |values: Tensor<1>| pool(values, offsets, Pooling::Sum).sum() / offsets.rows().max(1) as f32;
    let positives = mean_of_nodes(softplus(similarities.positives.neg(), 1.0));
    let negatives = match similarities.negatives {
        NegativeSimilarities::OwnGraph(values) => mean_of_nodes(softplus(values, 1.0)),
        NegativeSimilarities::AllGraphs { values, own } => {
            let pairs = (offsets.rows() * (offsets.len() - 1)).max(1) as f32;
            ops::pool(softplus(values, 1.0).mask_fill(own, 0.0), offsets, Pooling::Sum).sum() / pairs
        }
    };
    positives + negatives - 2.0 * LN_2
}
