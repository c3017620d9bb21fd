//! Tables of a reproduction, as pictures beside what a paper prints.

use crate::figure::Figure;
use crate::markup::slug;
use crate::number::mean_and_deviation;
use crate::page::Section;
use crate::plot::{Axis, Baseline, Dot, DotRow, Dots, Line, Lines, Point};
use crate::scheme::convergence;
use crate::table::{Cell, Table};

/// The results of one experiment under one protocol.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperimentPage {
    /// Name of the experiment.
    pub name: String,
    /// What it is called in print.
    pub title: String,
    /// The protocol of the evaluation.
    pub protocol: String,
    /// What the figures are.
    pub unit: String,
    /// One for each row and dataset.
    pub entries: Vec<Entry>,
}

/// What was found for a row on a dataset.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Entry {
    /// The dataset.
    pub dataset: String,
    /// The row.
    pub row: String,
    /// Mean over seeds; none where nothing is finished.
    pub mean: Option<f64>,
    /// Sample deviation over seeds.
    pub deviation: Option<f64>,
    /// How many seeds.
    pub seeds: usize,
    /// What the paper prints.
    pub paper: Option<f64>,
    /// The deviation that it prints.
    pub paper_deviation: Option<f64>,
    /// Ours less the paper's, in standard errors.
    pub from_paper: Option<f64>,
    /// The ends of its interval by the bootstrap over test items.
    pub interval: Option<[f64; 2]>,
    /// The row it is compared with.
    pub against: String,
    /// The mean difference from that row, seed by seed.
    pub difference: Option<f64>,
    /// The same in standard errors.
    pub from_row: Option<f64>,
}

/// How the norm of the spectrum went while a scheme of a dataset was optimized.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConvergencePage {
    /// The dataset.
    pub dataset: String,
    /// Name of each view, and step by step the relative norm.
    pub views: Vec<(String, Vec<(f64, f64)>)>,
}

impl ConvergencePage {
    /// The picture.
    pub fn figure(&self) -> Option<Figure> {
        let line = |(name, points): &(String, Vec<(f64, f64)>)| Line {
            name: format!("view {name}"),
            points: points.iter().map(|&(step, norm)| Point::new(step, norm)).collect(),
        };
        let name = slug(&format!("convergence-{}", self.dataset));
        convergence(&name, &format!("Convergence on {}", self.dataset), self.views.iter().map(line).collect())
    }
}

impl Entry {
    fn dot(&self) -> Option<Dot> {
        Some(Dot { mean: self.mean?, deviation: self.deviation.filter(|_| self.seeds > 1) })
    }

    fn printed(&self) -> Option<Dot> {
        Some(Dot { mean: self.paper?, deviation: self.paper_deviation })
    }
}

/// Names in the order of their first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

impl ExperimentPage {
    fn datasets(&self) -> Vec<&str> {
        distinct(self.entries.iter().map(|entry| entry.dataset.as_str()))
    }

