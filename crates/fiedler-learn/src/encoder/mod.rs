//! Encoders: from a graph and the features of its nodes to one vector a node, after each layer.

mod decoupled;
mod gcn;
mod gin;
mod mlp;

use burn::Tensor;
use burn::module::Module;
use burn::tensor::{Int, TensorData};
use fiedler_augment::Axis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use decoupled::{Decoupled, DecoupledSettings};
pub use gcn::{Gcn, GcnSettings};
pub use gin::{EdgeMessage, FirstWeights, Gin, GinSettings, InputDims, NormOrder};
pub use mlp::{MlpEncoder, MlpSettings};

use crate::error::{Error, Result};
use crate::pass::Pass;
use crate::task::TaskLevel;
use crate::{FeatureMatrix, Initializer, MessageGraph, Normalization};

/// Which encoder, and how it is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "name")]
pub enum EncoderSettings {
    /// Graph convolutions.
    Gcn(GcnSettings),
    /// Graph isomorphism layers.
    Gin(GinSettings),
    /// An MLP, then a weighted sum of propagation steps.
    Decoupled(DecoupledSettings),
    /// An MLP, which looks at features only.
    Mlp(MlpSettings),
}

impl Default for EncoderSettings {
    fn default() -> Self {
        EncoderSettings::Gcn(GcnSettings::default())
    }
}

/// Refuses widths and depths that no machine has room for, before anything is made of them.
fn check_shape(hidden_channels: usize, num_layers: usize) -> Result<()> {
    check_channels("hidden_channels", hidden_channels)?;
    if !(1..=1000).contains(&num_layers) {
        return Err(Error::setting("num_layers", num_layers, "1 to 1,000"));
    }
    Ok(())
}

pub(crate) fn check_channels(name: &str, channels: usize) -> Result<()> {
    if (1..=1 << 20).contains(&channels) {
        return Ok(());
    }
    Err(Error::setting(name, channels, "1 to 1,048,576"))
}

/// Any of the encoders.
#[derive(Module, Debug)]
pub enum Encoder {
    /// Graph convolutions.
    Gcn(Gcn),
    /// Graph isomorphism layers.
    Gin(Gin),
    /// An MLP, then a weighted sum of propagation steps.
    Decoupled(Decoupled),
    /// An MLP, which looks at features only.
    Mlp(MlpEncoder),
}

impl EncoderSettings {
    /// Makes the encoder for features of the given dims.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn build(&self, dims: InputDims, initializer: &mut Initializer) -> Result<Encoder> {
        Ok(match self {
            EncoderSettings::Gcn(settings) => Encoder::Gcn(Gcn::new(settings, dims.nodes, initializer)?),
            EncoderSettings::Gin(settings) => Encoder::Gin(Gin::new(settings, dims, initializer)?),
            EncoderSettings::Decoupled(settings) => {
                Encoder::Decoupled(Decoupled::new(settings, dims.nodes, initializer)?)
            }
            EncoderSettings::Mlp(settings) => Encoder::Mlp(MlpEncoder::new(settings, dims.nodes, initializer)?),
        })
    }

    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        match self {
            EncoderSettings::Gcn(settings) => settings.check(),
            EncoderSettings::Gin(settings) => settings.check(),
            EncoderSettings::Decoupled(settings) => settings.check(),
            EncoderSettings::Mlp(settings) => settings.check(),
        }
    }

    /// How the encoder wants messages weighted.
    pub fn normalization(&self) -> Normalization {
        match self {
            EncoderSettings::Gcn(_) | EncoderSettings::Decoupled(_) | EncoderSettings::Mlp(_) => {
                Normalization::Symmetric
            }
            EncoderSettings::Gin(_) => Normalization::None,
        }
    }

    /// Refuses an encoder to which nodes of a corruption, the same graph with shuffled features, are the nodes themselves.
    ///
    /// # Errors
    /// When the encoder does not look at edges.
    pub(crate) fn check_corruption(&self) -> Result<()> {
        match self {
            EncoderSettings::Mlp(_) => {
                let expected =
                    "gcn, gin or decoupled: to an encoder that looks at no edges, shuffled features change nothing";
                Err(Error::setting("encoder", "mlp", expected))
            }
            EncoderSettings::Gcn(_) | EncoderSettings::Gin(_) | EncoderSettings::Decoupled(_) => Ok(()),
        }
    }

    /// Number of columns of a node's vector after each layer but the last.
    pub fn hidden_channels(&self) -> usize {
        match self {
            EncoderSettings::Gcn(settings) => settings.hidden_channels,
            EncoderSettings::Gin(settings) => settings.hidden_channels,
            EncoderSettings::Decoupled(settings) => settings.hidden_channels,
            EncoderSettings::Mlp(settings) => settings.hidden_channels,
        }
    }

    /// Number of columns of a node's vector after the last layer.
    pub fn out_channels(&self) -> usize {
        match self {
            EncoderSettings::Gcn(settings) => settings.out_channels(),
            EncoderSettings::Gin(_) | EncoderSettings::Decoupled(_) | EncoderSettings::Mlp(_) => self.hidden_channels(),
        }
    }

    /// Number of columns of a node's vector after the first layer.
    pub fn first_channels(&self) -> usize {
        if self.num_layers() == 1 { self.out_channels() } else { self.hidden_channels() }
    }

    /// Number of columns of all layers side by side.
    pub fn all_channels(&self) -> usize {
        self.num_layers().saturating_sub(1) * self.hidden_channels() + self.out_channels()
    }

    /// Width and depth, as searches try them for an encoder at `method.encoder`.
    pub fn search_axes(level: TaskLevel) -> Vec<Axis> {
        let (channels, layers): (&[usize], &[usize]) = match level {
            TaskLevel::Nodes => (&[256, 512], &[1, 2]),
            TaskLevel::Graphs => (&[32, 64, 128], &[2, 3, 4, 5]),
        };
        vec![
            Axis::new("method.encoder.hidden_channels", channels.iter().copied()),
            Axis::new("method.encoder.num_layers", layers.iter().copied()),
        ]
    }

    /// Width of the embedding, as searches try it for an encoder at `method.encoder`.
    pub fn width_axis(&self) -> Axis {
        match self {
            EncoderSettings::Gcn(GcnSettings { out_channels: Some(_), .. }) => {
                Axis::new("method.encoder.out_channels", [128, 256, 512])
            }
            _ => Axis::new("method.encoder.hidden_channels", [256, 512]),
        }
    }

    /// Number of layers.
    pub fn num_layers(&self) -> usize {
        match self {
            EncoderSettings::Gcn(settings) => settings.num_layers,
            EncoderSettings::Gin(settings) => settings.num_layers,
            EncoderSettings::Decoupled(settings) => settings.num_layers,
            EncoderSettings::Mlp(settings) => settings.num_layers,
        }
    }
}

