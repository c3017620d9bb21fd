//! The parts that encoders and heads are built of.

use burn::Tensor;
use burn::module::{Module, Param, RunningState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::initialize::Initializer;
use crate::ops::{self, ActivationOp, BatchNormOp, Statistics};
use crate::pass::Mode;

/// Activation: what follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// NoModel.
    Identity,
    /// Negative values become zero.
    Relu,
    /// Negative values are multiplied by 11/48: RReLU as it is in evaluation, which GCA's program has in training as well.
    Rrelu,
    /// Negative values are multiplied by a learned slope, one a layer.
    #[default]
    Prelu,
    /// Negative values are multiplied by a learned slope, one a channel (column).
    PreluChannelwise,
}

/// An activation with what it has learned.
#[derive(Module, Debug)]
pub struct ActivationLayer {
    slope: Option<Param<Tensor<1>>>,
    /// The slope where none is learned.
    fixed: f32,
}

/// The slope that learning starts from, as is usual.
const FIRST_SLOPE: f32 = 0.25;
/// The mean of the slopes that RReLU draws, 1/8 to 1/3.
pub(crate) const RRELU_SLOPE: f32 = 11.0 / 48.0;

impl ActivationLayer {
    /// An activation for a layer of the given width.
    pub fn new(activation: Activation, width: usize, initializer: &Initializer) -> ActivationLayer {
        let slope = |count| Some(initializer.constant([count], FIRST_SLOPE));
        match activation {
            Activation::Identity => ActivationLayer { slope: None, fixed: 1.0 },
            Activation::Relu => ActivationLayer { slope: None, fixed: 0.0 },
            Activation::Rrelu => ActivationLayer { slope: None, fixed: RRELU_SLOPE },
            Activation::Prelu => ActivationLayer { slope: slope(1), fixed: 0.0 },
            Activation::PreluChannelwise => ActivationLayer { slope: slope(width), fixed: 0.0 },
        }
    }

    /// As the operations take it.
    pub fn activation(&self) -> ActivationOp {
        match (&self.slope, self.fixed) {
            (Some(slope), _) => ActivationOp::Prelu(slope.val()),
            (None, 1.0) => ActivationOp::Identity,
            (None, 0.0) => ActivationOp::Relu,
            (None, slope) => ActivationOp::LeakyRelu(slope),
        }
    }
}

/// `input · weight + bias`.
#[derive(Module, Debug)]
pub struct Linear {
    /// One row for each column of the input.
    pub weight: Param<Tensor<2>>,
    /// One value for each column of the output.
    pub bias: Option<Param<Tensor<1>>>,
}

impl Linear {
    /// A dense layer with a bias.
    pub fn new(inputs: usize, outputs: usize, initializer: &mut Initializer) -> Linear {
        Linear {
            weight: initializer.by_inputs([inputs, outputs], inputs),
            bias: Some(initializer.by_inputs([outputs], inputs)),
        }
    }

    /// A dense layer that begins with Glorot's choice (Xavier) and a bias of zero.
    pub fn glorot(inputs: usize, outputs: usize, initializer: &mut Initializer) -> Linear {
        let weight = initializer.glorot(inputs, outputs);
        Linear { weight, bias: Some(initializer.constant([outputs], 0.0)) }
    }

    /// Applies the layer.
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        self.add_bias(input.matmul(self.weight.val()))
    }

    /// The second half of the layer, where the product was taken elsewhere.
    pub fn add_bias(&self, product: Tensor<2>) -> Tensor<2> {
        match &self.bias {
            Some(bias) => product + bias.val().unsqueeze::<2>(),
            None => product,
        }
    }
}

/// Two dense layers with a ReLU or an ELU between them.
#[derive(Module, Debug)]
pub struct Mlp {
    /// The first layer.
    pub first: Linear,
    /// The second layer.
    pub second: Linear,
    smooth: bool,
}

