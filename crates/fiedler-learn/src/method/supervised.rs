//! An encoder that is trained by labels, end to end with a linear layer: what a method without labels is measured against; and fine-tuning,
//! where the encoder starts from the weights of another run.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::{log_softmax, softplus};
use burn::tensor::{Device, Int, TensorData};
use fiedler_augment::{Axis, Pipeline};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::untrained::is_zero;
use super::{Footprint, Loss, Method, MethodInfo, Phase, Requirements, Step, Untrained};
use crate::encoder::{Encoder, EncoderSettings};
use crate::error::{Error, Result};
use crate::layer::Linear;
use crate::ops::{self, Pooling};
use crate::optimizer::Select;
use crate::pass::{Pass, check_dropout};
use crate::readout::{JumpingKnowledge, Projector, Readout, ReadoutSettings};
use crate::sample::Sample;
use crate::supervision::{BatchLabels, LabelValues};
use crate::task::{Target, Task, TaskLevel};
use crate::{GraphOffsets, Initializer};

/// How the predictor is built, and what of it is trained.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Supervised {
    /// The encoder.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become one vector; its projector is part of the head.
    pub readout: ReadoutSettings,
    /// What is trained: all, the head alone, or the head alone for some epochs and then all.
    #[serde(skip_serializing_if = "TuningMode::is_usual")]
    pub mode: TuningMode,
    /// Epochs that the head is trained alone, where it is trained first.
    #[serde(skip_serializing_if = "is_zero")]
    pub head_epochs: usize,
    /// Learning rate of the head, where it is not that of the encoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_learning_rate: Option<f64>,
    /// Probability of dropping a value of what the head sees.
    #[serde(skip_serializing_if = "is_none")]
    pub head_dropout: f64,
    /// What each class counts in the loss.
    #[serde(skip_serializing_if = "ClassWeights::is_usual")]
    pub class_weights: ClassWeights,
    /// Fingerprint of the weights that the encoder starts from; without, it starts from random ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

/// Tuning mode: what of an encoder with a head is trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TuningMode {
    /// Encoder and head.
    #[default]
    Full,
    /// The head alone; the encoder stays as it is, to the last bit.
    Frozen,
    /// The head alone for some epochs, then both.
    HeadFirst,
}

impl TuningMode {
    fn is_usual(&self) -> bool {
        *self == TuningMode::default()
    }
}

/// Class weights: what each class counts in the loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// Every item counts the same.
    #[default]
    None,
    /// Every class counts the same, however few items it has: `items / (classes · items of the class)`, as in scikit-learn.
    Balanced,
}

impl ClassWeights {
    fn is_usual(&self) -> bool {
        *self == ClassWeights::default()
    }
}

fn is_none(probability: &f64) -> bool {
    *probability == 0.0
}

/// An encoder, a readout and a linear layer.
#[derive(Module, Debug)]
pub struct SupervisedModel {
    encoder: Encoder,
    readout: Readout,
    output: Linear,
}

/// The fields of the model that are not the encoder.
const HEAD: &[&str] = &["readout", "output"];

impl Supervised {
    /// One row of scores for each node, or for each graph.
    fn scores(
        &self,
        model: &SupervisedModel,
        sample: &Sample,
        level: TaskLevel,
        pass: &Pass,
        frozen: bool,
    ) -> Result<Tensor<2>> {
        let graph = sample.graph(self.encoder.normalization())?;
        // Neither do running statistics of a frozen encoder move.
        let layers = match frozen {
            true => model.encoder.forward(graph, &sample.features, &Pass::eval())?.detached(),
            false => model.encoder.forward(graph, &sample.features, pass)?,
        };
        let vectors = match level {
            TaskLevel::Nodes => model.readout.nodes(&layers),
            TaskLevel::Graphs => model.readout.forward(&layers, &sample.offsets),
        };
        Ok(model.output.forward(pass.drop(vectors, self.head_dropout)))
    }

    /// Columns of what the last layer sees.
    fn width(&self, level: TaskLevel) -> usize {
        let projected = level == TaskLevel::Graphs && self.readout.projector != Projector::Identity;
        match self.readout.jumping_knowledge {
            JumpingKnowledge::Concatenate if !projected => self.encoder.all_channels(),
            _ => self.encoder.out_channels(),
        }
    }

