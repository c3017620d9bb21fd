//! A weighted sum of propagation steps: `Σ_k γ_k Pᵏ · input`, what decoupled encoders (APPNP, GPR-GNN) end with.

use std::sync::Arc;

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};
use crate::Operator;

/// `Σ_k coefficients[k] · operatorᵏ · input`, with as many terms as there are coefficients.
///
/// Gradients flow to the input and the coefficients. Of the powers none is kept: the coefficients' gradients are found on the way back.
pub fn propagate_mix(operator: &Arc<Operator>, input: Tensor<2>, coefficients: Tensor<1>) -> Tensor<2> {
    assert_eq!(input.dims()[0], operator.num_nodes(), "the input has one row for each node");
    assert!(coefficients.dims()[0] > 0, "at least one coefficient, for the input itself");
    if !operation::is_on_cpu(&input) || !operation::is_on_cpu(&coefficients) {
        return super::plain::propagate_mix(operator, input, coefficients);
    }
    let mix = Mix { operator: Arc::clone(operator) };
    operation::apply(mix, [input.into_dispatch(), coefficients.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Mix {
    operator: Arc<Operator>,
}

impl Operation<2> for Mix {
    /// The input and the coefficients.
    type Saved = (FlexTensor, Vec<f32>);

    fn forward(&self, [input, coefficients]: [FlexTensor; 2]) -> (FlexTensor, Self::Saved) {
        let width = width(&input);
        let values: &[f32] = input.storage();
        let coefficients = coefficients.storage::<f32>().to_vec();
        // Horner's scheme, from the last power on: `P (P (γ₂ x) + γ₁ x) + γ₀ x`.
        let last = coefficients.len() - 1;
        let mut sum: Vec<f32> = values.iter().map(|value| coefficients[last] * value).collect();
        for &coefficient in coefficients[..last].iter().rev() {
            sum = self.operator.sparse_rows().times(&sum, width, kernel::as_it_is);
            add_multiple(&mut sum, coefficient, values, width);
        }
        (operation::tensor(sum, [self.operator.num_nodes(), width]), (input, coefficients))
    }

    fn backward(&self, saved: Self::Saved, gradient: FlexTensor, wanted: [bool; 2]) -> [Option<FlexTensor>; 2] {
        let (input, coefficients) = saved;
        let width = width(&input);
        let values: &[f32] = input.storage();
        let [input_wanted, coefficients_wanted] = wanted;
        let mut of_coefficients = Vec::with_capacity(coefficients.len());
        let mut of_input = vec![0.0; if input_wanted { values.len() } else { 0 }];
        // `⟨g, Pᵏx⟩ = ⟨(Pᵀ)ᵏg, x⟩`: one walk serves both gradients.
        let mut power = gradient.storage::<f32>().to_vec();
        for (k, &coefficient) in coefficients.iter().enumerate() {
            if k > 0 {
                power = self.operator.transposed_rows().times(&power, width, kernel::as_it_is);
            }
            if input_wanted {
                add_multiple(&mut of_input, coefficient, &power, width);
            }
            if coefficients_wanted {
                of_coefficients.push(inner_product(&power, values, width));
            }
        }
        let count = coefficients.len();
        [
            input_wanted.then(|| operation::tensor(of_input, [self.operator.num_nodes(), width])),
            coefficients_wanted.then(|| operation::tensor(of_coefficients, [count])),
        ]
    }
}

/// Adds a multiple of one matrix to another.
fn add_multiple(total: &mut [f32], factor: f32, matrix: &[f32], width: usize) {
    kernel::for_each_part(
        total,
        width,
        #[inline(always)]
        |first, part| kernel::add_multiple(part, factor, &matrix[first * width..first * width + part.len()]),
    );
}

/// The sum of the products of the entries of two matrices.
fn inner_product(one: &[f32], other: &[f32], width: usize) -> f32 {
    let [columns] = kernel::sum_over_parts_of(
        one,
        width,
        #[inline(always)]
        |first, part, [sums]| {
            let other = &other[first * width..first * width + part.len()];
            for (one, other) in part.chunks_exact(width).zip(other.chunks_exact(width)) {
                for ((sum, one), other) in sums.iter_mut().zip(one).zip(other) {
                    *sum += one * other;
                }
            }
        },
    );
    columns.iter().map(|&sum| f64::from(sum)).sum::<f64>() as f32
}