impl Mlp {
    /// Two layers of the given dims, between them an ELU if `smooth`, else a ReLU.
    pub fn new(dims: [usize; 3], smooth: bool, initializer: &mut Initializer) -> Mlp {
        let [inputs, hidden, outputs] = dims;
        let first = Linear::new(inputs, hidden, initializer);
        Mlp { first, second: Linear::new(hidden, outputs, initializer), smooth }
    }

    /// Two layers of the given dims with a ReLU between them, that begin with Glorot's choice.
    pub fn glorot(dims: [usize; 3], initializer: &mut Initializer) -> Mlp {
        let [inputs, hidden, outputs] = dims;
        let first = Linear::glorot(inputs, hidden, initializer);
        Mlp { first, second: Linear::glorot(hidden, outputs, initializer), smooth: false }
    }

    /// Applies both layers.
    pub fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        let hidden = self.first.forward(input);
        self.second.forward(if self.smooth { elu(hidden) } else { hidden.clamp_min(0.0) })
    }
}

/// What is negative becomes `exp(x) - 1`; the exponential of what is large is never taken, or its gradient would be no number.
fn elu(values: Tensor<2>) -> Tensor<2> {
    values.clone().clamp_min(0.0) + (values.clamp_max(0.0).exp() - 1.0)
}

/// How much a new batch moves the running statistics, as is usual.
const MOMENTUM: f32 = 0.1;
/// What is added to the variance, as is usual.
const EPSILON: f32 = 1e-5;

/// Batch normalization: by the batch's own statistics in training, by the running ones in evaluation.
///
/// Fields whose names begin with `running_` are buffers: they are saved with the weights, but no gradient and no moving average of
/// weights ever touches them.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Standard deviation of the output's columns.
    pub scale: Param<Tensor<1>>,
    /// Mean of the output's columns.
    pub shift: Param<Tensor<1>>,
    /// Means of the batches seen, the last ones counting most.
    pub running_mean: RunningState<Tensor<1>>,
    /// Their (unbiased) variances.
    pub running_var: RunningState<Tensor<1>>,
    momentum: f32,
}

impl BatchNorm {
    /// A normalization of matrices of the given width.
    pub fn new(width: usize, initializer: &Initializer) -> BatchNorm {
        let state = |value| RunningState::new(initializer.constant([width], value).val().inner());
        BatchNorm {
            scale: initializer.constant([width], 1.0),
            shift: initializer.constant([width], 0.0),
            running_mean: state(0.0),
            running_var: state(1.0),
            momentum: MOMENTUM,
        }
    }

    /// The same with another momentum: how much a new batch moves the running statistics.
    pub fn with_momentum(self, momentum: f32) -> BatchNorm {
        BatchNorm { momentum, ..self }
    }

    /// Normalizes each column, then applies ReLU if `relu`.
    pub fn forward(&self, input: Tensor<2>, relu: bool, mode: Mode) -> Tensor<2> {
        let of_input = mode != Mode::Eval;
        let statistics = if of_input {
            let statistics = ops::statistics(&input);
            let momentum = if mode == Mode::Calibrate { 1.0 } else { self.momentum };
            self.collect(&statistics, input.dims()[0], momentum);
            statistics
        } else {
            Statistics { mean: self.running_mean.value().inner(), variance: self.running_var.value().inner() }
        };
        let how = BatchNormOp { epsilon: EPSILON, of_input, relu };
        ops::normalize(input, self.scale.val(), self.shift.val(), &statistics, how)
    }

    fn collect(&self, statistics: &Statistics, rows: usize, momentum: f32) {
        // One row says nothing of the variance.
        let unbiased = if rows > 1 { rows as f32 / (rows - 1) as f32 } else { 1.0 };
        let moved = |old: Tensor<1>, new: Tensor<1>| old.inner() * (1.0 - momentum) + new * momentum;
        self.running_mean.update(moved(self.running_mean.value(), statistics.mean.clone()));
        self.running_var.update(moved(self.running_var.value(), statistics.variance.clone() * unbiased));
        // An update is only kept for later until it is asked for.
        self.running_mean.value_sync();
        self.running_var.value_sync();
    }
}