    fn outputs(task: &Task) -> Result<usize> {
        match task.target {
            Some(Target::Classes { count: count @ 0..2 }) => Err(Error::setting("classes", count, "at least 2")),
            Some(target) => Ok(target.outputs()),
            None => Err(Error::setting("labels", "missing", "some to learn from")),
        }
    }

    /// Whether the encoder stays as it is in an epoch.
    fn is_frozen(&self, epoch: usize) -> bool {
        match self.mode {
            TuningMode::Full => false,
            TuningMode::Frozen => true,
            TuningMode::HeadFirst => epoch < self.head_epochs,
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
        check_dropout(self.head_dropout)?;
        let rate = self.head_learning_rate.filter(|rate| !(rate.is_finite() && *rate > 0.0));
        if let Some(rate) = rate {
            return Err(Error::setting("head_learning_rate", rate, "a positive number"));
        }
        if self.mode == TuningMode::HeadFirst && self.head_epochs == 0 {
            return Err(Error::setting("head_epochs", 0, "at least 1 with the mode head-first"));
        }
        if self.class_weights == ClassWeights::Balanced && matches!(task.target, Some(Target::Regression { .. })) {
            return Err(Error::setting("class_weights", "balanced", "none for real values, which have no classes"));
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

    fn phases(&self) -> Vec<Phase> {
        let rate = self.head_learning_rate;
        let learning_rates = rate.map_or(Vec::new(), |rate| HEAD.iter().map(|&field| (field, rate)).collect());
        let all = Phase { learning_rates, ..Phase::default() };
        let head = Phase { name: "head", trains: Select::Fields(HEAD), ..all.clone() };
        match self.mode {
            TuningMode::Full => vec![all],
            TuningMode::Frozen => vec![head],
            TuningMode::HeadFirst => vec![
                Phase { epochs: Some(0..self.head_epochs), ..head },
                Phase { epochs: Some(self.head_epochs..usize::MAX), ..all },
            ],
        }
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<SupervisedModel> {
        let outputs = Self::outputs(task)?;
        let encoder = self.encoder.build(task.dims, initializer)?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        let output = Linear::new(self.width(task.level), outputs, initializer);
        Ok(SupervisedModel { encoder, readout, output })
    }

    fn loss(&self, model: &SupervisedModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let frozen = self.is_frozen(step.clock.epoch);
        let scores = self.scores(model, step.clean()?, step.task.level, &step.pass, frozen)?;
        Ok(prediction_loss(scores, labels(step)?, self.class_weights).into())
    }

    fn validate(&self, model: &SupervisedModel, step: &Step<'_>) -> Result<Option<f32>> {
        let labels = labels(step)?;
        if labels.rows.is_empty() {
            return Ok(None);
        }
        let scores = self.scores(model, step.clean()?, step.task.level, &Pass::eval(), false)?;
        Ok(Some(prediction_loss(scores, labels, self.class_weights).into_scalar()))
    }

    /// The scores of the classes, one column each.
    fn embed(&self, model: &SupervisedModel, step: &Step<'_>) -> Result<Tensor<2>> {
        self.scores(model, &step.views[0], step.task.level, &Pass::eval(), false)
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        EncoderSettings::search_axes(level)
    }

    fn untrained(&self) -> Option<Untrained> {
        Some(Untrained { encoder: self.encoder.clone(), readout: self.readout.clone(), extra_propagation: 0 })
    }

    fn start(&self) -> Option<&str> {
        self.start.as_deref()
    }
}

fn labels<'a>(step: &'a Step<'_>) -> Result<&'a BatchLabels> {
    step.labels.ok_or_else(|| Error::setting("labels", "missing", "some to learn from"))
}

/// Cross-entropy of classes, binary cross-entropy of several labels, or mean squared error of real values; missing ones do not count. With
/// weights of classes, a weighted mean.
fn prediction_loss(scores: Tensor<2>, labels: &BatchLabels, weights: ClassWeights) -> Tensor<1> {
    let device = scores.device();
    let scores = scores.select(0, integers(&labels.rows, &device));
    let columns = scores.dims()[1];
    let balanced = weights == ClassWeights::Balanced;
    match &labels.values {
        LabelValues::Classes(known) => {
            let classes = integers(known, &device).unsqueeze_dim::<2>(1);
            let likelihood = log_softmax(scores, 1).gather(1, classes);
            if !balanced {
                return mean(likelihood).neg();
            }
            let weights: Vec<f32> = known.iter().map(|&class| labels.balance[class as usize]).collect();
            let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            sum(likelihood * floats(weights, 1, &device)).neg() / total
        }
        LabelValues::MultiLabel(known) => {
            let signs = |label: &Option<bool>| label.map_or(0.0, |label| if label { -1.0 } else { 1.0 });
            let signs = floats(known.iter().map(signs).collect(), columns, &device);
            let weight = |(at, label): (usize, &Option<bool>)| match label {
                None => 0.0,
                Some(_) if !balanced => 1.0,
                Some(label) => labels.balance[2 * (at % columns) + usize::from(*label)],
            };
            let counted: Vec<f32> = known.iter().enumerate().map(weight).collect();
            let total = match balanced {
                true => counted.iter().sum::<f32>().max(f32::MIN_POSITIVE),
                false => known.iter().flatten().count().max(1) as f32,
            };
            sum(softplus(scores * signs, 1.0) * floats(counted, columns, &device)) / total
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::DeviceSettings;

    /// The loss of fixed scores, and its gradient by each of them.
    fn gradient(values: LabelValues, rows: Vec<u32>, balance: Vec<f32>, columns: usize) -> (f32, Vec<f32>) {
        let device = DeviceSettings::default().open().autodiff();
        let scores: Vec<f32> = (0..4 * columns).map(|at| (at as f32 * 1.7).sin() * 2.0).collect();
        let scores = floats(scores, columns, &device).require_grad();
        let weights = if balance.is_empty() { ClassWeights::None } else { ClassWeights::Balanced };
        let loss = prediction_loss(scores.clone(), &BatchLabels { rows, values, balance: balance.into() }, weights);
        let value = loss.clone().into_scalar();
        (value, scores.grad(&loss.backward()).unwrap().to_data().try_to_vec().unwrap())
    }

    #[test]
    fn missing_labels_have_a_gradient_of_exactly_zero() {
        let rows = || vec![0, 1, 2, 3];
        let known = [Some(true), None, Some(false), None, None, Some(true), Some(true), Some(true)];
        for balance in [Vec::new(), vec![0.6, 3.0, 1.0, 0.5]] {
            let (_, gradient) = gradient(LabelValues::MultiLabel(known.to_vec()), rows(), balance, 2);
            for (label, by) in known.iter().zip(gradient) {
                assert_eq!(label.is_none(), by == 0.0, "{label:?}: {by}");
            }
        }
        let known = [Some(1.0), None, Some(-3.0), None, None, Some(0.4), Some(7.0), Some(2.0)];
        let (_, by_values) = gradient(LabelValues::Regression(known.to_vec()), rows(), Vec::new(), 2);
        for (value, by) in known.iter().zip(by_values) {
            assert_eq!(value.is_none(), by == 0.0, "{value:?}: {by}");
        }
        // Of items without a class there is no row at all.
        let (_, by_classes) = gradient(LabelValues::Classes(vec![1, 0]), vec![0, 3], Vec::new(), 3);
        assert!(by_classes[3..9].iter().all(|&by| by == 0.0) && by_classes[..3].iter().all(|&by| by != 0.0));
        let (loss, by_none) = gradient(LabelValues::MultiLabel(vec![None; 8]), rows(), Vec::new(), 2);
        assert!(loss == 0.0 && by_none.iter().all(|&by| by == 0.0));
    }

    #[test]
    fn balanced_weights_are_those_of_a_weighted_mean() {
        let classes = || LabelValues::Classes(vec![1, 0, 0, 0]);
        let each = |row: u32, class: u32| gradient(LabelValues::Classes(vec![class]), vec![row], Vec::new(), 2).0;
        let alone = [each(0, 1), each(1, 0), each(2, 0), each(3, 0)];
        let (loss, _) = gradient(classes(), vec![0, 1, 2, 3], vec![4.0 / 6.0, 2.0], 2);
        let expected = (2.0 * alone[0] + 4.0 / 6.0 * (alone[1] + alone[2] + alone[3])) / 4.0;
        assert!((loss - expected).abs() < 1e-6, "{loss}, expected {expected}");
    }
}
