//! Graphical Mutual Information: a node's embedding is to tell its own features and those of its neighbors from others, and which nodes it
//! is joined to.

use std::sync::Arc;

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, softplus};
use fiedler_augment::{Axis, Pipeline};
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Anchors, FitData, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::device::indices;
use crate::encoder::{Encoder, EncoderSettings, Gcn, GcnSettings};
use crate::error::{Error, Result};
use crate::layer::{Activation, ActivationLayer};
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;
use crate::{GraphOffsets, Initializer, Normalization, Operator};

/// Settings of Graphical Mutual Information in its variant `mean`, which its program has.
///
/// The loss is `α L1 + β L2 + γ L3`. L1 compares a node's features with its embedding, L2 its embedding with the mean of its neighbors'
/// features, both with a bilinear discriminator and negatives drawn anew for each step; L3 is the cross-entropy between products of
/// embeddings and the adjacency matrix with ones on its diagonal. Training as published: Adam with learning rate 1e-3 and no weight decay,
/// up to 550 epochs, patience 20.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gmi {
    /// The encoder, which must be a gcn: two graph convolutions of 512 channels with PReLU.
    pub encoder: EncoderSettings,
    /// α: weight of the comparison of features with embeddings.
    pub alpha: f64,
    /// β: weight of the comparison of embeddings with neighbors' features.
    pub beta: f64,
    /// γ: weight of the comparison of embeddings with edges.
    pub gamma: f64,
    /// Negatives of each node and comparison, drawn anew for each step.
    pub num_negatives: usize,
    /// What pairs with and without an edge weigh against each other.
    pub pair_weights: PairWeights,
    /// Anchors: how many nodes' pairs without an edge a step looks at, a number, `all`, or `auto` (4,096 of more than 8,192).
    pub anchors: Anchors,
}

/// What pairs with and without an edge weigh against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairWeights {
    /// Both kinds weigh the same.
    #[default]
    Balanced,
    /// As in the published program, which counts half of the edges: those there are weigh about twice as much.
    Gmi,
}

impl Default for Gmi {
    fn default() -> Self {
        Gmi {
            encoder: EncoderSettings::Gcn(GcnSettings::default()),
            alpha: 0.8,
            beta: 1.0,
            gamma: 1.0,
            num_negatives: 5,
            pair_weights: PairWeights::Balanced,
            anchors: Anchors::Auto,
        }
    }
}

/// An encoder, the activation of neighbors' features, and two discriminators.
#[derive(Module, Debug)]
pub struct GmiModel {
    encoder: Encoder,
    neighbors: ActivationLayer,
    of_features: Bilinear,
    of_neighbors: Bilinear,
}

/// A discriminator `xᵀWy + b`.
#[derive(Module, Debug)]
struct Bilinear {
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Bilinear {
    fn new(rows: usize, columns: usize, initializer: &mut Initializer) -> Bilinear {
        Bilinear { weight: initializer.bilinear(rows, columns), bias: initializer.constant([1], 0.0) }
    }

    /// `mean softplus(-T⁺) + mean softplus(T⁻)`, where `T` is the sigmoid of a score: of each row of `transformed`, which is `xᵀW`, with
    /// the same row of `others`, and of rows that are none of its business.
    fn jensen_shannon(&self, transformed: Tensor<2>, others: &Tensor<2>, negatives: &[Vec<u32>]) -> Tensor<1> {
        let score = |rows: Tensor<2>| sigmoid((rows * others.clone()).sum_dim(1) + self.bias.val().unsqueeze::<2>());
        let device = transformed.device();
        let mut loss = mean(softplus(score(transformed.clone()).neg(), 1.0));
        for rows in negatives {
            let rows = transformed.clone().select(0, indices(rows.clone(), &device));
            loss = loss + mean(softplus(score(rows), 1.0)) / negatives.len() as f32;
        }
        loss
    }
}

/// The mean of a column; unlike a plain one, in the same order whatever the number of threads.
fn mean(column: Tensor<2>) -> Tensor<1> {
    let rows = column.dims()[0];
    ops::pool(column, &GraphOffsets::single(rows), Pooling::Mean).squeeze_dim(1)
}

impl Gmi {
    /// Refuses encoders whose first layer is not a convolution.
    fn check_encoder(&self) -> Result<()> {
        self.encoder.check()?;
        if !matches!(self.encoder, EncoderSettings::Gcn(_)) {
            let expected = "gcn: neighbors' features go through the weight of its first layer";
            return Err(Error::setting("encoder", "another", expected));
        }
        Ok(())
    }

