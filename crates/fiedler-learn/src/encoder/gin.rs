//! Graph isomorphism layers (Xu et al.): `MLP((1 + ε) x + Σ x_neighbor)`, layer on layer, and the form for molecules with
//! features of bonds (Hu et al.): `MLP((1 + ε) x + Σ relu(x_neighbor + bond))`.

use burn::Tensor;
use burn::module::{Module, Param};
use serde::{Deserialize, Serialize};

use super::Layers;
use crate::dropout::{self, Draws};
use crate::error::{Error, Result, check_size};
use crate::layer::{BatchNorm, Linear};
use crate::ops::{self, Activation};
use crate::{Initializer, Input, Structure};

/// How a [`Gin`] is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GinSettings {
    /// Width of every layer.
    pub hidden: usize,
    /// Number of layers.
    pub layers: usize,
    /// Width of the hidden layer of each layer's MLP, as a multiple of `hidden`.
    pub expansion: usize,
    /// ε: how much more than a neighbor a node counts for itself.
    pub epsilon: f32,
    /// Whether ε is learned, starting from the value given.
    pub learn_epsilon: bool,
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
            hidden: 32,
            layers: 5,
            expansion: 1,
            epsilon: 0.0,
            learn_epsilon: false,
            batch_norm: true,
            last_relu: true,
            embed: false,
            dropout: 0.0,
        }
    }
}

/// How many columns the features have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widths {
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
    pub fn new(settings: &GinSettings, widths: Widths, initializer: &mut Initializer) -> Result<Gin> {
        let hidden = settings.hidden;
        for (name, value) in [("hidden", hidden), ("layers", settings.layers), ("expansion", settings.expansion)] {
            if value == 0 {
                return Err(Error::setting(name, value, "at least 1"));
            }
        }
        if !settings.epsilon.is_finite() {
            return Err(Error::setting("epsilon", settings.epsilon, "a finite number"));
        }
        dropout::check(settings.dropout)?;
        let embedded = settings.embed || widths.edges.is_some();
        let embedding = embedded.then(|| initializer.glorot(widths.nodes, hidden));
        let layers = (0..settings.layers).map(|layer| {
            let inputs = if layer == 0 && !embedded { widths.nodes } else { hidden };
            let between = hidden * settings.expansion;
            Isomorphism {
                learned_epsilon: settings.learn_epsilon.then(|| initializer.constant([1], settings.epsilon)),
                epsilon: settings.epsilon,
                edges: widths.edges.map(|edges| initializer.glorot(edges, hidden)),
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
    pub fn forward(&self, structure: &Structure, input: &Input, draws: Option<&Draws>) -> Result<Layers> {
        self.check(structure, input)?;
        let first = self.product(input)?;
        Ok(self.encode_product(structure, first, draws))
    }

    /// See [`Encoder::forward_each`](super::Encoder::forward_each).
    ///
    /// # Errors
    /// As [`Gin::forward`].
    pub fn forward_each(&self, structures: &[&Structure], input: &Input, draws: Option<&Draws>) -> Result<Vec<Layers>> {
        structures.iter().try_for_each(|structure| self.check(structure, input))?;
        let first = self.product(input)?;
        Ok(structures.iter().map(|structure| self.encode_product(structure, first.clone(), draws)).collect())
    }

    fn check(&self, structure: &Structure, input: &Input) -> Result<()> {
        check_size("table of features", input.rows(), structure.num_nodes())?;
        let found = structure.edges.as_ref().map_or(0, |edges| edges.input.columns());
        let expected = self.layers[0].edges.as_ref().map_or(0, |weight| weight.dims()[0]);
        check_size("row of edge features", found, expected)
    }

    /// The features times the first matrix that they meet.
    fn product(&self, input: &Input) -> Result<Tensor<2>> {
        let weight = self.embedding.as_ref().unwrap_or(&self.layers[0].first.weight).val();
        check_size("row of features", input.columns(), weight.dims()[0])?;
        Ok(input.times(weight))
    }

    fn encode_product(&self, structure: &Structure, first: Tensor<2>, draws: Option<&Draws>) -> Layers {
        let mut outputs = Vec::with_capacity(self.layers.len());
        let mut hidden = first;
        for (place, layer) in self.layers.iter().enumerate() {
            // The sum over neighbors and the first matrix may change places, so that wide features are multiplied before they are summed.
            let multiplied = place == 0 && self.embedding.is_none();
            let relu = self.last_relu || place + 1 < self.layers.len();
            hidden = layer.forward(structure, hidden, multiplied, relu);
            if let Some(draws) = draws {
                hidden = draws.drop(hidden, self.dropout);
            }
            outputs.push(hidden.clone());
        }
        Layers::new(outputs)
    }
}

impl Isomorphism {
    fn forward(&self, structure: &Structure, input: Tensor<2>, multiplied: bool, relu: bool) -> Tensor<2> {
        let sums = self.sum_over_neighbors(structure, input);
        let hidden = if multiplied { self.first.add_bias(sums) } else { self.first.forward(sums) };
        let hidden = finish(hidden, self.inner_norm.as_ref(), true);
        finish(self.second.forward(hidden), self.norm.as_ref(), relu)
    }

    fn sum_over_neighbors(&self, structure: &Structure, input: Tensor<2>) -> Tensor<2> {
        let adjacency = &structure.adjacency;
        let sums = match (&self.edges, &structure.edges) {
            (Some(weight), Some(edges)) => {
                ops::messages(adjacency, &edges.places, input.clone(), edges.input.times(weight.val()))
            }
            _ => ops::propagate(adjacency, input.clone(), None, &Activation::Identity),
        };
        match &self.learned_epsilon {
            Some(epsilon) => sums + input * (epsilon.val() + 1.0).unsqueeze::<2>(),
            None if self.epsilon == 0.0 => sums + input,
            None => sums + input * (1.0 + self.epsilon),
        }
    }
}

fn finish(output: Tensor<2>, norm: Option<&BatchNorm>, relu: bool) -> Tensor<2> {
    match norm {
        Some(norm) => norm.forward(output, relu),
        None if relu => output.clamp_min(0.0),
        None => output,
    }
}
