//! Tables of results for the eye, for markdown and for csv: one row a method, one column a dataset.

use std::fmt::Write;

use crate::experiment::Entry;

/// The results of one experiment under one protocol, as they are printed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultTable {
    /// Name of the experiment.
    pub name: String,
    /// What it is called in print.
    pub title: String,
    /// The protocol of the evaluation.
    pub protocol: String,
    /// What the figures are.
    pub unit: String,
    /// Rows in their order.
    pub rows: Vec<String>,
    /// Columns in their order.
    pub datasets: Vec<String>,
    /// At most one for each row and dataset.
    pub entries: Vec<ResultEntry>,
    /// What stands below the table, one sentence each.
    pub footnotes: Vec<String>,
}

/// One row on one dataset, with what it came from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResultEntry {
    /// What was found, and how it compares.
    pub found: Entry,
    /// What was found, seed by seed and, where every split counts by itself, split by split.
    pub values: Vec<f64>,
    /// Whether a run failed.
    pub failed: bool,
    /// The recipe its settings came from.
    pub recipe: String,
    /// A fingerprint of the settings.
    pub settings: String,
    /// Fingerprints of the splits, in the order of seeds.
    pub splits: Vec<String>,
}

impl ResultTable {
    /// For a terminal.
    pub fn to_text(&self) -> String {
        let lines = self.lines();
        let width = |text: &str| text.chars().count();
        let first = lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
        let column = |at: usize| {
            let texts = lines.iter().map(|(_, texts)| width(&texts[at])).max().unwrap_or(0);
            texts.max(width(&self.datasets[at]))
        };
        let widths: Vec<usize> = (0..self.datasets.len()).map(column).collect();
        let mut out = format!("{}\n", self.headline());
        let mut line = |name: &str, texts: &[String]| {
            let mut text = format!("  {name:first$}");
            for (cell, width) in texts.iter().zip(&widths) {
                let _ = write!(text, "  {cell:width$}");
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line("", &self.datasets);
        lines.iter().for_each(|(name, texts)| line(name, texts));
        self.footnotes.iter().for_each(|note| {
            let _ = writeln!(out, "  {note}");
        });
        out
    }

    /// A section of a page of markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("### {}\n\n| |{}|\n", self.headline(), self.datasets.join("|"));
        let _ = writeln!(out, "|---|{}", "---:|".repeat(self.datasets.len()));
        for (name, texts) in self.lines() {
            let name = match name.strip_prefix("  ") {
                Some(below) => format!("&nbsp;&nbsp;{below}"),
                None => format!("**{name}**"),
            };
            let _ = writeln!(out, "|{name}|{}|", texts.join("|"));
        }
        out.push('\n');
        self.footnotes.iter().for_each(|note| {
            let _ = writeln!(out, "- {note}");
        });
        out
    }

    /// One line for each row and dataset, numbers in full precision.
    ///
    /// # Errors
    /// Never, as long as memory suffices.
    pub fn to_csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record([
            "experiment",
            "protocol",
            "dataset",
            "row",
            "unit",
            "mean",
            "std",
            "seeds",
            "values",
            "paper_mean",
            "paper_std",
            "standard_errors_from_paper",
            "against",
            "difference_from_row",
            "standard_errors_from_row",
            "recipe",
            "settings",
            "splits",
        ])?;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for row in &self.rows {
            for entry in self.datasets.iter().filter_map(|dataset| self.entry(dataset, row)) {
                let found = &entry.found;
                let values: Vec<String> = entry.values.iter().map(ToString::to_string).collect();
                writer.write_record([
                    self.name.clone(),
                    self.protocol.clone(),
                    found.dataset.clone(),
                    found.row.clone(),
                    self.unit.clone(),
                    number(found.mean),
                    number(found.deviation),
                    found.seeds.to_string(),
                    values.join(" "),
                    number(found.paper),
                    number(found.paper_deviation),
                    number(found.from_paper),
                    found.against.clone(),
                    number(found.difference),
                    number(found.from_row),
                    entry.recipe.clone(),
                    entry.settings.clone(),
                    entry.splits.join(" "),
                ])?;
            }
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }

    fn headline(&self) -> String {
        format!("{}, {}, protocol {}", self.title, self.unit, self.protocol)
    }

    fn entry(&self, dataset: &str, row: &str) -> Option<&ResultEntry> {
        self.entries.iter().find(|entry| entry.found.dataset == dataset && entry.found.row == row)
    }

    /// For every row what was found, and below it, where there is any, what the paper prints and how they differ; one text for each
    /// dataset.
    fn lines(&self) -> Vec<(String, Vec<String>)> {
        let mut lines = Vec::new();
        for row in &self.rows {
            let of_row = self.entries.iter().filter(|entry| entry.found.row == *row);
            let other = of_row.map(|entry| &entry.found.against).find(|other| !other.is_empty());
            lines.push((row.clone(), self.each(row, ours)));
            let below: [(String, Vec<String>); 4] = [
                ("  95 % interval over test items".into(), self.each(row, interval)),
                ("  paper".into(), self.each(row, printed)),
                ("  difference in standard errors".into(), self.each(row, from_paper)),
                (format!("  less {}", other.map_or("", String::as_str)), self.each(row, from_row)),
            ];
            lines.extend(below.into_iter().filter(|(_, texts)| texts.iter().any(|text| !text.is_empty())));
        }
        lines
    }

    fn each(&self, row: &str, text: impl Fn(&ResultEntry) -> String) -> Vec<String> {
        let of = |dataset: &String| self.entry(dataset, row).map_or(String::new(), &text);
        self.datasets.iter().map(of).collect()
    }
}

fn ours(entry: &ResultEntry) -> String {
    let (seeds, values) = (entry.found.seeds, entry.values.len());
    let runs = if values > seeds { format!("{seeds} × {}", values / seeds.max(1)) } else { seeds.to_string() };
    match (entry.found.mean, entry.found.deviation) {
        (None, _) if entry.failed => "failed".into(),
        (None, _) => "…".into(),
        (Some(mean), Some(std)) if seeds.max(values) > 1 => format!("{mean:.0$} ± {std:.0$} ({runs})", digits(mean)),
        (Some(mean), _) => format!("{mean:.*} ({runs})", digits(mean)),
    }
}

/// Two after the point, but four of small numbers such as ratios.
fn digits(number: f64) -> usize {
    if number.abs() < 10.0 { 4 } else { 2 }
}

fn printed(entry: &ResultEntry) -> String {
    match (entry.found.paper, entry.found.paper_deviation) {
        (Some(mean), Some(std)) => format!("{mean:.2} ± {std:.2}"),
        (Some(mean), None) => format!("{mean:.2}"),
        (None, _) => String::new(),
    }
}

fn interval(entry: &ResultEntry) -> String {
    entry.found.interval.map_or(String::new(), |[low, high]| format!("{low:.0$} to {high:.0$}", digits(low)))
}

fn from_paper(entry: &ResultEntry) -> String {
    entry.found.from_paper.map_or(String::new(), |errors| format!("{errors:+.1}"))
}

fn from_row(entry: &ResultEntry) -> String {
    match (entry.found.difference, entry.found.from_row) {
        (Some(difference), Some(errors)) => format!("{difference:+.2} ({errors:+.1} standard errors)"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(dataset: &str, row: &str, mean: Option<f64>) -> ResultEntry {
        let found = Entry {
            dataset: dataset.into(),
            row: row.into(),
            mean,
            deviation: mean.map(|_| 0.5),
            seeds: if mean.is_some() { 3 } else { 0 },
            ..Entry::default()
        };
        ResultEntry { found, ..ResultEntry::default() }
    }

    fn table() -> ResultTable {
        let mut compared = entry("Cora", "SPAN", Some(83.25));
        compared.found = Entry {
            paper: Some(84.0),
            paper_deviation: Some(0.25),
            from_paper: Some(-2.5),
            against: "Raw-X".into(),
            difference: Some(12.75),
            from_row: Some(30.0),
            ..compared.found
        };
        ResultTable {
            name: "node".into(),
            title: "Nodes".into(),
            protocol: "random".into(),
            unit: "accuracy (%)".into(),
            rows: vec!["Raw-X".into(), "SPAN".into()],
            datasets: vec!["Cora".into(), "PubMed".into()],
            entries: vec![
                compared,
                entry("Cora", "Raw-X", Some(70.5)),
                ResultEntry { failed: true, ..entry("PubMed", "SPAN", None) },
                entry("PubMed", "Raw-X", None),
            ],
            footnotes: vec!["A note.".into()],
        }
    }

    #[test]
    fn rows_stand_in_their_order_with_what_they_are_compared_with() {
        let text = table().to_text();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines[0], "Nodes, accuracy (%), protocol random");
        assert!(lines[2].starts_with("Raw-X") && lines[2].ends_with('…'), "{text}");
        assert!(lines[3].contains("83.25 ± 0.50 (3)") && lines[3].ends_with("failed"), "{text}");
        assert!(lines[4].starts_with("paper") && lines[4].ends_with("84.00 ± 0.25"), "{text}");
        assert!(lines[5].ends_with("-2.5") && lines[6].starts_with("less Raw-X"), "{text}");
        assert!(lines[6].ends_with("+12.75 (+30.0 standard errors)") && lines[7] == "A note.", "{text}");
    }

    #[test]
    fn markdown_and_csv_say_the_same() {
        let markdown = table().to_markdown();
        assert!(markdown.starts_with("### Nodes, accuracy (%), protocol random\n\n| |Cora|PubMed|\n|---|---:|---:|\n"));
        assert!(markdown.contains("|**SPAN**|83.25 ± 0.50 (3)|failed|") && markdown.ends_with("- A note.\n"));
        let csv = String::from_utf8(table().to_csv().unwrap_or_default()).unwrap_or_default();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 5, "{csv}");
        assert_eq!(lines[3], "node,random,Cora,SPAN,accuracy (%),83.25,0.5,3,,84,0.25,-2.5,Raw-X,12.75,30,,,");
    }
}
