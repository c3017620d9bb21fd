//! The csv files of `fiedler reproduce` as a page.

use std::path::{Path, PathBuf};

use fiedler_report::{ConvergencePage, Entry, ExperimentPage, Page, Section};
use serde::Deserialize;

use super::source::{self, STEPS_HEADER};
use crate::error::{Error, ErrorKind, Result};
use crate::named::Named;
use crate::tables::TableKind;

/// A line of EXPERIMENT-PROTOCOL.csv, as far as a page needs it.
#[derive(Debug, Deserialize)]
struct Line {
    experiment: String,
    #[serde(alias = "ledger")]
    protocol: String,
    dataset: String,
    row: String,
    unit: String,
    mean: Option<f64>,
    std: Option<f64>,
    seeds: usize,
    paper_mean: Option<f64>,
    paper_std: Option<f64>,
    standard_errors_from_paper: Option<f64>,
    against: String,
    difference_from_row: Option<f64>,
    standard_errors_from_row: Option<f64>,
}

/// A line of convergence-DATASET.csv.
#[derive(Debug, Deserialize)]
struct Step {
    view: String,
    step: f64,
    relative_norm: f64,
}

/// A page of all tables in folders and files.
pub fn page(paths: &[&Path]) -> Result<Page> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(source::table_files(path)?),
            false => files.push(path.into()),
        }
    }
    let (mut experiments, mut courses) = (Vec::new(), Vec::new());
    for file in &files {
        match source::header(file).is_some_and(|line| line.starts_with(STEPS_HEADER)) {
            true => courses.push(steps(file)?),
            false => experiments.push(experiment(file)?),
        }
    }
    let order = |name: &str| TableKind::ALL.iter().position(|known| known.name() == name);
    experiments.sort_by_key(|page: &ExperimentPage| (order(&page.name).unwrap_or(usize::MAX), page.protocol.clone()));
    let lead = "Means over seeds beside what the paper prints. Protocols are never mixed.".to_owned();
    let mut page = super::page("The paper's tables, computed anew".into(), lead);
    page.extend(experiments.iter().map(ExperimentPage::section));
    let figures: Vec<_> = courses.iter().filter_map(ConvergencePage::figure).collect();
    if !figures.is_empty() {
        let title = "How the norm of the spectrum goes";
        page.extend([Section { figures, ..Section::new("convergence-steps", title) }]);
    }
    Ok(page)
}

fn experiment(file: &Path) -> Result<ExperimentPage> {
    let lines: Vec<Line> = read(file)?;
    let first =
        lines.first().ok_or_else(|| Error::new(ErrorKind::Data, format!("{} has no rows", file.display()), None))?;
    let known = TableKind::ALL.iter().find(|known| known.name() == first.experiment);
    Ok(ExperimentPage {
        name: first.experiment.clone(),
        title: known.map_or(first.experiment.clone(), |known| known.title().to_owned()),
        protocol: first.protocol.clone(),
        unit: first.unit.clone(),
        entries: lines.into_iter().map(entry).collect(),
    })
}

fn entry(line: Line) -> Entry {
    Entry {
        dataset: line.dataset,
        row: line.row,
        mean: line.mean,
        deviation: line.std,
        seeds: line.seeds,
        paper: line.paper_mean,
        paper_deviation: line.paper_std,
        from_paper: line.standard_errors_from_paper,
        // The csv has none.
        interval: None,
        against: line.against,
        difference: line.difference_from_row,
        from_row: line.standard_errors_from_row,
    }
}

fn steps(file: &Path) -> Result<ConvergencePage> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let dataset = stem.strip_prefix("convergence-").unwrap_or(&stem).to_owned();
    let mut views: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for Step { view, step, relative_norm } in read::<Step>(file)? {
        match views.iter_mut().find(|(name, _)| *name == view) {
            Some((_, points)) => points.push((step, relative_norm)),
            None => views.push((view, vec![(step, relative_norm)])),
        }
    }
    Ok(ConvergencePage { dataset, views })
}

fn read<T: for<'a> Deserialize<'a>>(file: &Path) -> Result<Vec<T>> {
    let refuse = |error: csv::Error| {
        let hint = "expected a csv file as `fiedler reproduce` writes it".to_owned();
        Error::new(ErrorKind::Data, format!("{}: {error}", file.display()), hint)
    };
    csv::Reader::from_path(file).map_err(refuse)?.deserialize().collect::<Result<_, _>>().map_err(refuse)
}
