//! What is done to embeddings before a probe sees them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::Matrix;

/// What is done to embeddings before a probe sees them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preparation {
    /// Every column to mean 0 and deviation 1 over the training rows, as scikit-learn's `StandardScaler` does; the protocol that the
    /// paper follows (AD-GCL's) does this.
    Standardize,
    /// Every row to length 1, as GRACE and GCA do.
    UnitRows,
    /// Nothing.
    AsIs,
}

/// A preparation that has seen the training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Prepared {
    Columns { means: Vec<f64>, scales: Vec<f64> },
    UnitRows,
    AsIs,
}

impl Preparation {
    /// Every preparation.
    pub const ALL: [Preparation; 3] = [Preparation::Standardize, Preparation::UnitRows, Preparation::AsIs];

    /// Name for the command line and reports.
    pub fn name(self) -> &'static str {
        match self {
            Preparation::Standardize => "standardize",
            Preparation::UnitRows => "unit-rows",
            Preparation::AsIs => "as-is",
        }
    }

    /// The same in words.
    pub fn describe(self) -> &'static str {
        match self {
            Preparation::Standardize => "columns standardized by mean and deviation of the training rows",
            Preparation::UnitRows => "rows scaled to length one",
            Preparation::AsIs => "embeddings as they are",
        }
    }

    /// Learns from training rows what there is to learn.
    pub(crate) fn learn(self, train: &Matrix) -> Prepared {
        match self {
            Preparation::Standardize => {
                let means = train.column_means();
                let mut scales = vec![0.0; train.columns()];
                for row in train.values().chunks_exact(train.columns().max(1)) {
                    for ((scale, value), mean) in scales.iter_mut().zip(row).zip(&means) {
                        *scale += (value - mean) * (value - mean);
                    }
                }
                for (scale, mean) in scales.iter_mut().zip(&means) {
                    let deviation = (*scale / train.rows().max(1) as f64).sqrt();
                    // A column that varies by no more than rounding does not vary.
                    *scale = if deviation > 10.0 * f64::EPSILON * mean.abs() { deviation } else { 1.0 };
                }
                Prepared::Columns { means, scales }
            }
            Preparation::UnitRows => Prepared::UnitRows,
            Preparation::AsIs => Prepared::AsIs,
        }
    }
}

impl Prepared {
    /// Prepares rows, training rows and others alike.
    pub(crate) fn apply(&self, mut rows: Matrix) -> Matrix {
        let columns = rows.columns().max(1);
        match self {
            Prepared::Columns { means, scales } => {
                rows.subtract(means);
                for row in rows.values_mut().chunks_exact_mut(columns) {
                    row.iter_mut().zip(scales).for_each(|(value, scale)| *value /= scale);
                }
            }
            Prepared::UnitRows => {
                for row in rows.values_mut().chunks_exact_mut(columns) {
                    let length = row.iter().map(|value| value * value).sum::<f64>().sqrt();
                    if length > 0.0 {
                        row.iter_mut().for_each(|value| *value /= length);
                    }
                }
            }
            Prepared::AsIs => {}
        }
        rows
    }
}

impl fmt::Display for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Preparation {
    type Err = Error;

    fn from_str(name: &str) -> Result<Preparation> {
        let known = Preparation::ALL.map(Preparation::name);
        let found = Preparation::ALL.into_iter().find(|preparation| preparation.name() == name);
        found.ok_or_else(|| fiedler_graph::Error::unknown_name("preparation", name, known).into())
    }
}
