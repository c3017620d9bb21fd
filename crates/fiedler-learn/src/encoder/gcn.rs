//! Graph convolutions (Kipf and Welling): `activation(D~^-1/2 (A + I) D~^-1/2 · X · W + b)`, layer on layer.

use std::sync::Arc;

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::TensorData;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layers, check_channels, check_shape};
use crate::error::{Error, Result, check_size};
use crate::layer::{Activation, ActivationLayer, BatchNorm};
use crate::ops::{self, ActivationOp};
use crate::pass::{self, Mode, Pass};
use crate::{FeatureMatrix, Initializer, MessageGraph};

/// How a [`Gcn`] is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GcnSettings {
    /// Width of every layer.
    pub hidden_channels: usize,
    /// Channels of the last layer, where they are not `hidden_channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_channels: Option<usize>,
    /// Number of layers.
    pub num_layers: usize,
    /// What follows every layer.
    pub activation: Activation,
    /// What follows the last layer, where it is not what follows the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_activation: Option<Activation>,
    /// Whether all layers share what the activation learns.
    pub share_slope: bool,
    /// Whether each layer's output is normalized before the activation.
    pub batch_norm: bool,
    /// Whether the last layer's output is normalized, where that is not as with the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_batch_norm: Option<bool>,
    /// Probability of dropping a value of a layer's input, from the second layer on.
    pub dropout: f64,
}

impl Default for GcnSettings {
    fn default() -> Self {
        GcnSettings {
            hidden_channels: 512,
            out_channels: None,
            num_layers: 2,
            activation: Activation::Prelu,
            last_activation: None,
            share_slope: false,
            batch_norm: false,
            last_batch_norm: None,
            dropout: 0.0,
        }
    }
}

impl GcnSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        check_shape(self.hidden_channels, self.num_layers)?;
        check_channels("out_channels", self.channels(self.num_layers - 1))?;
        let one_width = self.num_layers == 1 || self.channels(self.num_layers - 1) == self.hidden_channels;
        let shares = self.share_slope && self.last_activation.is_none();
        if shares && self.activation == Activation::PreluChannelwise && !one_width {
            let expected = "false where layers differ in width and every channel has a slope of its own";
            return Err(Error::setting("share_slope", true, expected));
        }
        pass::check_dropout(self.dropout)
    }

    /// Whether a layer's output is normalized.
    fn normalizes(&self, layer: usize) -> bool {
        let last = layer + 1 == self.num_layers;
        self.last_batch_norm.filter(|_| last).unwrap_or(self.batch_norm)
    }

    /// Channels of a layer, counted from zero.
    pub(super) fn channels(&self, layer: usize) -> usize {
        let last = layer + 1 == self.num_layers;
        self.out_channels.filter(|_| last).unwrap_or(self.hidden_channels)
    }

    /// Channels of the last layer.
    pub fn out_channels(&self) -> usize {
        self.channels(self.num_layers - 1)
    }
}

/// A stack of graph convolutions.
#[derive(Module, Debug)]
pub struct Gcn {
    layers: Vec<Convolution>,
    /// One for each layer, or one for all.
    activations: Vec<ActivationLayer>,
    /// Whether the last of them belongs to the last layer only.
    own_last: bool,
    dropout: f64,
}

/// One graph convolution.
#[derive(Module, Debug)]
pub struct Convolution {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
    norm: Option<BatchNorm>,
}

