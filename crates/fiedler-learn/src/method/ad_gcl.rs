//! AD-GCL: edges are dropped by a network of its own that makes the contrast hard, and an encoder that makes it easy.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Int, TensorData};
use fiedler_augment::{Axis, Pipeline};
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph_contrast::{self, GraphEncoder, GraphReadout};
use super::{Footprint, Loss, Method, MethodInfo, Phase, Requirements, Step, Untrained};
use crate::encoder::{EncoderSettings, FirstWeights, GinSettings};
use crate::error::{Error, Result};
use crate::layer::Mlp;
use crate::loss::NtXent;
use crate::ops::{self, Pooling};
use crate::optimizer::Select;
use crate::pass::Pass;
use crate::readout::JumpingKnowledge;
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::trainer::{Optimizer, OptimizerSettings, TrainingSettings};
use crate::{GraphOffsets, Initializer, MessageGraph, Operator};

/// Channels between the two layers that give an edge its score.
const EDGE_CHANNELS: usize = 64;
/// How near to 0 and 1 the numbers are drawn that edges are dropped by.
const MARGIN: f32 = 1e-4;
/// The phase in which the view learner is trained.
const VIEW_LEARNER: &str = "view learner";

/// Settings of AD-GCL; networks, losses and phases are those of the publication's program.
///
/// The view learner, an encoder of its own, gives every edge a score θ; messages along the edge are weighted by
/// `w = σ(log u - log(1 - u) + θ)` with `u` evenly spread from 0 to 1, and never cut to 0 or 1. One view is the graph as it is, the other the
/// graph with these weights. A step has two phases: the view learner makes `NT-Xent - λ · R` large, with `R` the mean of `1 - w` over the
/// edges of a graph and over graphs, while the encoder is in evaluation mode; then the encoder makes NT-Xent of newly drawn weights small,
/// while the view learner is in evaluation mode. Where the run has two views of its own (`scheme`, `views`), the first is the anchor, and edges
/// of the second are dropped.
///
/// Published training: Adam with learning rate 1e-3 for both and no weight decay; 150 epochs of 32 graphs a batch (TU), 100 epochs of 64
/// (molecules, 300 channels). The row "fixed" of the publication has λ = 5.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AdGcl {
    /// The encoder, and apart from it the view learner's: five graph isomorphism layers of 32 channels, the last without a ReLU.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding: the sum of the last layer.
    pub readout: GraphReadout,
    /// λ: how strongly the share of dropped edges is held down.
    pub lambda: f64,
    /// The loss, its mean over both directions.
    pub loss: NtXent,
    /// Learning rate of the view learner, where it is not that of the encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view_learning_rate: Option<f64>,
    /// Whether both directions of an edge have weights of their own, as in the publication's program.
    pub as_released: bool,
}

impl Default for AdGcl {
    fn default() -> Self {
        let gin = GinSettings {
            inner_norm: Some(false),
            last_relu: false,
            first_weights: FirstWeights::Glorot,
            ..GinSettings::default()
        };
        AdGcl {
            encoder: EncoderSettings::Gin(gin),
            readout: GraphReadout { pooling: Pooling::Sum, jumping_knowledge: JumpingKnowledge::Last },
            lambda: 5.0,
            loss: NtXent { symmetric: true, ..NtXent::default() },
            view_learning_rate: None,
            as_released: false,
        }
    }
}

/// An encoder with its head, and the view learner.
#[derive(Module, Debug)]
pub struct AdGclModel {
    encoder: GraphEncoder,
    head: Mlp,
    view_learner: ViewLearner,
}

/// An encoder and two dense layers that give every edge a score.
#[derive(Module, Debug)]
struct ViewLearner {
    encoder: GraphEncoder,
    edges: Mlp,
}

