//! Graph isomorphism layers (Xu et al.): `MLP((1 + ε) x + Σ x_neighbor)`, layer on layer, and the forms for molecules with
//! features of bonds: `MLP((1 + ε) x + Σ relu(x_neighbor + bond))`, or without the ReLU and with a bond to oneself (Hu et al.).

use burn::Tensor;
use burn::module::{Module, Param};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Layers, check_channels, check_shape};
use crate::error::{Error, Result, check_size};
use crate::layer::{Activation, ActivationLayer, BatchNorm, Linear, RRELU_SLOPE};
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
    /// Width of the hidden layer of each layer's MLP, where it is not `expansion` times `hidden_channels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mlp_channels: Option<usize>,
    /// Whether the MLP's hidden layer is normalized, where that is not as with the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inner_norm: Option<bool>,
    /// What comes first after a layer's MLP.
    #[serde(skip_serializing_if = "NormOrder::is_usual")]
    pub order: NormOrder,
    /// What follows every layer, and stands between the layers of its MLP.
    #[serde(skip_serializing_if = "is_relu")]
    pub activation: Activation,
    /// What a neighbor sends along an edge that has features.
    #[serde(skip_serializing_if = "EdgeMessage::is_usual")]
    pub message: EdgeMessage,
    /// How weights begin.
    #[serde(skip_serializing_if = "FirstWeights::is_usual")]
    pub first_weights: FirstWeights,
}

/// What comes first after the MLP of a graph isomorphism layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NormOrder {
    /// Normalization, then activation.
    #[default]
    NormFirst,
    /// Activation, then normalization, as in the encoder of InfoGraph and GraphCL.
    ActivationFirst,
}

/// What a neighbor sends along an edge that has features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeMessage {
    /// `relu(x + e)`.
    #[default]
    Relu,
    /// `x + e`, and to itself a node sends `x` and the vector of a self-loop, as in the encoder of Hu et al.
    Sum,
}

/// How the weights of dense layers begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstWeights {
    /// Evenly spread over `±1/√inputs`, biases as well: PyTorch's default.
    #[default]
    ByInputs,
    /// Glorot's choice (Xavier), biases zero.
    Glorot,
}

impl NormOrder {
    fn is_usual(&self) -> bool {
        *self == NormOrder::default()
    }
}

impl EdgeMessage {
    fn is_usual(&self) -> bool {
        *self == EdgeMessage::default()
    }
}

impl FirstWeights {
    fn is_usual(&self) -> bool {
        *self == FirstWeights::default()
    }

    fn linear(self, inputs: usize, outputs: usize, initializer: &mut Initializer) -> Linear {
        match self {
            FirstWeights::ByInputs => Linear::new(inputs, outputs, initializer),
            FirstWeights::Glorot => Linear::glorot(inputs, outputs, initializer),
        }
    }
}

fn is_relu(activation: &Activation) -> bool {
    *activation == Activation::Relu
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
            mlp_channels: None,
            inner_norm: None,
            order: NormOrder::default(),
            activation: Activation::Relu,
            message: EdgeMessage::default(),
            first_weights: FirstWeights::default(),
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
        if let Some(channels) = self.mlp_channels {
            check_channels("mlp_channels", channels)?;
        }
        pass::check_dropout(self.dropout)
    }

    /// The encoder of InfoGraph, GraphCL, JOAO and SimGRACE: no normalization within the MLP, after it a ReLU and then a normalization.
    pub fn activation_first(num_layers: usize) -> GinSettings {
        GinSettings {
            num_layers,
            inner_norm: Some(false),
            order: NormOrder::ActivationFirst,
            first_weights: FirstWeights::Glorot,
            ..GinSettings::default()
        }
    }

    fn between(&self) -> usize {
        self.mlp_channels.unwrap_or(self.hidden_channels * self.expansion)
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
    /// What follows each layer, and stands within it, where slopes are learned.
    activations: Vec<ActivationLayer>,
    last_relu: bool,
    dropout: f64,
    #[module(skip)]
    form: Form,
}

/// What layers have in common.
#[derive(Debug, Clone, Copy)]
struct Form {
    order: NormOrder,
    message: EdgeMessage,
    activation: Activation,
}

