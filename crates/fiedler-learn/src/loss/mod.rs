//! Losses: what training makes small. Contrastive ones have positives and negatives; those of correlations and of bootstrapping have no
//! negatives.

mod barlow_twins;
mod bootstrap;
mod cca;
mod info_nce;
mod jensen_shannon;
mod local_global;
mod masked_cosine;
mod nt_xent;
mod positive_pairs;

pub use barlow_twins::{BarlowTwins, BarlowTwinsTerms};
pub use bootstrap::{bootstrap, mean_cosine, scattering};
pub use cca::{Cca, CcaTerms};
pub use info_nce::InfoNce;
pub use jensen_shannon::JensenShannon;
pub use local_global::{LocalGlobal, LocalGlobalSide, Negatives};
pub use masked_cosine::ScaledCosine;
pub use nt_xent::NtXent;
pub use positive_pairs::PositivePairs;

use burn::Tensor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// How positives and negatives are weighed against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum ContrastiveLoss {
    /// The paper's lower bound of mutual information.
    InfoNce(InfoNce),
    /// The bound that the program behind the paper's numbers uses.
    JensenShannon(JensenShannon),
}

impl Default for ContrastiveLoss {
    fn default() -> Self {
        ContrastiveLoss::InfoNce(InfoNce::default())
    }
}

impl ContrastiveLoss {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        match self {
            ContrastiveLoss::InfoNce(loss) => loss.check(),
            ContrastiveLoss::JensenShannon(_) => Ok(()),
        }
    }

    /// The loss: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range, or a batch of one graph is to supply its own negatives.
    pub fn loss(&self, contrast: &LocalGlobal) -> Result<Tensor<1>> {
        match self {
            ContrastiveLoss::InfoNce(loss) => loss.loss(contrast),
            ContrastiveLoss::JensenShannon(loss) => loss.loss(contrast),
        }
    }

    /// The loss where rows of one view are to find themselves in the other: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn loss_of_pairs(&self, pairs: &PositivePairs) -> Result<Tensor<1>> {
        match self {
            ContrastiveLoss::InfoNce(loss) => loss.check().map(|()| pairs.info_nce(*loss)),
            ContrastiveLoss::JensenShannon(loss) => Ok(pairs.jensen_shannon(*loss)),
        }
    }
}