    /// For each negative of each node another node, drawn uniformly.
    fn draw_negatives(&self, nodes: usize, step: &Step<'_>, comparison: u64) -> Vec<Vec<u32>> {
        let mut random = stream(step.seed, "negatives", 2 * step.clock.step + comparison);
        let mut other = |node: usize| {
            let drawn = random.random_range(0..nodes - 1);
            (drawn + usize::from(drawn >= node)) as u32
        };
        (0..self.num_negatives).map(|_| (0..nodes).map(&mut other).collect()).collect()
    }

    /// The cross-entropy between products of embeddings and the adjacency matrix with ones on its diagonal.
    fn edges(&self, nodes: &Tensor<2>, operator: &Arc<Operator>, step: &Step<'_>) -> Tensor<1> {
        let count = nodes.dims()[0];
        let joined = ops::edge_products(operator, nodes.clone());
        let own = nodes.clone().square().sum_dim(1).squeeze_dim(1);
        // Every edge stands for both its directions.
        let edges = joined.dims()[0];
        let with_edge = sum(softplus(joined.clone().neg(), 1.0)) * 2.0 + sum(softplus(own.clone().neg(), 1.0));
        let anchors = self.anchors.draw_of(count, step);
        let (pairs, counted) = match &anchors {
            None => {
                let others = sum(softplus(joined, 1.0)) * 2.0 + sum(softplus(own, 1.0));
                (ops::pair_softplus(nodes.clone()) - others, Pairs { nodes: count, edges })
            }
            Some(anchors) => {
                let device = nodes.device();
                let inside = edges_inside(operator, anchors);
                let edges = inside.len();
                let joined = joined.select(0, indices(inside, &device));
                let rows = indices(anchors.clone(), &device);
                let others = sum(softplus(joined, 1.0)) * 2.0 + sum(softplus(own.select(0, rows.clone()), 1.0));
                let all = ops::pair_softplus(nodes.clone().select(0, rows));
                (all - others, Pairs { nodes: anchors.len(), edges })
            }
        };
        let whole = Pairs { nodes: count, edges };
        let [positive, negative] = self.pair_weights.of(whole, counted);
        with_edge * positive + pairs * negative
    }
}

/// So many nodes with so many edges among them.
#[derive(Clone, Copy)]
struct Pairs {
    nodes: usize,
    edges: usize,
}

impl Pairs {
    /// Ordered pairs that are joined, each node with itself among them.
    fn joined(self) -> f64 {
        (2 * self.edges + self.nodes) as f64
    }

