//! One vector a graph from the vectors of its nodes: g in the paper; and which layers count for a node.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::sigmoid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::encoder::{EncoderSettings, Layers};
use crate::error::Result;
use crate::layer::{Linear, Mlp};
use crate::ops::{self, Pooling};
use crate::{GraphOffsets, Initializer};

/// Jumping knowledge: which layers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JumpingKnowledge {
    /// The last.
    #[default]
    Last,
    /// Each by itself, side by side.
    Concatenate,
}

/// Projector: what a vector goes through before it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Projector {
    /// None: vectors are compared as they are.
    Identity,
    /// One dense layer.
    Linear,
    /// Two dense layers with a ReLU between them.
    #[default]
    Mlp,
    /// Two dense layers with an ELU between them.
    MlpElu,
}

/// How a [`Readout`] is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReadoutSettings {
    /// How the vectors of a graph's nodes become one.
    pub pooling: Pooling,
    /// Which layers count in embeddings of nodes, and in what is pooled.
    pub jumping_knowledge: JumpingKnowledge,
    /// Whether pooled values are squeezed into 0 to 1 before the projector.
    pub sigmoid: bool,
    /// What a vector goes through before it is compared.
    pub projector: Projector,
}

impl Default for ReadoutSettings {
    fn default() -> Self {
        ReadoutSettings {
            pooling: Pooling::Mean,
            jumping_knowledge: JumpingKnowledge::Last,
            sigmoid: false,
            projector: Projector::Mlp,
        }
    }
}

/// Pools the nodes of each graph, and transforms the result.
#[derive(Module, Debug)]
pub struct Readout {
    #[module(skip)]
    settings: ReadoutSettings,
    linear: Option<Linear>,
    mlp: Option<Mlp>,
}

impl Readout {
    /// A readout for such an encoder; its result is as wide as the last layer, unless there is no projector.
    ///
    /// # Errors
    /// When there is no layer or it has no width.
    pub fn new(
        settings: &ReadoutSettings,
        encoder: &EncoderSettings,
        initializer: &mut Initializer,
    ) -> Result<Readout> {
        encoder.check()?;
        let width = encoder.out_channels();
        let pooled = match settings.jumping_knowledge {
            JumpingKnowledge::Last => width,
            JumpingKnowledge::Concatenate => encoder.all_channels(),
        };
        let (linear, mlp) = match settings.projector {
            Projector::Identity => (None, None),
            Projector::Linear => (Some(Linear::new(pooled, width, initializer)), None),
            Projector::Mlp => (None, Some(Mlp::new([pooled, width, width], false, initializer))),
            Projector::MlpElu => (None, Some(Mlp::new([pooled, width, width], true, initializer))),
        };
        Ok(Readout { settings: settings.clone(), linear, mlp })
    }

    /// One row a node, before the projector.
    pub fn nodes(&self, layers: &Layers) -> Tensor<2> {
        match self.settings.jumping_knowledge {
            JumpingKnowledge::Last => layers.last(),
            JumpingKnowledge::Concatenate => layers.side_by_side(),
        }
    }

    /// One row a graph, before the projector: what a graph's embedding usually is.
    pub fn pool(&self, layers: &Layers, offsets: &GraphOffsets) -> Tensor<2> {
        let pool = |nodes: Tensor<2>| ops::pool(nodes, offsets, self.settings.pooling);
        match self.settings.jumping_knowledge {
            JumpingKnowledge::Last => pool(layers.last()),
            JumpingKnowledge::Concatenate => Tensor::cat(layers.each().iter().cloned().map(pool).collect(), 1),
        }
    }

    /// One row a graph.
    pub fn forward(&self, layers: &Layers, offsets: &GraphOffsets) -> Tensor<2> {
        let pooled = self.pool(layers, offsets);
        self.project(if self.settings.sigmoid { sigmoid(pooled) } else { pooled })
    }

    /// Rows through the projector.
    pub fn project(&self, rows: Tensor<2>) -> Tensor<2> {
        match (&self.linear, &self.mlp) {
            (Some(linear), _) => linear.forward(rows),
            (None, Some(mlp)) => mlp.forward(rows),
            (None, None) => rows,
        }
    }
}
