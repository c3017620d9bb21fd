//! Tables in npy files: numbers in one or two dimensions, row after row.

use super::Table;
use crate::error::{Place, Result};
use crate::input::File;

/// How every npy file begins.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

#[derive(Debug, Clone, Copy)]
enum Kind {
    Float32,
    Float64,
    Int32,
    Int64,
}

/// An array of numbers.
pub(super) struct Array {
    file: File,
    /// Where the values start.
    start: usize,
    kind: Kind,
    rows: usize,
    columns: usize,
}

impl Array {
    pub(super) fn new(file: File) -> Result<Array> {
        let (header, start) = header(file.bytes()).ok_or_else(|| {
            file.malformed("a damaged npy header", "what numpy.save writes").hint("the file may be truncated")
        })?;
        let kind = match entry(header, "descr").map(|value| value.trim_matches(['\'', '"'])) {
            Some("<f4") => Kind::Float32,
            Some("<f8") => Kind::Float64,
            Some("<i4") => Kind::Int32,
            Some("<i8") => Kind::Int64,
            other => {
                let found = format!("values of the type {}", other.unwrap_or("?"));
                let malformed = file.malformed(found, "float32, float64, int32 or int64");
                return Err(malformed.hint("convert the array with .astype(\"float32\")").into());
            }
        };
        if entry(header, "fortran_order") != Some("False") {
            let malformed = file.malformed("an array stored column after column", "row after row");
            return Err(malformed.hint("save numpy.ascontiguousarray(array)").into());
        }
        let shape: Option<Vec<usize>> = entry(header, "shape").and_then(|shape| {
            let lengths = shape.trim_matches(['(', ')']).split(',').map(str::trim).filter(|length| !length.is_empty());
            lengths.map(|length| length.parse().ok()).collect()
        });
        let (rows, columns) = match shape.as_deref() {
            Some(&[rows]) => (rows, 1),
            Some(&[rows, columns]) => (rows, columns),
            _ => return Err(file.malformed("another shape", "an array of one or two dimensions").into()),
        };
        if columns == 0 {
            // Such an array takes no bytes, however many rows it claims.
            return Err(file.malformed(format!("{rows} rows of no values"), "at least one column").into());
        }
        let array = Array { start, kind, rows, columns, file };
        let available = array.file.bytes().len() - start;
        let needed = rows.checked_mul(columns).and_then(|values| values.checked_mul(array.width()));
        match needed {
            Some(needed) if needed == available => Ok(array),
            _ => {
                let found = format!("{available} bytes of values");
                let expected = format!("{rows} rows of {columns} values of {} bytes", array.width());
                Err(array.file.malformed(found, expected).hint("the file may be truncated").into())
            }
        }
    }

    fn width(&self) -> usize {
        match self.kind {
            Kind::Float32 | Kind::Int32 => 4,
            Kind::Float64 | Kind::Int64 => 8,
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        self.file.bytes()[self.start..].chunks_exact(self.width()).map(|bytes| {
            let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
            let eight = || [bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]];
            match self.kind {
                Kind::Float32 => f32::from_le_bytes(four()).into(),
                Kind::Float64 => f64::from_le_bytes(eight()),
                Kind::Int32 => i32::from_le_bytes(four()).into(),
                Kind::Int64 => i64::from_le_bytes(eight()) as f64,
            }
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
            Some(row) => self.file.place().member(format!("row {row}")),
            None => self.file.place().clone(),
        }
    }

    fn first_column(&self) -> Result<Option<Vec<String>>> {
        Ok(None)
    }

    fn texts(&self, first: usize) -> Result<Vec<Vec<String>>> {
        let mut columns = vec![Vec::with_capacity(self.rows); self.columns.saturating_sub(first)];
        for (at, value) in self.values().enumerate() {
            if let Some(column) = (at % self.columns).checked_sub(first) {
                columns[column].push(value.to_string());
            }
        }
        Ok(columns)
    }

    fn numbers(&self, first: usize) -> Result<Vec<f32>> {
        let mut numbers = Vec::with_capacity(self.rows * self.columns.saturating_sub(first));
        for (at, value) in self.values().enumerate().filter(|(at, _)| at % self.columns >= first) {
            let number = value as f32;
            if !number.is_finite() {
                let found = format!("{value} in column {}", at % self.columns + 1);
                return Err(self.place(Some(at / self.columns)).malformed(found, "a finite number").into());
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

/// The header's text, and where the values start.
fn header(bytes: &[u8]) -> Option<(&str, usize)> {
    let (start, length): (usize, usize) = match bytes.get(6)? {
        1 => (10, usize::from(u16::from_le_bytes([*bytes.get(8)?, *bytes.get(9)?]))),
        2 | 3 => (12, u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize),
        _ => return None,
    };
    let end = start.checked_add(length)?;
    Some((std::str::from_utf8(bytes.get(start..end)?).ok()?, end))
}

/// The value of a key in the header's Python dictionary.
fn entry<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, after) = header.split_once(&format!("'{key}'"))?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let end = if value.starts_with('(') { value.find(')')? + 1 } else { value.find([',', '}'])? };
    Some(value[..end].trim())
}
