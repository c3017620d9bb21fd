//! Sparse times dense with bias and activation in the same pass: what a layer of a graph network does.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};
use crate::Operator;

/// What is done to every value: `max(x, 0) + slope · min(x, 0)`.
#[derive(Debug, Clone)]
pub enum ActivationOp {
    /// Slope 1: nothing.
    Identity,
    /// Slope 0.
    Relu,
    /// A slope that is not learned.
    LeakyRelu(f32),
    /// A learned slope: one for all columns, or one a column.
    Prelu(Tensor<1>),
}

/// `activation(operator · input + bias)`.
///
/// `input` has one row a node. Gradients flow to the input, the bias and the slope.
pub fn propagate(
    operator: &Arc<Operator>,
    input: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: &ActivationOp,
) -> Tensor<2> {
    assert_eq!(input.dims()[0], operator.num_nodes(), "the input has one row for each node");
    if !operation::is_on_cpu(&input) {
        return super::plain::propagate(operator, input, bias, activation);
    }
    let columns = input.dims()[1];
    let (slope, slopes) = match activation {
        ActivationOp::Identity => (Slope::Fixed(1.0), operation::absent()),
        ActivationOp::Relu => (Slope::Fixed(0.0), operation::absent()),
        ActivationOp::LeakyRelu(slope) => (Slope::Fixed(*slope), operation::absent()),
        ActivationOp::Prelu(slopes) => {
            assert!([1, columns].contains(&slopes.dims()[0]), "one slope for all columns, or one for each");
            (Slope::Learned, slopes.clone().into_dispatch())
        }
    };
    let bias = bias.map_or_else(operation::absent, |bias| {
        assert_eq!(bias.dims()[0], columns, "the bias has one value for each column");
        bias.into_dispatch()
    });
    let propagate = Propagate { operator: Arc::clone(operator), slope };
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
    operator: Arc<Operator>,
    slope: Slope,
}

/// What the derivative is computed from.
#[derive(Debug, Clone)]
struct Saved {
    values: Option<Values>,
    /// One a column.
    slopes: Vec<f32>,
    /// As many as were learned.
    slopes_given: usize,
}

/// What the activation was given, or what it made of it.
#[derive(Debug, Clone)]
pub(super) struct Values {
    /// Results are kept where they tell what they were made of by their signs and the slopes, since they are kept anyway.
    pub(super) are_results: bool,
    pub(super) tensor: FlexTensor,
}

impl Operation<3> for Propagate {
    type Saved = Saved;

