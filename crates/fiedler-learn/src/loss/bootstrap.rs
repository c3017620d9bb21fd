//! Losses of networks that learn from a target network instead of negatives: BGRL's and both of SGRL's.

use burn::Tensor;

use super::local_global::to_length_one;
use crate::GraphOffsets;
use crate::error::{Result, check_size};
use crate::ops::{self, Pooling, Similarity};

/// The mean over rows of the cosine between what is predicted and what is wanted: a single number. No gradient reaches what is wanted.
///
/// # Errors
/// When the matrices differ in size.
pub fn mean_cosine(predicted: Tensor<2>, wanted: Tensor<2>) -> Result<Tensor<1>> {
    let [rows, width] = predicted.dims();
    check_size("target", wanted.dims()[0], rows)?;
    check_size("row of the target", wanted.dims()[1], width)?;
    let each = GraphOffsets::new((0..=rows as u32).collect());
    let cosines = ops::similarity(predicted, wanted.detach(), &each, Similarity::Cosine);
    Ok(mean(cosines.unsqueeze_dim(1)).sum())
}

/// `2 - mean cos(q₁, y₂) - mean cos(q₂, y₁)`, from 0 to 4: what is predicted from one view is to be what the target network makes of the other.
///
/// # Errors
/// When the matrices differ in size.
pub fn bootstrap(predicted: [Tensor<2>; 2], wanted: [Tensor<2>; 2]) -> Result<Tensor<1>> {
    let ([one, other], [of_one, of_other]) = (predicted, wanted);
    let agreement = mean_cosine(one, of_other)? + mean_cosine(other, of_one)?;
    Ok(agreement.neg() + 2.0)
}

/// `‖mean of the rows, each of length one‖² - 1`, from -1 to 0: rows are to lie far from their common mean.
///
/// This is `-mean ‖h_i - mean h‖²` for rows of length one. A row of zeros stays one.
pub fn scattering(rows: Tensor<2>) -> Tensor<1> {
    mean(to_length_one(&rows)).square().sum() - 1.0
}

/// The mean of all rows; unlike a plain mean, in the same order whatever the number of threads.
fn mean(rows: Tensor<2>) -> Tensor<2> {
    let all = GraphOffsets::single(rows.dims()[0]);
    ops::pool(rows, &all, Pooling::Mean)
}
