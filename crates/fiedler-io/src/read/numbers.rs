//! Numbers in separated text, row by row, without copying a line; errors name the line.

use crate::error::{Malformed, Place, Result};
use crate::input::File;

/// The rows of a text file: its lines that are not blank.
pub(super) fn rows(file: &File) -> Rows<'_> {
    let bytes = file.bytes();
    Rows { file, rest: Some(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)), line: 0 }
}

/// Reads a file of nothing but numbers: rows of equally many, each read by `value`.
pub(super) fn table<'a, T>(file: &'a File, mut value: impl FnMut(&mut Row<'a>) -> Result<T>) -> Result<Table<T>> {
    let mut table = Table { columns: 0, values: Vec::new() };
    for mut row in rows(file) {
        let before = table.values.len();
        while !row.is_at_end() {
            table.values.push(value(&mut row)?);
        }
        let columns = table.values.len() - before;
        if table.columns == 0 {
            table.columns = columns;
        } else if table.columns != columns {
            let expected = format!("{} as in the rows before", table.columns);
            return Err(row.malformed(format!("a row of {columns}"), expected).into());
        }
    }
    Ok(table)
}

/// Row after row of equally many values.
#[derive(Debug)]
pub(super) struct Table<T> {
    pub(super) columns: usize,
    pub(super) values: Vec<T>,
}

impl<T> Table<T> {
    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    /// Checks that there is a row for each of `count` things, `of` what.
    pub(super) fn check_rows(&self, file: &File, count: usize, of: &str) -> Result<()> {
        if self.rows() != count {
            return Err(file.malformed(format!("{} rows", self.rows()), format!("{count}, one for each {of}")).into());
        }
        Ok(())
    }
}

/// Goes through the rows of a file.
#[derive(Debug, Clone)]
pub(super) struct Rows<'a> {
    file: &'a File,
    rest: Option<&'a [u8]>,
    line: u64,
}

impl<'a> Rows<'a> {
    /// The next row, which the format cannot do without.
    pub(super) fn require(&mut self, expected: &str) -> Result<Row<'a>> {
        self.next().ok_or_else(|| {
            let malformed = self.file.malformed("the end of the file", expected);
            malformed.hint("the file may be truncated; download it again").into()
        })
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        loop {
            let rest = self.rest?;
            let (line, after) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => (&rest[..end], Some(&rest[end + 1..])),
                None => (rest, None),
            };
            self.rest = after;
            self.line += 1;
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Some(Row { file: self.file, line: self.line, rest: line, owes_a_field: true });
            }
        }
    }
}

/// One row, read field by field. Commas, blanks or both stand between fields; between two commas a field may be empty.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    file: &'a File,
    line: u64,
    rest: &'a [u8],
    /// Whether a comma (or nothing) stands before `rest`: then a field follows, be it an empty one.
    owes_a_field: bool,
}

