//! The paper's objective: `I(H_i, z) = log(exp(cos(H_i, z)) / Σ_j exp(cos(H~_j, z)))`, averaged over the nodes of each graph and
//! over graphs, summed over both directions.

use burn::Tensor;
use burn::tensor::TensorData;
use serde::{Deserialize, Serialize};

use super::contrast::{Contrast, NegativeSimilarities, Similarities, mean_over_graphs};
use crate::Segments;
use crate::error::{Error, Result};
use crate::ops::Similarity;

/// InfoNCE between nodes of one view and graphs of the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct InfoNce {
    /// How nodes and graphs are compared.
    pub similarity: Similarity,
    /// What similarities are divided by; 1 in the paper.
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
    pub fn loss(&self, contrast: &Contrast) -> Result<Tensor<1>> {
        if !(self.temperature.is_finite() && self.temperature > 0.0) {
            return Err(Error::setting("temperature", self.temperature, "a positive number"));
        }
        let [one, other] = &contrast.sides;
        let bound = |similarities: Similarities| self.bound(similarities, &contrast.segments);
        let one = bound(one.similarities(&contrast.segments, self.similarity)?);
        let other = bound(other.similarities(&contrast.segments, self.similarity)?);
        Ok((one + other).neg())
    }

    fn bound(&self, similarities: Similarities, segments: &Segments) -> Tensor<1> {
        let positives = mean_over_graphs(similarities.positives, segments) / self.temperature;
        positives - self.log_sum_of_negatives(similarities.negatives, segments)
    }

    /// `log Σ_j exp(cos(H~_j, z))`, averaged over the graphs that have nodes.
    fn log_sum_of_negatives(&self, negatives: NegativeSimilarities, segments: &Segments) -> Tensor<1> {
        let graphs: Vec<usize> = (0..segments.len()).filter(|&graph| !segments.range(graph).is_empty()).collect();
        let share = 1.0 / graphs.len().max(1) as f32;
        match negatives {
            NegativeSimilarities::OwnGraph(values) => {
                let scaled = values / self.temperature;
                let of_graph = |&graph: &usize| {
                    let range = segments.range(graph);
                    log_sum_exp(scaled.clone().narrow(0, range.start, range.len()))
                };
                Tensor::cat(graphs.iter().map(of_graph).collect(), 0).sum() * share
            }
            NegativeSimilarities::AllGraphs { values, own } => {
                // Far below any other, so that it adds nothing to the sum.
                let others = (values / self.temperature).mask_fill(own, f32::MIN / 2.0);
                let largest = others.clone().detach().max_dim(0);
                let sums = (others - largest.clone()).exp().sum_dim(0);
                let logs = (sums.log() + largest).squeeze_dim::<1>(0);
                let mut shares = vec![0.0; segments.len()];
                graphs.iter().for_each(|&graph| shares[graph] = share);
                let shares = TensorData::new(shares, [segments.len()]);
                let shares = Tensor::from_data(shares, &logs.device());
                (logs * shares).sum()
            }
        }
    }
}

fn log_sum_exp(values: Tensor<1>) -> Tensor<1> {
    let largest = values.clone().detach().max();
    (values - largest.clone()).exp().sum().log() + largest
}
