//! Features of nodes or edges out of the labels and attributes that files give them.

use fiedler_graph::{Dense, Features, Sparse};

use super::numbers::Table;
use crate::error::Result;

/// How much larger than what is stored a matrix may become by writing its zeros out.
const MOST_DILUTION: usize = 64;

/// One-hot labels where there are labels; attributes where there are none, and before the labels where they are wanted.
pub(super) fn features(
    labels: Option<Table<i64>>,
    attributes: Option<Table<f32>>,
    want_attributes: bool,
) -> Result<Option<Features>> {
    Ok(match (labels.map(one_hot), attributes) {
        (Some(labels), Some(attributes)) if want_attributes => Some(beside(attributes, labels)?),
        (Some(labels), _) => Some(Features::Sparse(labels.into_sparse()?)),
        (None, Some(attributes)) => Some(Features::Dense(dense(attributes)?)),
        (None, None) => None,
    })
}

/// The table as a matrix.
pub(super) fn dense(table: Table<f32>) -> Result<Dense> {
    Ok(Dense::new(table.rows(), table.columns, table.values)?)
}

/// In each row, the columns that hold a one.
struct OneHot {
    columns: usize,
    ones: Table<u32>,
}

impl OneHot {
    fn into_sparse(self) -> Result<Sparse> {
        let offsets = (0..=self.ones.rows()).map(|row| row * self.ones.columns).collect();
        let values = vec![1.0; self.ones.values.len()];
        Ok(Sparse::new(self.columns, offsets, self.ones.values, values)?)
    }
}

/// One column for each value that occurs in a column of the table, in ascending order.
fn one_hot(labels: Table<i64>) -> OneHot {
    let mut ones = Table { columns: labels.columns, values: vec![0; labels.values.len()] };
    let mut columns = 0;
    for column in 0..labels.columns {
        let of_column = || labels.values.iter().skip(column).step_by(labels.columns);
        let mut distinct: Vec<i64> = of_column().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        for (one, label) in ones.values.iter_mut().skip(column).step_by(labels.columns).zip(of_column()) {
            *one = (columns + distinct.partition_point(|value| value < label)) as u32;
        }
        columns += distinct.len();
    }
    OneHot { columns, ones }
}

/// Attributes and one-hot labels side by side: written out, unless nearly all of it would be zeros.
fn beside(attributes: Table<f32>, labels: OneHot) -> Result<Features> {
    let wide = attributes.columns;
    let columns = wide + labels.columns;
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let labels_of_rows = labels.ones.values.chunks(labels.ones.columns.max(1));
    for (of_row, ones) in attributes.values.chunks(wide.max(1)).zip(labels_of_rows) {
        indices.extend(0..wide as u32);
        indices.extend(ones.iter().map(|column| wide as u32 + column));
        values.extend_from_slice(of_row);
        values.resize(indices.len(), 1.0);
        offsets.push(indices.len());
    }
    let stored = Features::Sparse(Sparse::new(columns, offsets, indices, values)?);
    Ok(if columns <= MOST_DILUTION * (wide + 1) { Features::Dense(stored.to_dense()) } else { stored })
}
