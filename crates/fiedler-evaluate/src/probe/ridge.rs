//! Ridge regression, scikit-learn's `Ridge`: `‖y − Xw − b‖² + α ‖w‖²`, the intercept free.

use fiedler_graph::Labels;
use serde::{Deserialize, Serialize};

use super::columns::fit_columns;
use super::design::Factor;
use super::grid::{self, GridProbe};
use super::{ChosenProbe, Design, Linear, ProbeMethod, ProbeTask, check_grid, is_positive, list};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::target::{LabelKind, Target};

/// The penalties to choose from where none are asked for: 10⁻⁵ to 10⁵, as AD-GCL's program has them for molecules. Few rows and many columns
/// want penalties of a thousand and more.
pub const DEFAULT_ALPHAS: [f64; 11] = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5];

/// Settings of ridge regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RidgeSettings {
    /// Penalties to choose from, scikit-learn's `alpha`: large is a strong penalty.
    pub alphas: Vec<f64>,
}

impl Default for RidgeSettings {
    fn default() -> Self {
        RidgeSettings { alphas: DEFAULT_ALPHAS.to_vec() }
    }
}

impl RidgeSettings {
    pub(super) const HELP: &str = "Ridge regression as in scikit-learn, alpha chosen on validation; for real values";
}

impl ProbeMethod for RidgeSettings {
    fn serves(&self) -> &'static [LabelKind] {
        &[LabelKind::Regression]
    }

    fn check(&self) -> Result<()> {
        check_grid("alphas", &self.alphas, is_positive, "a positive number")
    }

    fn describe(&self, _: &Target) -> String {
        format!("ridge regression (as in scikit-learn), alpha from {}", list(&self.alphas))
    }

    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        grid::choose(self, task)
    }
}

impl GridProbe for RidgeSettings {
    type Model = Linear;
    const PARAMETER: &str = "alpha";

    fn grid(&self) -> Vec<f64> {
        let mut alphas = self.alphas.clone();
        alphas.sort_by(|one, other| other.total_cmp(one));
        alphas
    }

    fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32], alphas: &[f64]) -> Vec<Linear> {
        let Labels::Regression(values) = labels else { return Vec::new() };
        let column = |column: usize| items.iter().map(|&item| values.row(item as usize)[column]).collect();
        fit_columns(rows, values.names().len(), column, |design, targets: &[f32]| {
            let targets: Vec<f64> = targets.iter().map(|&value| value.into()).collect();
            fit_ridge(design, &targets, alphas)
        })
    }
}

/// Fits one model for each penalty α, in the order given.
///
/// Targets are one a row of the design. A penalty so small that the equations cannot be solved in `f64` gives the mean.
///
/// ```
/// use fiedler_evaluate::Matrix;
/// use fiedler_evaluate::probe::{Design, fit_ridge};
///
/// let design = Design::new(Matrix::from_fn(4, 1, |row, _| row as f64));
/// let models = fit_ridge(&design, &[1.0, 3.0, 5.0, 7.0], &[1e-9]);
/// assert!((models[0].weights[0] - 2.0).abs() < 1e-6 && (models[0].intercepts[0] - 1.0).abs() < 1e-6);
/// ```
pub fn fit_ridge(design: &Design, targets: &[f64], alphas: &[f64]) -> Vec<Linear> {
    let rows = design.coordinates();
    let mean = targets.iter().sum::<f64>() / targets.len().max(1) as f64;
    let centred: Vec<f64> = targets.iter().map(|target| target - mean).collect();
    let gram = rows.gram(None);
    let products = rows.transposed_times(&centred, 1);
    let fit = |&alpha: &f64| {
        let weights = match Factor::of(&gram, 1.0, alpha) {
            Some(factor) => {
                let mut weights = products.clone();
                factor.solve(&mut weights, 1);
                weights
            }
            None => vec![0.0; products.len()],
        };
        design.model(&weights, &[mean])
    };
    alphas.iter().map(fit).collect()
}
