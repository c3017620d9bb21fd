//! The heads of InfoGraph and of MVGRL for graphs: three dense layers beside one.

use burn::Tensor;
use burn::module::Module;

use crate::Initializer;
use crate::layer::{Activation, ActivationLayer, Linear};
use crate::ops::{self, ActivationOp};

/// Three dense layers, each followed by an activation, plus one dense layer that goes past them.
#[derive(Module, Debug)]
pub struct FeedForward {
    layers: Vec<Linear>,
    activations: Vec<ActivationLayer>,
    shortcut: Linear,
}

impl FeedForward {
    /// A head from rows of one width to rows of another; weights begin with Glorot's choice.
    pub fn new(inputs: usize, outputs: usize, activation: Activation, initializer: &mut Initializer) -> FeedForward {
        let widths = [(inputs, outputs), (outputs, outputs), (outputs, outputs)];
        FeedForward {
            layers: widths.map(|(inputs, outputs)| Linear::glorot(inputs, outputs, initializer)).into(),
            activations: widths.map(|(_, outputs)| ActivationLayer::new(activation, outputs, initializer)).into(),
            shortcut: Linear::glorot(inputs, outputs, initializer),
        }
    }

    /// Applies the head.
    pub fn forward(&self, rows: Tensor<2>) -> Tensor<2> {
        let step = |rows: Tensor<2>, (layer, activation): (&Linear, &ActivationLayer)| {
            let rows = layer.forward(rows);
            match activation.activation() {
                ActivationOp::Relu => rows.clamp_min(0.0),
                other => ops::activate(rows, &other),
            }
        };
        let deep = self.layers.iter().zip(&self.activations).fold(rows.clone(), step);
        deep + self.shortcut.forward(rows)
    }
}
