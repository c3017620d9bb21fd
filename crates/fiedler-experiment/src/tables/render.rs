//! A table for the eye, for markdown and for csv.

use std::fmt::Write;

use super::paper;
use super::table::{Difference, Entry, Table};

/// Rows of text: a name and one text for each dataset.
struct Lines<'a> {
    table: &'a Table,
}

impl Lines<'_> {
    /// For every row what was found, and below it, where there is any, what the paper prints and how they differ.
    fn collect(&self) -> Vec<(String, Vec<String>)> {
        let mut lines = Vec::new();
        for row in &self.table.rows {
            lines.push((row.clone(), self.each(row, ours)));
            let below: [(String, Vec<String>); 3] = [
                ("  paper".into(), self.each(row, printed)),
                ("  difference in standard errors".into(), self.each(row, |entry| signed(entry.paper_difference()))),
                self.against(row),
            ];
            lines.extend(below.into_iter().filter(|(_, texts)| texts.iter().any(|text| !text.is_empty())));
        }
        lines
    }

    fn against(&self, row: &str) -> (String, Vec<String>) {
        let of_row = self.table.entries.iter().filter(|entry| entry.row == row);
        let other = of_row.filter_map(|entry| entry.against.clone()).next().unwrap_or_default();
        let text = |entry: &Entry| match self.table.against(entry) {
            Some(found) => format!("{:+.2} ({:+.1} standard errors)", found.of_means, found.standard_errors),
            None => String::new(),
        };
        (format!("  less {other}"), self.each(row, text))
    }

    fn each(&self, row: &str, text: impl Fn(&Entry) -> String) -> Vec<String> {
        let of = |dataset: &String| self.table.entry(dataset, row).map_or(String::new(), &text);
        self.table.datasets.iter().map(of).collect()
    }
}

fn ours(entry: &Entry) -> String {
    let runs = match (entry.num_seeds(), entry.values.len()) {
        (seeds, values) if seeds == values => seeds.to_string(),
        (seeds, values) => format!("{seeds} × {}", values / seeds.max(1)),
    };
    match (entry.mean_and_deviation(), entry.values.len()) {
        (None, _) if entry.failed.is_empty() => "…".into(),
        (None, _) => "failed".into(),
        (Some((mean, _)), 1) => format!("{mean:.*} (1)", digits(mean)),
        (Some((mean, std)), _) => format!("{mean:.0$} ± {std:.0$} ({runs})", digits(mean)),
    }
}

/// Two after the point, but four of small numbers such as ratios.
fn digits(number: f64) -> usize {
    if number.abs() < 10.0 { 4 } else { 2 }
}

fn printed(entry: &Entry) -> String {
    match entry.paper {
        Some(paper::PrintedFigure { mean, std: Some(std) }) => format!("{mean:.2} ± {std:.2}"),
        Some(paper::PrintedFigure { mean, std: None }) => format!("{mean:.2}"),
        None => String::new(),
    }
}

fn signed(difference: Option<Difference>) -> String {
    difference.map_or(String::new(), |found| format!("{:+.1}", found.standard_errors))
}

fn title(table: &Table) -> String {
    format!("{}, {}, protocol {}", table.title, table.unit, table.protocol.name())
}

/// What stands below every table.
fn footnotes(table: &Table) -> Vec<String> {
    let mut notes =
        vec!["Ours: mean ± sample deviation over seeds, or seeds × splits; their number in parentheses.".to_owned()];
    if table.entries.iter().any(|entry| entry.paper.is_some()) {
        notes.push(format!(
            "Difference: (ours − paper) / √(s₁²/n₁ + s₂²/n₂), with n₂ = {} as the paper says; not told of a single run.",
            paper::RUNS
        ));
    }
    if table.entries.iter().any(|entry| entry.against.is_some()) {
        notes.push("Less another row: the mean of the differences of equal seeds and splits, over its standard error; splits of one seed overlap, so \
             that the error is somewhat too small.".to_owned());
    }
    notes.extend(table.notes.iter().cloned());
    for entry in &table.entries {
        notes.extend(entry.failed.iter().map(|why| format!("{}, {}: {why}", entry.dataset, entry.row)));
    }
    notes
}

/// For a terminal.
pub fn text(table: &Table) -> String {
    let lines = Lines { table }.collect();
    let width = |text: &str| text.chars().count();
    let first = lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..table.datasets.len())
        .map(|at| lines.iter().map(|(_, texts)| width(&texts[at])).max().unwrap_or(0).max(width(&table.datasets[at])))
        .collect();
    let mut out = format!("{}\n", title(table));
    let mut line = |name: &str, texts: &[String]| {
        let mut text = format!("  {name:first$}");
        for (cell, width) in texts.iter().zip(&widths) {
            let _ = write!(text, "  {cell:width$}");
        }
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line("", &table.datasets);
    lines.iter().for_each(|(name, texts)| line(name, texts));
    footnotes(table).iter().for_each(|note| {
        let _ = writeln!(out, "  {note}");
    });
    out
}

/// For a page.
pub fn markdown(table: &Table) -> String {
    let mut out = format!("### {}\n\n| |{}|\n", title(table), table.datasets.join("|"));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(table.datasets.len()));
    for (name, texts) in (Lines { table }).collect() {
        let name = match name.strip_prefix("  ") {
            Some(below) => format!("&nbsp;&nbsp;{below}"),
            None => format!("**{name}**"),
        };
        let _ = writeln!(out, "|{name}|{}|", texts.join("|"));
    }
    out.push('\n');
    footnotes(table).iter().for_each(|note| {
        let _ = writeln!(out, "- {note}");
    });
    out
}

/// One line for each row and dataset.
pub fn csv(table: &Table) -> Result<Vec<u8>, csv::Error> {
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
    for row in &table.rows {
        for entry in table.datasets.iter().filter_map(|dataset| table.entry(dataset, row)) {
            let found = entry.mean_and_deviation();
            let from_row = table.against(entry);
            let values: Vec<String> = entry.values.iter().map(|value| value.value.to_string()).collect();
            writer.write_record([
                table.experiment.clone(),
                table.protocol.name().into(),
                entry.dataset.clone(),
                entry.row.clone(),
                table.unit.clone(),
                number(found.map(|(mean, _)| mean)),
                number(found.map(|(_, std)| std)),
                entry.num_seeds().to_string(),
                values.join(" "),
                number(entry.paper.map(|paper| paper.mean)),
                number(entry.paper.and_then(|paper| paper.std)),
                number(entry.paper_difference().map(|found| found.standard_errors)),
                entry.against.clone().unwrap_or_default(),
                number(from_row.map(|found| found.of_means)),
                number(from_row.map(|found| found.standard_errors)),
                entry.recipe.clone(),
                entry.settings.clone(),
                entry.splits.join(" "),
            ])?;
        }
    }
    writer.into_inner().map_err(|error| error.into_error().into())
}

/// One object: the table with means and differences filled in.
pub fn json(table: &Table) -> serde_json::Value {
    let mut value = serde_json::json!(table);
    for (at, entry) in table.entries.iter().enumerate() {
        let found = entry.mean_and_deviation();
        value["entries"][at]["mean"] = serde_json::json!(found.map(|(mean, _)| mean));
        value["entries"][at]["std"] = serde_json::json!(found.map(|(_, std)| std));
        value["entries"][at]["from_paper"] = serde_json::json!(entry.paper_difference());
        value["entries"][at]["from_row"] = serde_json::json!(table.against(entry));
    }
    value
}
