//! Deep Graph Infomax: a discriminator tells nodes of the graph from nodes of a corruption, given a summary of the graph.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::activation::{sigmoid, softplus};
use fiedler_augment::Axis;
use fiedler_graph::random::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
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
    discriminator: Param<Tensor<2>>,
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

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<DgiModel> {
        let encoder = self.encoder.build(task.dims, initializer)?;
        let width = self.encoder.out_channels();
        Ok(DgiModel { encoder, discriminator: initializer.by_inputs([width, width], width) })
    }

    fn loss(&self, model: &DgiModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let sample = step.clean()?;
        let graph = sample.graph(self.encoder.normalization())?;
        let mut random = stream(step.seed, "corruption", step.clock.step);
        let corruption = graph.corrupted(&sample.offsets, &mut random)?;
        let layers = model.encoder.forward_each(&[graph, &corruption], &sample.features, &step.pass)?;
        let [nodes, corrupted] = [&layers[0], &layers[1]].map(crate::encoder::Layers::last);
        let summary = sigmoid(ops::pool(nodes.clone(), &sample.offsets, Pooling::Mean));
        // `h W s` for every node and its graph's summary: one small product, then one dot product a node.
        let wanted = summary.matmul(model.discriminator.val().transpose());
        let score = |nodes| ops::similarity(nodes, wanted.clone(), &sample.offsets, ops::Similarity::Dot);
        // Binary cross-entropy with logits, the mean over all 2n scores.
        let terms = softplus(score(nodes).neg(), 1.0) + softplus(score(corrupted), 1.0);
        let all = GraphOffsets::single(sample.num_nodes());
        Ok((ops::pool(terms.unsqueeze_dim(1), &all, Pooling::Mean).sum() / 2.0).into())
    }

    fn embed(&self, model: &DgiModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let graph = sample.graph(self.encoder.normalization())?;
        let nodes = model.encoder.forward(graph, &sample.features, &Pass::eval())?.last();
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
