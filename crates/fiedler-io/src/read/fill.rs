//! What stands for features that are missing.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// What stands for a feature that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fill {
    /// Zero.
    Zeros,
    /// The mean of the column.
    Mean,
}

impl Fill {
    /// Every way by its name.
    pub const NAMES: [&str; 2] = ["zeros", "mean"];

    /// Fills the gaps of a table, which are not numbers, row after row; gives how many there were.
    pub(super) fn apply(self, values: &mut [f32], columns: usize) -> usize {
        let mut gaps = 0;
        for column in 0..columns {
            let known = || values.iter().skip(column).step_by(columns).filter(|value| !value.is_nan());
            let mean = known().map(|value| f64::from(*value)).sum::<f64>() / known().count().max(1) as f64;
            let value = match self {
                Fill::Zeros => 0.0,
                Fill::Mean => mean as f32,
            };
            for gap in values.iter_mut().skip(column).step_by(columns).filter(|value| value.is_nan()) {
                *gap = value;
                gaps += 1;
            }
        }
        gaps
    }

    /// What was done with so many gaps.
    pub(super) fn note(self, gaps: usize) -> String {
        match self {
            Fill::Zeros => format!("{gaps} missing feature values were filled with zeros"),
            Fill::Mean => format!("{gaps} missing feature values were filled with the mean of their column"),
        }
    }
}

impl std::str::FromStr for Fill {
    type Err = Error;

    fn from_str(name: &str) -> Result<Fill> {
        match name {
            "zeros" => Ok(Fill::Zeros),
            "mean" => Ok(Fill::Mean),
            _ => Err(Error::unknown_name("way to fill", name, Fill::NAMES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_column_by_column() {
        let given = [1.0, f32::NAN, 3.0, 5.0, f32::NAN, f32::NAN];
        let filled = |fill: Fill| {
            let mut values = given;
            assert_eq!(fill.apply(&mut values, 2), 3);
            values
        };
        assert_eq!(filled(Fill::Zeros), [1.0, 0.0, 3.0, 5.0, 0.0, 0.0]);
        assert_eq!(filled(Fill::Mean), [1.0, 5.0, 3.0, 5.0, 2.0, 5.0]);
        let mut nothing = [f32::NAN];
        Fill::Mean.apply(&mut nothing, 1);
        assert_eq!(nothing, [0.0], "a column without any value");
    }
}
