//! What methods share that compare whole graphs: an encoder with a readout, a head, and which pooling makes a graph's embedding.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Axis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Requirements, Untrained};
use crate::encoder::{Encoder, EncoderSettings, GinSettings, InputDims, Layers};
use crate::error::{Error, Result};
use crate::layer::Mlp;
use crate::ops::Pooling;
use crate::pass::Pass;
use crate::readout::{JumpingKnowledge, Projector, Readout, ReadoutSettings};
use crate::sample::Sample;
use crate::task::{Task, TaskLevel};
use crate::{FeatureMatrix, Initializer, MessageGraph};

/// How the nodes of a graph become its embedding; there is nothing learned in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GraphReadout {
    /// How the vectors of a graph's nodes become one.
    pub pooling: Pooling,
    /// Which layers are pooled.
    pub jumping_knowledge: JumpingKnowledge,
}

impl Default for GraphReadout {
    fn default() -> Self {
        GraphReadout { pooling: Pooling::Sum, jumping_knowledge: JumpingKnowledge::Concatenate }
    }
}

impl GraphReadout {
    pub(super) fn settings(self) -> ReadoutSettings {
        ReadoutSettings {
            pooling: self.pooling,
            jumping_knowledge: self.jumping_knowledge,
            sigmoid: false,
            projector: Projector::Identity,
        }
    }

    /// Columns of a graph's embedding.
    pub(super) fn width(self, encoder: &EncoderSettings) -> usize {
        match self.jumping_knowledge {
            JumpingKnowledge::Last => encoder.out_channels(),
            JumpingKnowledge::Concatenate => encoder.all_channels(),
        }
    }

    /// The encoder with random weights that scores are compared with.
    pub(super) fn untrained(self, encoder: &EncoderSettings) -> Untrained {
        Untrained { encoder: encoder.clone(), readout: self.settings(), extra_propagation: 0 }
    }
}

/// The encoder of GraphCL and its relatives: three layers of 32 channels.
pub(super) fn usual_encoder(num_layers: usize) -> EncoderSettings {
    EncoderSettings::Gin(GinSettings::activation_first(num_layers))
}

/// An encoder with its readout.
#[derive(Module, Debug)]
pub struct GraphEncoder {
    encoder: Encoder,
    readout: Readout,
}

impl GraphEncoder {
    pub(super) fn new(
        encoder: &EncoderSettings,
        readout: GraphReadout,
        dims: InputDims,
        initializer: &mut Initializer,
    ) -> Result<GraphEncoder> {
        let readout = Readout::new(&readout.settings(), encoder, initializer)?;
        Ok(GraphEncoder { encoder: encoder.build(dims, initializer)?, readout })
    }

    /// The nodes of a sample after each layer.
    pub(super) fn layers(&self, settings: &EncoderSettings, sample: &Sample, pass: &Pass) -> Result<Layers> {
        self.layers_by(sample.graph(settings.normalization())?, sample, pass)
    }

    /// The same with messages passed by another graph over the sample's nodes.
    pub(super) fn layers_by(&self, graph: &MessageGraph, sample: &Sample, pass: &Pass) -> Result<Layers> {
        self.layers_of(graph, &sample.features, pass)
    }

    /// The same of any graph and features.
    pub(super) fn layers_of(&self, graph: &MessageGraph, features: &FeatureMatrix, pass: &Pass) -> Result<Layers> {
        self.encoder.forward(graph, features, pass)
    }

    /// One row a node: the layers that count, side by side.
    pub(super) fn nodes(&self, layers: &Layers) -> Tensor<2> {
        self.readout.nodes(layers)
    }

    /// One row a graph; nodes that a view has dropped do not count.
    pub(super) fn pool(&self, layers: &Layers, sample: &Sample) -> Tensor<2> {
        match &sample.kept {
            Some(kept) => self.readout.pool(&layers.select(&kept.rows), &kept.offsets),
            None => self.readout.pool(layers, &sample.offsets),
        }
    }

    /// From a sample to one row a graph.
    pub(super) fn forward(&self, settings: &EncoderSettings, sample: &Sample, pass: &Pass) -> Result<Tensor<2>> {
        Ok(self.pool(&self.layers(settings, sample, pass)?, sample))
    }
}

/// A head that is dropped after training: two dense layers, as wide as a graph's embedding, with a ReLU between them.
pub(super) fn head(width: usize, initializer: &mut Initializer) -> Mlp {
    Mlp::glorot([width; 3], initializer)
}

/// Refuses a batch in which a graph has nothing to be told apart from.
pub(super) fn check_batch(task: &Task) -> Result<()> {
    if task.batch_graphs >= 2 {
        return Ok(());
    }
    let expected = "at least 2: graphs are told apart from others of their batch";
    Err(Error::setting("number of graphs in a batch", task.batch_graphs, expected))
}

/// What a method that passes so many views through one encoder needs.
pub(super) fn requirements(
    encoder: &EncoderSettings,
    readout: GraphReadout,
    task: &Task,
    passes: f64,
    clean: bool,
) -> Requirements {
    let one = Footprint::of_encoder(encoder, task.dims);
    let width = readout.width(encoder) as f64;
    Requirements {
        trained: true,
        labels: false,
        clean,
        operators: vec![encoder.normalization()],
        footprint: Footprint {
            values_per_node: passes * one.values_per_node,
            weights: one.weights + 2.0 * width * width,
            ..one
        },
    }
}

/// What searches try of an encoder and its readout.
pub(super) fn search_axes() -> Vec<Axis> {
    let mut axes = EncoderSettings::search_axes(TaskLevel::Graphs);
    axes.push(Axis::new("method.readout.pooling", ["sum", "mean"]));
    axes
}
