//! Two columns of words and figures for people.

use std::fmt;

use anstyle::Style;

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

/// A whole number with its thousands set apart.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count of things, in words that fit it.
pub fn several(number: usize, thing: &str) -> String {
    match number {
        0 => format!("no {thing}"),
        1 => format!("1 {thing}"),
        _ => format!("{} {thing}s", count(number)),
    }
}

/// A real number with as many digits as a person can use.
pub fn figure(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if size >= 100.0 => format!("{number:.1}"),
        size if size >= 1.0 => format!("{number:.2}"),
        size if size >= 0.001 => format!("{number:.4}"),
        _ => format!("{number:.2e}"),
    }
}

/// A share of one as a percentage.
pub fn percent(share: f64) -> String {
    format!("{} %", figure(100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            ["0", "999", "1,000", "13,954,819"],
            [0, 999, 1000, 13_954_819].map(count).each_ref().map(String::as_str)
        );
        assert_eq!(figure(2.4567), "2.46");
        assert_eq!(figure(0.24067), "0.2407");
        assert_eq!(figure(0.000012), "1.20e-5");
        assert_eq!(percent(0.0088), "0.8800 %");
    }
}
