//! The head of an online network that is to say what its target network sees.

use burn::Tensor;
use burn::module::Module;

use crate::Initializer;
use crate::error::{Error, Result};
use crate::layer::{Activation, ActivationLayer, Linear};
use crate::ops;

/// Two dense layers with a PReLU between them, whose slope is one number; from as many columns as the target has to as many.
#[derive(Module, Debug)]
pub struct Predictor {
    first: Linear,
    activation: ActivationLayer,
    second: Linear,
}

impl Predictor {
    /// A predictor of rows of the given width, with so many channels between its layers.
    pub fn new(width: usize, channels: usize, initializer: &mut Initializer) -> Predictor {
        Predictor {
            first: Linear::new(width, channels, initializer),
            activation: ActivationLayer::new(Activation::Prelu, channels, initializer),
            second: Linear::new(channels, width, initializer),
        }
    }

    /// Applies both layers.
    pub fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        self.second.forward(ops::activate(self.first.forward(rows), &self.activation.activation()))
    }
}

/// Refuses channels between the layers that no machine has room for.
pub(crate) fn check_predictor(channels: usize) -> Result<()> {
    if (1..=1 << 20).contains(&channels) {
        return Ok(());
    }
    Err(Error::setting("predictor_channels", channels, "1 to 1,048,576"))
}
