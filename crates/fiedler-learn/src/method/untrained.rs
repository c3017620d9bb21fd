//! An encoder with random weights: what the graph gives without any training.

use burn::Tensor;
use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::span::pool;
use super::{Footprint, Method, Step};
use crate::data::{Level, Sample};
use crate::encoder::{Encoder, EncoderSettings, Widths};
use crate::error::{Error, Result};
use crate::readout::{Readout, ReadoutSettings};
use crate::{Initializer, Weighting};

/// How the encoder is built; with the same seed it is the one that [`Span`](super::Span) starts from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Untrained {
    /// The encoder.
    pub encoder: EncoderSettings,
    /// Which layers count, and how the nodes of a graph become one vector.
    pub readout: ReadoutSettings,
}

/// An encoder and a readout.
#[derive(Module, Debug)]
pub struct UntrainedModel {
    encoder: Encoder,
    readout: Readout,
}

impl Method for Untrained {
    type Model = UntrainedModel;

    fn weighting(&self) -> Weighting {
        self.encoder.weighting()
    }

    fn views(&self) -> usize {
        0
    }

    fn build(&self, widths: Widths, initializer: &mut Initializer) -> Result<UntrainedModel> {
        let encoder = self.encoder.build(widths, initializer)?;
        let readout = Readout::new(&self.readout, &self.encoder, initializer)?;
        Ok(UntrainedModel { encoder, readout })
    }

    fn loss(&self, _: &UntrainedModel, _: &Step) -> Result<Tensor<1>> {
        Err(Error::setting("method", "untrained", "a method that is trained"))
    }

    fn embed(&self, model: &UntrainedModel, samples: &[Sample], level: Level) -> Result<Tensor<2>> {
        let sample = &samples[0];
        let layers = model.encoder.forward(&sample.structure, &sample.input, None)?;
        Ok(pool(&model.readout, &layers, sample, level))
    }

    fn footprint(&self, widths: Widths) -> Footprint {
        Footprint::of_encoder(&self.encoder, widths)
    }
}
