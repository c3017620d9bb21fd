//! The scaled cosine error of GraphMAE: how far what was rebuilt is from what was hidden.

use burn::Tensor;

use super::local_global::{pool, to_length_one};
use crate::GraphOffsets;
use crate::error::{Error, Result, check_size};
use crate::ops::Pooling;

/// `(1 - cos(x, x̂))^γ`, the mean over rows; a row of zeros has a cosine of zero with all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledCosine {
    /// γ: above 1, rows that are nearly right count less.
    pub gamma: f64,
}

impl ScaledCosine {
    /// Refuses an exponent that has no derivative where rows agree.
    ///
    /// # Errors
    /// When γ is below 1.
    pub fn check(&self) -> Result<()> {
        if self.gamma.is_finite() && (1.0..=16.0).contains(&self.gamma) {
            return Ok(());
        }
        Err(Error::setting("gamma", self.gamma, "1 to 16"))
    }

    /// The loss of rows: a single number.
    ///
    /// # Errors
    /// When there is no row, or tables differ in size.
    pub fn loss(&self, hidden: Tensor<2>, rebuilt: Tensor<2>) -> Result<Tensor<1>> {
        let [rows, columns] = hidden.dims();
        if rows == 0 {
            return Err(Error::setting("number of masked nodes in a step", 0, "at least 1"));
        }
        check_size("table of rebuilt rows", rebuilt.dims()[0], rows)?;
        check_size("rebuilt row", rebuilt.dims()[1], columns)?;
        let cosine = (to_length_one(&hidden) * to_length_one(&rebuilt)).sum_dim(1);
        // Rounding may leave a cosine above one.
        let error = (cosine.neg() + 1.0).clamp_min(0.0);
        let error = match self.gamma {
            1.0 => error,
            2.0 => error.square(),
            gamma => error.powf_scalar(gamma as f32),
        };
        Ok(pool(error.squeeze_dim(1), &GraphOffsets::single(rows), Pooling::Mean))
    }
}
