//! The features as they are: what any embedding has to beat.

use burn::Tensor;
use burn::module::Module;
use serde::{Deserialize, Serialize};

use super::{Footprint, Method, Step};
use crate::data::{Level, Sample};
use crate::encoder::Widths;
use crate::error::{Error, Result};
use crate::ops::{self, Pooling};
use crate::{Initializer, Weighting};

/// How the features of a graph's nodes become one vector.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Raw {
    /// Their sum, mean or maximum.
    pub pooling: Pooling,
}

/// There is nothing to learn.
#[derive(Module, Debug)]
pub struct Nothing {}

impl Method for Raw {
    type Model = Nothing;

    fn weighting(&self) -> Weighting {
        Weighting::Convolution
    }

    fn views(&self) -> usize {
        0
    }

    fn build(&self, _: Widths, _: &mut Initializer) -> Result<Nothing> {
        Ok(Nothing {})
    }

    fn loss(&self, _: &Nothing, _: &Step) -> Result<Tensor<1>> {
        Err(Error::setting("method", "raw", "a method that is trained"))
    }

    fn embed(&self, _: &Nothing, samples: &[Sample], level: Level) -> Result<Tensor<2>> {
        let Sample { input, segments, .. } = &samples[0];
        let features = input.to_dense();
        Ok(match level {
            Level::Nodes => features,
            Level::Graphs => ops::pool(features, segments, self.pooling),
        })
    }

    fn footprint(&self, _: Widths) -> Footprint {
        Footprint::default()
    }
}
