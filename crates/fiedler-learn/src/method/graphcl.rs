//! GraphCL: two augmented views of a graph are to find each other among those of the batch.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::augmentation_pool::{AugmentationPool, check_rate, one_of};
use super::graph_contrast::{self, GraphEncoder, GraphReadout};
use super::{Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::Initializer;
use crate::encoder::EncoderSettings;
use crate::error::{Error, Result};
use crate::layer::Mlp;
use crate::loss::NtXent;
use crate::pass::Pass;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of GraphCL; encoder, head and loss are those of the publication's program for the TU collection.
///
/// Every graph draws one augmentation of the pool for each view. Where the run has views of its own (`scheme`, `views`), they are used
/// instead.
///
/// Published training: Adam with learning rate 0.01 and no weight decay, 20 epochs, 128 graphs a batch. The publication's rule of thumb:
/// `random2` for molecules and proteins, `random3` for sparse, `random4` for dense social graphs.
///
/// With `as_released`, what its program does without meaning to, as far as undirected graphs allow: the first view is the graph as it is; a
/// subgraph is a node with some of its neighbors, at most a fifth of all; edges are removed and none added; attributes become noise. The
/// program also leaves graphs directed, gives self-loops to all nodes but the last, and loses nodes without edges; not so here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphCl {
    /// The encoder: three graph isomorphism layers of 32 channels, each followed by a ReLU and then by batch normalization.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding: the sum of each layer, side by side.
    pub readout: GraphReadout,
    /// The augmentations that graphs draw from.
    pub pool: AugmentationPool,
    /// Share of the nodes or edges that an augmentation changes.
    pub rate: f64,
    /// The loss.
    pub loss: NtXent,
    /// Whether views are made as the publication's program makes them; `rate` is 0.1 there.
    pub as_released: bool,
}

impl Default for GraphCl {
    fn default() -> Self {
        GraphCl {
            encoder: graph_contrast::usual_encoder(3),
            readout: GraphReadout::default(),
            pool: AugmentationPool::default(),
            rate: 0.2,
            loss: NtXent::default(),
            as_released: false,
        }
    }
}

/// An encoder and a head.
#[derive(Module, Debug)]
pub struct GraphClModel {
    encoder: GraphEncoder,
    head: Mlp,
}

impl Method for GraphCl {
    const INFO: MethodInfo = MethodInfo {
        name: "graphcl",
        about: "GraphCL: two augmented views of a graph are to find each other among those of the batch",
        citation: "You, Chen, Sui, Chen, Wang and Shen: Graph Contrastive Learning with Augmentations, NeurIPS 2020",
        levels: &[TaskLevel::Graphs],
    };
    type Model = GraphClModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.loss.check()?;
        check_rate(self.rate)?;
        graph_contrast::check_batch(task)?;
        if task.num_views != 2 {
            return Err(Error::setting("number of views", task.num_views, "2, which is what graphcl contrasts"));
        }
        Ok(graph_contrast::requirements(&self.encoder, self.readout, task, 2.0, false))
    }

    fn takes_scheme(&self) -> bool {
        true
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

    fn views(&self, _: &(), given: &[Pipeline]) -> Vec<Pipeline> {
        if !given.is_empty() {
            return given.to_vec();
        }
        let drawn = one_of(self.pool.augmentations(self.rate, self.as_released), None, false);
        match self.as_released {
            true => vec![Pipeline::Identity, drawn],
            false => vec![drawn.clone(), drawn],
        }
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<GraphClModel> {
        let encoder = GraphEncoder::new(&self.encoder, self.readout, task.dims, initializer)?;
        Ok(GraphClModel { encoder, head: graph_contrast::head(self.readout.width(&self.encoder), initializer) })
    }

    fn loss(&self, model: &GraphClModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let project = |view: usize| -> Result<Tensor<2>> {
            let graphs = model.encoder.forward(&self.encoder, &step.views[view], &step.pass)?;
            Ok(model.head.forward(graphs))
        };
        Ok(self.loss.loss([project(0)?, project(1)?])?.into())
    }

    fn embed(&self, model: &GraphClModel, step: &Step<'_>) -> Result<Tensor<2>> {
        model.encoder.forward(&self.encoder, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        let mut axes = vec![
            Axis::new("method.pool", AugmentationPool::NAMES),
            Axis::new("method.rate", [0.1, 0.2, 0.3]),
            Axis::new("method.loss.temperature", [0.1, 0.2, 0.5]),
        ];
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