impl Encoder {
    /// The nodes' vectors after each layer.
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        self.check_series(graph)?;
        match self {
            Encoder::Gcn(gcn) => gcn.forward(graph, input, pass),
            Encoder::Gin(gin) => gin.forward(graph, input, pass),
            Encoder::Decoupled(decoupled) => decoupled.forward(graph, input, pass),
            Encoder::Mlp(mlp) => mlp.forward(graph, input, pass),
        }
    }

    /// The nodes' vectors after the last layer. Where no gradients are recorded, memory holds two layers at a time, and no copy of large dense
    /// features.
    ///
    /// # Errors
    /// As [`Encoder::forward`].
    pub fn last(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Tensor<2>> {
        self.check_series(graph)?;
        match self {
            Encoder::Gcn(gcn) => gcn.last(graph, input, pass),
            Encoder::Gin(_) | Encoder::Decoupled(_) | Encoder::Mlp(_) => Ok(self.forward(graph, input, pass)?.last()),
        }
    }

    /// The same for several graphs over the same features, such as a view and its corrupted twin: what depends on the features
    /// alone is computed once.
    ///
    /// # Errors
    /// As [`Encoder::forward`].
    pub fn forward_each(&self, graphs: &[&MessageGraph], input: &FeatureMatrix, pass: &Pass) -> Result<Vec<Layers>> {
        graphs.iter().try_for_each(|graph| self.check_series(graph))?;
        match self {
            Encoder::Gcn(gcn) => gcn.forward_each(graphs, input, pass),
            Encoder::Gin(gin) => gin.forward_each(graphs, input, pass),
            Encoder::Decoupled(decoupled) => decoupled.forward_each(graphs, input, pass),
            Encoder::Mlp(mlp) => graphs.iter().map(|graph| mlp.forward(graph, input, pass)).collect(),
        }
    }

    /// Refuses a power series, or learned weights of edges, where messages cannot pass by them.
    fn check_series(&self, graph: &MessageGraph) -> Result<()> {
        match self {
            Encoder::Gin(_) | Encoder::Decoupled(_) if graph.series.is_some() => {
                Err(Error::setting("encoder", "gin or decoupled", "gcn for a graph whose messages pass by a series"))
            }
            Encoder::Gcn(_) | Encoder::Decoupled(_) if graph.entry_weights.is_some() => {
                Err(Error::setting("encoder", "gcn or decoupled", "gin for a graph whose edges have learned weights"))
            }
            _ => Ok(()),
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

    /// The same vectors, through which no gradient flows back.
    pub fn detached(&self) -> Layers {
        Layers::new(self.outputs.iter().map(|output| output.clone().detach()).collect())
    }

    /// After each layer, the first first.
    pub fn each(&self) -> &[Tensor<2>] {
        &self.outputs
    }

    /// After the last layer.
    pub fn last(&self) -> Tensor<2> {
        self.outputs[self.outputs.len() - 1].clone()
    }

    /// The chosen rows after the last layer, or all.
    pub fn last_of(&self, rows: Option<&[u32]>) -> Tensor<2> {
        match rows {
            Some(rows) => Layers::new(vec![self.last()]).select(rows).last(),
            None => self.last(),
        }
    }

    /// All layers side by side: jumping knowledge.
    pub fn side_by_side(&self) -> Tensor<2> {
        match self.outputs.as_slice() {
            [only] => only.clone(),
            outputs => Tensor::cat(outputs.to_vec(), 1),
        }
    }
}
