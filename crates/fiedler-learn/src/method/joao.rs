//! JOAO: GraphCL with a policy of augmentations that is learned beside the encoder.

use burn::Tensor;
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy::Policy;
use super::policy_contrast::{PolicyContrast, PolicyContrastModel};
use super::{Epoch, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::Initializer;
use crate::error::Result;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of JOAO. Every graph draws a pair of augmentations by a policy. After every epoch the losses of all pairs are estimated, and the
/// policy moves towards the largest by projected gradient ascent: `p ← Π(p + ℓ - γ (p - 1/K))`, with `Π` the nearest point of the simplex. It
/// is kept in checkpoints.
///
/// Published training: Adam with learning rate 0.01 and no weight decay, 20 epochs, 128 graphs a batch, γ from {0.01, 0.1, 1}. While its
/// program estimates losses, running statistics of batch normalizations move; not so here.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Joao(pub PolicyContrast);

impl Method for Joao {
    const INFO: MethodInfo = MethodInfo {
        name: "joao",
        about: "JOAO: GraphCL with a policy of augmentations that moves towards those with the largest loss",
        citation: "You, Chen, Shen and Wang: Graph Contrastive Learning Automated, ICML 2021",
        levels: &[TaskLevel::Graphs],
    };
    type Model = PolicyContrastModel;
    type State = Policy;

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.0.check(Self::INFO.name, task)
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

    fn views(&self, state: &Policy, given: &[Pipeline]) -> Vec<Pipeline> {
        self.0.views(state, given)
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<PolicyContrastModel> {
        self.0.build(1, task, initializer)
    }

    fn loss(&self, model: &PolicyContrastModel, state: &Policy, step: &Step<'_>) -> Result<Loss> {
        self.0.loss(model, state, step)
    }

    fn after_epoch(&self, _: &PolicyContrastModel, state: &mut Policy, epoch: &mut dyn Epoch) -> Result<()> {
        self.0.after_epoch(state, epoch)
    }

    fn embed(&self, model: &PolicyContrastModel, step: &Step<'_>) -> Result<Tensor<2>> {
        self.0.embed(model, step)
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        self.0.search_axes()
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(self.0.untrained())
    }

    fn encoder_field(&self) -> &'static str {
        "encoder.encoder"
    }
}
