//! Tables of separated text.

use super::super::separated::{Separator, data_lines, sample};
use super::Table;
use crate::error::{Place, Result};
use crate::input::File;

/// What headers call a column of labels.
const LABEL_NAMES: [&str; 6] = ["label", "labels", "class", "target", "category", "y"];
const ID_NAMES: [&str; 4] = ["id", "node", "name", "node_id"];

/// A table as text; cells are cut out of their lines when they are asked for.
pub(super) struct Text {
    file: File,
    separator: Separator,
    names: Option<Vec<String>>,
    rows: usize,
    columns: usize,
}

impl Text {
    /// Looks at the whole file: every row must have as many cells as the first.
    pub(super) fn new(file: File) -> Result<Text> {
        let text = file.text()?;
        let lines = sample(text);
        let separator = Separator::of(&lines);
        let sampled: Vec<Vec<String>> =
            lines.iter().map(|line| separator.split(line).map(Into::into).collect()).collect();
        let Some((first, others)) = sampled.split_first() else {
            return Err(file.malformed("an empty table", "one row a node").into());
        };
        let columns = first.len();
        let mut rows = 0;
        for (line, text) in data_lines(text) {
            let cells = separator.split(text).count();
            if cells != columns {
                let expected = format!("{columns} fields, as on the lines before");
                return Err(file.malformed_at(line, format!("{cells} fields"), expected).into());
            }
            rows += 1;
        }
        let names = is_header(first, others).then(|| first.clone());
        let rows = rows - usize::from(names.is_some());
        Ok(Text { separator, names, rows, columns, file })
    }

    fn cells(&self) -> Result<impl Iterator<Item = (u64, impl Iterator<Item = std::borrow::Cow<'_, str>>)>> {
        let lines = data_lines(self.file.text()?).skip(usize::from(self.names.is_some()));
        Ok(lines.map(|(line, text)| (line, self.separator.split(text))))
    }

    fn column_name(&self, column: usize) -> String {
        match &self.names {
            Some(names) => format!("column {:?}", names[column]),
            None => format!("column {}", column + 1),
        }
    }
}

impl Table for Text {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    fn place(&self, row: Option<usize>) -> Place {
        let line = row.and_then(|row| self.cells().ok()?.nth(row)).map(|(line, _)| line);
        Place { line, ..self.file.place().clone() }
    }

    fn first_column(&self) -> Result<Option<Vec<String>>> {
        Ok(Some(self.cells()?.filter_map(|(_, mut cells)| cells.next()).map(Into::into).collect()))
    }

    fn texts(&self, first: usize) -> Result<Vec<Vec<String>>> {
        let mut columns = vec![Vec::with_capacity(self.rows); self.columns.saturating_sub(first)];
        for (_, cells) in self.cells()? {
            for (column, cell) in columns.iter_mut().zip(cells.skip(first)) {
                column.push(cell.into());
            }
        }
        Ok(columns)
    }

    fn numbers(&self, first: usize) -> Result<Vec<f32>> {
        let mut numbers = Vec::with_capacity(self.rows * self.columns.saturating_sub(first));
        for (line, cells) in self.cells()? {
            for (column, cell) in cells.enumerate().skip(first) {
                let Some(number) = number(&cell) else {
                    let found = match cell.as_ref() {
                        "" => format!("an empty field in {}", self.column_name(column)),
                        cell => format!("{cell:?} in {}", self.column_name(column)),
                    };
                    let malformed = self.file.malformed_at(line, found, "a finite number");
                    return Err(malformed.hint("features are numbers; fill gaps, and number categories").into());
                };
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}

/// A finite number; `true` and `false`, as pandas writes them, are 1 and 0.
fn number(cell: &str) -> Option<f32> {
    match cell.parse::<f32>() {
        Ok(number) => number.is_finite().then_some(number),
        Err(_) if cell.eq_ignore_ascii_case("true") => Some(1.0),
        Err(_) if cell.eq_ignore_ascii_case("false") => Some(0.0),
        Err(_) => None,
    }
}

/// A first row with a word above numbers, or with names that say what they are.
fn is_header(first: &[String], others: &[Vec<String>]) -> bool {
    let is_number = |cell: &str| cell.parse::<f64>().is_ok();
    let word_above_numbers = first.iter().enumerate().any(|(column, word)| {
        let mut below = others.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty()).peekable();
        !word.is_empty() && !is_number(word) && below.peek().is_some() && below.all(|cell| is_number(cell))
    });
    let named = |cell: Option<&String>, names: &[&str]| {
        cell.is_some_and(|cell| names.contains(&cell.to_ascii_lowercase().as_str()))
    };
    word_above_numbers || named(first.first(), &ID_NAMES) || named(first.last(), &LABEL_NAMES)
}
