//! SGRL: a target network scatters the nodes, an online network that smooths over neighborhoods follows it; no views, no negatives.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::untrained::{check_extra_propagation, propagate_further};
use super::{Footprint, Loss, Method, MethodInfo, Phase, Requirements, Step, Untrained, two_views};
use crate::Initializer;
use crate::ema::{check_momentum, ema};
use crate::encoder::{Encoder, EncoderSettings, GcnSettings};
use crate::error::{Error, Result};
use crate::loss::{mean_cosine, scattering};
use crate::optimizer::Select;
use crate::pass::Pass;
use crate::predictor::{Predictor, check_predictor};
use crate::readout::{Projector, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::trainer::{Clock, Optimizer, OptimizerSettings, TrainingSettings};

/// Settings of SGRL; encoder, predictor and losses are those of the publication.
///
/// A step has two phases, each with an optimizer of its own. First the target network moves the nodes away from their common mean, all of
/// length one. Then the online network, followed by `h + Âʳh` and a predictor, moves towards what the target network makes of the nodes.
/// After that the target network becomes `m · target + (1 - m) · online`. In the publication's program the second phase comes first, which
/// is the same but for the first step; there both networks share the slope of their PReLU, by accident, and the weights of the smallest online
/// loss are embedded, here those of the last step. Embeddings are `h + Âʳh` of the online network.
///
/// Published training: Adam with learning rate 1e-3 in both phases and no weight decay, 700 epochs on graphs of 7,500 nodes and more. The
/// defaults here are the same with 50 epochs: on citation graphs embeddings get worse again with more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sgrl {
    /// The encoder of both networks: one graph convolution of 1,024 channels with PReLU.
    pub encoder: EncoderSettings,
    /// Channels between the two layers of the predictor.
    pub predictor_channels: usize,
    /// r in `h + Âʳh`, with the encoder's propagation matrix: how far the online network smooths.
    pub extra_propagation: usize,
    /// Momentum of the target network: what it keeps of itself in each step.
    pub momentum: f64,
    /// Learning rate of the target network, where it is not that of training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_learning_rate: Option<f64>,
}

impl Default for Sgrl {
    fn default() -> Self {
        let gcn = GcnSettings { hidden_channels: 1024, num_layers: 1, ..GcnSettings::default() };
        Sgrl {
            encoder: EncoderSettings::Gcn(gcn),
            predictor_channels: 1024,
            extra_propagation: 1,
            momentum: 0.99,
            target_learning_rate: None,
        }
    }
}

/// An online network with its predictor, and the target network.
#[derive(Module, Debug)]
pub struct SgrlModel {
    online: Encoder,
    predictor: Predictor,
    target: Encoder,
}

/// The phase in which the target network learns.
const SCATTERING: &str = "scattering";

impl Sgrl {
    /// What the online network makes of the nodes: also their embedding.
    fn online(&self, model: &SgrlModel, sample: &Sample, pass: &Pass) -> Result<Tensor<2>> {
        let nodes = two_views::encode(&model.online, &self.encoder, sample, pass)?;
        Ok(propagate_further(nodes, sample.graph(self.encoder.normalization())?, self.extra_propagation))
    }
}

impl Method for Sgrl {
    const INFO: MethodInfo = MethodInfo {
        name: "sgrl",
        about: "SGRL: a target network scatters the nodes, an online network that smooths over neighbors follows it",
        citation: "He, Shan, Zhao, Zhang, Wang and Zhang: Exploitation of a Latent Mechanism in Graph Contrastive Learning: Representation Scattering, NeurIPS 2024",
        levels: &[TaskLevel::Nodes],
    };
    type Model = SgrlModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        check_predictor(self.predictor_channels)?;
        check_momentum(self.momentum)?;
        check_extra_propagation(self.extra_propagation, &self.encoder)?;
        if task.num_nodes < 2 {
            return Err(Error::setting("number of nodes", task.num_nodes, "at least 2, to be scattered"));
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let (width, channels) = (self.encoder.out_channels() as f64, self.predictor_channels as f64);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: true,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                values_per_node: 2.0 * one.values_per_node + 3.0 * channels + 4.0 * width,
                weights: 2.0 * one.weights + 2.0 * width * channels,
                ..one
            },
        })
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings { epochs: 50, learning_rate: 1e-3, weight_decay: 0.0, ..TrainingSettings::default() })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn phases(&self) -> Vec<Phase> {
        let (optimizer, weight_decay) = (Optimizer::Adam, 0.0);
        let of_target = |learning_rate| OptimizerSettings { optimizer, learning_rate, weight_decay };
        vec![
            Phase {
                name: SCATTERING,
                trains: Select::Fields(&["target"]),
                optimizer: self.target_learning_rate.map(of_target),
                ..Phase::default()
            },
            Phase { name: "following", trains: Select::Fields(&["online", "predictor"]), ..Phase::default() },
        ]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SgrlModel> {
        let online = self.encoder.build(task.dims, initializer)?;
        let predictor = Predictor::new(self.encoder.out_channels(), self.predictor_channels, initializer);
        Ok(SgrlModel { online, predictor, target: self.encoder.build(task.dims, initializer)? })
    }

    fn loss(&self, model: &SgrlModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let target = two_views::encode(&model.target, &self.encoder, sample, &step.pass)?;
        if step.phase.name == SCATTERING {
            return Ok(scattering(target).into());
        }
        let predicted = model.predictor.forward(self.online(model, sample, &step.pass)?);
        Ok(mean_cosine(predicted, target)?.neg().into())
    }

    fn after_step(&self, model: SgrlModel, _: &Clock) -> SgrlModel {
        let target = ema(model.target, &model.online, self.momentum);
        SgrlModel { target, ..model }
    }

    fn embed(&self, model: &SgrlModel, step: &Step<'_>) -> Result<Tensor<2>> {
        self.online(model, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![Axis::new("method.momentum", [0.98, 0.99, 0.995])];
        // Powers of a matrix that sums over neighbors grow.
        if check_extra_propagation(1, &self.encoder).is_ok() {
            axes.push(Axis::new("method.extra_propagation", [0, 1, 2, 4]));
        }
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: self.extra_propagation })
    }

    fn encoder_field(&self) -> &'static str {
        "online"
    }
}
