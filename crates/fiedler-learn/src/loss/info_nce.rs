//! The paper's loss: `I(H_i, z) = log(exp(cos(H_i, z)) / Σ_j exp(cos(H~_j, z)))`, averaged over the nodes of each graph and
//! over graphs, summed over both directions. Its form where rows find themselves is in [`PositivePairs`](super::PositivePairs).

use burn::Tensor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local_global::{
    LocalGlobal, NEVER, NegativeSimilarities, Similarities, log_sum_exp, mean_over_graphs, pool,
};
use crate::GraphOffsets;
use crate::error::{Error, Result};
use crate::ops::{self, Pooling, Similarity};

/// InfoNCE between what belongs together in both views and what does not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InfoNce {
    /// How vectors are compared.
    pub similarity: Similarity,
    /// Temperature: similarities are divided by it; 1 in the paper.
    pub temperature: f64,
}

impl Default for InfoNce {
    fn default() -> Self {
        InfoNce { similarity: Similarity::Cosine, temperature: 1.0 }
    }
}

impl InfoNce {
    /// The loss: a single number.
    ///
    /// # Errors
    /// When the temperature is not positive, or a batch of one graph is to supply its own negatives.
    pub fn loss(&self, contrast: &LocalGlobal) -> Result<Tensor<1>> {
        self.check()?;
        let [one, other] = &contrast.sides;
        let bound = |similarities: Similarities| self.bound(similarities, &contrast.offsets);
        let one = bound(one.similarities(&contrast.offsets, self.similarity)?);
        let other = bound(other.similarities(&contrast.offsets, self.similarity)?);
        Ok((one + other).neg())
    }

    pub(super) fn check(&self) -> Result<()> {
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(Error::setting("temperature", self.temperature, "a positive number"));
        }
        Ok(())
    }

    fn bound(&self, similarities: Similarities, offsets: &GraphOffsets) -> Tensor<1> {
        let positives = pool(similarities.positives / self.temperature, offsets, Pooling::Mean);
        let negatives = match similarities.negatives {
            NegativeSimilarities::OwnGraph(values) => log_sum_exp_of_nodes(values / self.temperature, offsets),
            NegativeSimilarities::AllGraphs { values, own } => {
                log_sum_exp((values / self.temperature).mask_fill(own, NEVER), 0).squeeze_dim(0)
            }
        };
        mean_over_graphs(positives - negatives, offsets)
    }
}

/// `log Σ exp(value)` over the nodes of each graph.
fn log_sum_exp_of_nodes(values: Tensor<1>, offsets: &GraphOffsets) -> Tensor<1> {
    let largest = pool(values.clone().detach(), offsets, Pooling::Max);
    let shifted = values - ops::spread(largest.clone(), offsets);
    let sums = pool(shifted.exp(), offsets, Pooling::Sum);
    // The sum is at least one, but for a graph without nodes.
    sums.clamp_min(f32::MIN_POSITIVE).log() + largest
}
