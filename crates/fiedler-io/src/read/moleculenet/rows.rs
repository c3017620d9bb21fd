//! The rows of a file of molecules: each SMILES, and the numbers and words beside it.

use std::collections::HashMap;

use super::layout::{Layout, first_field};
use crate::error::Result;
use crate::input::File;

/// Fields that rows may lack in any case.
const FREE_FIELDS: usize = 1 << 16;
/// Different words that a column of classes has at most.
const MOST_WORDS: usize = 100;
/// Headers of columns that name the molecules, the best names first.
const NAMES: [&str; 10] =
    ["name", "compound id", "compound_id", "mol_id", "molecule_id", "cid", "zinc_id", "title", "iupac", "id"];

/// All rows, their SMILES end to end in one text.
#[derive(Debug, Default)]
pub(super) struct Rows {
    smiles: String,
    ends: Vec<usize>,
    lines: Vec<u64>,
    /// What the molecules are called, one name a row.
    pub(super) names: Option<Vec<String>>,
    /// The header of the column that these names are in.
    pub(super) name_column: Option<String>,
    /// Every column but that of the SMILES.
    pub(super) columns: Vec<Column>,
}

/// A column of numbers, for as long as it holds nothing else; then one of words, for as long as they are few.
#[derive(Debug)]
pub(super) struct Column {
    /// Name in the header.
    pub(super) name: String,
    /// One value a row, not a number where it is missing; given up at the first field that is text.
    pub(super) values: Vec<f32>,
    /// The line and content of the first field that is no number.
    pub(super) text: Option<(u64, String)>,
    /// The words, once there is one.
    words: Option<Words>,
}

/// Few different words, in many rows.
#[derive(Debug, Default)]
struct Words {
    code_of: HashMap<String, u32>,
    /// The word of each row, where there is one.
    of: Vec<Option<u32>>,
    /// Fields that are numbers, and that are not.
    numbers: usize,
    others: usize,
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
        let mut names = Vec::new();
        for (line, text) in file.lines()? {
            let smiles = first_field(text).unwrap_or_default();
            rows.push(line, smiles);
            let after = text.split_once(smiles).map_or("", |(_, after)| after);
            names.push(after.trim_matches([' ', '\t', ',']).to_owned());
        }
        rows.names = names.iter().any(|name| !name.is_empty()).then_some(names);
        Ok(rows)
    }

    fn read_table(file: &File, delimiter: u8, smiles: usize, names: &[String]) -> Result<Rows> {
        let mut rows = Rows::default();
        let others = || (0..names.len()).filter(|&column| column != smiles);
        rows.columns = others().map(|column| Column::new(&names[column])).collect();
        let titled = |title: &&str| others().find(|&column| names[column].eq_ignore_ascii_case(title));
        let name_column = NAMES.iter().find_map(titled);
        rows.name_column = name_column.map(|column| names[column].clone());
        let mut name_of_row = Vec::new();
        let mut lines = Lines { bytes: file.bytes(), at: 0, line: 1 };
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(file.bytes());
        let mut record = csv::ByteRecord::new();
        loop {
            let line = reader.position().line();
            let more = reader
                .read_byte_record(&mut record)
                .map_err(|error| file.malformed_at(line, error.to_string(), "a row of fields"))?;
            if !more {
                rows.names = name_column.map(|_| name_of_row);
                return Ok(rows);
            }
            let line = record.position().map_or(line, |position| lines.of(position.byte()));
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
            name_of_row.extend(name_column.map(|column| field(column).trim().to_owned()));
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

/// Counts lines. What reads records tells where one begins, but counts neither blank lines before it nor the second half of CRLF.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first byte at or behind a place that is no line end; places come in ascending order.
    fn of(&mut self, place: u64) -> u64 {
        while let Some(&byte) = self.bytes.get(self.at) {
            if self.at as u64 >= place && !matches!(byte, b'\r' | b'\n') {
                break;
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
        self.line
    }
}

impl Column {
    fn new(name: &str) -> Column {
        Column { name: name.to_owned(), values: Vec::new(), text: None, words: None }
    }

    fn push(&mut self, line: u64, field: &str) {
        let field = field.trim();
        let number = field.parse::<f32>().ok().filter(|value| value.is_finite());
        if self.text.is_none() {
            match number {
                Some(value) => return self.values.push(value),
                None if is_missing(field) => return self.values.push(f32::NAN),
                None => {}
            }
            self.text = Some((line, field.to_owned()));
            let mut words = Words::default();
            for value in std::mem::take(&mut self.values) {
                words.push((!value.is_nan()).then(|| value.to_string()).as_deref(), true);
            }
            self.words = Some(words);
        }
        if let Some(words) = &mut self.words {
            words.push((!is_missing(field)).then_some(field), number.is_some());
            if words.code_of.len() > MOST_WORDS {
                self.words = None;
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

    /// Whether the fields are words that several rows share, rather than numbers with a word among them, or names.
    pub(super) fn is_classes(&self) -> bool {
        self.words.as_ref().is_some_and(|words| {
            let different = words.code_of.len();
            different > 1 && words.others > words.numbers && 2 * different <= words.others + words.numbers
        })
    }

    /// The words of some rows; `None` where there are fewer than two different ones, or too many.
    pub(super) fn words(&self, rows: &[u32]) -> Option<Vec<Option<&str>>> {
        let words = self.words.as_ref().filter(|words| words.code_of.len() > 1)?;
        let mut text_of = vec![""; words.code_of.len()];
        words.code_of.iter().for_each(|(text, &code)| text_of[code as usize] = text);
        Some(rows.iter().map(|&row| words.of[row as usize].map(|code| text_of[code as usize])).collect())
    }
}

impl Words {
    fn push(&mut self, text: Option<&str>, is_number: bool) {
        let Some(text) = text else { return self.of.push(None) };
        *(if is_number { &mut self.numbers } else { &mut self.others }) += 1;
        let next = self.code_of.len() as u32;
        let code = match self.code_of.get(text) {
            Some(&code) => code,
            None => *self.code_of.entry(text.to_owned()).or_insert(next),
        };
        self.of.push(Some(code));
    }
}

fn is_missing(field: &str) -> bool {
    ["", "nan", "na", "n/a", "null", "none", "?"].iter().any(|word| field.eq_ignore_ascii_case(word))
}
