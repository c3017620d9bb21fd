//! The rows of a file of molecules: each SMILES, and the numbers beside it.

use super::layout::{Layout, first_field};
use crate::error::Result;
use crate::input::File;

/// Fields that rows may lack in any case.
const FREE_FIELDS: usize = 1 << 16;

/// All rows, their SMILES end to end in one text.
#[derive(Debug, Default)]
pub(super) struct Rows {
    smiles: String,
    ends: Vec<usize>,
    lines: Vec<u64>,
    /// Every column but that of the SMILES.
    pub(super) columns: Vec<Column>,
}

/// A column of numbers, for as long as it holds nothing else.
#[derive(Debug)]
pub(super) struct Column {
    /// Name in the header.
    pub(super) name: String,
    /// One value a row, not a number where it is missing; given up at the first field that is text.
    pub(super) values: Vec<f32>,
    /// The line and content of the first field that is no number.
    pub(super) text: Option<(u64, String)>,
}

impl Rows {
    /// Reads a file of the given layout.
    pub(super) fn read(file: &File, layout: &Layout) -> Result<Rows> {
        match layout {
            Layout::List => Rows::read_list(file),
            Layout::Table { delimiter, smiles, names } => Rows::read_table(file, *delimiter, *smiles, names),
        }
    }

    fn read_list(file: &File) -> Result<Rows> {
        let mut rows = Rows::default();
        for (line, text) in file.lines()? {
            rows.push(line, first_field(text).unwrap_or_default());
        }
        Ok(rows)
    }

    fn read_table(file: &File, delimiter: u8, smiles: usize, names: &[String]) -> Result<Rows> {
        let mut rows = Rows::default();
        let others = || (0..names.len()).filter(|&column| column != smiles);
        rows.columns = others().map(|column| Column::new(&names[column])).collect();
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file.bytes());
        let mut record = csv::ByteRecord::new();
        loop {
            let line = reader.position().line();
            let more = reader
                .read_byte_record(&mut record)
                .map_err(|error| file.malformed_at(line, error.to_string(), "a row of fields"))?;
            if !more {
                return Ok(rows);
            }
            let line = record.position().map_or(line, csv::Position::line);
            // A separator of spaces may end the line too.
            if record.len() != names.len() && delimiter != b' ' {
                let found = format!("{} fields", record.len());
                let malformed = file.malformed_at(line, found, format!("{}, as in the header", names.len()));
                return Err(malformed.hint("a field that holds the separator must be in double quotes").into());
            }
            // Then a row may be shorter than the header, which must not make a few bytes many fields.
            if rows.len().saturating_mul(names.len()) > file.bytes().len().max(FREE_FIELDS) {
                let found = format!("rows that are shorter than the header's {} columns", names.len());
                return Err(file.malformed_at(line, found, "as many fields as the header has").into());
            }
            let field = |column: usize| String::from_utf8_lossy(record.get(column).unwrap_or_default());
            rows.push(line, field(smiles).trim());
            for (at, column) in others().zip(&mut rows.columns) {
                column.push(line, &field(at));
            }
        }
    }

    fn push(&mut self, line: u64, smiles: &str) {
        self.smiles.push_str(smiles);
        self.ends.push(self.smiles.len());
        self.lines.push(line);
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The SMILES of a row.
    pub(super) fn smiles(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.smiles[start..self.ends[row]]
    }

    /// The line a row begins on, counted from one.
    pub(super) fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }
}

impl Column {
    fn new(name: &str) -> Column {
        Column { name: name.to_owned(), values: Vec::new(), text: None }
    }

    fn push(&mut self, line: u64, field: &str) {
        if self.text.is_some() {
            return;
        }
        let field = field.trim();
        match field.parse::<f32>() {
            Ok(value) if value.is_finite() => self.values.push(value),
            _ if is_missing(field) => self.values.push(f32::NAN),
            _ => {
                self.text = Some((line, field.to_owned()));
                self.values = Vec::new();
            }
        }
    }

    /// Whether every field is a number or missing, and at least one is there.
    pub(super) fn is_numeric(&self) -> bool {
        self.text.is_none() && self.values.iter().any(|value| !value.is_nan())
    }

    /// Whether every value that is there is 0 or 1.
    pub(super) fn is_yes_or_no(&self) -> bool {
        self.is_numeric() && self.values.iter().all(|&value| value.is_nan() || value == 0.0 || value == 1.0)
    }
}

fn is_missing(field: &str) -> bool {
    ["", "nan", "na", "n/a", "null", "none", "?"].iter().any(|word| field.eq_ignore_ascii_case(word))
}
