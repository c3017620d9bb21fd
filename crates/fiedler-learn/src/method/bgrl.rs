//! BGRL: an online network is to say of one view what a target network, its own moving average, makes of the other.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::pipeline::MaskRates;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{Axis, FeatureMasking, SchemeSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FitData, Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained, two_views};
use crate::Initializer;
use crate::ema::{check_momentum, cosine_momentum, ema};
use crate::encoder::{Encoder, EncoderSettings, GcnSettings};
use crate::error::Result;
use crate::loss::bootstrap;
use crate::pass::Pass;
use crate::predictor::{Predictor, check_predictor};
use crate::readout::{Projector, ReadoutSettings};
use crate::task::{Task, TaskLevel};
use crate::trainer::{Clock, Optimizer, Schedule, ScheduleUnit, TrainingSettings};

/// Settings of BGRL; encoder, predictor, loss and schedules are those of the publication.
///
/// The target network starts from random weights of its own, normalizes by its own batches, gets no gradient, and after each step becomes
/// `m · target + (1 - m) · online` in all weights, scales and shifts of normalizations among them. `m` rises from `momentum` to 1 along half a
/// cosine. There are no negatives: the cost of a step grows with nodes and edges.
///
/// Published training: AdamW with weight decay 1e-5, 10,000 steps; the learning rate rises in a straight line from 0 for a tenth of them, then
/// falls along half a cosine to 0. Rates of views are set for each dataset. The defaults here are 300 steps with learning rate 1e-3, 50 and
/// 40 % of the edges and 40 % of the columns hidden. Both schedules are relative to the number of steps.
///
/// Before anything is embedded, the statistics of batch normalizations are recomputed on the graph as it is. The publication's program has a
/// moving average of momentum 0.99, in effect the statistics of the last view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bgrl {
    /// The encoder: graph convolutions of 512 and 256 channels, each followed by batch normalization and PReLU.
    pub encoder: EncoderSettings,
    /// Channels between the two layers of the predictor.
    pub predictor_channels: usize,
    /// Momentum of the target network at the start; it ends at 1.
    pub momentum: f64,
}

impl Default for Bgrl {
    fn default() -> Self {
        let gcn =
            GcnSettings { hidden_channels: 512, out_channels: Some(256), batch_norm: true, ..GcnSettings::default() };
        Bgrl { encoder: EncoderSettings::Gcn(gcn), predictor_channels: 512, momentum: 0.99 }
    }
}

/// An online network with its predictor, and the target network.
#[derive(Module, Debug)]
pub struct BgrlModel {
    online: Encoder,
    predictor: Predictor,
    target: Encoder,
}

impl Method for Bgrl {
    const INFO: MethodInfo = MethodInfo {
        name: "bgrl",
        about: "BGRL: an online network predicts of one view what its moving average makes of the other; no negatives",
        citation: "Thakoor, Tallec, Azar, Azabou, Dyer, Munos, Veličković and Valko: Large-Scale Representation Learning on Graphs via Bootstrapping, ICLR 2022",
        levels: &[TaskLevel::Nodes],
    };
    type Model = BgrlModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        check_predictor(self.predictor_channels)?;
        check_momentum(self.momentum)?;
        two_views::check(Self::INFO.name, task)?;
        let one = Footprint::of_encoder(&self.encoder, task.dims);
        let (width, channels) = (self.encoder.out_channels() as f64, self.predictor_channels as f64);
        Ok(Requirements {
            trained: true,
            labels: false,
            clean: false,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint {
                // What the online network and the predictor make of both views, and what the target network makes of one at a time.
                values_per_node: 3.0 * one.values_per_node + 2.0 * (3.0 * channels + 2.0 * width),
                weights: 2.0 * one.weights + 2.0 * width * channels,
                ..one
            },
        })
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        let hidden = MaskRates { rate: 0.4, nodes: 0.0 };
        let scheme = SchemeSettings::Uniform(Uniform { first: Rates::removing(0.5), second: Rates::removing(0.4) });
        Some((scheme, FeatureMasking { first: hidden, second: hidden, ..FeatureMasking::default() }))
    }

    fn takes_blocks(&self) -> bool {
        true
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Some(TrainingSettings {
            epochs: 300,
            optimizer: Optimizer::AdamW,
            learning_rate: 1e-3,
            weight_decay: 1e-5,
            schedule: Schedule::Cosine { warmup: 10, from_zero: true, unit: ScheduleUnit::Percent },
            ..TrainingSettings::default()
        })
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<BgrlModel> {
        let online = self.encoder.build(task.dims, initializer)?;
        let predictor = Predictor::new(self.encoder.out_channels(), self.predictor_channels, initializer);
        let target = self.encoder.build(task.dims, initializer)?.no_grad();
        Ok(BgrlModel { online, predictor, target })
    }

    fn loss(&self, model: &BgrlModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let online = two_views::encode_both(&model.online, &self.encoder, step)?;
        let target = two_views::encode_both(&model.target, &self.encoder, step)?;
        Ok(bootstrap(online.map(|rows| model.predictor.forward(rows)), target)?.into())
    }

    fn after_step(&self, model: BgrlModel, clock: &Clock) -> BgrlModel {
        // The momentum is that of the step that was taken, as in the publication's program: the first is `momentum` itself.
        let taken = Clock { step: clock.step.saturating_sub(1), ..*clock };
        let target = ema(model.target, &model.online, cosine_momentum(self.momentum, &taken));
        BgrlModel { target, ..model }
    }

    fn calibrate(&self, model: BgrlModel, data: &FitData<'_>) -> Result<BgrlModel> {
        let model = model.valid();
        data.calibrate(&model.online, self.encoder.normalization())?;
        Ok(model.train())
    }

    fn embed(&self, model: &BgrlModel, step: &Step<'_>) -> Result<Tensor<2>> {
        two_views::encode(&model.online, &self.encoder, &step.views[0], &Pass::eval())
    }

    fn search_axes(&self, _: TaskLevel) -> Vec<Axis> {
        vec![self.encoder.width_axis(), Axis::new("method.momentum", [0.98, 0.99, 0.995])]
    }

    fn untrained(&self) -> Option<Untrained> {
        let readout = ReadoutSettings { projector: Projector::Identity, ..Default::default() };
        Some(Untrained { encoder: self.encoder.clone(), readout, extra_propagation: 0 })
    }

    fn encoder_field(&self) -> &'static str {
        "online"
    }
}
