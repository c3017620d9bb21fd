//! SimGRACE: the second view of a graph is the graph itself, seen by an encoder with noise in its weights.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph_contrast::{self, GraphEncoder, GraphReadout};
use super::{Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::Initializer;
use crate::encoder::EncoderSettings;
use crate::error::{Error, Result};
use crate::layer::Mlp;
use crate::loss::NtXent;
use crate::pass::Pass;
use crate::perturbed::perturbed_copy;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of SimGRACE; encoder, head and loss are those of the publication's program.
///
/// In every step each tensor of the encoder's weights gets normal noise of η times its own deviation, in a copy that learns nothing; the
/// head has none. Tensors of one value have no deviation and stay.
///
/// Published training: Adam with learning rate 0.01 and no weight decay, 20 epochs, 128 graphs a batch, η from {0.1, 1, 10, 100} chosen by
/// results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SimGrace {
    /// The encoder: five graph isomorphism layers of 32 channels, each followed by a ReLU and then by batch normalization.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding: the sum of each layer, side by side.
    pub readout: GraphReadout,
    /// η: how much noise there is, relative to the deviation of a tensor's weights.
    pub eta: f64,
    /// The loss.
    pub loss: NtXent,
}

impl Default for SimGrace {
    fn default() -> Self {
        SimGrace {
            encoder: graph_contrast::usual_encoder(5),
            readout: GraphReadout::default(),
            eta: 1.0,
            loss: NtXent::default(),
        }
    }
}

/// An encoder and a head.
#[derive(Module, Debug)]
pub struct SimGraceModel {
    encoder: GraphEncoder,
    head: Mlp,
}

impl Method for SimGrace {
    const INFO: MethodInfo = MethodInfo {
        name: "simgrace",
        about: "SimGRACE: a graph is to find itself as an encoder sees it that has noise in its weights; no augmentation",
        citation: "Xia, Wu, Chen, Hu and Li: SimGRACE: A Simple Framework for Graph Contrastive Learning without Data Augmentation, WWW 2022",
        levels: &[TaskLevel::Graphs],
    };
    type Model = SimGraceModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.loss.check()?;
        graph_contrast::check_batch(task)?;
        if !(self.eta.is_finite() && self.eta >= 0.0) {
            return Err(Error::setting("eta", self.eta, "a number that is not negative"));
        }
        Ok(graph_contrast::requirements(&self.encoder, self.readout, task, 2.0, true))
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 20,
            batch_size: 128,
            learning_rate: 0.01,
            weight_decay: 0.0,
            ..TrainingSettings::default()
        })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SimGraceModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        Ok(SimGraceModel { encoder, head: graph_contrast::head(self.readout.width(&self.encoder), initializer) })
    }

    fn loss(&self, model: &SimGraceModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let noisy = perturbed_copy(&model.encoder, self.eta, step.seed, step.clock.step);
        let project = |encoder: &GraphEncoder| -> Result<Tensor<2>> {
            Ok(model.head.forward(encoder.forward(&self.encoder, sample, &step.pass)?))
        };
        Ok(self.loss.loss([project(&model.encoder)?, project(&noisy)?.detach()])?.into())
    }

    fn embed(&self, model: &SimGraceModel, step: &Step<'_>) -> Result<Tensor<2>> {
        model.encoder.forward(&self.encoder, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![Axis::new("method.eta", [0.1, 1.0, 10.0])];
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
