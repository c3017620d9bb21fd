//! Columns of features in units of their own, made comparable.

use fiedler_graph::{Dense, Features};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::structural::standardization;

/// Scales further apart than this are different units.
const UNITS: f64 = 10.0;

/// What columns are standardized by: found on the nodes of a run, kept with its encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ColumnScaling {
    /// What is taken off a column.
    means: Vec<f32>,
    /// What it is multiplied by then.
    scales: Vec<f32>,
}

impl ColumnScaling {
    /// Mean 0 and deviation 1 for columns of measurements; columns that are 0 or 1 everywhere stay, and constant ones become 0.
    pub(crate) fn fit(features: &Features) -> Result<ColumnScaling> {
        let dense = dense(features)?;
        let columns = dense.columns();
        let (mut means, mut scales) = standardization(dense.values(), columns);
        for (column, is_binary) in binary_columns(features).into_iter().enumerate() {
            if is_binary {
                (means[column], scales[column]) = (0.0, 1.0);
            }
        }
        Ok(ColumnScaling { means, scales })
    }

    /// Features with as many columns, scaled.
    pub(crate) fn apply(&self, features: &Features) -> Result<Features> {
        let dense = dense(features)?;
        if dense.columns() != self.means.len() {
            let expected = format!("{}, as the encoder was trained on", self.means.len());
            return Err(Error::setting("columns of features", dense.columns(), expected));
        }
        let by = || self.means.iter().zip(&self.scales).cycle();
        let values = dense.values().iter().zip(by()).map(|(value, (mean, scale))| (value - mean) * scale).collect();
        Ok(Features::Dense(Dense::new(dense.rows(), dense.columns(), values)?))
    }
}

fn dense(features: &Features) -> Result<&Dense> {
    match features {
        Features::Dense(dense) => Ok(dense),
        Features::Sparse(_) => Err(refused("false: the features are sparse")),
        Features::Categorical(_) => Err(refused("false: the features are categories")),
    }
}

fn refused(expected: &str) -> Error {
    Error::setting("features.standardize", true, expected)
}

/// Whether features are measurements in different units: a dense table where some columns differ in scale by a factor of ten, or are far from
/// zero for how little they vary. Columns of 0 and 1, and those that are zero for most nodes, as counts of words are, say nothing of that.
///
/// ```
/// use fiedler_graph::{Dense, Features};
/// let age_and_income = Dense::new(3, 2, vec![31.0, 52_000.0, 45.0, 31_000.0, 27.0, 44_000.0])?;
/// assert!(fiedler_learn::have_units(&Features::Dense(age_and_income)));
/// let words = Dense::new(3, 2, vec![0.0, 1.0, 1.0, 1.0, 0.0, 0.0])?;
/// assert!(!fiedler_learn::have_units(&Features::Dense(words)));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn have_units(features: &Features) -> bool {
    let Features::Dense(dense) = features else { return false };
    let (means, scales) = standardization(dense.values(), dense.columns());
    let mut entries = vec![0; dense.columns()];
    for row in dense.values().chunks_exact(dense.columns().max(1)) {
        entries.iter_mut().zip(row).for_each(|(entries, &value)| *entries += usize::from(value != 0.0));
    }
    let is_measured = |(is_binary, entries): (bool, usize)| !is_binary && 2 * entries > dense.rows();
    let measured = binary_columns(features).into_iter().zip(entries).map(is_measured);
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for ((&mean, &scale), _) in
        means.iter().zip(&scales).zip(measured).filter(|((_, scale), kept)| *kept && **scale > 0.0)
    {
        let deviation = f64::from(scale).recip();
        if f64::from(mean).abs() > UNITS * deviation {
            return true;
        }
        (least, most) = (least.min(deviation), most.max(deviation));
    }
    most > UNITS * least
}

/// For each column whether it has no values but 0 and 1; categories are as good as that.
pub(crate) fn binary_columns(features: &Features) -> Vec<bool> {
    let mut binary = vec![true; columns_of(features)];
    for row in 0..features.rows() {
        for_each_entry(features, row, |column, value| binary[column] &= value == 0.0 || value == 1.0);
    }
    binary
}

/// Columns as numbers: categories have one for each code.
pub(crate) fn columns_of(features: &Features) -> usize {
    match features {
        Features::Categorical(codes) => codes.cardinalities().iter().map(|&count| usize::from(count)).sum(),
        numbers => numbers.columns(),
    }
}

/// Tells the entries of a row that are stored, by their column.
pub(crate) fn for_each_entry(features: &Features, row: usize, mut tell: impl FnMut(usize, f32)) {
    match features {
        Features::Dense(dense) => dense.row(row).iter().enumerate().for_each(|(column, &value)| tell(column, value)),
        Features::Sparse(sparse) => {
            let (columns, values) = sparse.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| tell(column as usize, value));
        }
        Features::Categorical(codes) => {
            let mut first = 0;
            for (&code, &count) in codes.row(row).iter().zip(codes.cardinalities()) {
                tell(first + usize::from(code), 1.0);
                first += usize::from(count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn table(rows: usize, columns: usize, values: Vec<f32>) -> Features {
        Features::Dense(Dense::new(rows, columns, values).unwrap())
    }

    #[test]
    fn measurements_are_standardized_and_marks_stay() {
        let features = table(4, 3, vec![10.0, 1.0, 7.0, 20.0, 0.0, 7.0, 30.0, 1.0, 7.0, 40.0, 0.0, 7.0]);
        let scaling = ColumnScaling::fit(&features).unwrap();
        let scaled = scaling.apply(&features).unwrap().to_dense();
        // Deviation of 10, 20, 30, 40 is the root of 125.
        let expected: Vec<f32> = [(-15.0, 1.0), (-5.0, 0.0), (5.0, 1.0), (15.0, 0.0)]
            .iter()
            .flat_map(|(value, mark)| [value / 125f32.sqrt(), *mark, 0.0])
            .collect();
        for (found, expected) in scaled.values().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        // Of other rows, by the same numbers.
        let other = scaling.apply(&table(1, 3, vec![25.0, 1.0, 8.0])).unwrap().to_dense();
        assert_eq!(other.values(), [0.0, 1.0, 0.0]);
        assert!(scaling.apply(&table(1, 2, vec![25.0, 1.0])).is_err());
    }

    #[test]
    fn units_are_told_by_scale_and_by_offset() {
        assert!(have_units(&table(3, 2, vec![1.0, 100.0, 2.0, 300.0, 3.0, 200.0])));
        assert!(have_units(&table(3, 1, vec![1990.0, 1991.0, 1992.0])));
        assert!(!have_units(&table(3, 2, vec![1.0, 2.0, 2.0, -3.0, 3.0, 4.0])));
        // Words are counted, not measured.
        assert!(!have_units(&table(5, 2, vec![1.0, 300.0, 0.0, 0.0, 2.0, 0.0, 0.0, 400.0, 0.0, 0.0])));
        // A constant column has no unit, and marks have none either.
        assert!(!have_units(&table(3, 3, vec![5.0, 0.0, 2.0, 5.0, 1.0, -3.0, 5.0, 1.0, 4.0])));
    }
}
