//! Graph convolutions (Kipf and Welling): `activation(D~^-1/2 (A + I) D~^-1/2 · X · W + b)`, layer on layer.

use burn::Tensor;
use burn::module::{Module, Param};
use serde::{Deserialize, Serialize};

use super::Layers;
use crate::dropout::{self, Draws};
use crate::error::{Error, Result, check_size};
use crate::layer::{BatchNorm, Bend, Nonlinearity};
use crate::ops::{self, Activation, plain};
use crate::{Initializer, Input, Structure};

/// How a [`Gcn`] is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GcnSettings {
    /// Width of every layer.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// What follows every layer.
    pub nonlinearity: Nonlinearity,
    /// Whether all layers share what the nonlinearity learns.
    pub share_slope: bool,
    /// Whether each layer's output is normalized before the nonlinearity.
    pub batch_norm: bool,
    /// Probability of dropping a value of a layer's input, from the second layer on.
    pub dropout: f64,
}

impl Default for GcnSettings {
    fn default() -> Self {
        GcnSettings {
            hidden: 512,
            layers: 2,
            nonlinearity: Nonlinearity::Prelu,
            share_slope: false,
            batch_norm: false,
            dropout: 0.0,
        }
    }
}

/// A stack of graph convolutions.
#[derive(Module, Debug)]
pub struct Gcn {
    layers: Vec<Convolution>,
    /// One for each layer, or one for all.
    bends: Vec<Bend>,
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
        let GcnSettings { hidden, layers, nonlinearity, share_slope, batch_norm, dropout } = settings.clone();
        if hidden == 0 {
            return Err(Error::setting("hidden", hidden, "at least 1"));
        }
        if layers == 0 {
            return Err(Error::setting("layers", layers, "at least 1"));
        }
        dropout::check(dropout)?;
        let convolutions = (0..layers).map(|layer| Convolution {
            weight: initializer.glorot(if layer == 0 { columns } else { hidden }, hidden),
            bias: initializer.constant([hidden], 0.0),
            norm: batch_norm.then(|| BatchNorm::new(hidden, initializer)),
        });
        let layers: Vec<Convolution> = convolutions.collect();
        let bends = if share_slope { 1 } else { layers.len() };
        let bends = (0..bends).map(|_| Bend::new(nonlinearity, hidden, initializer)).collect();
        Ok(Gcn { layers, bends, dropout })
    }

    /// See [`Encoder::forward`](super::Encoder::forward).
    ///
    /// # Errors
    /// When the input does not have a row for each node, or not as many columns as the encoder was made for.
    pub fn forward(&self, structure: &Structure, input: &Input, draws: Option<&Draws>) -> Result<Layers> {
        check_size("table of features", input.rows(), structure.num_nodes())?;
        let first = self.product(input)?;
        Ok(self.encode_product(structure, first, draws))
    }

    /// See [`Encoder::forward_each`](super::Encoder::forward_each).
    ///
    /// # Errors
    /// As [`Gcn::forward`].
    pub fn forward_each(&self, structures: &[&Structure], input: &Input, draws: Option<&Draws>) -> Result<Vec<Layers>> {
        for structure in structures {
            check_size("table of features", input.rows(), structure.num_nodes())?;
        }
        let first = self.product(input)?;
        Ok(structures.iter().map(|structure| self.encode_product(structure, first.clone(), draws)).collect())
    }

    fn product(&self, input: &Input) -> Result<Tensor<2>> {
        let weight = self.layers[0].weight.val();
        check_size("row of features", input.columns(), weight.dims()[0])?;
        Ok(input.times(weight))
    }

    fn encode_product(&self, structure: &Structure, first: Tensor<2>, draws: Option<&Draws>) -> Layers {
        let mut outputs: Vec<Tensor<2>> = Vec::with_capacity(self.layers.len());
        let mut first = Some(first);
        for (layer, convolution) in self.layers.iter().enumerate() {
            let product = match first.take() {
                Some(first) => first,
                None => {
                    let input = outputs[layer - 1].clone();
                    let input = match draws {
                        Some(draws) => draws.drop(input, self.dropout),
                        None => input,
                    };
                    input.matmul(convolution.weight.val())
                }
            };
            let activation = self.bends[layer.min(self.bends.len() - 1)].activation();
            outputs.push(convolution.propagate(structure, product, &activation));
        }
        Layers::new(outputs)
    }
}

impl Convolution {
    fn propagate(&self, structure: &Structure, product: Tensor<2>, activation: &Activation) -> Tensor<2> {
        let bias = Some(self.bias.val());
        match &self.norm {
            None => ops::propagate(&structure.adjacency, product, bias, activation),
            Some(norm) => {
                let sums = ops::propagate(&structure.adjacency, product, bias, &Activation::Identity);
                match activation {
                    Activation::Identity | Activation::Relu => {
                        norm.forward(sums, matches!(activation, Activation::Relu))
                    }
                    Activation::Prelu(_) => plain::activate(norm.forward(sums, false), activation),
                }
            }
        }
    }
}
