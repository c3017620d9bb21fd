//! How far the correlations of columns are from what they are to be: the penalties of CCA-SSG and Graph Barlow Twins.

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

/// Two numbers: `Σ_i (1 - C_ii)²` and `Σ_{i≠j} C_ij²`, with `C = Z₁ᵀZ₂ / n` for two matrices of `n` rows.
///
/// For standardized columns `C` are their correlations across both. Costs one product of `n · d²` forward and two backward.
pub fn cross_decorrelation(one: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    assert_eq!(one.dims(), other.dims(), "two matrices of the same shape");
    if !operation::is_on_cpu(&one) || !operation::is_on_cpu(&other) {
        return super::plain::cross_decorrelation(one, other);
    }
    operation::apply(CrossDecorrelation, [one.into_dispatch(), other.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Decorrelation;

impl Operation<1> for Decorrelation {
    /// The input and `ZᵀZ / n - I`.
    type Saved = (FlexTensor, FlexTensor);

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, Self::Saved) {
        let (excess, [diagonal, others]) = excess(&input, &input);
        (operation::tensor(vec![(diagonal + others) as f32], [1]), (input, excess))
    }

    fn backward(&self, saved: Self::Saved, gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let (input, mut excess) = saved;
        // The excess is symmetric: both factors of each product give the same. Scaling it is cheaper than scaling the result.
        let factor = 4.0 * share(&input) * gradient.storage::<f32>()[0];
        excess.storage_mut::<f32>().iter_mut().for_each(|entry| *entry *= factor);
        [Some(operation::to_cpu(to_tensor(input).matmul(to_tensor(excess))))]
    }
}

#[derive(Debug, Clone)]
struct CrossDecorrelation;

impl Operation<2> for CrossDecorrelation {
    /// The inputs and `Z₁ᵀZ₂ / n - I`.
    type Saved = ([FlexTensor; 2], FlexTensor);

    fn forward(&self, inputs: [FlexTensor; 2]) -> (FlexTensor, Self::Saved) {
        let (excess, sums) = excess(&inputs[0], &inputs[1]);
        (operation::tensor(sums.map(|sum| sum as f32).to_vec(), [2]), (inputs, excess))
    }

    fn backward(&self, saved: Self::Saved, gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let ([one, other], mut excess) = saved;
        let gradient: &[f32] = gradient.storage();
        let [diagonal, others] = [gradient[0], gradient[1]].map(|gradient| 2.0 * share(&one) * gradient);
        for_each_entry(&mut excess, |is_diagonal, entry| *entry *= if is_diagonal { diagonal } else { others });
        let excess = to_tensor(excess);
        let [of_one, of_other] = wanted;
        [
            of_one.then(|| operation::to_cpu(to_tensor(other).matmul(excess.clone().transpose()))),
            of_other.then(|| operation::to_cpu(to_tensor(one).matmul(excess))),
        ]
    }
}

/// `Z₁ᵀZ₂ / n - I`, and the sums of its squares on the diagonal and elsewhere.
fn excess(one: &FlexTensor, other: &FlexTensor) -> (FlexTensor, [f64; 2]) {
    let share = share(one);
    let mut excess = operation::to_cpu(to_tensor(one.clone()).transpose().matmul(to_tensor(other.clone())));
    // Sums over many small squares, in 64 bits.
    let mut sums = [0.0f64; 2];
    for_each_entry(&mut excess, |is_diagonal, entry| {
        *entry = *entry * share - f32::from(u8::from(is_diagonal));
        sums[usize::from(!is_diagonal)] += f64::from(*entry * *entry);
    });
    (excess, sums)
}

/// Every entry of a square matrix, with whether it is on the diagonal.
fn for_each_entry(matrix: &mut FlexTensor, mut work: impl FnMut(bool, &mut f32)) {
    let width = width(matrix).max(1);
    for (row, entries) in matrix.storage_mut::<f32>().chunks_exact_mut(width).enumerate() {
        for (column, entry) in entries.iter_mut().enumerate() {
            work(row == column, entry);
        }
    }
}

fn share(input: &FlexTensor) -> f32 {
    1.0 / input.layout().shape()[0].max(1) as f32
}

fn to_tensor(matrix: FlexTensor) -> Tensor<2> {
    Tensor::from_primitive::<Flex>(matrix)
}