    fn of<'a>(&'a self, dataset: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.dataset == dataset)
    }

    /// The section: pictures for each dataset, and the table.
    pub fn section(&self) -> Section {
        let mut section = Section::new(
            &slug(&format!("{}-{}", self.name, self.protocol)),
            format!("{}, protocol {}", self.title, self.protocol),
        );
        // Its rows are of different kinds: a norm, and ratios of norms. The steps have a picture of their own.
        let pictured = self.name != "convergence";
        for dataset in self.datasets().into_iter().filter(|_| pictured) {
            section.figures.extend(self.figures(dataset));
        }
        section.tables.push(self.table());
        section
    }

    /// Lines over a number where rows end in one, else one row below the other.
    fn figures(&self, dataset: &str) -> Vec<Figure> {
        let entries: Vec<&Entry> =
            self.of(dataset).filter(|entry| entry.mean.is_some() || entry.paper.is_some()).collect();
        let numbered = entries.iter().filter(|entry| numbered(&entry.row).is_some()).count();
        if numbered >= 2 && numbered + 2 >= entries.len() {
            let quantities = distinct(entries.iter().map(|entry| quantity(&entry.row).0));
            return quantities.into_iter().filter_map(|of| self.curves(dataset, of, &entries)).collect();
        }
        self.rows(dataset, &entries).into_iter().collect()
    }

    fn rows(&self, dataset: &str, entries: &[&Entry]) -> Option<Figure> {
        let paper = entries.iter().any(|entry| entry.paper.is_some());
        let kinds = if paper { vec!["here".to_owned(), "the paper".to_owned()] } else { vec!["here".to_owned()] };
        let row = |entry: &&Entry| DotRow {
            name: entry.row.clone(),
            dots: if paper { vec![entry.dot(), entry.printed()] } else { vec![entry.dot()] },
        };
        if entries.is_empty() {
            return None;
        }
        let beside = if paper { " beside what the paper prints" } else { "" };
        Some(Figure {
            name: slug(&format!("{}-{}-{dataset}", self.name, self.protocol)),
            title: format!("{} on {dataset}", self.title),
            caption: format!("Mean and sample deviation over seeds{beside}."),
            alternative: format!(
                "{} of {} rows on {dataset}{beside}; the table has the figures.",
                self.unit,
                entries.len()
            ),
            svg: Dots { x: Axis::linear(&self.unit), kinds, rows: entries.iter().map(row).collect() }.draw(),
        })
    }

    fn curves(&self, dataset: &str, of: &str, entries: &[&Entry]) -> Option<Figure> {
        let mut lines: Vec<Line> = Vec::new();
        let mut baselines = Vec::new();
        for entry in entries {
            let Some(mean) = entry.mean else { continue };
            let Some((name, x)) = numbered(&entry.row) else {
                baselines.push(Baseline { name: entry.row.clone(), y: mean });
                continue;
            };
            let (what, name) = quantity(name);
            if what != of {
                continue;
            }
            let point = Point { x, y: mean, deviation: entry.deviation.filter(|_| entry.seeds > 1) };
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: name.to_owned(), points: vec![point] }),
            }
        }
        if lines.is_empty() {
            return None;
        }
        let xs = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.x));
        let least = xs().fold(f64::INFINITY, f64::min);
        let wide = least > 0.0 && least * 20.0 < xs().fold(0.0, f64::max);
        let title = self.number();
        let x = if wide { Axis::logarithmic(title) } else { Axis::linear(title) };
        let unit = if of.is_empty() { self.unit.clone() } else { quantity_unit(of, &self.unit) };
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        let what = if of.is_empty() { String::new() } else { format!(", {of}") };
        Some(Figure {
            name: slug(&format!("{}-{}-{dataset}{what}", self.name, self.protocol)),
            title: format!("{} on {dataset}{what}", self.title),
            caption: "Means over seeds; whiskers are sample deviations.".into(),
            alternative: format!(
                "Lines of {unit} by {title} on {dataset}: {}; the table has the figures.",
                names.join(", ")
            ),
            svg: Lines { lines: lines.clone(), baselines, ..Lines::new(x, Axis::linear(unit)) }.draw(),
        })
    }

    /// What the number at the end of a row is.
    fn number(&self) -> &'static str {
        match self.name.as_str() {
            "strength" => "perturbation strength σₑ (share of edges)",
            "preanalysis" => "perturbation strength σ (share of edges)",
            "robustness" => "flipped pairs (share of edges)",
            "eigenvalues" => "eigenvalues of each end, K",
            "coverage" => "share of eigenvalues covered",
            _ => "value",
        }
    }

    fn table(&self) -> Table {
        let columns = [
            "dataset",
            "row",
            "here",
            "seeds",
            "the paper",
            "standard errors from it",
            "less",
            "difference",
            "standard errors",
        ];
        let mut table = Table::new(
            &slug(&format!("{}-{}-table", self.name, self.protocol)),
            &format!("{}, {}", self.title, self.unit),
            &columns,
        );
        let written = |dot: Option<Dot>| {
            dot.map_or(Cell::default(), |dot| Cell::number(dot.mean, mean_and_deviation(dot.mean, dot.deviation)))
        };
        let signed = |value: Option<f64>, digits: usize| {
            value.map_or(Cell::default(), |value| Cell::number(value, format!("{value:+.digits$}").replace('-', "−")))
        };
        let datasets = self.datasets();
        for entry in datasets.iter().flat_map(|dataset| self.of(dataset)) {
            table.push(vec![
                entry.dataset.clone().into(),
                entry.row.clone().into(),
                written(entry.dot()),
                Cell::count(entry.seeds),
                written(entry.printed()),
                signed(entry.from_paper, 1),
                entry.against.clone().into(),
                signed(entry.difference, 2),
                signed(entry.from_row, 1),
            ]);
        }
        table.caption = "Mean ± sample deviation over seeds.".into();
        table.without_empty_columns()
    }
}

/// A row that ends in a number: its name before that, and the number.
fn numbered(row: &str) -> Option<(&str, f64)> {
    let (name, number) = row.rsplit_once(' ')?;
    let number = number.parse().ok()?;
    Some((name.trim_end_matches(['=', ' ']), number))
}

/// What a row measures, where it says so before a comma, and the rest of its name.
fn quantity(row: &str) -> (&str, &str) {
    row.split_once(", ").unwrap_or(("", row))
}

/// The unit of one of several quantities, which are told in the order of their units.
fn quantity_unit(of: &str, units: &str) -> String {
    let matching = match of {
        "F1" => units.split(", ").find(|unit| unit.contains("F1")),
        "spectral change" => units.split(", ").find(|unit| unit.contains("spectr")),
        _ => None,
    };
    matching.unwrap_or(of).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_numbers_are_told_from_others() {
        assert_eq!(numbered("uniform 0.3"), Some(("uniform", 0.3)));
        assert_eq!(numbered("K = 50"), Some(("K", 50.0)));
        assert_eq!(numbered("all"), None);
        assert_eq!(numbered("GCL-SPAN"), None);
        assert_eq!(quantity("F1, uniform"), ("F1", "uniform"));
    }
}
