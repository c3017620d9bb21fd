//! Graph isomorphism layers (Xu et al.): `MLP((1 + ε) x + Σ x_neighbor)`, layer on layer, and the form for molecules with
//! features of bonds (Hu et al.): `MLP((1 + ε) x + Σ relu(x_neighbor + bond))`.

use burn::Tensor;
use burn::module::{Module, Param};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layers, check_shape};
use crate::error::{Error, Result, check_size};
use crate::layer::{BatchNorm, Linear};
use crate::ops::{self, ActivationOp};
use crate::pass::{self, Mode, Pass};
use crate::{FeatureMatrix, Initializer, MessageGraph};

/// How a [`Gin`] is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GinSettings {
    /// Width of every layer.
    pub hidden_channels: usize,
    /// Number of layers.
    pub num_layers: usize,
    /// Width of the hidden layer of each layer's MLP, as a multiple of `hidden_channels`.
    pub expansion: usize,
    /// ε: how much more than a neighbor a node counts for itself.
    pub epsilon: f32,
    /// Whether ε is learned, starting from the value given.
    pub train_eps: bool,
    /// Whether the MLP's hidden layer and each layer's output are normalized.
    pub batch_norm: bool,
    /// Whether the last layer is followed by a ReLU as the others are.
    pub last_relu: bool,
    /// Whether features are embedded by a matrix of their own before the first layer, as categories are for molecules.
    /// Always so where edges have features.
    pub embed: bool,
    /// Probability of dropping a value of a layer's output.
    pub dropout: f64,
}

impl Default for GinSettings {
    fn default() -> Self {
        GinSettings {
            hidden_channels: 32,
            num_layers: 5,
            expansion: 1,
            epsilon: 0.0,
            train_eps: false,
            batch_norm: true,
            last_relu: true,
            embed: false,
            dropout: 0.0,
        }
    }
}

impl GinSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        check_shape(self.hidden_channels, self.num_layers)?;
        if !(1..=1024).contains(&self.expansion) {
            return Err(Error::setting("expansion", self.expansion, "1 to 1,024"));
        }
        if !self.epsilon.is_finite() {
            return Err(Error::setting("epsilon", self.epsilon, "a finite number"));
        }
        pass::check_dropout(self.dropout)
    }
}

/// How many columns the features have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputDims {
    /// Columns of the features of nodes.
    pub nodes: usize,
    /// Columns of the features of edges, if an encoder is to look at them.
    pub edges: Option<usize>,
}

/// A stack of graph isomorphism layers.
#[derive(Module, Debug)]
pub struct Gin {
    /// One row for each column of the nodes' features.
    embedding: Option<Param<Tensor<2>>>,
    layers: Vec<Isomorphism>,
    last_relu: bool,
    dropout: f64,
}

/// One graph isomorphism layer.
#[derive(Module, Debug)]
pub struct Isomorphism {
    /// ε, if it is learned.
    learned_epsilon: Option<Param<Tensor<1>>>,
    epsilon: f32,
    /// One row for each column of the edges' features.
    edges: Option<Param<Tensor<2>>>,
    first: Linear,
    inner_norm: Option<BatchNorm>,
    second: Linear,
    norm: Option<BatchNorm>,
}

