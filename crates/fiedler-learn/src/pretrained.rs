//! The encoder of another run, to be trained further.

use crate::data::FeatureSettings;
use crate::encoder::EncoderSettings;
use crate::method::Supervised;
use crate::readout::ReadoutSettings;
use crate::state_dict::StateDict;

/// The encoder of another run, to be trained further: [`SavedEncoder::pretrained`](crate::SavedEncoder::pretrained).
#[derive(Debug, Clone, PartialEq)]
pub struct PretrainedEncoder {
    /// How it is built.
    pub encoder: EncoderSettings,
    /// Which layers count, and how the nodes of a graph become one vector.
    pub readout: ReadoutSettings,
    /// What it sees of a dataset.
    pub features: FeatureSettings,
    pub(crate) weights: StateDict,
}

impl PretrainedEncoder {
    /// Its weights, for [`Run::initial`](crate::run::Run).
    pub fn weights(&self) -> &StateDict {
        &self.weights
    }

    /// The supervised method with an encoder of this shape and a linear head: from these weights, or from random ones.
    pub fn method(&self, from_weights: bool) -> Supervised {
        Supervised {
            encoder: self.encoder.clone(),
            readout: self.readout.clone(),
            start: from_weights.then(|| self.weights.fingerprint()),
            ..Supervised::default()
        }
    }
}
