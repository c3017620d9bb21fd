//! GRACE: every node of one view is to find itself in the other, among all other nodes of both; edges and columns of features are hidden
//! uniformly at random.

use burn::Tensor;
use fiedler_augment::pipeline::MaskRates;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{Axis, FeatureMasking, SchemeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_contrast::{NodeContrast, NodeContrastModel};
use super::{FitData, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::Initializer;
use crate::error::Result;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of GRACE; encoder, projector and loss are those of the publication.
///
/// Width, temperature, rates and epochs are set for each dataset in the publication. The defaults are near those for Cora: 20 and 40 % of the
/// edges and 30 and 40 % of the columns hidden from the two views, temperature 0.4, Adam with learning rate 5e-4 and weight decay 1e-5,
/// 200 epochs, with an embedding of 256 instead of 128 columns.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Grace(pub NodeContrast);

/// Edges and columns that are hidden from the two views, as GRACE has them for Cora.
pub(super) const EDGES: [f64; 2] = [0.2, 0.4];
pub(super) const COLUMNS: [f64; 2] = [0.3, 0.4];

/// Feature masking with these rates.
pub(super) fn masking([first, second]: [f64; 2]) -> FeatureMasking {
    let rates = |rate| MaskRates { rate, nodes: 0.0 };
    FeatureMasking { first: rates(first), second: rates(second), ..FeatureMasking::default() }
}

impl Method for Grace {
    const INFO: MethodInfo = MethodInfo {
        name: "grace",
        about: "GRACE: nodes find themselves in the other view, among all nodes of both; edges and columns dropped uniformly",
        citation: "Zhu, Xu, Yu, Liu, Wu and Wang: Deep Graph Contrastive Representation Learning, ICML Workshop on Graph Representation Learning and Beyond, 2020",
        levels: &[TaskLevel::Nodes],
    };
    type Model = NodeContrastModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.0.check(Self::INFO.name, task)
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let [first, second] = EDGES.map(Rates::removing);
        Some((SchemeSettings::Uniform(Uniform { first, second }), masking(COLUMNS)))
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(self.0.default_training())
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<NodeContrastModel> {
        self.0.build(task, initializer)
    }

    fn fit(&self, model: NodeContrastModel, data: &FitData<'_>) -> Result<NodeContrastModel> {
        Ok(self.0.fit(model, data))
    }

    fn loss(&self, model: &NodeContrastModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        self.0.loss(model, step)
    }

    fn embed(&self, model: &NodeContrastModel, step: &Step<'_>) -> Result<Tensor<2>> {
        self.0.embed(model, step)
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        self.0.search_axes()
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(self.0.untrained())
    }
}