impl<'a> Row<'a> {
    /// Whether all fields are read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty() && !self.owes_a_field
    }

    /// The next field as it stands.
    pub(super) fn field(&mut self) -> Option<&'a [u8]> {
        if self.is_at_end() {
            return None;
        }
        let end = self.rest.iter().position(|byte| is_separator(*byte)).unwrap_or(self.rest.len());
        let (field, after) = self.rest.split_at(end);
        let after = after.trim_ascii_start();
        match after.strip_prefix(b",") {
            Some(after) => (self.rest, self.owes_a_field) = (after.trim_ascii_start(), true),
            None => (self.rest, self.owes_a_field) = (after, false),
        }
        Some(field)
    }

    /// The next field as a whole number; `expected` says of what kind.
    pub(super) fn whole(&mut self, expected: &str) -> Result<i64> {
        let field = self.field();
        field.and_then(whole).ok_or_else(|| self.unexpected(field, expected).into())
    }

    /// The next field as a whole number from 0 to what an id can be.
    pub(super) fn natural(&mut self, expected: &str) -> Result<u32> {
        let field = self.field();
        let number = field.and_then(whole).and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.unexpected(field, expected).into())
    }

    /// The next field as a finite number.
    pub(super) fn real(&mut self, expected: &str) -> Result<f32> {
        let field = self.field();
        let number = field.and_then(real).filter(|number| number.is_finite());
        number.ok_or_else(|| self.unexpected(field, &format!("{expected}, a finite number")).into())
    }

    /// The next field as a finite number, or nothing where it is empty or says `nan`.
    pub(super) fn real_or_missing(&mut self, expected: &str) -> Result<Option<f32>> {
        let field = self.field();
        match field {
            Some(b"" | b"\"\"") => Ok(None),
            Some(text) => match real(text) {
                Some(number) if number.is_nan() => Ok(None),
                Some(number) if number.is_finite() => Ok(Some(number)),
                _ => Err(self.unexpected(field, expected).into()),
            },
            None => Err(self.unexpected(field, expected).into()),
        }
    }

    /// Checks that nothing follows.
    pub(super) fn end(&mut self, expected: &str) -> Result<()> {
        match self.field() {
            None => Ok(()),
            field => Err(self.unexpected(field, expected).into()),
        }
    }

    /// Whether what is left of the row begins with this byte.
    pub(super) fn begins_with(&self, byte: u8) -> bool {
        self.rest.first() == Some(&byte)
    }

    /// What is left of the row; bytes that are not UTF-8 are replaced.
    pub(super) fn text(&self) -> std::borrow::Cow<'a, str> {
        String::from_utf8_lossy(self.rest)
    }

    /// Where the row stands.
    pub(super) fn place(&self) -> Place {
        self.file.place().line(self.line)
    }

    /// An error at this row.
    pub(super) fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.file.malformed_at(self.line, found, expected)
    }

    fn unexpected(&self, field: Option<&[u8]>, expected: &str) -> Malformed {
        let found = match field {
            None => "the end of the line".to_owned(),
            Some(b"") => "an empty field".to_owned(),
            Some(text) => {
                let shown: String = String::from_utf8_lossy(text).chars().take(40).collect();
                format!("{shown:?}")
            }
        };
        self.malformed(found, expected)
    }
}

fn is_separator(byte: u8) -> bool {
    byte == b',' || byte.is_ascii_whitespace()
}

/// A whole number; `3.0` is one too, as tables written by way of floating point have it.
fn whole(text: &[u8]) -> Option<i64> {
    match few_digits(text) {
        Some(number) => Some(number),
        None => {
            let text = std::str::from_utf8(text).ok()?;
            text.parse().ok().or_else(|| {
                let number: f64 = text.parse().ok()?;
                (number.fract() == 0.0 && number.abs() < (1u64 << 53) as f64).then_some(number as i64)
            })
        }
    }
}

fn real(text: &[u8]) -> Option<f32> {
    match few_digits(text) {
        Some(number) => Some(number as f32),
        None => std::str::from_utf8(text).ok()?.parse().ok(),
    }
}

/// The common case: an optional minus and at most 18 digits, which cannot overflow.
fn few_digits(text: &[u8]) -> Option<i64> {
    let (digits, negative) = match text {
        [b'-', digits @ ..] => (digits, true),
        digits => (digits, false),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut number = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + i64::from(digit);
    }
    Some(if negative { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str) -> Vec<String> {
        let file = File::new("fields", line.into());
        let mut row = rows(&file).next().expect("a row");
        std::iter::from_fn(|| row.field()).map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }

    #[test]
    fn fields_stand_between_commas_blanks_or_both() {
        assert_eq!(fields("1,2"), ["1", "2"]);
        assert_eq!(fields("  1 ,\t2  3\r\n"), ["1", "2", "3"]);
        assert_eq!(fields("1,,2,"), ["1", "", "2", ""]);
        assert_eq!(fields(",5"), ["", "5"]);
    }

    #[test]
    fn numbers_are_read_as_written() {
        assert_eq!(whole(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(whole(b"9223372036854775808"), None);
        assert_eq!((whole(b"+7"), whole(b"2.0"), whole(b"2.5")), (Some(7), Some(2), None));
        assert_eq!((whole(b"-"), whole(b""), whole(b"\xff")), (None, None, None));
        assert_eq!((real(b"-12"), real(b"1e-3"), real(b"x")), (Some(-12.0), Some(0.001), None));
    }

    #[test]
    fn rows_skip_blank_lines_and_keep_count() {
        let file = File::new("rows", b"\xef\xbb\xbf1\n\n \r\n2".to_vec());
        let lines: Vec<_> = rows(&file).map(|row| row.line).collect();
        assert_eq!(lines, [1, 4]);
    }

    #[test]
    fn a_ragged_table_names_its_line() {
        let file = File::new("table.csv", b"1,2\n3\n".to_vec());
        let error = table(&file, |row| row.whole("a number")).expect_err("ragged");
        assert_eq!(error.to_string(), "table.csv, line 2: a row of 1; expected 2 as in the rows before");
    }
}
