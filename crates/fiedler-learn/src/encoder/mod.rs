//! Encoders: from a graph and the features of its nodes to one vector a node, after each layer.

mod gcn;
mod gin;

use burn::Tensor;
use burn::module::Module;
use burn::tensor::{Int, TensorData};
use serde::{Deserialize, Serialize};

pub use gcn::{Gcn, GcnSettings};
pub use gin::{Gin, GinSettings, Widths};

use crate::dropout::Draws;
use crate::error::Result;
use crate::{Initializer, Input, Structure, Weighting};

/// Which encoder, and how it is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum EncoderSettings {
    /// Graph convolutions.
    Gcn(GcnSettings),
    /// Graph isomorphism layers.
    Gin(GinSettings),
}

impl Default for EncoderSettings {
    fn default() -> Self {
        EncoderSettings::Gcn(GcnSettings::default())
    }
}

/// Any of the encoders.
#[derive(Module, Debug)]
pub enum Encoder {
    /// Graph convolutions.
    Gcn(Gcn),
    /// Graph isomorphism layers.
    Gin(Gin),
}

impl EncoderSettings {
    /// Makes the encoder for features of the given widths.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn build(&self, widths: Widths, initializer: &mut Initializer) -> Result<Encoder> {
        Ok(match self {
            EncoderSettings::Gcn(settings) => Encoder::Gcn(Gcn::new(settings, widths.nodes, initializer)?),
            EncoderSettings::Gin(settings) => Encoder::Gin(Gin::new(settings, widths, initializer)?),
        })
    }

    /// How the encoder wants messages weighted.
    pub fn weighting(&self) -> Weighting {
        match self {
            EncoderSettings::Gcn(_) => Weighting::Convolution,
            EncoderSettings::Gin(_) => Weighting::Sum,
        }
    }

    /// Number of columns of a node's vector after each layer.
    pub fn width(&self) -> usize {
        match self {
            EncoderSettings::Gcn(settings) => settings.hidden,
            EncoderSettings::Gin(settings) => settings.hidden,
        }
    }

    /// Number of layers.
    pub fn layers(&self) -> usize {
        match self {
            EncoderSettings::Gcn(settings) => settings.layers,
            EncoderSettings::Gin(settings) => settings.layers,
        }
    }
}

impl Encoder {
    /// The nodes' vectors after each layer.
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, structure: &Structure, input: &Input, draws: Option<&Draws>) -> Result<Layers> {
        match self {
            Encoder::Gcn(gcn) => gcn.forward(structure, input, draws),
            Encoder::Gin(gin) => gin.forward(structure, input, draws),
        }
    }

    /// The same for several graphs over the same features, such as a view and its corrupted twin: what depends on the features
    /// alone is computed once.
    ///
    /// # Errors
    /// As [`Encoder::forward`].
    pub fn forward_each(&self, structures: &[&Structure], input: &Input, draws: Option<&Draws>) -> Result<Vec<Layers>> {
        match self {
            Encoder::Gcn(gcn) => gcn.forward_each(structures, input, draws),
            Encoder::Gin(gin) => gin.forward_each(structures, input, draws),
        }
    }
}

/// The nodes' vectors after each layer.
#[derive(Debug, Clone)]
pub struct Layers {
    outputs: Vec<Tensor<2>>,
}

impl Layers {
    pub(crate) fn new(outputs: Vec<Tensor<2>>) -> Layers {
        debug_assert!(!outputs.is_empty());
        Layers { outputs }
    }

    /// The chosen rows after each layer.
    pub fn select(&self, rows: &[u32]) -> Layers {
        let rows: Vec<i64> = rows.iter().map(|&row| row.into()).collect();
        let rows = Tensor::<1, Int>::from_data(TensorData::new(rows.clone(), [rows.len()]), &self.outputs[0].device());
        Layers::new(self.outputs.iter().map(|output| output.clone().select(0, rows.clone())).collect())
    }

    /// After each layer, the first first.
    pub fn each(&self) -> &[Tensor<2>] {
        &self.outputs
    }

    /// After the last layer.
    pub fn last(&self) -> Tensor<2> {
        self.outputs[self.outputs.len() - 1].clone()
    }

    /// All layers side by side: jumping knowledge.
    pub fn side_by_side(&self) -> Tensor<2> {
        match self.outputs.as_slice() {
            [only] => only.clone(),
            outputs => Tensor::cat(outputs.to_vec(), 1),
        }
    }
}
