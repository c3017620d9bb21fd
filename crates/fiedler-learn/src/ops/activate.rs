//! An activation by itself: where it does not follow a propagation step, which has one of its own.

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};
use super::propagate::{self, ActivationOp, Values};

/// `max(x, 0) + slope · min(x, 0)` for every value. Gradients flow to the input and the slope.
pub fn activate(input: Tensor<2>, activation: &ActivationOp) -> Tensor<2> {
    let ActivationOp::Prelu(slopes) = activation else { return super::plain::activate(input, activation) };
    let columns = input.dims()[1];
    assert!([1, columns].contains(&slopes.dims()[0]), "one slope for all columns, or one for each");
    if !operation::is_on_cpu(&input) {
        return super::plain::activate(input, activation);
    }
    operation::apply(Prelu, [input.into_dispatch(), slopes.clone().into_dispatch()])
}

#[derive(Debug, Clone)]
struct Prelu;

impl Operation<2> for Prelu {
    /// The input, one slope a column, and how many were given.
    type Saved = (FlexTensor, Vec<f32>, usize);

    fn forward(&self, [input, slopes]: [FlexTensor; 2]) -> (FlexTensor, Self::Saved) {
        let width = width(&input);
        let given: &[f32] = slopes.storage();
        let count = given.len();
        let slopes = if count == 1 { vec![given[0]; width] } else { given.to_vec() };
        let mut output = input.clone();
        kernel::for_each_part(
            output.storage_mut(),
            width,
            #[inline(always)]
            |_, part| part.chunks_exact_mut(width).for_each(|row| propagate::activate(row, &slopes)),
        );
        (output, (input, slopes, count))
    }

    fn backward(&self, saved: Self::Saved, mut gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let (input, slopes, count) = saved;
        let width = width(&input);
        let values = Values { are_results: false, tensor: input };
        let [_, of_slopes] = propagate::undo_activation(gradient.storage_mut(), width, Some(&values), &slopes);
        let of_slopes = if count == 1 { vec![of_slopes.iter().sum()] } else { of_slopes };
        let [input_wanted, slopes_wanted] = wanted;
        [input_wanted.then_some(gradient), slopes_wanted.then(|| operation::tensor(of_slopes, [count]))]
    }
}