/// One graph isomorphism layer.
#[derive(Module, Debug)]
pub struct Isomorphism {
    /// ε, if it is learned.
    learned_epsilon: Option<Param<Tensor<1>>>,
    epsilon: f32,
    /// One row for each column of the edges' features.
    edges: Option<Param<Tensor<2>>>,
    /// What a self-loop adds to the message of a node to itself.
    self_loop: Option<Param<Tensor<2>>>,
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
        let form = Form { order: settings.order, message: settings.message, activation: settings.activation };
        let loops = form.message == EdgeMessage::Sum && dims.edges.is_some();
        let layers = (0..settings.num_layers).map(|layer| {
            let inputs = if layer == 0 && !embedded { dims.nodes } else { hidden };
            let between = settings.between();
            Isomorphism {
                learned_epsilon: settings.train_eps.then(|| initializer.constant([1], settings.epsilon)),
                epsilon: settings.epsilon,
                edges: dims.edges.map(|edges| initializer.glorot(edges, hidden)),
                self_loop: loops.then(|| initializer.glorot(1, hidden)),
                first: settings.first_weights.linear(inputs, between, initializer),
                inner_norm: settings
                    .inner_norm
                    .unwrap_or(settings.batch_norm)
                    .then(|| BatchNorm::new(between, initializer)),
                second: settings.first_weights.linear(between, hidden, initializer),
                norm: settings.batch_norm.then(|| BatchNorm::new(hidden, initializer)),
            }
        });
        let layers: Vec<Isomorphism> = layers.collect();
        // Only what is learned has a place of its own.
        let learned = matches!(form.activation, Activation::Prelu | Activation::PreluChannelwise);
        let count = 2 * settings.num_layers - usize::from(!settings.last_relu);
        let widths =
            (0..if learned { count } else { 0 }).map(|at| if at % 2 == 0 { settings.between() } else { hidden });
        let activations = widths.map(|width| ActivationLayer::new(form.activation, width, initializer)).collect();
        Ok(Gin { embedding, layers, activations, last_relu: settings.last_relu, dropout: settings.dropout, form })
    }

    /// What stands within a layer, and what follows it.
    fn activations(&self, layer: usize) -> [ActivationOp; 2] {
        let fixed = match self.form.activation {
            Activation::Identity => ActivationOp::Identity,
            Activation::Rrelu => ActivationOp::LeakyRelu(RRELU_SLOPE),
            _ => ActivationOp::Relu,
        };
        let of = |place: usize| self.activations.get(place).map_or_else(|| fixed.clone(), ActivationLayer::activation);
        let last = !self.last_relu && layer + 1 == self.layers.len();
        [of(2 * layer), if last { ActivationOp::Identity } else { of(2 * layer + 1) }]
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
            hidden = layer.forward(graph, hidden, multiplied, self.form, self.activations(place), pass.mode());
            hidden = pass.drop(hidden, self.dropout);
            outputs.push(hidden.clone());
        }
        Layers::new(outputs)
    }
}

impl Isomorphism {
    fn forward(
        &self,
        graph: &MessageGraph,
        input: Tensor<2>,
        multiplied: bool,
        form: Form,
        [within, after]: [ActivationOp; 2],
        mode: Mode,
    ) -> Tensor<2> {
        let sums = self.sum_over_neighbors(graph, input, form.message);
        let hidden = if multiplied { self.first.add_bias(sums) } else { self.first.forward(sums) };
        let hidden = finish(hidden, self.inner_norm.as_ref(), &within, NormOrder::NormFirst, mode);
        finish(self.second.forward(hidden), self.norm.as_ref(), &after, form.order, mode)
    }

    fn sum_over_neighbors(&self, graph: &MessageGraph, input: Tensor<2>, message: EdgeMessage) -> Tensor<2> {
        let operator = &graph.operator;
        let relu = message == EdgeMessage::Relu;
        let sums = match (&self.edges, &graph.edges, &graph.entry_weights) {
            (Some(weight), Some(edges), None) => {
                ops::messages(operator, &edges.places, input.clone(), edges.input.times(weight.val()), relu)
            }
            (Some(weight), Some(edges), Some(weights)) => {
                let features = Some((&edges.places, edges.input.times(weight.val())));
                ops::weighted_messages(operator, weights.clone(), input.clone(), features, relu)
            }
            (_, _, Some(weights)) => ops::weighted_messages(operator, weights.clone(), input.clone(), None, false),
            _ => ops::propagate(operator, input.clone(), None, &ActivationOp::Identity),
        };
        let sums = match &self.self_loop {
            Some(own) => sums + own.val(),
            None => sums,
        };
        match &self.learned_epsilon {
            Some(epsilon) => sums + input * (epsilon.val() + 1.0).unsqueeze::<2>(),
            None if self.epsilon == 0.0 => sums + input,
            None => sums + input * (1.0 + self.epsilon),
        }
    }
}

/// Normalization and activation, in either order.
fn finish(
    output: Tensor<2>,
    norm: Option<&BatchNorm>,
    activation: &ActivationOp,
    order: NormOrder,
    mode: Mode,
) -> Tensor<2> {
    let relu = matches!(activation, ActivationOp::Relu);
    match (norm, order) {
        (Some(norm), NormOrder::NormFirst) if relu => norm.forward(output, true, mode),
        (Some(norm), NormOrder::NormFirst) => activate(norm.forward(output, false, mode), activation),
        (Some(norm), NormOrder::ActivationFirst) => norm.forward(activate(output, activation), false, mode),
        (None, _) => activate(output, activation),
    }
}

fn activate(output: Tensor<2>, activation: &ActivationOp) -> Tensor<2> {
    match activation {
        ActivationOp::Identity => output,
        ActivationOp::Relu => output.clamp_min(0.0),
        other => ops::activate(output, other),
    }
}
