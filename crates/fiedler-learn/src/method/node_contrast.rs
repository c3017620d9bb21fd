//! Every node of one view is to find itself in the other, among all other nodes of both: what GRACE and GCA have in common. They differ in
//! how their views are drawn.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Axis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Anchors, FitData, Footprint, Loss, Requirements, Step, Untrained};
use crate::Initializer;
use crate::encoder::{Encoder, EncoderSettings, GcnSettings, check_channels};
use crate::error::{Error, Result};
use crate::layer::{Activation, Mlp};
use crate::loss::{ContrastiveLoss, InfoNce, PositivePairs};
use crate::ops::Similarity;
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::task::Task;
use crate::trainer::TrainingSettings;

/// Settings of a contrast of nodes with nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeContrast {
    /// The encoder: two graph convolutions of which the first is twice as wide, the same activation after both.
    pub encoder: EncoderSettings,
    /// Width of the projector between its two dense layers; what it gives is as wide as the embedding.
    pub projector_channels: usize,
    /// Temperature: similarities are divided by it.
    pub temperature: f64,
    /// Anchors: how many nodes a step tells apart, a number, `all`, or `auto` (4,096 where there are more than 8,192).
    pub anchors: Anchors,
}

impl Default for NodeContrast {
    fn default() -> Self {
        let gcn = GcnSettings {
            hidden_channels: 512,
            out_channels: Some(256),
            activation: Activation::Relu,
            ..Default::default()
        };
        NodeContrast {
            encoder: EncoderSettings::Gcn(gcn),
            projector_channels: 256,
            temperature: 0.4,
            anchors: Anchors::Auto,
        }
    }
}

/// An encoder and a projector, which both views share.
#[derive(Module, Debug)]
pub struct NodeContrastModel {
    encoder: Encoder,
    projector: Mlp,
}

impl NodeContrast {
    fn info_nce(&self) -> ContrastiveLoss {
        ContrastiveLoss::InfoNce(InfoNce { similarity: Similarity::Cosine, temperature: self.temperature })
    }

    /// See [`Method::check`](super::Method::check); `name` is the method's.
    pub(super) fn check(&self, name: &str, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.info_nce().check()?;
        self.anchors.check()?;
        check_channels("projector_channels", self.projector_channels)?;
        if task.num_views != 2 {
            let expected = format!("2, which is what {name} contrasts");
            return Err(Error::setting("number of views", task.num_views, expected));
        }
        if task.num_nodes < 2 {
            return Err(Error::setting("number of nodes", task.num_nodes, "at least 2 to be told apart"));
        }
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let (width, hidden) = (self.encoder.out_channels() as f64, self.projector_channels as f64);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                // Beside what the encoder makes of both views: the projector's layers, rows of length one and their gradients.
                values_per_node: 2.0 * (one.values_per_node + 4.0 * hidden + 8.0 * width),
                weights: one.weights + 2.0 * hidden * width,
                ..one
            },
        })
    }

    pub(super) fn default_training(&self) -> TrainingSettings {
        TrainingSettings { epochs: 200, learning_rate: 5e-4, weight_decay: 1e-5, ..TrainingSettings::default() }
    }

    pub(super) fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<NodeContrastModel> {
        let encoder = self.encoder.build(task.dims, initializer)?;
        let width = self.encoder.out_channels();
        let projector = Mlp::new([width, self.projector_channels, width], true, initializer);
        Ok(NodeContrastModel { encoder, projector })
    }

    /// Nothing is fitted; the user hears of it where a step will not tell all nodes apart.
    pub(super) fn fit(&self, model: NodeContrastModel, data: &FitData<'_>) -> NodeContrastModel {
        self.anchors.tell(data);
        model
    }

    pub(super) fn loss(&self, model: &NodeContrastModel, step: &Step<'_>) -> Result<Loss> {
        let anchors = self.anchors.draw(step);
        let projected = |view: usize| -> Result<Tensor<2>> {
            let sample = &step.views[view];
            let graph = sample.graph(self.encoder.normalization())?;
            let layers = model.encoder.forward(graph, &sample.features, &step.pass)?;
            Ok(model.projector.forward(layers.last_of(anchors.as_deref())))
        };
        let pairs = PositivePairs::new([projected(0)?, projected(1)?])?;
        Ok(self.info_nce().loss_of_pairs(&pairs)?.into())
    }

    pub(super) fn embed(&self, model: &NodeContrastModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let graph = sample.graph(self.encoder.normalization())?;
        model.encoder.last(graph, &sample.features, &Pass::eval())
    }

    pub(super) fn search_axes(&self) -> Vec<Axis> {
        let encoder = |(width, activation): (usize, &str)| json!({ "name": "gcn", "hidden_channels": 2 * width, "out_channels": width, "activation": activation });
        let encoders = [128, 256, 512].into_iter().flat_map(|width| [(width, "relu"), (width, "prelu")]);
        vec![
            Axis::new("method.temperature", [0.2, 0.4, 0.7]),
            Axis::new("method.encoder", encoders.map(encoder)),
            Axis::new("method.projector_channels", [64, 256]),
        ]
    }

    pub(super) fn untrained(&self) -> Untrained {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 }
    }
}
