//! Tables of separated text.

use super::super::separated::{Separator, data_lines, sample};
use super::Table;
use crate::error::{Place, Result};
use crate::input::File;
use crate::role;
use crate::split_words;

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

    fn column(&self, at: usize) -> Result<Option<Vec<String>>> {
        Ok(Some(self.cells()?.filter_map(|(_, mut cells)| cells.nth(at)).map(Into::into).collect()))
    }

    fn texts(&self, columns: &[usize]) -> Result<Vec<Vec<String>>> {
        let place_of = places(columns, self.columns);
        let mut texts = vec![Vec::with_capacity(self.rows); columns.len()];
        for (_, cells) in self.cells()? {
            for (cell, place) in cells.zip(&place_of) {
                if let Some(place) = place {
                    texts[*place].push(cell.into());
                }
            }
        }
        Ok(texts)
    }

    fn numbers(&self, columns: &[usize], gaps: bool) -> Result<Vec<f32>> {
        let place_of = places(columns, self.columns);
        let mut numbers = vec![0.0; self.rows * columns.len()];
        for ((line, cells), row) in self.cells()?.zip(numbers.chunks_mut(columns.len().max(1))) {
            for (column, (cell, place)) in cells.zip(&place_of).enumerate() {
                let Some(place) = *place else { continue };
                let number = if gaps && is_gap(&cell) { Some(f32::NAN) } else { number(&cell) };
                let Some(number) = number else {
                    let found = match cell.as_ref() {
                        "" => format!("an empty field in {}", self.column_name(column)),
                        cell => format!("{cell:?} in {}", self.column_name(column)),
                    };
                    let malformed = self.file.malformed_at(line, found, "a finite number");
                    return Err(malformed.hint(super::NOT_A_FEATURE).into());
                };
                row[place] = number;
            }
        }
        Ok(numbers)
    }
}

/// For each column of the table, its place among those that are wanted.
fn places(wanted: &[usize], columns: usize) -> Vec<Option<usize>> {
    let mut places = vec![None; columns];
    wanted.iter().enumerate().for_each(|(place, &column)| places[column] = Some(place));
    places
}

/// Whether a cell says that there is no value.
fn is_gap(cell: &str) -> bool {
    ["", "nan", "na", "n/a", "null", "none"].iter().any(|word| cell.eq_ignore_ascii_case(word))
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
    // A first cell without a name may as well be a missing value.
    let named = |cell: Option<&String>, says: fn(&str) -> bool| cell.is_some_and(|cell| !cell.is_empty() && says(cell));
    let is_split = |header: &str| split_words::announced(header).is_some();
    word_above_numbers
        || named(first.first(), role::is_first_id)
        || named(first.last(), role::is_label)
        || named(first.last(), is_split)
}
