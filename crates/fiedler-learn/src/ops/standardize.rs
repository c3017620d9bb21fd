//! Columns standardized over the rows of a batch: what losses of correlations (CCA-SSG, Graph Barlow Twins) begin with.

use burn::Tensor;
use burn::backend::flex::FlexTensor;

use super::kernel;
use super::operation::{self, Operation, width};

/// What is added to the standard deviation of a column. A column that is constant but for rounding then stays near zero, instead of being
/// blown up to unit variance.
pub const STANDARDIZE_EPSILON: f32 = 1e-5;

/// Standardization: `(x - mean) / (std + 1e-5)` for each column, with the sample standard deviation (divided by `n - 1`).
///
/// CCA-SSG's program divides by `std`, that of Graph Barlow Twins by `std + 1e-15`: both the sample deviation, but neither is safe where
/// a column is constant. A constant column becomes zero here and has no gradient along itself. One row has no deviation: it becomes zero.
/// Gradients flow through mean and deviation.
pub fn standardize(input: Tensor<2>) -> Tensor<2> {
    if !operation::is_on_cpu(&input) {
        return super::plain::standardize(input);
    }
    operation::apply(Standardize, [input.into_dispatch()])
}

#[derive(Debug, Clone)]
struct Standardize;

/// What the derivative is computed from.
#[derive(Debug, Clone)]
struct Saved {
    output: FlexTensor,
    /// `1 / (std + ε)` of each column.
    inverse: Vec<f32>,
    /// `(std + ε) / ((n - 1) std)` of each column; zero where it is constant.
    curvature: Vec<f32>,
}

impl Operation<1> for Standardize {
    type Saved = Saved;

    fn forward(&self, [input]: [FlexTensor; 1]) -> (FlexTensor, Saved) {
        let (width, rows) = (width(&input), input.layout().shape()[0]);
        let values: &[f32] = input.storage();
        let share = 1.0 / rows.max(1) as f32;
        let [mut mean] = kernel::sum_over_parts_of(
            values,
            width,
            #[inline(always)]
            |_, part, [sum]| part.chunks_exact(width).for_each(|row| kernel::add_to(sum, row)),
        );
        mean.iter_mut().for_each(|sum| *sum *= share);
        // The sums of the differences, which rounding of the mean keeps from zero, correct the mean and the sums of squares: a column
        // of equal values, however large, is found to be constant.
        let [sums, squares] = kernel::sum_over_parts_of(
            values,
            width,
            #[inline(always)]
            |_, part, [sums, squares]| {
                for row in part.chunks_exact(width) {
                    let columns = sums.iter_mut().zip(squares.iter_mut());
                    for (((sum, square), &value), &mean) in columns.zip(row).zip(&mean) {
                        let difference = value - mean;
                        *sum += difference;
                        *square += difference * difference;
                    }
                }
            },
        );
        let degrees = rows.saturating_sub(1).max(1) as f32;
        let deviation = |(square, sum): (&f32, &f32)| ((square - sum * sum * share).max(0.0) / degrees).sqrt();
        let deviations: Vec<f32> = squares.iter().zip(&sums).map(deviation).collect();
        let inverse: Vec<f32> = deviations.iter().map(|deviation| 1.0 / (deviation + STANDARDIZE_EPSILON)).collect();
        let curvature = deviations.iter().map(|&deviation| match deviation {
            0.0 => 0.0,
            deviation => (deviation + STANDARDIZE_EPSILON) / (degrees * deviation),
        });
        mean.iter_mut().zip(&sums).for_each(|(mean, sum)| *mean += sum * share);
        let mut output = vec![0.0; values.len()];
        kernel::for_each_part(
            &mut output,
            width,
            #[inline(always)]
            |first, part| {
                let values = &values[first * width..first * width + part.len()];
                for (row, values) in part.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
                    for (((output, &value), &mean), &inverse) in row.iter_mut().zip(values).zip(&mean).zip(&inverse) {
                        *output = (value - mean) * inverse;
                    }
                }
            },
        );
        let output = operation::tensor(output, [rows, width]);
        let saved = Saved { output: output.clone(), curvature: curvature.collect(), inverse };
        (output, saved)
    }

    fn backward(&self, saved: Saved, mut gradient: FlexTensor, _: [bool; 1]) -> [Option<FlexTensor>; 1] {
        let Saved { output, inverse, curvature } = saved;
        let (width, rows) = (width(&output), output.layout().shape()[0]);
        let outputs: &[f32] = output.storage();
        let [sums, along] = kernel::sum_over_parts_of(
            gradient.storage(),
            width,
            #[inline(always)]
            |first, part, [sums, along]| {
                let outputs = &outputs[first * width..first * width + part.len()];
                for (row, outputs) in part.chunks_exact(width).zip(outputs.chunks_exact(width)) {
                    let columns = sums.iter_mut().zip(along.iter_mut());
                    for (((sum, along), &gradient), &output) in columns.zip(row).zip(outputs) {
                        *sum += gradient;
                        *along += gradient * output;
                    }
                }
            },
        );
        let share = 1.0 / rows.max(1) as f32;
        let means: Vec<f32> = sums.iter().map(|sum| sum * share).collect();
        let pulls: Vec<f32> = along.iter().zip(&curvature).map(|(along, curvature)| along * curvature).collect();
        kernel::for_each_part(
            gradient.storage_mut(),
            width,
            #[inline(always)]
            |first, part| {
                let outputs = &outputs[first * width..first * width + part.len()];
                for (row, outputs) in part.chunks_exact_mut(width).zip(outputs.chunks_exact(width)) {
                    let columns = means.iter().zip(&pulls).zip(&inverse);
                    for ((gradient, &output), ((mean, pull), inverse)) in row.iter_mut().zip(outputs).zip(columns) {
                        *gradient = inverse * (*gradient - mean - pull * output);
                    }
                }
            },
        );
        [Some(gradient)]
    }
}
