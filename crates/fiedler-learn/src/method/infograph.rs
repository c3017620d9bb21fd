//! InfoGraph: nodes are to say which graph of the batch they belong to.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::TensorData;
use burn::tensor::activation::softplus;
use fiedler_augment::{Axis, Pipeline};
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph_contrast::{self, GraphEncoder, GraphReadout};
use super::{Compared, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::encoder::EncoderSettings;
use crate::error::{Error, Result};
use crate::feed_forward::FeedForward;
use crate::layer::{Activation, Linear};
use crate::loss::{JensenShannon, LocalGlobalSide, Negatives};
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;
use crate::{GraphOffsets, Initializer};

/// Settings of InfoGraph; encoder, heads and loss are those of the publication's program.
///
/// There are no views. Nodes and graphs, both as all layers side by side, go through a head each; dot products of nodes with their own graph
/// are to be large, those with other graphs of the batch small, by the Jensen–Shannon bound.
///
/// Published training: Adam, learning rate from {1e-2, 1e-3, 1e-4}, 20 epochs, 128 graphs a batch, 4 to 12 layers. The publication's
/// program shuffles graphs once, here in every epoch, and evaluates after each of them, by which results were chosen; here the last one
/// counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InfoGraph {
    /// The encoder: five graph isomorphism layers of 32 channels, each followed by a ReLU and then by batch normalization.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding: the sum of each layer, side by side.
    pub readout: GraphReadout,
    /// Weight of the prior, by which a discriminator is to find embeddings evenly spread from 0 to 1. Zero turns it off, as in the
    /// publication's program, where it is 0.1 if it is on.
    pub prior: f64,
}

impl Default for InfoGraph {
    fn default() -> Self {
        InfoGraph { encoder: graph_contrast::usual_encoder(5), readout: GraphReadout::default(), prior: 0.0 }
    }
}

/// An encoder, a head for nodes, one for graphs, and the discriminator of the prior.
#[derive(Module, Debug)]
pub struct InfoGraphModel {
    encoder: GraphEncoder,
    local: FeedForward,
    global: FeedForward,
    prior: Option<PriorDiscriminator>,
}

/// Three dense layers that tell embeddings from evenly spread numbers.
#[derive(Module, Debug)]
struct PriorDiscriminator {
    layers: Vec<Linear>,
}

impl PriorDiscriminator {
    fn new(width: usize, initializer: &mut Initializer) -> PriorDiscriminator {
        let layers = [width, width, 1].map(|outputs| Linear::glorot(width, outputs, initializer));
        PriorDiscriminator { layers: layers.into() }
    }

    /// The logarithm of the odds that a row is of the prior.
    fn logits(&self, rows: Tensor<2>) -> Tensor<2> {
        let last = self.layers.len() - 1;
        let step = |rows: Tensor<2>, (place, layer): (usize, &Linear)| {
            let rows = layer.forward(rows);
            if place == last { rows } else { rows.clamp_min(0.0) }
        };
        self.layers.iter().enumerate().fold(rows, step)
    }

    /// `-(E log D(u) + E log(1 - D(y)))` with `u` evenly spread from 0 to 1.
    fn loss(&self, graphs: Tensor<2>, step: &Step<'_>) -> Tensor<1> {
        let [rows, width] = graphs.dims();
        let mut random = stream(step.seed, "prior", step.clock.step);
        let uniform: Vec<f32> = (0..rows * width).map(|_| random.random()).collect();
        let uniform = Tensor::from_data(TensorData::new(uniform, [rows, width]), &graphs.device());
        let terms = softplus(self.logits(uniform).neg(), 1.0) + softplus(self.logits(graphs), 1.0);
        ops::pool(terms, &GraphOffsets::single(rows), Pooling::Mean).sum()
    }
}

impl Method for InfoGraph {
    const INFO: MethodInfo = MethodInfo {
        name: "infograph",
        about: "InfoGraph: nodes are to say which graph of the batch they belong to; no augmentation",
        citation: "Sun, Hoffmann, Verma and Tang: InfoGraph: Unsupervised and Semi-supervised Graph-Level Representation Learning via Mutual Information Maximization, ICLR 2020",
        levels: &[TaskLevel::Graphs],
    };
    type Model = InfoGraphModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        graph_contrast::check_batch(task)?;
        if !(self.prior.is_finite() && self.prior >= 0.0) {
            return Err(Error::setting("prior", self.prior, "a number that is not negative"));
        }
        let needs = graph_contrast::requirements(&self.encoder, self.readout, task, 1.0, true);
        let width = self.readout.width(&self.encoder) as f64;
        let values_per_node = needs.footprint.values_per_node + 8.0 * width;
        let footprint = Footprint { values_per_node, compared: Compared::NodesWithGraphs, ..needs.footprint };
        Ok(Requirements { footprint, ..needs })
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 20,
            batch_size: 128,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            ..TrainingSettings::default()
        })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<InfoGraphModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        let width = self.readout.width(&self.encoder);
        Ok(InfoGraphModel {
            encoder,
            local: FeedForward::new(width, width, Activation::Relu, initializer),
            global: FeedForward::new(width, width, Activation::Relu, initializer),
            prior: (self.prior > 0.0).then(|| PriorDiscriminator::new(width, initializer)),
        })
    }

    fn loss(&self, model: &InfoGraphModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let layers = model.encoder.layers(&self.encoder, sample, &step.pass)?;
        let graphs = model.encoder.pool(&layers, sample);
        let side = LocalGlobalSide {
            nodes: model.local.forward(model.encoder.nodes(&layers)),
            graphs: model.global.forward(graphs.clone()),
            negatives: Negatives::InBatch,
        };
        let loss = JensenShannon::default().loss_of_side(&side, &sample.offsets)?;
        Ok(match &model.prior {
            Some(prior) => loss + prior.loss(graphs, step) * self.prior,
            None => loss,
        }
        .into())
    }

    fn embed(&self, model: &InfoGraphModel, step: &Step<'_>) -> Result<Tensor<2>> {
        model.encoder.forward(&self.encoder, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        graph_contrast::search_axes()
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(self.readout.untrained(&self.encoder))
    }

    fn encoder_field(&self) -> &'static str {
        "encoder.encoder"
    }
}
