//! NT-Xent between graphs: the loss of GraphCL, JOAO, AD-GCL and SimGRACE.

use burn::Tensor;
use burn::tensor::{Bool, TensorData};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::local_global::{NEVER, log_sum_exp, pool, to_length_one};
use crate::GraphOffsets;
use crate::error::{Error, Result, check_size};
use crate::ops::Pooling;

/// NT-Xent: `-log(exp(s_ii / τ) / Σ_j exp(s_ij / τ))` with `s_ij` the cosine of row `i` of one view and row `j` of the other; the mean over
/// rows `i`. Rows of zeros have a cosine of zero with all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NtXent {
    /// Temperature τ: similarities are divided by it.
    pub temperature: f64,
    /// Whether the sum has the positive `j = i` as well, as formulas in publications have it. Programs leave it out, so that the loss may be
    /// negative.
    pub positive_in_sum: bool,
    /// Whether the roles of both views are exchanged as well, and the mean of both is taken.
    pub symmetric: bool,
}

impl Default for NtXent {
    fn default() -> Self {
        NtXent { temperature: 0.2, positive_in_sum: false, symmetric: false }
    }
}

impl NtXent {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        if self.temperature.is_finite() && self.temperature > 0.0 {
            return Ok(());
        }
        Err(Error::setting("temperature", self.temperature, "a positive number"))
    }

    /// The loss of two views, row by row the same graphs: a single number.
    ///
    /// # Errors
    /// When there is but one graph, which has nothing to be told apart from, or views differ in size.
    pub fn loss(&self, views: [Tensor<2>; 2]) -> Result<Tensor<1>> {
        let rows = views[0].dims()[0];
        if rows < 2 {
            return Err(Error::setting("number of graphs in a step", rows, "at least 2, to be told apart"));
        }
        check_size("second view", views[1].dims()[0], rows)?;
        check_size("row of the second view", views[1].dims()[1], views[0].dims()[1])?;
        let [one, other] = views.each_ref().map(to_length_one);
        let positives = (one.clone() * other.clone()).sum_dim(1) / self.temperature;
        let similarities = one.matmul(other.transpose()) / self.temperature;
        let similarities = match self.positive_in_sum {
            true => similarities,
            false => similarities.clone().mask_fill(itself(rows, &similarities), NEVER),
        };
        let of_rows = log_sum_exp(similarities.clone(), 1);
        let sums = match self.symmetric {
            true => (of_rows + log_sum_exp(similarities, 0).transpose()) / 2.0,
            false => of_rows,
        };
        Ok(pool((sums - positives).squeeze_dim(1), &GraphOffsets::single(rows), Pooling::Mean))
    }
}

/// Where a row meets itself.
fn itself(rows: usize, like: &Tensor<2>) -> Tensor<2, Bool> {
    let mut same = vec![false; rows * rows];
    same.iter_mut().step_by(rows + 1).for_each(|same| *same = true);
    Tensor::from_data(TensorData::new(same, [rows, rows]), &like.device())
}
