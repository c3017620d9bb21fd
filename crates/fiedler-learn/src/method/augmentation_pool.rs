//! The augmentations of GraphCL and JOAO, as steps of views.

use fiedler_augment::Pipeline;
use fiedler_augment::mask::{MaskFill, MaskNodes};
use fiedler_augment::pipeline::{OneOf, PerturbEdges, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A pool of augmentations, by GraphCL's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AugmentationPool {
    /// Dropped nodes, subgraphs.
    #[default]
    Random2,
    /// Dropped nodes, subgraphs, perturbed edges.
    Random3,
    /// Dropped nodes, subgraphs, perturbed edges, masked attributes.
    Random4,
}

impl AugmentationPool {
    /// The names of all pools.
    pub const NAMES: [&'static str; 3] = ["random2", "random3", "random4"];

    /// Its augmentations; `as_released` as [`GraphCl`](super::GraphCl) says.
    pub fn augmentations(self, rate: f64, as_released: bool) -> Vec<Pipeline> {
        let count = match self {
            AugmentationPool::Random2 => 2,
            AugmentationPool::Random3 => 3,
            AugmentationPool::Random4 => 4,
        };
        all(rate, as_released).into_iter().take(count).collect()
    }
}

/// Dropped nodes, subgraphs, perturbed edges and masked attributes.
pub(super) fn all(rate: f64, as_released: bool) -> Vec<Pipeline> {
    let subgraph = if as_released { Pipeline::Star(Rate { rate: 0.8 }) } else { Pipeline::Subgraph(Rate { rate }) };
    let fill = if as_released { MaskFill::Noise } else { MaskFill::Mean };
    vec![
        Pipeline::DropNodes(Rate { rate }),
        subgraph,
        Pipeline::PerturbEdges(PerturbEdges { rate, add: !as_released }),
        Pipeline::MaskNodes(MaskNodes { rate, fill }),
    ]
}

/// Each graph draws one of them; `joint` as [`OneOf`] says.
pub(super) fn one_of(choices: Vec<Pipeline>, weights: Option<Vec<f64>>, joint: bool) -> Pipeline {
    Pipeline::OneOf(OneOf { choices, weights, each_graph: true, joint })
}

/// Refuses a share of nodes or edges that is none.
pub(super) fn check_rate(rate: f64) -> Result<()> {
    if (0.0..=1.0).contains(&rate) {
        return Ok(());
    }
    Err(Error::setting("rate", rate, "a number from 0 to 1"))
}
