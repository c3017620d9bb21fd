//! Two columns of words and figures for people.

use std::fmt;

use anstyle::Style;
pub use fiedler_report::number::{count, figure, percent, several};

/// A title and rows of a name and what is to be said of it.
#[derive(Debug)]
pub struct Table {
    title: String,
    rows: Vec<(String, String)>,
}

impl Table {
    pub fn new(title: impl Into<String>) -> Table {
        Table { title: title.into(), rows: Vec::new() }
    }

    pub fn row(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.rows.push((name.into(), value.into()));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let width = self.rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        writeln!(f, "{bold}{}{bold:#}", self.title)?;
        for (name, value) in &self.rows {
            writeln!(f, "  {dim}{name:width$}{dim:#}  {value}")?;
        }
        Ok(())
    }
}
