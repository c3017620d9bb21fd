//! An encoder with random weights: what the graph gives without any training.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step};
use crate::encoder::{Encoder, EncoderSettings, Layers};
use crate::error::{Error, Result};
use crate::ops::{self, ActivationOp};
use crate::pass::Pass;
use crate::readout::{Readout, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::{Initializer, MessageGraph, Normalization};

/// How the encoder is built; with the same seed it is the one that [`Span`](super::Span) starts from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Untrained {
    /// The encoder.
    pub encoder: EncoderSettings,
    /// Which layers count, and how the nodes of a graph become one vector.
    pub readout: ReadoutSettings,
    /// Smoothing of node embeddings: `h + Âʳh` with the encoder's propagation matrix, or `h` where `r` is 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub extra_propagation: usize,
}

/// An encoder and a readout.
#[derive(Module, Debug)]
pub struct UntrainedModel {
    encoder: Encoder,
    readout: Readout,
}

impl Method for Untrained {
    const INFO: MethodInfo = MethodInfo {
        name: "untrained",
        about: "an encoder with random weights, without training",
        citation: "",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = UntrainedModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        check_extra_propagation(self.extra_propagation, &self.encoder)?;
        Ok(Requirements {
            trained: false,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint::of_encoder(&self.encoder, task.dims),
        })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<UntrainedModel> {
        let encoder = self.encoder.build(task.dims, initializer)?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        Ok(UntrainedModel { encoder, readout })
    }

    fn loss(&self, _: &UntrainedModel, _: &(), _: &Step<'_>) -> Result<Loss> {
        Err(Error::setting("method", "untrained", "a method that is trained"))
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        EncoderSettings::search_axes(level)
    }

    fn embed(&self, model: &UntrainedModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let graph = sample.graph(self.encoder.normalization())?;
        let layers = model.encoder.forward(graph, &sample.features, &Pass::eval())?;
        Ok(embed(&model.readout, &layers, sample, graph, step.task.level, self.extra_propagation))
    }
}

/// One row a node, or one a graph before the projector.
pub(super) fn embed(
    readout: &Readout,
    layers: &Layers,
    sample: &Sample,
    graph: &MessageGraph,
    level: TaskLevel,
    extra_propagation: usize,
) -> Tensor<2> {
    match (level, &sample.kept) {
        (TaskLevel::Nodes, _) => propagate_further(readout.nodes(layers), graph, extra_propagation),
        (TaskLevel::Graphs, Some(kept)) => readout.pool(&layers.select(&kept.rows), &kept.offsets),
        (TaskLevel::Graphs, None) => readout.pool(layers, &sample.offsets),
    }
}

/// `h + Âʳh`, or `h` where `r` is 0.
pub(super) fn propagate_further(nodes: Tensor<2>, graph: &MessageGraph, times: usize) -> Tensor<2> {
    if times == 0 {
        return nodes;
    }
    let step = |rows, _| ops::propagate(graph.operator(), rows, None, &ActivationOp::Identity);
    (0..times).fold(nodes.clone(), step) + nodes
}

/// Refuses propagation of embeddings by a matrix whose powers grow.
pub(super) fn check_extra_propagation(times: usize, encoder: &EncoderSettings) -> Result<()> {
    if times > 0 && encoder.normalization() == Normalization::None {
        let expected = "0, or gcn as encoder: sums over neighbors, as gin has them, grow with every step";
        return Err(Error::setting("extra_propagation", times, expected));
    }
    if times > 1000 {
        return Err(Error::setting("extra_propagation", times, "at most 1,000"));
    }
    Ok(())
}

pub(super) fn is_zero(number: &usize) -> bool {
    *number == 0
}
