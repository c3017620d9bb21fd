//! JOAOv2: JOAO in which every augmentation has a head of its own.

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

/// Settings of JOAOv2: [`JOAO`](super::Joao) with one head for each augmentation, by which graphs pass that were augmented so. The
/// publication's program draws one head for an epoch, whatever graphs were augmented by: `as_released`.
///
/// Published training: Adam with learning rate 0.001 and no weight decay, 40 epochs, 128 graphs a batch.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JoaoV2(pub PolicyContrast);

impl Method for JoaoV2 {
    const INFO: MethodInfo = MethodInfo {
        name: "joao-v2",
        about: "JOAOv2: JOAO with one head for each augmentation",
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
            epochs: 40,
            batch_size: 128,
            learning_rate: 0.001,
            weight_decay: 0.0,
            ..TrainingSettings::default()
        })
    }

    fn views(&self, state: &Policy, given: &[Pipeline]) -> Vec<Pipeline> {
        self.0.views(state, given)
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<PolicyContrastModel> {
        self.0.build(self.0.all().len(), task, initializer)
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
