//! Tables for a page and, as csv, markdown and LaTeX, for whoever goes on working with them.

use crate::number;

/// What stands in one place of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cell {
    /// As people read it.
    pub text: String,
    /// In full precision, where it is a number.
    pub value: Option<String>,
}

impl Cell {
    /// Words.
    pub fn words(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: None }
    }

    /// A number, written as told.
    pub fn number(value: f64, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), value: value.is_finite().then(|| value.to_string()) }
    }

    /// A number with a sensible number of digits.
    pub fn figure(value: f64) -> Cell {
        Cell::number(value, number::figure(value))
    }

    /// A count.
    pub fn count(count: usize) -> Cell {
        Cell { text: number::count(count), value: Some(count.to_string()) }
    }

    /// A share of one.
    pub fn percent(share: f64) -> Cell {
        Cell::number(share, number::percent(share))
    }

    /// A time.
    pub fn seconds(seconds: f64) -> Cell {
        Cell::number(seconds, number::seconds(seconds))
    }

    /// An amount of memory.
    pub fn bytes(bytes: u64) -> Cell {
        Cell { text: number::bytes(bytes), value: Some(bytes.to_string()) }
    }

    fn exact(&self) -> &str {
        self.value.as_deref().unwrap_or(&self.text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::words(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::words(text)
    }
}

/// Rows and columns under names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// Name for files and links: lower case, digits and dashes.
    pub name: String,
    /// A few words above it.
    pub title: String,
    /// What a reader should know.
    pub caption: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// As many cells in each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// Whether a page shows it only when asked.
    pub folded: bool,
}

impl Table {
    /// A table without rows yet.
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|&column| column.to_owned()).collect();
        Table { name: name.into(), title: title.into(), columns, ..Table::default() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// The table without columns that nothing stands in: they only make it wide.
    pub(crate) fn without_empty_columns(mut self) -> Table {
        for column in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row.get(column).is_none_or(|cell| cell.text.is_empty())) {
                self.columns.remove(column);
                self.rows.iter_mut().filter(|row| column < row.len()).for_each(|row| drop(row.remove(column)));
            }
        }
        self
    }

    /// Comma-separated, numbers in full precision.
    pub fn to_csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        let header = writer.write_record(&self.columns);
        let rows = self.rows.iter().try_for_each(|row| writer.write_record(row.iter().map(Cell::exact)));
        // Writing to memory does not fail.
        let bytes = header.and(rows).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// A table of GitHub's markdown.
    pub fn to_markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.columns.iter().map(|column| markdown(column)).collect());
        text += &format!(
            "|{}\n",
            (0..self.columns.len()).map(|at| if self.is_numeric(at) { "---:|" } else { "---|" }).collect::<String>()
        );
        for row in &self.rows {
            text += &line(row.iter().map(|cell| markdown(&cell.text)).collect());
        }
        text
    }

    /// A `tabular` of LaTeX with the rules of `booktabs`.
    pub fn to_latex(&self) -> String {
        let line = |cells: Vec<String>| format!("{} \\\\\n", cells.join(" & "));
        let alignment: String = (0..self.columns.len()).map(|at| if self.is_numeric(at) { 'r' } else { 'l' }).collect();
        let mut text = format!("% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{alignment}}}\n\\toprule\n");
        text += &line(self.columns.iter().map(|column| latex(column)).collect());
        text += "\\midrule\n";
        for row in &self.rows {
            text += &line(row.iter().map(|cell| latex(&cell.text)).collect());
        }
        text + "\\bottomrule\n\\end{tabular}\n"
    }

    /// For every column, whether it holds numbers.
    pub(crate) fn numeric_columns(&self) -> Vec<bool> {
        (0..self.columns.len()).map(|column| self.is_numeric(column)).collect()
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut cells =
            self.rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.text.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.value.is_some())
    }
}

fn markdown(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => safe.push(' '),
            '<' => safe.push_str("&lt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                safe.push('\\');
                safe.push(letter);
            }
            letter => safe.push(letter),
        }
    }
    safe
}

fn latex(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => safe.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                safe.push('\\');
                safe.push(letter);
            }
            '~' => safe.push_str("\\textasciitilde{}"),
            '^' => safe.push_str("\\textasciicircum{}"),
            '±' => safe.push_str("$\\pm$"),
            '→' => safe.push_str("$\\to$"),
            '−' => safe.push_str("$-$"),
            '\n' | '\r' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_written_three_ways() {
        let mut table = Table::new("scores", "Scores", &["method", "accuracy"]);
        table.push(vec!["a|b_c, 50 %".into(), Cell::number(84.4921514312096, "84.49 ± 0.64")]);
        assert_eq!(table.to_csv(), "method,accuracy\n\"a|b_c, 50 %\",84.4921514312096\n");
        assert_eq!(table.to_markdown(), "| method | accuracy |\n|---|---:|\n| a\\|b\\_c, 50 % | 84.49 ± 0.64 |\n");
        assert!(table.to_latex().contains("\\begin{tabular}{lr}"));
        assert!(table.to_latex().contains("a|b\\_c, 50 \\% & 84.49 $\\pm$ 0.64 \\\\"));
    }
}
