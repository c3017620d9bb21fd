//! What takes the place of features that are hidden.

use fiedler_graph::Features;
use fiedler_graph::random::stream;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What takes the place of numbers that are hidden; hidden categories have a code of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MaskFill {
    /// Zeros.
    #[default]
    Zero,
    /// The mean over the graph's nodes.
    Mean,
    /// Normal noise of mean 0.5 and deviation 0.5, as in GraphCL's program for the TU collection.
    Noise,
}

impl MaskFill {
    pub(crate) fn is_zero(&self) -> bool {
        *self == MaskFill::Zero
    }
}

/// What takes the place of a node's numbers, if they are hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    /// Zeros.
    #[default]
    Zero,
    /// The mean over these rows of the batch, from the first to before the last.
    Mean(u32, u32),
    /// Normal noise of mean 0.5 and deviation 0.5 from this seed.
    Noise(u64),
}

impl Fill {
    /// The same for nodes that have other ids.
    pub(crate) fn moved(self, to: impl Fn(u32) -> u32) -> Fill {
        match self {
            Fill::Mean(first, end) => Fill::Mean(to(first), to(end)),
            other => other,
        }
    }

    /// What a later step says where it says something.
    pub(crate) fn later(one: Option<Vec<Fill>>, other: Option<Vec<Fill>>) -> Option<Vec<Fill>> {
        let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
        let later = |(one, other): (&Fill, &Fill)| if *other == Fill::Zero { *one } else { *other };
        Some(one.iter().zip(other).map(later).collect())
    }

    /// The values of a row.
    pub(crate) fn row(self, features: &Features) -> Option<Vec<f32>> {
        let columns = features.columns();
        match self {
            Fill::Zero => None,
            Fill::Mean(first, end) => {
                let mut sums = vec![0f64; columns];
                for row in first as usize..end as usize {
                    match features {
                        Features::Dense(dense) => {
                            sums.iter_mut().zip(dense.row(row)).for_each(|(sum, &value)| *sum += f64::from(value));
                        }
                        Features::Sparse(sparse) => {
                            let (of_row, values) = sparse.row(row);
                            let entries = of_row.iter().zip(values);
                            entries.for_each(|(&column, &value)| sums[column as usize] += f64::from(value));
                        }
                        Features::Categorical(_) => return None,
                    }
                }
                let count = f64::from(end.saturating_sub(first).max(1));
                Some(sums.iter().map(|sum| (sum / count) as f32).collect())
            }
            Fill::Noise(seed) => {
                let mut random = stream(seed, "noise of features", 0);
                // Box and Muller: two uniform numbers make a normal one.
                let mut normal = || {
                    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
                    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
                };
                Some((0..columns).map(|_| (0.5 + 0.5 * normal()) as f32).collect())
            }
        }
    }
}
