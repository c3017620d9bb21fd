//! The parts that encoders and heads are built of.

use burn::Tensor;
use burn::module::{Module, Param, RunningState};
use serde::{Deserialize, Serialize};

use crate::initialize::Initializer;
use crate::ops::{self, Activation, Normalization, Statistics};

/// What follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Nonlinearity {
    /// Nothing.
    Identity,
    /// Negative values become zero.
    Relu,
    /// Negative values are multiplied by a learned slope, one a layer.
    #[default]
    Prelu,
    /// Negative values are multiplied by a learned slope, one a column.
    PreluByColumn,
}

/// A nonlinearity with what it has learned.
#[derive(Module, Debug)]
pub struct Bend {
    slope: Option<Param<Tensor<1>>>,
    relu: bool,
}

/// The slope that learning starts from, as is usual.
const FIRST_SLOPE: f32 = 0.25;

impl Bend {
    /// A nonlinearity for a layer of the given width.
    pub fn new(nonlinearity: Nonlinearity, width: usize, initializer: &Initializer) -> Bend {
        let slope = |count| Some(initializer.constant([count], FIRST_SLOPE));
        match nonlinearity {
            Nonlinearity::Identity => Bend { slope: None, relu: false },
            Nonlinearity::Relu => Bend { slope: None, relu: true },
            Nonlinearity::Prelu => Bend { slope: slope(1), relu: false },
            Nonlinearity::PreluByColumn => Bend { slope: slope(width), relu: false },
        }
    }

    /// As the operations take it.
    pub fn activation(&self) -> Activation {
        match &self.slope {
            Some(slope) => Activation::Prelu(slope.val()),
            None if self.relu => Activation::Relu,
            None => Activation::Identity,
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
    /// Two layers of the given widths, between them an ELU if `smooth`, else a ReLU.
    pub fn new(widths: [usize; 3], smooth: bool, initializer: &mut Initializer) -> Mlp {
        let [inputs, hidden, outputs] = widths;
        let first = Linear::new(inputs, hidden, initializer);
        Mlp { first, second: Linear::new(hidden, outputs, initializer), smooth }
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

/// How much a new batch moves the collected statistics, as is usual.
const MOMENTUM: f32 = 0.1;
/// What is added to the variance, as is usual.
const EPSILON: f32 = 1e-5;

/// Batch normalization: by the batch's own statistics where gradients are recorded, by the collected ones elsewhere.
#[derive(Module, Debug)]
pub struct BatchNorm {
    /// Standard deviation of the output's columns.
    pub scale: Param<Tensor<1>>,
    /// Mean of the output's columns.
    pub shift: Param<Tensor<1>>,
    /// Means of the batches seen, the last ones counting most.
    pub mean: RunningState<Tensor<1>>,
    /// Their (unbiased) variances.
    pub variance: RunningState<Tensor<1>>,
}

impl BatchNorm {
    /// A normalization of matrices of the given width.
    pub fn new(width: usize, initializer: &Initializer) -> BatchNorm {
        let state = |value| RunningState::new(initializer.constant([width], value).val().inner());
        BatchNorm {
            scale: initializer.constant([width], 1.0),
            shift: initializer.constant([width], 0.0),
            mean: state(0.0),
            variance: state(1.0),
        }
    }

    /// Normalizes each column; with `relu`, what is negative then becomes zero.
    pub fn forward(&self, input: Tensor<2>, relu: bool) -> Tensor<2> {
        let of_input = input.is_autodiff();
        let statistics = if of_input {
            let statistics = ops::statistics(&input);
            self.collect(&statistics, input.dims()[0]);
            statistics
        } else {
            Statistics { mean: self.mean.value().inner(), variance: self.variance.value().inner() }
        };
        let how = Normalization { epsilon: EPSILON, of_input, relu };
        ops::normalize(input, self.scale.val(), self.shift.val(), &statistics, how)
    }

    fn collect(&self, statistics: &Statistics, rows: usize) {
        // One row says nothing of the variance.
        let unbiased = if rows > 1 { rows as f32 / (rows - 1) as f32 } else { 1.0 };
        let moved = |old: Tensor<1>, new: Tensor<1>| old.inner() * (1.0 - MOMENTUM) + new * MOMENTUM;
        self.mean.update(moved(self.mean.value(), statistics.mean.clone()));
        self.variance.update(moved(self.variance.value(), statistics.variance.clone() * unbiased));
        // An update is only kept for later until it is asked for.
        self.mean.value_sync();
        self.variance.value_sync();
    }
}
