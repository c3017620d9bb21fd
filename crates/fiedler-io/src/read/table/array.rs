//! Tables in npy files: one or two dimensions, no names, no ids.

use super::Table;
use crate::error::{Place, Result};
use crate::input::File;
use crate::read::npz::{Array as Npy, Kind};

/// How every npy file begins.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// An array of numbers or words.
pub(super) struct Array {
    npy: Npy,
    rows: usize,
    columns: usize,
}

impl Array {
    pub(super) fn new(file: File) -> Result<Array> {
        let place = file.place().clone();
        let npy = Npy::from_npy(file)?;
        let (rows, columns) = npy.rows_and_columns()?;
        if columns == 0 {
            // Such an array takes no bytes, however many rows it claims.
            return Err(place.malformed(format!("{rows} rows of no values"), "at least one column").into());
        }
        Ok(Array { npy, rows, columns })
    }

    /// Row after row of text.
    fn cells(&self) -> Result<Vec<String>> {
        Ok(match self.npy.of().kind() {
            Kind::Text | Kind::Bytes | Kind::Object => self.npy.to_strings()?,
            Kind::Integer => self.npy.to_i64()?.iter().map(ToString::to_string).collect(),
            Kind::Bool | Kind::Unsigned | Kind::Float => self.npy.to_f64()?.iter().map(ToString::to_string).collect(),
        })
    }
}

impl Table for Array {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        None
    }

    fn place(&self, row: Option<usize>) -> Place {
        match row {
            Some(row) => self.npy.place().member(format!("row {row}")),
            None => self.npy.place().clone(),
        }
    }

    fn column(&self, _: usize) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn texts(&self, columns: &[usize]) -> Result<Vec<Vec<String>>> {
        let mut texts = vec![Vec::with_capacity(self.rows); columns.len()];
        for row in self.cells()?.chunks(self.columns) {
            for (text, &column) in texts.iter_mut().zip(columns) {
                text.push(row[column].clone());
            }
        }
        Ok(texts)
    }

    fn numbers(&self, columns: &[usize], gaps: bool) -> Result<Vec<f32>> {
        let mut numbers = self.npy.to_f32()?;
        if let Some(at) = numbers.iter().position(|number| !(number.is_finite() || gaps && number.is_nan())) {
            let found = format!("{} in column {}", numbers[at], at % self.columns + 1);
            return Err(self
                .place(Some(at / self.columns))
                .malformed(found, "a finite number")
                .hint(super::NOT_A_FEATURE)
                .into());
        }
        if columns.len() < self.columns {
            numbers = numbers.chunks(self.columns).flat_map(|row| columns.iter().map(|&at| row[at])).collect();
        }
        Ok(numbers)
    }
}
