//! An encoder that is trained by labels, end to end with a linear layer: what a method without labels is measured against.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::{log_softmax, softplus};
use burn::tensor::{Device, Int, TensorData};
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Footprint, Loss, Method, MethodInfo, Requirements, Step, Untrained};
use crate::encoder::{Encoder, EncoderSettings};
use crate::error::{Error, Result};
use crate::layer::Linear;
use crate::ops::{self, Pooling};
use crate::pass::Pass;
use crate::readout::{Readout, ReadoutSettings};
use crate::sample::Sample;
use crate::supervision::{BatchLabels, LabelValues};
use crate::task::{Target, Task, TaskLevel};
use crate::{GraphOffsets, Initializer};

/// How the predictor is built.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Supervised {
    /// The encoder.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become one vector.
    pub readout: ReadoutSettings,
}

/// An encoder, a readout and a linear layer.
#[derive(Module, Debug)]
pub struct SupervisedModel {
    encoder: Encoder,
    readout: Readout,
    output: Linear,
}

impl Supervised {
    /// One row of scores for each node, or for each graph.
    fn scores(&self, model: &SupervisedModel, sample: &Sample, level: TaskLevel, pass: &Pass) -> Result<Tensor<2>> {
        let graph = sample.graph(self.encoder.normalization())?;
        let layers = model.encoder.forward(graph, &sample.features, pass)?;
        Ok(model.output.forward(match level {
            TaskLevel::Nodes => layers.last(),
            TaskLevel::Graphs => model.readout.forward(&layers, &sample.offsets),
        }))
    }

    fn outputs(task: &Task) -> Result<usize> {
        match task.target {
            Some(Target::Classes { count: count @ 0..2 }) => Err(Error::setting("classes", count, "at least 2")),
            Some(target) => Ok(target.outputs()),
            None => Err(Error::setting("labels", "missing", "some to learn from")),
        }
    }
}

impl Method for Supervised {
    const INFO: MethodInfo = MethodInfo {
        name: "supervised",
        about: "an encoder trained by labels: classes, several labels or real values",
        citation: "Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017",
        levels: &[TaskLevel::Nodes, TaskLevel::Graphs],
    };
    type Model = SupervisedModel;
    type State = ();

    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        if Self::outputs(task)? > 1 << 20 {
            return Err(Error::setting("outputs", Self::outputs(task)?, "at most 1,048,576"));
        }
        Ok(Requirements {
            trained: true,
            labels: true,
            clean: true,
            operators: vec![self.encoder.normalization()],
            footprint: Footprint::of_encoder(&self.encoder, task.dims),
        })
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SupervisedModel> {
        let outputs = Self::outputs(task)?;
        let encoder = self.encoder.build(task.dims, initializer)?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        let output = Linear::new(self.encoder.out_channels(), outputs, initializer);
        Ok(SupervisedModel { encoder, readout, output })
    }

    fn loss(&self, model: &SupervisedModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let scores = self.scores(model, step.clean()?, step.task.level, &step.pass)?;
        Ok(prediction_loss(scores, labels(step)?).into())
    }

    fn validate(&self, model: &SupervisedModel, step: &Step<'_>) -> Result<Option<f32>> {
        let labels = labels(step)?;
        if labels.rows.is_empty() {
            return Ok(None);
        }
        let scores = self.scores(model, step.clean()?, step.task.level, &Pass::eval())?;
        Ok(Some(prediction_loss(scores, labels).into_scalar()))
    }

    /// The scores of the classes, one column each.
    fn embed(&self, model: &SupervisedModel, step: &Step<'_>) -> Result<Tensor<2>> {
        self.scores(model, &step.views[0], step.task.level, &Pass::eval())
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        EncoderSettings::search_axes(level)
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(Untrained { encoder: self.encoder.clone(), readout: self.readout.clone(), extra_propagation: 0 })
    }
}

fn labels<'a>(step: &'a Step<'_>) -> Result<&'a BatchLabels> {
    step.labels.ok_or_else(|| Error::setting("labels", "missing", "some to learn from"))
}

/// Cross-entropy of classes, binary cross-entropy of several labels, or mean squared error of real values; missing ones do not count.
pub fn prediction_loss(scores: Tensor<2>, labels: &BatchLabels) -> Tensor<1> {
    let device = scores.device();
    let scores = scores.select(0, integers(&labels.rows, &device));
    let columns = scores.dims()[1];
    match &labels.values {
        LabelValues::Classes(classes) => {
            let classes = integers(classes, &device).unsqueeze_dim::<2>(1);
            mean(log_softmax(scores, 1).gather(1, classes)).neg()
        }
        LabelValues::MultiLabel(known) => {
            let signs = |label: &Option<bool>| label.map_or(0.0, |label| if label { -1.0 } else { 1.0 });
            let signs = floats(known.iter().map(signs).collect(), columns, &device);
            let counted = floats(known.iter().map(|label| f32::from(label.is_some())).collect(), columns, &device);
            let count = known.iter().flatten().count().max(1) as f32;
            sum(softplus(scores * signs, 1.0) * counted) / count
        }
        LabelValues::Regression(known) => {
            let values = floats(known.iter().map(|value| value.unwrap_or(0.0)).collect(), columns, &device);
            let counted = floats(known.iter().map(|value| f32::from(value.is_some())).collect(), columns, &device);
            let count = known.iter().flatten().count().max(1) as f32;
            sum((scores - values).square() * counted) / count
        }
    }
}

/// Unlike a mean of the tensor library, one that does not depend on the number of threads.
fn mean(values: Tensor<2>) -> Tensor<1> {
    let rows = GraphOffsets::single(values.dims()[0]);
    ops::pool(values, &rows, Pooling::Mean).sum()
}

fn sum(values: Tensor<2>) -> Tensor<1> {
    let rows = GraphOffsets::single(values.dims()[0]);
    ops::pool(values, &rows, Pooling::Sum).sum()
}

fn integers(numbers: &[u32], device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i64> = numbers.iter().map(|&number| number.into()).collect();
    let length = numbers.len();
    Tensor::from_data(TensorData::new(numbers, [length]), device)
}

fn floats(values: Vec<f32>, columns: usize, device: &Device) -> Tensor<2> {
    let rows = values.len() / columns.max(1);
    Tensor::from_data(TensorData::new(values, [rows, columns]), device)
}
