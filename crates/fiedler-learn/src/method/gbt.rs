//! Graph Barlow Twins: the correlations of the embedding's columns across two views are to be the identity.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::pipeline::MaskRates;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{Axis, FeatureMasking, SchemeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FitData, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained, two_views};
use crate::Initializer;
use crate::encoder::{Encoder, EncoderSettings, GcnSettings};
use crate::error::Result;
use crate::layer::Activation;
use crate::loss::BarlowTwins;
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::task::{Task, TaskLevel};
use crate::trainer::{Optimizer, Schedule, ScheduleUnit, TrainingSettings};

/// Settings of Graph Barlow Twins; encoder and loss are those of the publication.
///
/// There are no heads and no negatives: the cost of a step grows with the number of nodes and the square of the width. Published training:
/// AdamW with weight decay 1e-5 and a learning rate that rises in a straight line for a tenth of the steps, then falls along half a cosine,
/// 4,000 epochs in the first version and 1,000 in the last; rates of views, the same for both, are set for each dataset. The defaults here are
/// 100 epochs with learning rate 1e-3, 50 % of the edges and 40 % of the columns hidden from each view.
///
/// Before anything is embedded, the statistics of the batch normalization are recomputed on the graph as it is; the publication's program
/// has a moving average over the views of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Gbt {
    /// The encoder: graph convolutions of 512 and 256 channels, between them batch normalization and PReLU, nothing after the last.
    pub encoder: EncoderSettings,
    /// λ: what correlations between different columns weigh. Without it `1 / d`, with `d` the width of the embedding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
}

impl Default for Gbt {
    fn default() -> Self {
        let encoder = EncoderSettings::Gcn(GcnSettings {
            hidden_channels: 512,
            out_channels: Some(256),
            batch_norm: true,
            last_batch_norm: Some(false),
            last_activation: Some(Activation::Identity),
            ..GcnSettings::default()
        });
        Gbt { encoder, lambda: None }
    }
}

/// An encoder, which both views share.
#[derive(Module, Debug)]
pub struct GbtModel {
    encoder: Encoder,
}

impl Gbt {
    fn barlow_twins(&self) -> BarlowTwins {
        BarlowTwins { lambda: self.lambda }
    }
}

impl Method for Gbt {
    const INFO: MethodInfo = MethodInfo {
        name: "gbt",
        about: "Graph Barlow Twins: correlations of the embedding's columns across two views are to be the identity",
        citation: "Bielak, Kajdanowicz and Chawla: Graph Barlow Twins: A self-supervised representation learning framework for graphs, Knowledge-Based Systems 2022",
        levels: &[TaskLevel::Nodes],
    };
    type Model = GbtModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.barlow_twins().check()?;
        two_views::check(Self::INFO.name, task)?;
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let width = self.encoder.out_channels() as f64;
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                // Beside what the encoder makes of both views: standardized columns, their product and their gradients.
                values_per_node: 2.0 * one.values_per_node + 4.0 * width,
                weights: one.weights + width * width,
                ..one
            },
        })
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let removed = Rates::removing(0.5);
        let hidden = MaskRates { rate: 0.4, nodes: 0.0 };
        let scheme = SchemeSettings::Uniform(Uniform { first: removed, second: removed });
        Some((scheme, FeatureMasking { first: hidden, second: hidden, ..FeatureMasking::default() }))
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 100,
            optimizer: Optimizer::AdamW,
            learning_rate: 1e-3,
            weight_decay: 1e-5,
            schedule: Schedule::Cosine { warmup: 10, from_zero: true, unit: ScheduleUnit::Percent },
            ..TrainingSettings::default()
        })
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<GbtModel> {
        Ok(GbtModel { encoder: self.encoder.build(task.dims, initializer)? })
    }

    fn loss(&self, model: &GbtModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let views = two_views::encode_both(&model.encoder, &self.encoder, step)?;
        let terms = self.barlow_twins().terms(views)?;
        let scalar = |tensor: &Tensor<1>| -> f32 { tensor.clone().into_scalar() };
        let parts = vec![("invariance", scalar(&terms.invariance)), ("redundancy", scalar(&terms.redundancy))];
        Ok(Loss { value: terms.sum(), parts })
    }

    fn calibrate(&self, model: GbtModel, data: &FitData<'_>) -> Result<GbtModel> {
        let model = model.valid();
        data.calibrate(&model.encoder, self.encoder.normalization())?;
        Ok(model.train())
    }

    fn embed(&self, model: &GbtModel, step: &Step<'_>) -> Result<Tensor<2>> {
        two_views::encode(&model.encoder, &self.encoder, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        vec![self.encoder.width_axis()]
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }
}
