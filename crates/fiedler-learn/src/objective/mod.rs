//! Objectives: what training makes small.

mod contrast;
mod info_nce;
mod jensen_shannon;
mod pairs;

pub use contrast::{Contrast, Negatives, Side};
pub use info_nce::InfoNce;
pub use jensen_shannon::JensenShannon;
pub use pairs::Pairs;

use burn::Tensor;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// How positives and negatives are weighed against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Objective {
    /// The paper's lower bound of mutual information.
    InfoNce(InfoNce),
    /// The bound that the program behind the paper's numbers uses.
    JensenShannon(JensenShannon),
}

impl Default for Objective {
    fn default() -> Self {
        Objective::InfoNce(InfoNce::default())
    }
}

impl Objective {
    /// The loss: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range, or a batch of one graph is to supply its own negatives.
    pub fn loss(&self, contrast: &Contrast) -> Result<Tensor<1>> {
        match self {
            Objective::InfoNce(objective) => objective.loss(contrast),
            Objective::JensenShannon(objective) => objective.loss(contrast),
        }
    }

    /// The loss where rows of one view are to find themselves in the other: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn loss_of_pairs(&self, pairs: &Pairs) -> Result<Tensor<1>> {
        match self {
            Objective::InfoNce(objective) => objective.check().map(|()| pairs.info_nce(*objective)),
            Objective::JensenShannon(objective) => Ok(pairs.jensen_shannon(*objective)),
        }
    }
}
