//! Canonical correlation analysis of two views: the loss of CCA-SSG.

use burn::Tensor;
use serde::{Deserialize, Serialize};

use crate::GraphOffsets;
use crate::error::{Error, Result, check_size};
use crate::ops::{self, Pooling};

/// `-Σ C_ii + λ (‖I - C₁‖² + ‖I - C₂‖²)` on standardized columns, with `C = Z₁ᵀZ₂ / n` the correlations across views, `C₁ = Z₁ᵀZ₁ / n` and
/// `C₂ = Z₂ᵀZ₂ / n` those within each: a column is to be the same in both views, and different columns are to be uncorrelated.
///
/// Columns are divided by the sample deviation (`n - 1`) and products by `n`, as in the published program, so that `C_ii` of equal views
/// is `(n - 1) / n`. Unlike there, a small number is added to the deviation: see [`ops::standardize`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cca {
    /// λ: what correlations between columns weigh against differences between views.
    pub lambda: f64,
}

impl Default for Cca {
    fn default() -> Self {
        Cca { lambda: 1e-3 }
    }
}

/// The two parts of the loss, each a single number.
#[derive(Debug, Clone)]
pub struct CcaTerms {
    /// `-Σ C_ii`: from `-d` for equal views to `d` for opposite ones.
    pub invariance: Tensor<1>,
    /// `‖I - C₁‖² + ‖I - C₂‖²`, not yet multiplied by λ.
    pub decorrelation: Tensor<1>,
}

impl Cca {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        if !(self.lambda.is_finite() && self.lambda >= 0.0) {
            return Err(Error::setting("lambda", self.lambda, "a number that is not negative"));
        }
        Ok(())
    }

    /// The parts of the loss of two views of the same rows.
    ///
    /// # Errors
    /// When the views differ in size.
    pub fn terms(&self, views: [Tensor<2>; 2]) -> Result<CcaTerms> {
        let [rows, width] = views[0].dims();
        check_size("second view", views[1].dims()[0], rows)?;
        check_size("row of the second view", views[1].dims()[1], width)?;
        let [one, other] = views.map(ops::standardize);
        // Only the diagonal of `C` counts: dot products of columns, without the product of matrices.
        let diagonal = ops::pool(one.clone() * other.clone(), &GraphOffsets::single(rows), Pooling::Mean);
        Ok(CcaTerms {
            invariance: diagonal.sum().neg(),
            decorrelation: ops::decorrelation(one) + ops::decorrelation(other),
        })
    }

    /// The loss: a single number.
    ///
    /// # Errors
    /// When a setting is out of its range, or the views differ in size.
    pub fn loss(&self, views: [Tensor<2>; 2]) -> Result<Tensor<1>> {
        self.check()?;
        let terms = self.terms(views)?;
        Ok(self.sum(&terms))
    }

    /// The parts weighed against each other.
    pub fn sum(&self, terms: &CcaTerms) -> Tensor<1> {
        terms.invariance.clone() + terms.decorrelation.clone() * self.lambda
    }
}
