//! A multilayer perceptron, which looks at features only: `activation(norm(X · W + b))`, layer on layer, and nothing after the last.

use burn::Tensor;
use burn::module::Module;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layers, check_shape};
use crate::error::{Result, check_size};
use crate::layer::{Activation, ActivationLayer, BatchNorm, Linear};
use crate::ops::{self, ActivationOp};
use crate::pass::{self, Mode, Pass};
use crate::{FeatureMatrix, Initializer, MessageGraph};

/// How an [`MlpEncoder`] is built. The defaults are those of CCA-SSG's program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MlpSettings {
    /// Width of every layer.
    pub hidden_channels: usize,
    /// Number of layers.
    pub num_layers: usize,
    /// What follows every layer but the last.
    pub activation: Activation,
    /// Whether each layer's output but the last is normalized before the activation.
    pub batch_norm: bool,
    /// Probability of dropping a value of a layer's input, from the second layer on.
    pub dropout: f64,
}

impl Default for MlpSettings {
    fn default() -> Self {
        MlpSettings {
            hidden_channels: 512,
            num_layers: 2,
            activation: Activation::Relu,
            batch_norm: true,
            dropout: 0.0,
        }
    }
}

impl MlpSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        check_shape(self.hidden_channels, self.num_layers)?;
        pass::check_dropout(self.dropout)
    }
}

/// First values of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstWeights {
    /// `±sqrt(6 / (inputs + outputs))`, and biases of zero.
    Glorot,
    /// `±1 / sqrt(inputs)`, weights and biases.
    ByInputs,
}

/// Dense layers, row by row.
#[derive(Module, Debug)]
pub struct MlpEncoder {
    layers: Vec<Linear>,
    /// One for each layer but the last, where there are any.
    norms: Vec<BatchNorm>,
    /// One for each layer but the last.
    activations: Vec<ActivationLayer>,
    dropout: f64,
}

impl MlpEncoder {
    /// An encoder for features of the given number of columns.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: &MlpSettings, columns: usize, initializer: &mut Initializer) -> Result<MlpEncoder> {
        MlpEncoder::with_weights(settings, columns, FirstWeights::ByInputs, initializer)
    }

    pub(super) fn with_weights(
        settings: &MlpSettings,
        columns: usize,
        weights: FirstWeights,
        initializer: &mut Initializer,
    ) -> Result<MlpEncoder> {
        settings.check()?;
        let MlpSettings { hidden_channels: hidden, num_layers, activation, batch_norm, dropout } = *settings;
        let linear = |layer: usize| {
            let inputs = if layer == 0 { columns } else { hidden };
            match weights {
                FirstWeights::ByInputs => Linear::new(inputs, hidden, initializer),
                FirstWeights::Glorot => Linear {
                    weight: initializer.glorot(inputs, hidden),
                    bias: Some(initializer.constant([hidden], 0.0)),
                },
            }
        };
        let layers: Vec<Linear> = (0..num_layers).map(linear).collect();
        let between = num_layers - 1;
        let norms = if batch_norm { between } else { 0 };
        Ok(MlpEncoder {
            layers,
            norms: (0..norms).map(|_| BatchNorm::new(hidden, initializer)).collect(),
            activations: (0..between).map(|_| ActivationLayer::new(activation, hidden, initializer)).collect(),
            dropout,
        })
    }

    /// See [`Encoder::forward`](super::Encoder::forward). The graph only says how many rows there have to be.
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        Ok(Layers::new(self.outputs(input, pass)?))
    }

    /// What each layer gives.
    pub(super) fn outputs(&self, input: &FeatureMatrix, pass: &Pass) -> Result<Vec<Tensor<2>>> {
        check_size("row of features", input.columns(), self.layers[0].weight.dims()[0])?;
        let mut outputs: Vec<Tensor<2>> = Vec::with_capacity(self.layers.len());
        for (place, layer) in self.layers.iter().enumerate() {
            let product = match outputs.last() {
                None => input.times(layer.weight.val()),
                Some(before) => pass.drop(before.clone(), self.dropout).matmul(layer.weight.val()),
            };
            outputs.push(self.finish(place, layer.add_bias(product), pass.mode()));
        }
        Ok(outputs)
    }

    fn finish(&self, place: usize, output: Tensor<2>, mode: Mode) -> Tensor<2> {
        let Some(activation) = self.activations.get(place).map(ActivationLayer::activation) else { return output };
        match self.norms.get(place) {
            Some(norm) if matches!(activation, ActivationOp::Relu) => norm.forward(output, true, mode),
            Some(norm) => ops::activate(norm.forward(output, false, mode), &activation),
            None => ops::activate(output, &activation),
        }
    }
}
