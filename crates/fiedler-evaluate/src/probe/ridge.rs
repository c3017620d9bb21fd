//! Ridge regression, scikit-learn's `Ridge`: `‖y − Xw − b‖² + α ‖w‖²`, the intercept free.

use super::design::Factor;
use super::{Design, Linear};

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
pub fn fit_ridge(design: &Design, targets: &[f64], penalties: &[f64]) -> Vec<Linear> {
    let rows = design.coordinates();
    let mean = targets.iter().sum::<f64>() / targets.len().max(1) as f64;
    let centred: Vec<f64> = targets.iter().map(|target| target - mean).collect();
    let gram = rows.gram(None);
    let products = rows.transposed_times(&centred, 1);
    let fit = |&penalty: &f64| {
        let weights = match Factor::of(&gram, 1.0, penalty) {
            Some(factor) => {
                let mut weights = products.clone();
                factor.solve(&mut weights, 1);
                weights
            }
            None => vec![0.0; products.len()],
        };
        design.model(&weights, &[mean])
    };
    penalties.iter().map(fit).collect()
}
