//! The Jensen–Shannon bound of mutual information: positives are pushed above zero, negatives below.

use std::f64::consts::LN_2;

use burn::Tensor;
use burn::tensor::activation::softplus;
use serde::{Deserialize, Serialize};

use super::contrast::{Contrast, NegativeSimilarities, Similarities};
use crate::Segments;
use crate::error::Result;
use crate::ops::Similarity;

/// The Jensen–Shannon bound between nodes of one view and graphs of the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct JensenShannon {
    /// How nodes and graphs are compared.
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
    pub fn loss(&self, contrast: &Contrast) -> Result<Tensor<1>> {
        let [one, other] = &contrast.sides;
        let one = loss(one.similarities(&contrast.segments, self.similarity)?, &contrast.segments);
        let other = loss(other.similarities(&contrast.segments, self.similarity)?, &contrast.segments);
        Ok(one + other)
    }
}

/// `mean(softplus(negative)) + mean(softplus(-positive)) - 2 log 2`: zero for similarities of zero.
fn loss(similarities: Similarities, segments: &Segments) -> Tensor<1> {
    let positives = softplus(similarities.positives.neg(), 1.0).mean();
    let negatives = match similarities.negatives {
        NegativeSimilarities::OwnGraph(values) => softplus(values, 1.0).mean(),
        NegativeSimilarities::AllGraphs { values, own } => {
            let pairs = (segments.rows() * (segments.len() - 1)).max(1) as f32;
            softplus(values, 1.0).mask_fill(own, 0.0).sum() / pairs
        }
    };
    positives + negatives - 2.0 * LN_2
}
