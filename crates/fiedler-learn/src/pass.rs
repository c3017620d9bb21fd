//! How a model is run: in training, in evaluation, or to recompute its running statistics.

use std::cell::Cell;

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_graph::random::stream;
use rand::RngExt;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Values that share a stream.
const VALUES_AT_ONCE: usize = 1 << 15;

/// Mode: what normalizations and dropout do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Batch statistics are used and move the running ones; values are dropped.
    Train,
    /// Running statistics are used; nothing is dropped.
    #[default]
    Eval,
    /// Batch statistics are used and replace the running ones; nothing is dropped.
    Calibrate,
}

/// One way through a model.
///
/// Whether gradients are recorded is another matter: that is decided by the device that the model's tensors lie on.
#[derive(Debug, Default)]
pub struct Pass {
    mode: Mode,
    dropout: Option<DropoutRng>,
}

impl Pass {
    /// Training, with what dropout is drawn from.
    pub fn train(dropout: DropoutRng) -> Pass {
        Pass { mode: Mode::Train, dropout: Some(dropout) }
    }

    /// Evaluation.
    pub fn eval() -> Pass {
        Pass::default()
    }

    /// Recomputing the running statistics of batch normalizations.
    pub fn calibrate() -> Pass {
        Pass { mode: Mode::Calibrate, dropout: None }
    }

    /// What normalizations do.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Makes each value zero with a probability in training, and scales what stays so that the mean stays.
    pub fn drop<const D: usize>(&self, input: Tensor<D>, probability: f64) -> Tensor<D> {
        match &self.dropout {
            Some(dropout) => dropout.drop(input, probability),
            None => input,
        }
    }
}

/// What one training step draws its dropout from: the same seed and step give the same draws.
///
/// Each use takes the next draw, so that layers of one pass differ.
#[derive(Debug)]
pub struct DropoutRng {
    seed: u64,
    step: u64,
    used: Cell<u64>,
}

impl DropoutRng {
    /// The draws of a step.
    pub fn new(seed: u64, step: u64) -> DropoutRng {
        DropoutRng { seed, step, used: Cell::new(0) }
    }

    /// Makes each value zero with a probability, and scales what stays so that the mean stays.
    pub fn drop<const D: usize>(&self, input: Tensor<D>, probability: f64) -> Tensor<D> {
        if probability == 0.0 {
            return input;
        }
        let layer = self.used.replace(self.used.get() + 1);
        let (seed, step) = (self.seed, self.step);
        let scale = (1.0 / (1.0 - probability)) as f32;
        let mut kept = vec![0.0; input.shape().num_elements()];
        kept.par_chunks_mut(VALUES_AT_ONCE).enumerate().for_each(|(part, kept)| {
            let mut random = stream(seed, "dropout", step << 32 | layer << 20 | part as u64);
            kept.fill_with(|| if random.random_bool(probability) { 0.0 } else { scale });
        });
        let kept = Tensor::from_data(TensorData::new(kept, input.shape()), &input.device());
        input * kept
    }
}

/// Checks a probability of dropping.
pub(crate) fn check_dropout(probability: f64) -> Result<()> {
    if (0.0..1.0).contains(&probability) {
        return Ok(());
    }
    Err(Error::setting("dropout", probability, "a number from 0 to less than 1"))
}
