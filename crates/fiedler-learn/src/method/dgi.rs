//! Deep Graph Infomax: a discriminator tells nodes of the graph from nodes of a corruption, given a summary of the graph.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::sigmoid;
use fiedler_augment::Axis;
use fiedler_graph::random::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::discriminator::Discriminator;
use crate::encoder::{Encoder, EncoderSettings, GcnSettings};
use crate::error::Result;
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::task::{Task, TaskLevel};
use crate::{GraphOffsets, Initializer};

/// Settings of Deep Graph Infomax; the defaults are those of the publication.
///
/// Published training: Adam with learning rate 1e-3 and no weight decay, up to 10,000 epochs, patience 20 on the training loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dgi {
    /// The encoder: one graph convolution of 512 channels with PReLU.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become its embedding, for sets of graphs.
    pub pooling: Pooling,
}

impl Default for Dgi {
    fn default() -> Self {
        let encoder = EncoderSettings::Gcn(GcnSettings { num_layers: 1, ..GcnSettings::default() });
        Dgi { encoder, pooling: Pooling::Mean }
    }
}

/// An encoder and a bilinear discriminator.
#[derive(Module, Debug)]
pub struct DgiModel {
    encoder: Encoder,
    discriminator: Discriminator,
}

impl Method for Dgi {
    const INFO: MethodInfo = MethodInfo {
        name: "dgi",
        about: "Deep Graph Infomax: nodes are told from nodes with shuffled features, given a summary of the graph",
        citation: "Veličković, Fedus, Hamilton, Liò, Bengio and Hjelm: Deep Graph Infomax, ICLR 2019",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = DgiModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.encoder.check_corruption()?;
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: true,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint { values_per_node: 2.0 * one.values_per_node, ..one },
        })
    }

    fn views(&self, _: &(), _: &[fiedler_augment::Pipeline]) -> Vec<fiedler_augment::Pipeline> {
        Vec::new()
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<DgiModel> {
        let encoder = self.encoder.build(task.dims, initializer)?;
        let discriminator = Discriminator::new(self.encoder.out_channels(), initializer);
        Ok(DgiModel { encoder, discriminator })
    }

    fn loss(&self, model: &DgiModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let graph = sample.graph(self.encoder.normalization())?;
        let mut random = stream(step.seed, "corruption", step.clock.step);
        let corruption = graph.corrupted(&sample.offsets, &mut random)?;
        let layers = model.encoder.forward_each(&[graph, &corruption], &sample.features, &step.pass)?;
        let [nodes, corrupted] = [&layers[0], &layers[1]].map(|layers| layers.last_of(step.rows));
        let offsets = match step.rows {
            Some(rows) => GraphOffsets::new(vec![0, rows.len() as u32]),
            None => sample.offsets.clone(),
        };
        let summary = sigmoid(ops::pool(nodes.clone(), &offsets, Pooling::Mean));
        Ok(model.discriminator.loss(nodes, corrupted, summary, &offsets).into())
    }

    fn embed(&self, model: &DgiModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let graph = sample.graph(self.encoder.normalization())?;
        let nodes = model.encoder.last(graph, &sample.features, &Pass::eval())?;
        Ok(match step.task.level {
            TaskLevel::Nodes => nodes,
            TaskLevel::Graphs => ops::pool(nodes, &sample.offsets, self.pooling),
        })
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        let mut axes = EncoderSettings::search_axes(level);
        if level == TaskLevel::Graphs {
            axes.push(Axis::new("method.pooling", ["sum", "mean"]));
        }
        axes
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { pooling: self.pooling, projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }
}