impl ViewLearner {
    /// A score for each entry of the operator.
    fn scores(&self, settings: &EncoderSettings, sample: &Sample, directed: bool, pass: &Pass) -> Result<Tensor<1>> {
        let operator = sample.graph(settings.normalization())?.operator();
        let nodes = self.encoder.layers(settings, sample, pass)?.last();
        let (device, width) = (nodes.device(), nodes.dims()[1]);
        let rows = (0..operator.num_nodes()).flat_map(|node| operator.row(node).0.iter().map(move |_| node as u32));
        let from = integers(operator.indices().iter().copied(), &device);
        let to = integers(rows, &device);
        // The product with both ends side by side, taken before nodes are spread to edges.
        let weight = self.edges.first.weight.val();
        let half = |first: usize| nodes.clone().matmul(weight.clone().slice([first..first + width, 0..EDGE_CHANNELS]));
        let ends = half(0).select(0, from) + half(width).select(0, to);
        let hidden = self.edges.first.add_bias(ends).clamp_min(0.0);
        let scores: Tensor<1> = self.edges.second.forward(hidden).squeeze_dim(1);
        if directed {
            return Ok(scores);
        }
        let back = integers(operator.mirrors().into_iter(), &device);
        Ok((scores.clone() + scores.select(0, back)) / 2.0)
    }
}

/// A graph with edges that are dropped in part.
struct Dropped {
    graph: MessageGraph,
    /// The mean over graphs of the share that is dropped.
    share: Tensor<1>,
}

impl AdGcl {
    /// Draws weights of edges.
    fn drop_edges(&self, model: &AdGclModel, sample: &Sample, step: &Step<'_>, trains: bool) -> Result<Dropped> {
        let graph = sample.graph(self.encoder.normalization())?;
        let operator = graph.operator();
        // Added to a loss, it says that the view learner was asked, also where no graph has an edge.
        let nothing = model.view_learner.edges.second.weight.val().sum() * 0.0;
        if operator.indices().is_empty() {
            return Ok(Dropped { graph: graph.clone(), share: nothing });
        }
        let pass = Pass::eval();
        let pass = if trains { &step.pass } else { &pass };
        let scores = model.view_learner.scores(&self.encoder, sample, self.as_released, pass)?;
        let noise = self.noise(operator, step);
        let noise = Tensor::from_data(TensorData::new(noise, [operator.indices().len()]), &scores.device());
        let weights = sigmoid(scores + noise);
        let shares = shares(operator, &sample.offsets);
        let shares = Tensor::from_data(TensorData::new(shares, [operator.indices().len()]), &weights.device());
        let lost = ((weights.clone().neg() + 1.0) * shares).unsqueeze_dim::<2>(1);
        let share = ops::pool(lost, &GraphOffsets::single(operator.indices().len()), Pooling::Sum).sum();
        let weights = if trains { weights } else { weights.detach() };
        Ok(Dropped { graph: graph.with_entry_weights(weights)?, share: share + nothing })
    }

    /// `log u - log(1 - u)` for each entry; both of an edge have the same unless they have scores of their own.
    fn noise(&self, operator: &Operator, step: &Step<'_>) -> Vec<f32> {
        let index = 2 * step.clock.step + u64::from(step.phase.name == VIEW_LEARNER);
        let mut random = stream(step.seed, "edge dropping", index);
        let mut draw = || {
            let u = MARGIN + (1.0 - 2.0 * MARGIN) * random.random::<f32>();
            u.ln() - (1.0 - u).ln()
        };
        let entries = operator.indices().len();
        if self.as_released {
            return (0..entries).map(|_| draw()).collect();
        }
        let of_edges: Vec<f32> = (0..entries / 2).map(|_| draw()).collect();
        operator.edge_places().iter().map(|&edge| of_edges[edge as usize]).collect()
    }
}

/// For each entry its share in the mean over graphs that have edges of the mean over their entries.
fn shares(operator: &Operator, offsets: &GraphOffsets) -> Vec<f32> {
    let entries = |graph: usize| {
        let nodes = offsets.range(graph);
        operator.indptr()[nodes.end] - operator.indptr()[nodes.start]
    };
    let graphs = (0..offsets.len()).filter(|&graph| entries(graph) > 0).count().max(1);
    let of_graph = |graph: usize| vec![1.0 / (graphs * entries(graph).max(1)) as f32; entries(graph)];
    (0..offsets.len()).flat_map(of_graph).collect()
}

