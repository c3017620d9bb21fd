//! Batch normalization with the activation in the same pass.

use burn::Tensor;
use burn::backend::Flex;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};

/// Mean and variance of each column.
#[derive(Debug, Clone)]
pub struct Statistics {
    /// Mean of each column.
    pub mean: Tensor<1>,
    /// Mean square distance from the mean, of each column.
    pub variance: Tensor<1>,
}

/// Mean and (biased) variance of each column; zeros for a matrix without rows. No gradient flows through them.
pub fn statistics(input: &Tensor<2>) -> Statistics {
    let input = input.clone().inner();
    if !operation::is_on_cpu(&input) {
        return super::plain::statistics(input);
    }
    let [rows, width] = input.dims();
    let input = operation::to_cpu(input);
    let values: &[f32] = input.storage();
    let share = 1.0 / rows.max(1) as f32;
    let scaled = |mut sums: Vec<f32>| {
        sums.iter_mut().for_each(|sum| *sum *= share);
        sums
    };
    let [sums] = kernel::sum_over_parts_of(
        values,
        width,
        #[inline(always)]
        |_, part, [sum]| part.chunks_exact(width).for_each(|row| kernel::add_to(sum, row)),
    );
    let mean = scaled(sums);
    let [sums] = kernel::sum_over_parts_of(
        values,
        width,
        #[inline(always)]
        |_, part, [sum]| {
            for row in part.chunks_exact(width) {
                for ((sum, &value), &mean) in sum.iter_mut().zip(row).zip(&mean) {
                    *sum += (value - mean) * (value - mean);
                }
            }
        },
    );
    let to_tensor = |values: Vec<f32>| Tensor::from_primitive::<Flex>(operation::tensor(values, [width]));
    Statistics { mean: to_tensor(mean), variance: to_tensor(scaled(sums)) }
}

/// How [`normalize`] is to be done.
#[derive(Debug, Clone, Copy)]
pub struct BatchNormOp {
    /// What is added to the variance.
    pub epsilon: f32,
    /// Whether the statistics are those of the input itself and move with it; otherwise they stand still.
    pub of_input: bool,
    /// Whether what is negative becomes zero.
    pub relu: bool,
}

/// `(input - mean) / sqrt(variance + epsilon) · scale + shift`, and no less than zero if so wished.
///
/// Gradients flow to the input, the scale and the shift.
pub fn normalize(
    input: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    statistics: &Statistics,
    how: BatchNormOp,
) -> Tensor<2> {
    let columns = [input.dims()[1]];
    assert_eq!([scale.dims(), shift.dims()], [columns, columns], "one scale and one shift for each column");
    if !operation::is_on_cpu(&input) {
        return super::plain::normalize(input, scale, shift, statistics, how);
    }
    let values = |tensor: &Tensor<1>| operation::to_cpu(tensor.clone().inner()).storage::<f32>().to_vec();
    let inverse = values(&statistics.variance).iter().map(|variance| 1.0 / (variance + how.epsilon).sqrt()).collect();
    let normalize = Normalize { mean: values(&statistics.mean), inverse, how };
    operation::apply(normalize, [input.into_dispatch(), scale.into_dispatch(), shift.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Normalize {
    mean: Vec<f32>,
    /// One over the standard deviation.
    inverse: Vec<f32>,
    how: BatchNormOp,
}

impl Operation<3> for Normalize {
    /// The input, the scale, and the output where it tells which values became zero.
    type Saved = (FlexTensor, FlexTensor, Option<FlexTensor>);

    fn forward(&self, [input, scale, shift]: [FlexTensor; 3]) -> (FlexTensor, Self::Saved) {
        let width = width(&input);
        let (values, scales, shifts): (&[f32], &[f32], &[f32]) = (input.storage(), scale.storage(), shift.storage());
        // One multiplication and one addition a value.
        let factors: Vec<f32> = scales.iter().zip(&self.inverse).map(|(scale, inverse)| scale * inverse).collect();
        let terms: Vec<f32> =
            shifts.iter().zip(&factors).zip(&self.mean).map(|((shift, factor), mean)| shift - factor * mean).collect();
        let mut output = vec![0.0; values.len()];
        let least = if self.how.relu { 0.0 } else { f32::NEG_INFINITY };
        kernel::for_each_part(
            &mut output,
            width,
            #[inline(always)]
            |first, part| {
                let values = &values[first * width..first * width + part.len()];
                for (row, values) in part.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
                    for (((output, &value), &factor), &term) in row.iter_mut().zip(values).zip(&factors).zip(&terms) {
                        *output = (value * factor + term).max(least);
                    }
                }
            },
        );
        let output = operation::tensor(output, input.layout().shape().clone());
        let kept = self.how.relu.then(|| output.clone());
        (output, (input, scale, kept))
    }

    fn backward(&self, saved: Self::Saved, mut gradient: FlexTensor, wanted: [bool; 3]) -> [Option<FlexTensor>; 3] {
        let (input, scale, output) = saved;
        let width = width(&input);
        let rows = input.layout().shape()[0];
        let (values, scales): (&[f32], &[f32]) = (input.storage(), scale.storage());
        let output: Option<&[f32]> = output.as_ref().map(FlexTensor::storage);
        let [of_shift, of_scale] = kernel::sum_over_parts(
            gradient.storage_mut(),
            width,
            #[inline(always)]
            |first, part, sums| {
                let [of_shift, of_scale] = sums;
                for (place, row) in part.chunks_exact_mut(width).enumerate() {
                    let range = (first + place) * width..(first + place + 1) * width;
                    if let Some(output) = output {
                        for (gradient, &output) in row.iter_mut().zip(&output[range.clone()]) {
                            *gradient = if output > 0.0 { *gradient } else { 0.0 };
                        }
                    }
                    let columns = self.mean.iter().zip(&self.inverse).zip(of_shift.iter_mut().zip(of_scale.iter_mut()));
                    for ((&gradient, &value), ((mean, inverse), (of_shift, of_scale))) in
                        row.iter().zip(&values[range]).zip(columns)
                    {
                        *of_shift += gradient;
                        *of_scale += gradient * (value - mean) * inverse;
                    }
                }
            },
        );
        let for_input = wanted[0].then(|| {
            let share = if self.how.of_input { 1.0 / rows.max(1) as f32 } else { 0.0 };
            let factors: Vec<f32> = scales.iter().zip(&self.inverse).map(|(scale, inverse)| scale * inverse).collect();
            kernel::for_each_part(
                gradient.storage_mut(),
                width,
                #[inline(always)]
                |first, part| {
                    let values = &values[first * width..first * width + part.len()];
                    for (row, values) in part.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
                        let columns =
                            self.mean.iter().zip(&self.inverse).zip(of_shift.iter().zip(&of_scale)).zip(&factors);
                        for ((gradient, &value), (((mean, inverse), (of_shift, of_scale)), factor)) in
                            row.iter_mut().zip(values).zip(columns)
                        {
                            let normalized = (value - mean) * inverse;
                            *gradient = factor * (*gradient - share * (of_shift + normalized * of_scale));
                        }
                    }
                },
            );
            gradient
        });
        let of_columns = |wanted: bool, sums: Vec<f32>| wanted.then(|| operation::tensor(sums, [width]));
        [for_input, of_columns(wanted[1], of_scale), of_columns(wanted[2], of_shift)]
    }
}