    fn all(self) -> f64 {
        (self.nodes as f64).powi(2)
    }
}

impl PairWeights {
    /// Weights of a pair with an edge, of all there are, and of one without, of those that were looked at.
    fn of(self, whole: Pairs, looked_at: Pairs) -> [f64; 2] {
        // A complete graph has no pairs without an edge, and they add nothing.
        let negative = 1.0 / (looked_at.all() - looked_at.joined()).max(1.0);
        match self {
            PairWeights::Balanced => [1.0 / whole.joined(), negative],
            PairWeights::Gmi => {
                let half = whole.joined() / 2.0;
                let share = (whole.all() - whole.joined()) / (whole.all() - half);
                [1.0 / half, negative * share]
            }
        }
    }
}

fn sum(values: Tensor<1>) -> Tensor<1> {
    let count = values.dims()[0];
    ops::pool(values.unsqueeze_dim(1), &GraphOffsets::single(count), Pooling::Sum).squeeze_dim(1)
}

/// The numbers of the edges whose ends are both among some nodes, which are in ascending order.
fn edges_inside(operator: &Operator, nodes: &[u32]) -> Vec<u32> {
    let mut is_inside = vec![false; operator.num_nodes()];
    nodes.iter().for_each(|&node| is_inside[node as usize] = true);
    let (indptr, columns) = (operator.indptr(), operator.indices());
    let places = operator.edge_places();
    let of_node = |&node: &u32| {
        let entries = indptr[node as usize]..indptr[node as usize + 1];
        entries.filter(move |&entry| columns[entry] > node).filter(|&entry| is_inside[columns[entry] as usize])
    };
    nodes.iter().flat_map(of_node).map(|entry| places[entry]).collect()
}

impl Method for Gmi {
    const INFO: MethodInfo = MethodInfo {
        name: "gmi",
        about: "Graphical Mutual Information: embeddings tell features, neighbors' features and edges from others",
        citation: "Peng, Huang, Luo, Zheng, Rong, Xu and Huang: Graph Representation Learning via Graphical Mutual Information Maximization, WWW 2020",
        levels: &[TaskLevel::Nodes],
    };
    type Model = GmiModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.check_encoder()?;
        self.anchors.check()?;
        for (name, weight) in [("alpha", self.alpha), ("beta", self.beta), ("gamma", self.gamma)] {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::setting(name, weight, "a number that is not negative"));
            }
        }
        if !(1..=1000).contains(&self.num_negatives) {
            return Err(Error::setting("num_negatives", self.num_negatives, "1 to 1,000"));
        }
        if task.num_nodes < 2 {
            return Err(Error::setting("number of nodes", task.num_nodes, "at least 2 to be told apart"));
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let [first, last] = [self.encoder.first_channels(), self.encoder.out_channels()].map(|width| width as f64);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: true,
            operators: vec![Normalization::Symmetric, Normalization::RowMean],
            footprint: Footprint {
                // Beside what the encoder makes: neighbors' features, what discriminators make of rows, and of those that were drawn.
                values_per_node: one.values_per_node + 3.0 * first + (8.0 + 6.0 * self.num_negatives as f64) * last,
                weights: one.weights + (task.dims.nodes as f64 + first) * last,
                ..one
            },
        })
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        let patience = Some(20);
        Some(TrainingSettings { epochs: 550, weight_decay: 0.0, patience, ..TrainingSettings::default() })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<GmiModel> {
        let encoder = self.encoder.build(task.dims, initializer)?;
        let [first, last] = [self.encoder.first_channels(), self.encoder.out_channels()];
        Ok(GmiModel {
            encoder,
            neighbors: ActivationLayer::new(Activation::Prelu, first, initializer),
            of_features: Bilinear::new(task.dims.nodes, last, initializer),
            of_neighbors: Bilinear::new(last, first, initializer),
        })
    }

    fn fit(&self, model: GmiModel, data: &FitData<'_>) -> Result<GmiModel> {
        self.anchors.tell(data);
        Ok(model)
    }

    fn loss(&self, model: &GmiModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let gcn = model.gcn()?;
        let product = gcn.product(&sample.features)?;
        let convolved = sample.graph(Normalization::Symmetric)?;
        let nodes = gcn.encode_product(convolved, product.clone(), &step.pass).last();
        let mean_of_neighbors = sample.graph(Normalization::RowMean)?.operator();
        let neighbors = ops::propagate(mean_of_neighbors, product, None, &model.neighbors.activation());
        let count = sample.num_nodes();
        let features = sample.features.times(model.of_features.weight.val());
        let of_features = model.of_features.jensen_shannon(features, &nodes, &self.draw_negatives(count, step, 0));
        let transformed = nodes.clone().matmul(model.of_neighbors.weight.val());
        let of_neighbors =
            model.of_neighbors.jensen_shannon(transformed, &neighbors, &self.draw_negatives(count, step, 1));
        let edges = self.edges(&nodes, convolved.operator(), step);
        let scalar = |tensor: &Tensor<1>| -> f32 { tensor.clone().into_scalar() };
        let parts =
            vec![("features", scalar(&of_features)), ("neighbors", scalar(&of_neighbors)), ("edges", scalar(&edges))];
        Ok(Loss { value: of_features * self.alpha + of_neighbors * self.beta + edges * self.gamma, parts })
    }

    fn embed(&self, model: &GmiModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample: &Sample = &step.views[0];
        let graph = sample.graph(Normalization::Symmetric)?;
        Ok(model.encoder.forward(graph, &sample.features, &Pass::eval())?.last())
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        let mut axes = EncoderSettings::search_axes(level);
        axes.push(Axis::new("method.gamma", [0.5, 1.0, 2.0]));
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }
}

impl GmiModel {
    fn gcn(&self) -> Result<&Gcn> {
        match &self.encoder {
            Encoder::Gcn(gcn) => Ok(gcn),
            _ => Err(Error::setting("encoder", "another", "gcn, as was checked")),
        }
    }
}