impl Gin {
    /// An encoder for features of the given numbers of columns.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn new(settings: &GinSettings, dims: InputDims, initializer: &mut Initializer) -> Result<Gin> {
        settings.check()?;
        let hidden = settings.hidden_channels;
        let embedded = settings.embed || dims.edges.is_some();
        let embedding = embedded.then(|| initializer.glorot(dims.nodes, hidden));
        let layers = (0..settings.num_layers).map(|layer| {
            let inputs = if layer == 0 && !embedded { dims.nodes } else { hidden };
            let between = hidden * settings.expansion;
            Isomorphism {
                learned_epsilon: settings.train_eps.then(|| initializer.constant([1], settings.epsilon)),
                epsilon: settings.epsilon,
                edges: dims.edges.map(|edges| initializer.glorot(edges, hidden)),
                first: Linear::new(inputs, between, initializer),
                inner_norm: settings.batch_norm.then(|| BatchNorm::new(between, initializer)),
                second: Linear::new(between, hidden, initializer),
                norm: settings.batch_norm.then(|| BatchNorm::new(hidden, initializer)),
            }
        });
        let layers = layers.collect();
        Ok(Gin { embedding, layers, last_relu: settings.last_relu, dropout: settings.dropout })
    }

    /// See [`Encoder::forward`](super::Encoder::forward).
    ///
    /// # Errors
    /// When the input does not have a row for each node or not as many columns as the encoder was made for, or features of edges are
    /// missing, unasked for, or of another width.
    pub fn forward(&self, graph: &MessageGraph, input: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        self.check(graph, input)?;
        let first = self.product(input)?;
        Ok(self.encode_product(graph, first, pass))
    }

    /// See [`Encoder::forward_each`](super::Encoder::forward_each).
    ///
    /// # Errors
    /// As [`Gin::forward`].
    pub fn forward_each(&self, graphs: &[&MessageGraph], input: &FeatureMatrix, pass: &Pass) -> Result<Vec<Layers>> {
        graphs.iter().try_for_each(|graph| self.check(graph, input))?;
        let first = self.product(input)?;
        Ok(graphs.iter().map(|graph| self.encode_product(graph, first.clone(), pass)).collect())
    }

    fn check(&self, graph: &MessageGraph, input: &FeatureMatrix) -> Result<()> {
        check_size("table of features", input.rows(), graph.num_nodes())?;
        let found = graph.edges.as_ref().map_or(0, |edges| edges.input.columns());
        let expected = self.layers[0].edges.as_ref().map_or(0, |weight| weight.dims()[0]);
        check_size("row of edge features", found, expected)
    }

    /// The features times the first matrix that they meet.
    fn product(&self, input: &FeatureMatrix) -> Result<Tensor<2>> {
        let weight = self.embedding.as_ref().unwrap_or(&self.layers[0].first.weight).val();
        check_size("row of features", input.columns(), weight.dims()[0])?;
        Ok(input.times(weight))
    }

    fn encode_product(&self, graph: &MessageGraph, first: Tensor<2>, pass: &Pass) -> Layers {
        let mut outputs = Vec::with_capacity(self.layers.len());
        let mut hidden = first;
        for (place, layer) in self.layers.iter().enumerate() {
            // The sum over neighbors and the first matrix may change places, so that wide features are multiplied before they are summed.
            let multiplied = place == 0 && self.embedding.is_none();
            let relu = self.last_relu || place + 1 < self.layers.len();
            hidden = layer.forward(graph, hidden, multiplied, relu, pass.mode());
            hidden = pass.drop(hidden, self.dropout);
            outputs.push(hidden.clone());
        }
        Layers::new(outputs)
    }
}

impl Isomorphism {
    fn forward(&self, graph: &MessageGraph, input: Tensor<2>, multiplied: bool, relu: bool, mode: Mode) -> Tensor<2> {
        let sums = self.sum_over_neighbors(graph, input);
        let hidden = if multiplied { self.first.add_bias(sums) } else { self.first.forward(sums) };
        let hidden = finish(hidden, self.inner_norm.as_ref(), true, mode);
        finish(self.second.forward(hidden), self.norm.as_ref(), relu, mode)
    }

    fn sum_over_neighbors(&self, graph: &MessageGraph, input: Tensor<2>) -> Tensor<2> {
        let operator = &graph.operator;
        let sums = match (&self.edges, &graph.edges) {
            (Some(weight), Some(edges)) => {
                ops::messages(operator, &edges.places, input.clone(), edges.input.times(weight.val()))
            }
            _ => ops::propagate(operator, input.clone(), None, &ActivationOp::Identity),
        };
        match &self.learned_epsilon {
            Some(epsilon) => sums + input * (epsilon.val() + 1.0).unsqueeze::<2>(),
            None if self.epsilon == 0.0 => sums + input,
            None => sums + input * (1.0 + self.epsilon),
        }
    }
}

fn finish(output: Tensor<2>, norm: Option<&BatchNorm>, relu: bool, mode: Mode) -> Tensor<2> {
    match norm {
        Some(norm) => norm.forward(output, relu, mode),
        None if relu => output.clamp_min(0.0),
        None => output,
    }
}
