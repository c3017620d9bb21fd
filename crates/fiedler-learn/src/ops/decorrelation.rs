//! How far the columns of a matrix are from being uncorrelated: the penalty of CCA-SSG.

use burn::Tensor;
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;

use super::operation::{self, Operation, width};

/// `‖I - ZᵀZ / n‖²` (squares of all entries, summed) of a matrix `Z` of `n` rows: a single number.
///
/// For standardized columns `ZᵀZ / n` is the matrix of their correlations. Costs one product of `n · d²` forward and one backward.
pub fn decorrelation(input: Tensor<2>) -> Tensor<1> {
    if !operation::is_on_cpu(&input) {
        return super::plain::decorrelation(input);
    }
    operation::apply(Decorrelation, [input.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Decorrelation;

impl Operation<1> for Decorrelation {
    /// The input and `ZᵀZ / n - I`.
    type Saved = (FlexTensor, FlexTensor);

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, Self::Saved) {
        let (width, share) = (width(&input), share(&input));
        let matrix = to_tensor(input.clone());
        let mut excess = operation::to_cpu(matrix.clone().transpose().matmul(matrix));
        // Sums over many small squares, in 64 bits.
        let mut value = 0.0f64;
        for (row, entries) in excess.storage_mut::<f32>().chunks_exact_mut(width.max(1)).enumerate() {
            for (column, entry) in entries.iter_mut().enumerate() {
                *entry = *entry * share - f32::from(u8::from(row == column));
                value += f64::from(*entry * *entry);
            }
        }
        (operation::tensor(vec![value as f32], [1]), (input, excess))
    }

    fn backward(&self, saved: Self::Saved, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let (input, mut excess) = saved;
        // The excess is symmetric: both factors of each product give the same. Scaling it is cheaper than scaling the result.
        let factor = 4.0 * share(&input) * gradient.storage::<f32>()[0];
        excess.storage_mut::<f32>().iter_mut().for_each(|entry| *entry *= factor);
        [Some(operation::to_cpu(to_tensor(input).matmul(to_tensor(excess))))]
    }
}

fn share(input: &FlexTensor) -> f32 {
    1.0 / input.layout().shape()[0].max(1) as f32
}

fn to_tensor(matrix: FlexTensor) -> Tensor<2> {
    Tensor::from_primitive::<Flex>(matrix)
}
