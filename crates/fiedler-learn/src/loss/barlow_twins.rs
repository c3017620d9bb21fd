//! Correlations across two views are to be the identity: the loss of Barlow Twins.

use burn::Tensor;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, check_size};
use crate::ops;

/// `Σ_i (1 - C_ii)² + λ Σ_{i≠j} C_ij²` on standardized columns, with `C = Z₁ᵀZ₂ / n` the correlations across views: a column is to be the
/// same in both views, and to tell nothing of the others.
///
/// Columns are divided by the sample deviation (`n - 1`) and products by `n`, as in the program of Graph Barlow Twins, so that `C_ii` of equal
/// views is `(n - 1) / n`. What is added to the deviation is 1e-5, there 1e-15: see [`ops::standardize`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BarlowTwins {
    /// λ: what correlations between different columns weigh; `1 / d` of `d` columns where it is not given.
    pub lambda: Option<f64>,
}

/// The two parts of the loss, each a single number.
#[derive(Debug, Clone)]
pub struct BarlowTwinsTerms {
    /// `Σ_i (1 - C_ii)²`.
    pub invariance: Tensor<1>,
    /// `Σ_{i≠j} C_ij²`, not yet multiplied by λ.
    pub redundancy: Tensor<1>,
    /// λ.
    pub lambda: f64,
}

impl BarlowTwins {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        match self.lambda {
            Some(lambda) if !(lambda.is_finite() && lambda >= 0.0) => {
                Err(Error::setting("lambda", lambda, "a number that is not negative"))
            }
            _ => Ok(()),
        }
    }

    /// The parts of the loss of two views of the same rows.
    ///
    /// # Errors
    /// When the views differ in size.
    pub fn terms(&self, views: [Tensor<2>; 2]) -> Result<BarlowTwinsTerms> {
        let [rows, width] = views[0].dims();
        check_size("second view", views[1].dims()[0], rows)?;
        check_size("row of the second view", views[1].dims()[1], width)?;
        let [one, other] = views.map(ops::standardize);
        let terms = ops::cross_decorrelation(one, other);
        Ok(BarlowTwinsTerms {
            invariance: terms.clone().narrow(0, 0, 1),
            redundancy: terms.narrow(0, 1, 1),
            lambda: self.lambda.unwrap_or(1.0 / width.max(1) as f64),
        })
    }

    /// The loss: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range, or the views differ in size.
    pub fn loss(&self, views: [Tensor<2>; 2]) -> Result<Tensor<1>> {
        self.check()?;
        Ok(self.terms(views)?.sum())
    }
}

impl BarlowTwinsTerms {
    /// The parts weighed against each other.
    pub fn sum(&self) -> Tensor<1> {
        self.invariance.clone() + self.redundancy.clone() * self.lambda
    }
}
