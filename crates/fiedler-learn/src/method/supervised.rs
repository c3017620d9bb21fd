//! An encoder that is trained by labels, end to end with a linear layer: what a method without labels is measured against.

use burn::Tensor;
use burn::module::Module;
use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, TensorData};
use serde::{Deserialize, Serialize};

use super::{Footprint, Method, Step};
use crate::data::{Level, Sample};
use crate::dropout::Draws;
use crate::encoder::{Encoder, EncoderSettings, Widths};
use crate::error::{Error, Result};
use crate::layer::Linear;
use crate::ops::{self, Pooling};
use crate::readout::{Readout, ReadoutSettings};
use crate::{Initializer, Segments, Weighting};

/// How the classifier is built.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Supervised {
    /// The encoder.
    pub encoder: EncoderSettings,
    /// How the nodes of a graph become one vector.
    pub readout: ReadoutSettings,
    /// Number of classes; a run takes it from the labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<usize>,
}

/// An encoder, a readout and a linear layer.
#[derive(Module, Debug)]
pub struct SupervisedModel {
    encoder: Encoder,
    readout: Readout,
    answer: Linear,
}

impl SupervisedModel {
    /// One row of scores for each node, or for each graph.
    fn scores(&self, sample: &Sample, level: Level, draws: Option<&Draws>) -> Result<Tensor<2>> {
        let layers = self.encoder.forward(&sample.structure, &sample.input, draws)?;
        Ok(self.answer.forward(match level {
            Level::Nodes => layers.last(),
            Level::Graphs => self.readout.forward(&layers, &sample.segments),
        }))
    }
}

impl Method for Supervised {
    type Model = SupervisedModel;

    fn weighting(&self) -> Weighting {
        self.encoder.weighting()
    }

    fn views(&self) -> usize {
        0
    }

    fn learns_from_labels(&self) -> bool {
        true
    }

    fn build(&self, widths: Widths, initializer: &mut Initializer) -> Result<SupervisedModel> {
        let classes = self.classes.filter(|&classes| classes > 1);
        let classes = classes.ok_or_else(|| Error::setting("classes", self.classes.unwrap_or(0), "at least 2"))?;
        let encoder = self.encoder.build(widths, initializer)?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        let answer = Linear::new(self.encoder.width(), classes, initializer);
        Ok(SupervisedModel { encoder, readout, answer })
    }

    fn loss(&self, model: &SupervisedModel, step: &Step) -> Result<Tensor<1>> {
        let scores = model.scores(&step.views[0], step.level, Some(&step.draws))?;
        let column = |numbers: Vec<i64>| TensorData::new(numbers.clone(), [numbers.len()]);
        let rows = step.answers.iter().map(|&(row, _)| row.into()).collect();
        let classes = step.answers.iter().map(|&(_, class)| class.into()).collect();
        let rows = Tensor::<1, Int>::from_data(column(rows), &scores.device());
        let classes = Tensor::<1, Int>::from_data(column(classes), &scores.device());
        let likelihood = log_softmax(scores.select(0, rows), 1).gather(1, classes.unsqueeze_dim::<2>(1));
        // Unlike a mean of the tensor library, one that does not depend on the number of threads.
        Ok(ops::pool(likelihood, &Segments::single(step.answers.len()), Pooling::Mean).sum().neg())
    }

    /// The scores of the classes, one column each.
    fn embed(&self, model: &SupervisedModel, samples: &[Sample], level: Level) -> Result<Tensor<2>> {
        model.scores(&samples[0], level, None)
    }

    fn footprint(&self, widths: Widths) -> Footprint {
        Footprint::of_encoder(&self.encoder, widths)
    }
}
