//! Sparse times dense with bias and activation in the same pass: what a layer of a graph network does.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel::{self, SparseRows};
use super::operation::{self, Operation, width};
use crate::Adjacency;

/// What is done to every value: `max(x, 0) + slope · min(x, 0)`.
#[derive(Debug, Clone)]
pub enum Activation {
    /// Slope 1: nothing.
    Identity,
    /// Slope 0.
    Relu,
    /// A learned slope: one for all columns, or one a column.
    Prelu(Tensor<1>),
}

/// `activation(adjacency · input + bias)`.
///
/// `input` has one row a node. Gradients flow to the input, the bias and the slope.
pub fn propagate(
    adjacency: &Arc<Adjacency>,
    input: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: &Activation,
) -> Tensor<2> {
    assert_eq!(input.dims()[0], adjacency.nodes(), "the input has one row for each node");
    if !operation::is_on_cpu(&input) {
        return super::plain::propagate(adjacency, input, bias, activation);
    }
    let columns = input.dims()[1];
    let (slope, slopes) = match activation {
        Activation::Identity => (Slope::Fixed(1.0), operation::absent()),
        Activation::Relu => (Slope::Fixed(0.0), operation::absent()),
        Activation::Prelu(slopes) => {
            assert!([1, columns].contains(&slopes.dims()[0]), "one slope for all columns, or one for each");
            (Slope::Learned, slopes.clone().into_dispatch())
        }
    };
    let bias = bias.map_or_else(operation::absent, |bias| {
        assert_eq!(bias.dims()[0], columns, "the bias has one value for each column");
        bias.into_dispatch()
    });
    let propagate = Propagate { adjacency: Arc::clone(adjacency), slope };
    operation::apply(propagate, [input.into_dispatch(), bias, slopes])
}

/// Below this slope a value before the activation cannot be told from the value after it.
const SMALLEST_INVERTIBLE_SLOPE: f32 = 1e-4;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Slope {
    Fixed(f32),
    Learned,
}

#[derive(Debug, Clone)]
struct Propagate {
    adjacency: Arc<Adjacency>,
    slope: Slope,
}

/// What the derivative of the activation is computed from.
#[derive(Debug, Clone)]
struct Saved {
    values: Option<Values>,
    slopes: Vec<f32>,
    slopes_given: usize,
}

#[derive(Debug, Clone)]
enum Values {
    /// The results: their signs, and by the slopes also the values themselves, are those before the activation.
    After(FlexTensor),
    /// Where results do not tell: the values before the activation.
    Before(FlexTensor),
}

impl Propagate {
    fn rows(&self) -> SparseRows<'_> {
        SparseRows {
            offsets: self.adjacency.offsets(),
            columns: self.adjacency.columns(),
            values: self.adjacency.values(),
            kept: None,
        }
    }
}

impl Operation<3> for Propagate {
    type Saved = Saved;

    fn forward(&self, [input, bias, slopes]: [FlexTensor; 3]) -> (FlexTensor, Saved) {
        let (dense, width) = (input.storage::<f32>(), width(&input));
        let shape = [self.adjacency.nodes(), width];
        let (bias, given): (&[f32], &[f32]) = (bias.storage(), slopes.storage());
        let slopes = match (self.slope, given) {
            (Slope::Fixed(slope), _) => vec![slope; width],
            (Slope::Learned, [slope]) => vec![*slope; width],
            (Slope::Learned, slopes) => slopes.to_vec(),
        };
        let slopes_given = given.len();
        let add_bias = |first: usize, piece: &mut [f32]| {
            if !bias.is_empty() {
                kernel::add_to(piece, &bias[first..first + piece.len()]);
            }
        };
        if self.slope == Slope::Fixed(1.0) {
            let output = self.rows().times(dense, width, add_bias);
            return (operation::tensor(output, shape), Saved { values: None, slopes, slopes_given });
        }
        let results_tell =
            self.slope != Slope::Learned || slopes.iter().all(|slope| *slope >= SMALLEST_INVERTIBLE_SLOPE);
        if results_tell {
            let output = self.rows().times(dense, width, |first, piece| {
                add_bias(first, piece);
                activate(piece, &slopes[first..first + piece.len()]);
            });
            let output = operation::tensor(output, shape);
            let values = Some(Values::After(output.clone()));
            return (output, Saved { values, slopes, slopes_given });
        }
        let before = self.rows().times(dense, width, add_bias);
        let mut output = before.clone();
        kernel::for_each_part(&mut output, width, |_, part| {
            part.chunks_exact_mut(width).for_each(|row| activate(row, &slopes));
        });
        let values = Some(Values::Before(operation::tensor(before, shape)));
        (operation::tensor(output, shape), Saved { values, slopes, slopes_given })
    }

    fn backward(&self, saved: Saved, mut gradient: FlexTensor, wanted: [bool; 3]) -> [Option<FlexTensor>; 3] {
        let [input_wanted, bias_wanted, slopes_wanted] = wanted;
        let width = width(&gradient);
        let Saved { values, slopes, slopes_given } = saved;
        let [bias, of_slopes] = if values.is_some() || bias_wanted {
            undo_activation(gradient.storage_mut(), width, values.as_ref(), &slopes)
        } else {
            [Vec::new(), Vec::new()]
        };
        drop(values);
        let input = input_wanted.then(|| {
            let product = self.rows().times(gradient.storage(), width, |_, _| ());
            operation::tensor(product, [self.adjacency.nodes(), width])
        });
        let bias = bias_wanted.then(|| operation::tensor(bias, [width]));
        let slopes = slopes_wanted.then(|| match slopes_given {
            1 => operation::tensor(vec![of_slopes.iter().sum()], [1]),
            _ => operation::tensor(of_slopes, [width]),
        });
        [input, bias, slopes]
    }
}

#[inline(always)]
fn activate(row: &mut [f32], slopes: &[f32]) {
    for (value, &slope) in row.iter_mut().zip(slopes) {
        *value = if *value > 0.0 { *value } else { slope * *value };
    }
}

/// Turns the gradient after the activation into that before it; returns the sums over rows for the bias and the slopes.
fn undo_activation(gradient: &mut [f32], width: usize, values: Option<&Values>, slopes: &[f32]) -> [Vec<f32>; 2] {
    let (values, are_before): (&[f32], bool) = match values {
        None => {
            return kernel::sum_over_parts(gradient, width, |_, part, [bias, _]| {
                part.chunks_exact(width).for_each(|row| kernel::add_to(bias, row));
            });
        }
        Some(Values::After(values)) => (values.storage(), false),
        Some(Values::Before(values)) => (values.storage(), true),
    };
    // A slope of zero has no inverse, and none is needed: it is not learned.
    let inverse = |slope: &f32| {
        if are_before {
            1.0
        } else if *slope == 0.0 {
            0.0
        } else {
            1.0 / slope
        }
    };
    let inverses: Vec<f32> = slopes.iter().map(inverse).collect();
    kernel::sum_over_parts(gradient, width, |first, part, [bias, of_slopes]| {
        let values = &values[first * width..first * width + part.len()];
        for (row, values) in part.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
            let sums = bias.iter_mut().zip(of_slopes.iter_mut());
            let columns = row.iter_mut().zip(values).zip(slopes.iter().zip(&inverses)).zip(sums);
            for (((gradient, &value), (&slope, &inverse)), (bias, of_slope)) in columns {
                let is_positive = value > 0.0;
                *of_slope += if is_positive { 0.0 } else { *gradient * value * inverse };
                *gradient *= if is_positive { 1.0 } else { slope };
                *bias += *gradient;
            }
        }
    })
}
