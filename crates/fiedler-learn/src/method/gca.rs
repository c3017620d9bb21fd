//! GCA: GRACE with views that rarely lose what is important. Edges between central nodes and columns that central nodes use are kept.

use burn::Tensor;
use fiedler_augment::centrality::Centrality;
use fiedler_augment::scheme::CentralityRemoval;
use fiedler_augment::{Axis, FeatureMasking, SchemeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::node_contrast::{NodeContrast, NodeContrastModel};
use super::{FitData, Loss, Method, MethodInfo, Requirements, Step, Untrained, grace};
use crate::Initializer;
use crate::error::Result;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of GCA; encoder, projector and loss are [`Grace`](super::Grace)'s.
///
/// What makes a node central is a setting of the views: `scheme.centrality` for edges, `feature_masking.centrality` for columns, each
/// `degree`, `eigenvector` or `page-rank`. The defaults are `degree` and the rates of GRACE, because the publication has none for unknown
/// data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Gca(pub NodeContrast);

impl Method for Gca {
    const INFO: MethodInfo = MethodInfo {
        name: "gca",
        about: "GCA: as GRACE, but edges and columns of central nodes are rarely dropped",
        citation: "Zhu, Xu, Yu, Liu, Wu and Wang: Graph Contrastive Learning with Adaptive Augmentation, WWW 2021",
        levels: &[TaskLevel::Nodes],
    };
    type Model = NodeContrastModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.0.check(Self::INFO.name, task)
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let centrality = Centrality::Degree;
        let [first, second] = grace::EDGES;
        let removal = CentralityRemoval { centrality, first, second, ..CentralityRemoval::default() };
        let masking = FeatureMasking { centrality: Some(centrality), ..grace::masking(grace::COLUMNS) };
        Some((SchemeSettings::Centrality(removal), masking))
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
