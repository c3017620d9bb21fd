//! CCA-SSG: columns of the embedding are to be the same in two views of the graph, and uncorrelated with each other.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::pipeline::MaskRates;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{FeatureMasking, SchemeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained, two_views};
use crate::Initializer;
use crate::encoder::{Encoder, EncoderSettings, GcnSettings};
use crate::error::Result;
use crate::layer::Activation;
use crate::loss::Cca;
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::readout::{Projector, ReadoutSettings};
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;

/// Settings of CCA-SSG; encoder and loss are those of the publication.
///
/// There is no projector and there are no negatives: the cost of a step grows with the number of nodes and the square of the width. Views,
/// λ and epochs are set for each dataset in the publication; the defaults here are 40 % of the edges and 20 % of the columns hidden from
/// each view, λ 1e-3, Adam with learning rate 1e-3 and no weight decay, 50 epochs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CcaSsg {
    /// The encoder: two graph convolutions of 512 channels, ReLU between them and nothing after the last.
    pub encoder: EncoderSettings,
    /// λ: what correlations between columns weigh against differences between views.
    pub lambda: f64,
    /// How the nodes of a graph become its embedding, for sets of graphs.
    pub pooling: Pooling,
}

impl Default for CcaSsg {
    fn default() -> Self {
        let encoder = EncoderSettings::Gcn(GcnSettings {
            activation: Activation::Relu,
            last_activation: Some(Activation::Identity),
            ..GcnSettings::default()
        });
        CcaSsg { encoder, lambda: Cca::default().lambda, pooling: Pooling::Mean }
    }
}

/// An encoder, which both views share.
#[derive(Module, Debug)]
pub struct CcaSsgModel {
    encoder: Encoder,
}

impl CcaSsg {
    fn cca(&self) -> Cca {
        Cca { lambda: self.lambda }
    }
}

impl Method for CcaSsg {
    const INFO: MethodInfo = MethodInfo {
        name: "cca-ssg",
        about: "CCA-SSG: columns of the embedding agree across two views and are uncorrelated; no negatives, few epochs",
        citation: "Zhang, Wu, Yan, Wipf and Yu: From Canonical Correlation Analysis to Self-supervised Graph Neural Networks, NeurIPS 2021",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = CcaSsgModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        self.cca().check()?;
        two_views::check(Self::INFO.name, task)?;
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let width = self.encoder.out_channels() as f64;
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                // Beside what the encoder makes of both views: their standardized columns.
                values_per_node: 2.0 * one.values_per_node + 2.0 * width,
                weights: one.weights + width * width,
                ..one
            },
        })
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let removed = Rates::removing(0.4);
        let hidden = MaskRates { rate: 0.2, nodes: 0.0 };
        let scheme = SchemeSettings::Uniform(Uniform { first: removed, second: removed });
        Some((scheme, FeatureMasking { first: hidden, second: hidden, ..FeatureMasking::default() }))
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings { epochs: 50, learning_rate: 1e-3, weight_decay: 0.0, ..TrainingSettings::default() })
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<CcaSsgModel> {
        Ok(CcaSsgModel { encoder: self.encoder.build(task.dims, initializer)? })
    }

    fn loss(&self, model: &CcaSsgModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let cca = self.cca();
        let terms = cca.terms(two_views::encode_both(&model.encoder, &self.encoder, step)?)?;
        let scalar = |tensor: &Tensor<1>| -> f32 { tensor.clone().into_scalar() };
        let parts = vec![("invariance", scalar(&terms.invariance)), ("decorrelation", scalar(&terms.decorrelation))];
        Ok(Loss { value: cca.sum(&terms), parts })
    }

    fn embed(&self, model: &CcaSsgModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let nodes = two_views::encode(&model.encoder, &self.encoder, sample, &Pass::eval())?;
        Ok(match step.task.level {
            TaskLevel::Nodes => nodes,
            TaskLevel::Graphs => ops::pool(nodes, &sample.offsets, self.pooling),
        })
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { pooling: self.pooling, projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }
}