impl Gcn {
    /// An encoder for features of the given number of columns.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: &GcnSettings, columns: usize, initializer: &mut Initializer) -> Result<Gcn> {
        settings.check()?;
        let GcnSettings { num_layers, activation, last_activation, share_slope, dropout, .. } = *settings;
        let convolutions = (0..num_layers).map(|layer| {
            let inputs = if layer == 0 { columns } else { settings.channels(layer - 1) };
            let outputs = settings.channels(layer);
            Convolution {
                weight: initializer.glorot(inputs, outputs),
                bias: initializer.constant([outputs], 0.0),
                norm: settings.normalizes(layer).then(|| BatchNorm::new(outputs, initializer)),
            }
        });
        let layers: Vec<Convolution> = convolutions.collect();
        // Of the layers that have the same activation, all or none share it.
        let alike = num_layers - usize::from(last_activation.is_some());
        let alike = if share_slope { alike.min(1) } else { alike };
        let layer = |activation, layer| ActivationLayer::new(activation, settings.channels(layer), initializer);
        let mut activations: Vec<ActivationLayer> = (0..alike).map(|at| layer(activation, at)).collect();
        activations.extend(last_activation.map(|activation| layer(activation, num_layers - 1)));
        Ok(Gcn { layers, activations, own_last: last_activation.is_some(), dropout })
    }

    /// See [`Encoder::forward`](super::Encoder::forward).
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        let first = self.product(input)?;
        Ok(self.encode_product(graph, first, pass))
    }

    /// See [`Encoder::forward_each`](super::Encoder::forward_each).
    ///
    /// # Errors
    /// As [`Gcn::forward`].
    pub fn forward_each(&self, graphs: &[&MessageGraph], input: &FeatureMatrix, pass: &Pass) -> Result<Vec<Layers>> {
        for graph in graphs {
            check_size("table of features", input.rows(), graph.num_nodes())?;
        }
        let first = self.product(input)?;
        Ok(graphs.iter().map(|graph| self.encode_product(graph, first.clone(), pass)).collect())
    }

    /// What is made of the nodes, and of nodes that have each other's features: row `order[i]` in place of row `i`, for a permutation.
    ///
    /// The product with the features is taken once, and its rows are permuted instead of theirs.
    ///
    /// # Errors
    /// As [`Gcn::forward`], and when there is not one place for each node.
    pub fn forward_with_shuffled(
        &self,
        graph: &MessageGraph,
        input: &FeatureMatrix,
        order: &Arc<[u32]>,
        pass: &Pass,
    ) -> Result<[Layers; 2]> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        check_size("order of nodes", order.len(), graph.num_nodes())?;
        let first = self.product(input)?;
        let shuffled = ops::permute(first.clone(), order);
        Ok([first, shuffled].map(|first| self.encode_product(graph, first, pass)))
    }

    /// The last layer alone: of the others no more is held than the next needs.
    pub(crate) fn last(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Tensor<2>> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        let mut rows = self.product(input)?;
        for (layer, convolution) in self.layers.iter().enumerate() {
            if layer > 0 {
                rows = pass.drop(rows, self.dropout).matmul(convolution.weight.val());
            }
            rows = convolution.propagate(graph, rows, &self.activation(layer), pass.mode());
        }
        Ok(rows)
    }

    /// What follows a layer.
    fn activation(&self, layer: usize) -> ActivationOp {
        let last = self.activations.len() - 1;
        let is_last = layer + 1 == self.layers.len();
        let place = match (self.own_last, is_last) {
            (true, true) => last,
            (true, false) => layer.min(last - 1),
            (false, _) => layer.min(last),
        };
        self.activations[place].activation()
    }

    /// What depends on the features alone: their product with the first layer's weight.
    pub(crate) fn product(&self, input: &FeatureMatrix) -> Result<Tensor<2>> {
        let weight = self.layers[0].weight.val();
        check_size("row of features", input.columns(), weight.dims()[0])?;
        Ok(input.times(weight))
    }

    /// The rest of the way from there.
    pub(crate) fn encode_product(&self, graph: &MessageGraph, first: Tensor<2>, pass: &Pass) -> Layers {
        let mut outputs: Vec<Tensor<2>> = Vec::with_capacity(self.layers.len());
        let mut first = Some(first);
        for (layer, convolution) in self.layers.iter().enumerate() {
            let product = match first.take() {
                Some(first) => first,
                None => {
                    let input = outputs[layer - 1].clone();
                    let input = pass.drop(input, self.dropout);
                    input.matmul(convolution.weight.val())
                }
            };
            let activation = self.activation(layer);
            outputs.push(convolution.propagate(graph, product, &activation, pass.mode()));
        }
        Layers::new(outputs)
    }
}

impl Convolution {
    fn propagate(&self, graph: &MessageGraph, product: Tensor<2>, activation: &ActivationOp, mode: Mode) -> Tensor<2> {
        let Some(norm) = &self.norm else { return self.pass_messages(graph, product, activation) };
        let sums = self.pass_messages(graph, product, &ActivationOp::Identity);
        match activation {
            ActivationOp::Identity | ActivationOp::Relu => {
                norm.forward(sums, matches!(activation, ActivationOp::Relu), mode)
            }
            ActivationOp::LeakyRelu(_) | ActivationOp::Prelu(_) => {
                ops::activate(norm.forward(sums, false, mode), activation)
            }
        }
    }

    fn pass_messages(&self, graph: &MessageGraph, product: Tensor<2>, activation: &ActivationOp) -> Tensor<2> {
        let bias = self.bias.val();
        let Some(series) = &graph.series else {
            return ops::propagate(&graph.operator, product, Some(bias), activation);
        };
        let coefficients = Tensor::from_data(TensorData::new(series.to_vec(), [series.len()]), &product.device());
        ops::activate(ops::propagate_mix(&graph.operator, product, coefficients) + bias.unsqueeze::<2>(), activation)
    }
}