    fn forward(&self, [input, bias, slopes]: [FlexTensor; 3]) -> (FlexTensor, Saved) {
        let (dense, width) = (input.storage::<f32>(), width(&input));
        let shape = [self.operator.num_nodes(), width];
        let (bias, given): (&[f32], &[f32]) = (bias.storage(), slopes.storage());
        let slopes = match (self.slope, given) {
            (Slope::Fixed(slope), _) => vec![slope; width],
            (Slope::Learned, [slope]) => vec![*slope; width],
            (Slope::Learned, slopes) => slopes.to_vec(),
        };
        let results_tell =
            self.slope != Slope::Learned || slopes.iter().all(|slope| *slope >= SMALLEST_INVERTIBLE_SLOPE);
        let activates = self.slope != Slope::Fixed(1.0);
        let output = self.operator.sparse_rows().times(
            dense,
            width,
            #[inline(always)]
            |first, piece| {
                if !bias.is_empty() {
                    kernel::add_to(piece, &bias[first..first + piece.len()]);
                }
                if activates && results_tell {
                    activate(piece, &slopes[first..first + piece.len()]);
                }
            },
        );
        let mut output = operation::tensor(output, shape);
        let values = activates.then(|| Values { are_results: results_tell, tensor: output.clone() });
        if !results_tell {
            kernel::for_each_part(
                output.storage_mut(),
                width,
                #[inline(always)]
                |_, part| part.chunks_exact_mut(width).for_each(|row| activate(row, &slopes)),
            );
        }
        (output, Saved { values, slopes, slopes_given: given.len() })
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
        let input = input_wanted.then(|| {
            // What the activation was undone with has served: its memory takes the product, unless somebody else has a use for it.
            let memory = values.map(|values| values.tensor).filter(FlexTensor::is_unique);
            let Some(mut product) = memory else {
                let product = self.operator.transposed_rows().times(gradient.storage(), width, kernel::as_it_is);
                return operation::tensor(product, [self.operator.num_nodes(), width]);
            };
            self.operator.transposed_rows().times_into(
                gradient.storage(),
                width,
                product.storage_mut(),
                kernel::as_it_is,
            );
            product
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
pub(super) fn activate(row: &mut [f32], slopes: &[f32]) {
    for (value, &slope) in row.iter_mut().zip(slopes) {
        // A choice of factors rather than of results, which vectors of numbers can make at once.
        *value *= if *value > 0.0 { 1.0 } else { slope };
    }
}

/// Columns whose sums are kept in registers.
const TILE: usize = 16;

/// Turns the gradient after the activation into that before it; returns the sums over rows for the bias and the slopes.
pub(super) fn undo_activation(
    gradient: &mut [f32],
    width: usize,
    values: Option<&Values>,
    slopes: &[f32],
) -> [Vec<f32>; 2] {
    let Some(Values { are_results, tensor }) = values else {
        return kernel::sum_over_parts(
            gradient,
            width,
            #[inline(always)]
            |_, part, [bias, _]| part.chunks_exact(width).for_each(|row| kernel::add_to(bias, row)),
        );
    };
    let values: &[f32] = tensor.storage();
    // A slope of zero has no inverse, and none is needed: it is not learned.
    let inverse = |&slope: &f32| match slope {
        _ if !are_results => 1.0,
        0.0 => 0.0,
        slope => 1.0 / slope,
    };
    let inverses: Vec<f32> = slopes.iter().map(inverse).collect();
    kernel::sum_over_parts(
        gradient,
        width,
        #[inline(always)]
        |first, part, [bias, of_slopes]| {
            let values = &values[first * width..first * width + part.len()];
            let tiled = width - width % TILE;
            for column in (0..tiled).step_by(TILE) {
                let tile = Columns::<TILE>::at(column, width, slopes, &inverses);
                tile.undo(part, values, bias, of_slopes);
            }
            for column in tiled..width {
                let tile = Columns::<1>::at(column, width, slopes, &inverses);
                tile.undo(part, values, bias, of_slopes);
            }
        },
    )
}

/// Some neighboring columns of a matrix.
struct Columns<const WIDTH: usize> {
    first: usize,
    width: usize,
    slopes: [f32; WIDTH],
    inverses: [f32; WIDTH],
}

impl<const WIDTH: usize> Columns<WIDTH> {
    #[inline(always)]
    fn at(first: usize, width: usize, slopes: &[f32], inverses: &[f32]) -> Self {
        let cut = |values: &[f32]| std::array::from_fn(|place| values[first + place]);
        Columns { first, width, slopes: cut(slopes), inverses: cut(inverses) }
    }

    /// See [`undo_activation`].
    #[inline(always)]
    fn undo(&self, gradient: &mut [f32], values: &[f32], bias: &mut [f32], of_slopes: &mut [f32]) {
        let mut bias_sums = [0.0; WIDTH];
        let mut slope_sums = [0.0; WIDTH];
        let rows = gradient.chunks_exact_mut(self.width).zip(values.chunks_exact(self.width));
        for (gradient, values) in rows {
            let gradient = &mut gradient[self.first..self.first + WIDTH];
            let values = &values[self.first..self.first + WIDTH];
            for place in 0..WIDTH {
                let is_positive = values[place] > 0.0;
                let before = values[place] * if is_positive { 0.0 } else { self.inverses[place] };
                slope_sums[place] += gradient[place] * before;
                gradient[place] *= if is_positive { 1.0 } else { self.slopes[place] };
                bias_sums[place] += gradient[place];
            }
        }
        kernel::add_to(&mut bias[self.first..self.first + WIDTH], &bias_sums);
        kernel::add_to(&mut of_slopes[self.first..self.first + WIDTH], &slope_sums);
    }
}
