//! The features as they are: what any embedding has to beat.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step};
use crate::Initializer;
use crate::error::{Error, Result};
use crate::ops::{self, Pooling};
use crate::task::{Task, TaskLevel};

/// How the features of a graph's nodes become one vector.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Raw {
    /// Their sum, mean or maximum.
    pub pooling: Pooling,
}

/// There is nothing to learn.
#[derive(Module, Debug)]
pub struct NoModel {}

impl Method for Raw {
    const INFO: MethodInfo = MethodInfo {
        name: "raw",
        about: "the features as they are, without training",
        citation: "",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = NoModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        // Sparse features are written out.
        let footprint = Footprint { values_per_node: task.dims.nodes as f64, ..Footprint::default() };
        Ok(Requirements { trained: false, labels: false, clean: false, operators: Vec::new(), footprint })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, _: &mut Initializer) -> Result<NoModel> {
        Ok(NoModel {})
    }

    fn loss(&self, _: &NoModel, _: &(), _: &Step<'_>) -> Result<Loss> {
        Err(Error::setting("method", "raw", "a method that is trained"))
    }

    fn embed(&self, _: &NoModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let features = step.views[0].features.to_dense();
        Ok(match step.task.level {
            TaskLevel::Nodes => features,
            TaskLevel::Graphs => ops::pool(features, &step.views[0].offsets, self.pooling),
        })
    }
}