fn integers(numbers: impl Iterator<Item = u32>, device: &burn::tensor::Device) -> Tensor<1, Int> {
    let numbers: Vec<i64> = numbers.map(i64::from).collect();
    let count = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [count]), device)
}

impl Method for AdGcl {
    const INFO: MethodInfo = MethodInfo {
        name: "ad-gcl",
        about: "AD-GCL: a network learns which edges to drop so that graphs are hard to find again, an encoder to find them",
        citation: "Suresh, Li, Hao and Neville: Adversarial Graph Augmentation to Improve Graph Contrastive Learning, NeurIPS 2021",
        levels: &[TaskLevel::Graphs],
    };
    type Model = AdGclModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.loss.check()?;
        graph_contrast::check_batch(task)?;
        if !matches!(self.encoder, EncoderSettings::Gin(_)) {
            return Err(Error::setting("encoder", "another one", "gin, which can weight messages by learned weights"));
        }
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(Error::setting("lambda", self.lambda, "a number that is not negative"));
        }
        if ![0, 2].contains(&task.num_views) {
            let expected = "none, or 2: an anchor, and a view whose edges are dropped";
            return Err(Error::setting("number of views", task.num_views, expected));
        }
        let clean = task.num_views == 0;
        let needs = graph_contrast::requirements(&self.encoder, self.readout, task, 3.0, clean);
        let weights = 2.0 * needs.footprint.weights;
        Ok(Requirements { footprint: Footprint { weights, ..needs.footprint }, ..needs })
    }

    fn takes_scheme(&self) -> bool {
        true
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 150,
            batch_size: 32,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            ..TrainingSettings::default()
        })
    }

    fn phases(&self) -> Vec<Phase> {
        let optimizer =
            |learning_rate| OptimizerSettings { optimizer: Optimizer::Adam, learning_rate, weight_decay: 0.0 };
        vec![
            Phase {
                name: VIEW_LEARNER,
                maximize: true,
                trains: Select::Fields(&["view_learner"]),
                optimizer: self.view_learning_rate.map(optimizer),
                ..Phase::default()
            },
            Phase { name: "encoder", trains: Select::Fields(&["encoder", "head"]), ..Phase::default() },
        ]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<AdGclModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        let head = graph_contrast::head(self.readout.width(&self.encoder), initializer);
        let learner = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        let edges = Mlp::glorot([2 * self.encoder.out_channels(), EDGE_CHANNELS, 1], initializer);
        Ok(AdGclModel { encoder, head, view_learner: ViewLearner { encoder: learner, edges } })
    }

    fn loss(&self, model: &AdGclModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let (anchor, sample) = match step.views {
            [anchor, view] => (anchor, view),
            _ => (step.clean()?, step.clean()?),
        };
        let trains_views = step.phase.name == VIEW_LEARNER;
        let Dropped { graph, share } = self.drop_edges(model, sample, step, trains_views)?;
        let eval = Pass::eval();
        // While the view learner is trained, the encoder stays as it is.
        let (encoder, head, pass) = match trains_views {
            true => (model.encoder.clone().no_grad(), model.head.clone().no_grad(), &eval),
            false => (model.encoder.clone(), model.head.clone(), &step.pass),
        };
        let one = head.forward(encoder.forward(&self.encoder, anchor, pass)?);
        let other = head.forward(encoder.pool(&encoder.layers_by(&graph, sample, pass)?, sample));
        let contrast = self.loss.loss([one, other])?;
        let dropped = share.clone().detach().into_scalar();
        let value = if trains_views { contrast - share * self.lambda } else { contrast };
        Ok(Loss { value, parts: vec![("dropped", dropped)] })
    }

    fn embed(&self, model: &AdGclModel, step: &Step<'_>) -> Result<Tensor<2>> {
        model.encoder.forward(&self.encoder, &step.views[0], &Pass::eval())
    }

    fn embedding_views(&self, _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::Identity]
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![Axis::new("method.lambda", [0.1, 0.3, 0.5, 1.0, 2.0, 5.0, 10.0])];
        axes.extend(graph_contrast::search_axes());
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(self.readout.untrained(&self.encoder))
    }

    fn encoder_field(&self) -> &'static str {
        "encoder.encoder"
    }
}
