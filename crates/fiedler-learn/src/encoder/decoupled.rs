//! Features transformed first and propagated afterwards (APPNP, GPR-GNN): `Σ_k γ_k Pᵏ · MLP(X)` with `P = D~^-1/2 (A + I) D~^-1/2`.
//!
//! A graph convolution has to mix each node with its neighbors. Here `γ` decides how much, and a node's own features always count.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::TensorData;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mlp::{FirstWeights, MlpEncoder, MlpSettings};
use super::{Layers, check_shape};
use crate::error::{Error, Result, check_size};
use crate::layer::Activation;
use crate::ops;
use crate::pass::{self, Pass};
use crate::{FeatureMatrix, Initializer, MessageGraph};

/// How a [`Decoupled`] encoder is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecoupledSettings {
    /// Width of every layer of the MLP.
    pub hidden_channels: usize,
    /// Number of layers of the MLP.
    pub num_layers: usize,
    /// What follows every layer but the last.
    pub activation: Activation,
    /// Whether each layer's output but the last is normalized before the activation.
    pub batch_norm: bool,
    /// Probability of dropping a value of a layer's input, from the second layer on.
    pub dropout: f64,
    /// K: the highest power of the propagation matrix.
    pub propagation_steps: usize,
    /// α of personalized PageRank, from which the coefficients start: `γ_k = α (1 - α)ᵏ` for `k < K`, and `(1 - α)ᴷ` for `k = K`. Their sum
    /// is one.
    pub teleport: f64,
    /// Whether the coefficients are learned (GPR-GNN) or stay as they are (APPNP).
    pub train_gamma: bool,
}

impl Default for DecoupledSettings {
    fn default() -> Self {
        DecoupledSettings {
            hidden_channels: 512,
            num_layers: 2,
            activation: Activation::Relu,
            batch_norm: false,
            dropout: 0.0,
            propagation_steps: 4,
            teleport: 0.2,
            train_gamma: true,
        }
    }
}

impl DecoupledSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        check_shape(self.hidden_channels, self.num_layers)?;
        if self.propagation_steps > 1000 {
            return Err(Error::setting("propagation_steps", self.propagation_steps, "at most 1,000"));
        }
        if !(0.0..=1.0).contains(&self.teleport) {
            return Err(Error::setting("teleport", self.teleport, "a number from 0 to 1"));
        }
        pass::check_dropout(self.dropout)
    }

    /// The coefficients that learning starts from.
    ///
    /// ```
    /// use fiedler_learn::encoder::DecoupledSettings;
    /// let gamma = DecoupledSettings::default().first_gamma();
    /// for (found, expected) in gamma.iter().zip([0.2, 0.16, 0.128, 0.1024, 0.4096]) {
    ///     assert!((found - expected).abs() < 1e-6);
    /// }
    /// ```
    pub fn first_gamma(&self) -> Vec<f32> {
        let (last, stay) = (self.propagation_steps, 1.0 - self.teleport);
        let coefficient = |k: usize| stay.powi(k as i32) * if k < last { self.teleport } else { 1.0 };
        (0..=last).map(|k| coefficient(k) as f32).collect()
    }

    fn mlp(&self) -> MlpSettings {
        let DecoupledSettings { hidden_channels, num_layers, activation, batch_norm, dropout, .. } = *self;
        MlpSettings { hidden_channels, num_layers, activation, batch_norm, dropout }
    }
}

/// An MLP, then a weighted sum of propagation steps.
#[derive(Module, Debug)]
pub struct Decoupled {
    mlp: MlpEncoder,
    /// γ, where it is learned.
    gamma: Option<Param<Tensor<1>>>,
    #[module(skip)]
    fixed_gamma: Vec<f32>,
}

impl Decoupled {
    /// An encoder for features of the given number of columns.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: &DecoupledSettings, columns: usize, initializer: &mut Initializer) -> Result<Decoupled> {
        settings.check()?;
        let gamma = settings.first_gamma();
        Ok(Decoupled {
            mlp: MlpEncoder::with_weights(&settings.mlp(), columns, FirstWeights::Glorot, initializer)?,
            gamma: settings.train_gamma.then(|| initializer.vector(gamma.clone())),
            fixed_gamma: gamma,
        })
    }

    /// See [`Encoder::forward`](super::Encoder::forward). The layers are those of the MLP, the last one after propagation.
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        Ok(self.propagate(graph, self.mlp.outputs(input, pass)?))
    }

    /// See [`Encoder::forward_each`](super::Encoder::forward_each): the MLP is computed once.
    ///
    /// # Errors
    /// As [`Decoupled::forward`].
    pub fn forward_each(&self, graphs: &[&MessageGraph], input: &FeatureMatrix, pass: &Pass) -> Result<Vec<Layers>> {
        for graph in graphs {
            check_size("table of features", input.rows(), graph.num_nodes())?;
        }
        let outputs = self.mlp.outputs(input, pass)?;
        Ok(graphs.iter().map(|graph| self.propagate(graph, outputs.clone())).collect())
    }

    fn propagate(&self, graph: &MessageGraph, mut outputs: Vec<Tensor<2>>) -> Layers {
        if let Some(last) = outputs.last_mut() {
            let gamma = self.gamma.as_ref().map_or_else(
                || {
                    Tensor::from_data(
                        TensorData::new(self.fixed_gamma.clone(), [self.fixed_gamma.len()]),
                        &last.device(),
                    )
                },
                Param::val,
            );
            *last = ops::propagate_mix(&graph.operator, last.clone(), gamma);
        }
        Layers::new(outputs)
    }
}
