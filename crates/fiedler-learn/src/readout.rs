//! One vector a graph from the vectors of its nodes: g in the paper; and which layers count for a node.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::sigmoid;
use serde::{Deserialize, Serialize};

use crate::encoder::{EncoderSettings, Layers};
use crate::error::{Error, Result};
use crate::layer::{Linear, Mlp};
use crate::ops::{self, Activation, Pooling};
use crate::{Initializer, Segments, Structure, Weighting};

/// Which layers count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jumping {
    /// The last.
    #[default]
    Last,
    /// Each by itself, side by side.
    Concatenate,
}

/// What a vector goes through before it is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// Nothing.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReadoutSettings {
    /// How the vectors of a graph's nodes become one.
    pub pooling: Pooling,
    /// Which layers count in embeddings of nodes, and in what is pooled.
    pub jumping: Jumping,
    /// Whether pooled values are squeezed into 0 to 1 before the head.
    pub sigmoid: bool,
    /// What a vector goes through before it is compared.
    pub head: Head,
    /// How far an embedding of a node looks beyond the encoder: `h + Âʳh` with the encoder's propagation matrix, or `h` where it is 0.
    /// Training does not know of it.
    #[serde(skip_serializing_if = "is_zero")]
    pub reach: usize,
}

impl Default for ReadoutSettings {
    fn default() -> Self {
        ReadoutSettings { pooling: Pooling::Mean, jumping: Jumping::Last, sigmoid: false, head: Head::Mlp, reach: 0 }
    }
}

fn is_zero(reach: &usize) -> bool {
    *reach == 0
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
    /// A readout for such an encoder; its result is as wide as one layer, unless there is no head.
    ///
    /// # Errors
    /// When there is no layer or it has no width, or embeddings reach further by messages that are summed up.
    pub fn new(
        settings: &ReadoutSettings,
        encoder: &EncoderSettings,
        initializer: &mut Initializer,
    ) -> Result<Readout> {
        let (layers, width) = (encoder.layers(), encoder.width());
        if layers == 0 || width == 0 {
            return Err(Error::setting(
                "layers to read out",
                format!("{layers} of {width}"),
                "at least one, not empty",
            ));
        }
        if settings.reach > 0 && encoder.weighting() != Weighting::Convolution {
            let expected = "0, or gcn as encoder: sums over neighbors, as gin has them, grow with every step";
            return Err(Error::setting("reach", settings.reach, expected));
        }
        let pooled = match settings.jumping {
            Jumping::Last => width,
            Jumping::Concatenate => layers * width,
        };
        let (linear, mlp) = match settings.head {
            Head::Identity => (None, None),
            Head::Linear => (Some(Linear::new(pooled, width, initializer)), None),
            Head::Mlp => (None, Some(Mlp::new([pooled, width, width], false, initializer))),
            Head::MlpElu => (None, Some(Mlp::new([pooled, width, width], true, initializer))),
        };
        Ok(Readout { settings: settings.clone(), linear, mlp })
    }

    /// One row a node: its embedding.
    pub fn embed(&self, layers: &Layers, structure: &Structure) -> Tensor<2> {
        let nodes = self.nodes(layers);
        if self.settings.reach == 0 {
            return nodes;
        }
        let step = |rows, _| ops::propagate(&structure.adjacency, rows, None, &Activation::Identity);
        (0..self.settings.reach).fold(nodes.clone(), step) + nodes
    }

    /// One row a node, before the head.
    pub fn nodes(&self, layers: &Layers) -> Tensor<2> {
        match self.settings.jumping {
            Jumping::Last => layers.last(),
            Jumping::Concatenate => layers.side_by_side(),
        }
    }

    /// One row a graph, before the head: what a graph's embedding usually is.
    pub fn pool(&self, layers: &Layers, segments: &Segments) -> Tensor<2> {
        let pool = |nodes: Tensor<2>| ops::pool(nodes, segments, self.settings.pooling);
        match self.settings.jumping {
            Jumping::Last => pool(layers.last()),
            Jumping::Concatenate => Tensor::cat(layers.each().iter().cloned().map(pool).collect(), 1),
        }
    }

    /// One row a graph.
    pub fn forward(&self, layers: &Layers, segments: &Segments) -> Tensor<2> {
        let pooled = self.pool(layers, segments);
        self.head(if self.settings.sigmoid { sigmoid(pooled) } else { pooled })
    }

    /// Rows through the head.
    pub fn head(&self, rows: Tensor<2>) -> Tensor<2> {
        match (&self.linear, &self.mlp) {
            (Some(linear), _) => linear.forward(rows),
            (None, Some(mlp)) => mlp.forward(rows),
            (None, None) => rows,
        }
    }
}
