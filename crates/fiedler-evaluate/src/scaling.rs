//! Scaling of embeddings before a probe sees them.

use crate::list::named_enum;
use crate::matrix::Matrix;

named_enum! {
    /// Scaling: what is done to embeddings before a probe sees them.
    pub enum Scaling as "scaling" {
        /// Every column to mean 0 and deviation 1 over the training rows (scikit-learn's `StandardScaler`), as AD-GCL does
        "standardize" => Standardize,
        /// Every row to Euclidean length 1 (scikit-learn's `normalize`), as GRACE and GCA do
        "l2-rows" | "unit-rows" => L2Rows,
        /// Embeddings as they are
        "none" | "as-is" => None,
    }
}

/// Scalings to choose from where nothing else is asked for: which one helps depends on how the embeddings were trained.
pub const DEFAULT_SCALING: [Scaling; 2] = [Scaling::Standardize, Scaling::L2Rows];

/// A scaling that has seen the training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FittedScaling {
    Standardize { means: Vec<f64>, deviations: Vec<f64> },
    L2Rows,
    None,
}

impl Scaling {
    /// The scaling in words.
    pub fn describe(self) -> &'static str {
        match self {
            Scaling::Standardize => "columns standardized by mean and deviation of the training rows",
            Scaling::L2Rows => "rows scaled to length one",
            Scaling::None => "embeddings as they are",
        }
    }

    /// Takes what it needs from training rows.
    pub(crate) fn fit(self, train: &Matrix) -> FittedScaling {
        match self {
            Scaling::Standardize => {
                let means = train.column_means();
                let mut deviations = vec![0.0; train.columns()];
                for row in train.values().chunks_exact(train.columns().max(1)) {
                    for ((sum, value), mean) in deviations.iter_mut().zip(row).zip(&means) {
                        *sum += (value - mean) * (value - mean);
                    }
                }
                for (deviation, mean) in deviations.iter_mut().zip(&means) {
                    let found = (*deviation / train.rows().max(1) as f64).sqrt();
                    // A column that varies by no more than rounding does not vary.
                    *deviation = if found > 10.0 * f64::EPSILON * mean.abs() { found } else { 1.0 };
                }
                FittedScaling::Standardize { means, deviations }
            }
            Scaling::L2Rows => FittedScaling::L2Rows,
            Scaling::None => FittedScaling::None,
        }
    }
}

impl FittedScaling {
    /// Scales rows, training rows and others alike.
    pub(crate) fn apply(&self, mut rows: Matrix) -> Matrix {
        let columns = rows.columns().max(1);
        match self {
            FittedScaling::Standardize { means, deviations } => {
                rows.subtract(means);
                for row in rows.values_mut().chunks_exact_mut(columns) {
                    row.iter_mut().zip(deviations).for_each(|(value, deviation)| *value /= deviation);
                }
            }
            FittedScaling::L2Rows => {
                for row in rows.values_mut().chunks_exact_mut(columns) {
                    let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                    if length > 0.0 {
                        row.iter_mut().for_each(|value| *value /= length);
                    }
                }
            }
            FittedScaling::None => {}
        }
        rows
    }
}
