//! The page of a run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_augment::Scheme;
use fiedler_evaluate::{Metric, Score as Evaluated};
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Observer};
use fiedler_io::AtomicFiles;
use fiedler_report::{GraphPage, Page, Plane, RunPage, ScoreRow, classes, plane};
use rand::RngExt;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::open::open_observed;
use crate::run::embeddings::read_embeddings;
use crate::run::{LOSSES, PAGE, RunArtifacts, RunFolder, RunRecord, method_in_words};
use crate::scheme_store::load_scheme;
use crate::settings_tree;
use crate::task::{DataRecord, Task};
use fiedler_evaluate::QuickScore;

/// Points on a plane at most, and where a page should be there at once.
const MOST_POINTS: usize = 5_000;
const QUICK_POINTS: usize = 1_000;
/// Bytes of a scheme's file above which a page that should be there at once does not look into it.
const QUICK_SCHEME: u64 = 50 << 20;

/// What a page is made of.
struct PageParts<'a> {
    record: &'a RunRecord,
    /// Where the run lies, if it lies anywhere.
    folder: Option<&'a Path>,
    dataset: Option<&'a Dataset>,
    embeddings: Option<(usize, &'a [f32])>,
    scheme: Option<&'a Scheme>,
    losses: Vec<f32>,
}

/// The whole page of a run, from what lies in its folder.
pub fn page(folder: &Path, around: Option<&str>, observer: &dyn Observer) -> Result<Page> {
    let place = RunFolder::new(folder);
    let record = place.finished()?;
    let dataset = dataset(&record, observer);
    let scheme = dataset.as_ref().filter(|_| place.scheme(0).exists()).and_then(|dataset| {
        let loaded = load_scheme(&place.scheme(0), &dataset.graphs);
        loaded.map_err(|error| observer.note(&format!("the scheme is left out: {error}"))).ok()
    });
    let embeddings = read_embeddings(folder)?;
    let parts = PageParts {
        record: &record,
        folder: Some(folder),
        dataset: dataset.as_ref(),
        embeddings: embeddings.as_ref().map(|dense| (dense.columns(), dense.values())),
        scheme: scheme.as_ref(),
        losses: losses(folder)?,
    };
    let stage = observer.stage("page", "laying the embeddings out on a plane");
    let run = parts.figures(MOST_POINTS)?;
    drop(stage);
    parts.page(run, around, false, observer)
}

/// Leaves a page in the folder of a run that just came to its end, from what it has in memory. What would take long is left out, and
/// nothing that goes wrong here is worth losing a run for.
pub fn leave_page(artifacts: &RunArtifacts, task: &Task, folder: &RunFolder, observer: &dyn Observer) {
    let RunArtifacts { record, outcome, schemes } = artifacts;
    let _stage = observer.stage("page", "making a page of it");
    // Of a scheme that is not in the folder there is nothing to say how large it is.
    let small = fs::metadata(folder.scheme(0)).is_ok_and(|file| file.len() <= QUICK_SCHEME);
    let parts = PageParts {
        record,
        folder: Some(folder.path()),
        dataset: Some(&task.dataset),
        embeddings: Some((outcome.embeddings.columns(), outcome.embeddings.values())),
        scheme: schemes.first().filter(|_| small).map(|computed| &*computed.scheme),
        losses: outcome.history.losses.clone(),
    };
    let made = parts.figures(QUICK_POINTS).and_then(|run| parts.page(run, None, true, observer));
    let made = made.and_then(|page| write_page(&page, &folder.path().join(PAGE)));
    tell_failure(made, observer);
}

/// The whole page of a run that is in memory.
///
/// # Errors
/// When the embeddings or the scheme cannot be drawn.
pub fn of_artifacts(artifacts: &RunArtifacts, task: &Task, observer: &dyn Observer) -> Result<Page> {
    let RunArtifacts { record, outcome, schemes } = artifacts;
    let parts = PageParts {
        record,
        folder: None,
        dataset: Some(&task.dataset),
        embeddings: Some((outcome.embeddings.columns(), outcome.embeddings.values())),
        scheme: schemes.first().map(|computed| &*computed.scheme),
        losses: outcome.history.losses.clone(),
    };
    let stage = observer.stage("page", "laying the embeddings out on a plane");
    let run = parts.figures(MOST_POINTS)?;
    drop(stage);
    parts.page(run, None, false, observer)
}

/// Leaves the page that a run was stopped before.
pub fn leave_missing_page(folder: &RunFolder, observer: &dyn Observer) {
    let path = folder.path().join(PAGE);
    if path.exists() {
        return;
    }
    let made = page(folder.path(), None, observer).and_then(|page| write_page(&page, &path));
    tell_failure(made, observer);
}

pub(super) fn write_page(page: &Page, path: &Path) -> Result<()> {
    let html = page.to_html()?;
    let mut targets = AtomicFiles::new(true);
    targets.write(path, |file| file.write_all(html.as_bytes()))?;
    Ok(targets.finish().map(drop)?)
}

pub(super) fn tell_failure(made: Result<()>, observer: &dyn Observer) {
    if let Err(error) = made {
        observer.note(&format!("no page was made: {}", error.in_one_line()));
    }
}

/// The figures of a run without anything that takes time, for a comparison.
pub fn figures(record: &RunRecord, folder: &Path) -> Result<RunPage> {
    let losses = losses(folder)?;
    PageParts { record, folder: Some(folder), dataset: None, embeddings: None, scheme: None, losses }.figures(0)
}

/// The data of a run, if they are still what they were.
fn dataset(record: &RunRecord, observer: &dyn Observer) -> Option<Dataset> {
    let (source, options) = record.data.located();
    let loaded = open_observed(&source, &options, record.settings.seed, observer);
    match loaded {
        Ok(dataset) => {
            let now = DataRecord::new(source, options, &dataset);
            if record.data.is_same(&now) {
                return Some(dataset);
            }
            observer.note(&format!(
                "{} is not what the run was trained on any more; the page does without it",
                record.data.source
            ));
            None
        }
        Err(failure) => {
            observer.note(&format!("the page does without the data: {}", failure.in_one_line()));
            None
        }
    }
}

impl PageParts<'_> {
    fn page(&self, run: RunPage, around: Option<&str>, quick: bool, observer: &dyn Observer) -> Result<Page> {
        let mut page = super::page(format!("{}: embedded by {}", run.data, run.method), run.lead());
        let mut sections = run.sections();
        let settings = sections.pop();
        page.extend(sections);
        let seed = self.record.settings.seed;
        if let (Some(scheme), Some(dataset)) = (self.scheme, self.dataset) {
            page.extend([super::scheme_page(scheme, dataset, around, seed, observer)?.section()]);
        }
        if let Some(dataset) = self.dataset {
            let graph: GraphPage = super::graph_page(dataset, None, seed, quick)?;
            page.extend(graph.sections());
        }
        page.extend(settings);
        Ok(page)
    }

    /// The figures, with at most so many points on a plane.
    fn figures(&self, most_points: usize) -> Result<RunPage> {
        let RunRecord { data, settings, result, .. } = self.record;
        let Some(result) = result else {
            return Err(Error::new(
                ErrorKind::Data,
                format!("{} says nothing of a result", self.folder.unwrap_or(Path::new("the run")).display()),
                None,
            ));
        };
        Ok(RunPage {
            data: data.name.clone(),
            method: method_in_words(settings),
            recipe: self.record.recipe.clone(),
            seed: settings.seed,
            warnings: result.warnings.clone(),
            items: if data.graphs == 1 { "nodes" } else { "graphs" }.into(),
            size: (result.rows, result.columns),
            losses: self.losses.clone(),
            kept_epoch: result.best_epoch.filter(|_| settings.training.patience.is_some()),
            scores: scores(&result.scores, self.folder, settings.method.name()),
            verdict: result.verdict.clone(),
            spread: result.relative_std,
            seconds: (result.scheme_seconds, result.training_seconds),
            threads: result.threads,
            peak_bytes: result.peak_bytes,
            settings: flat_settings(self.record),
            plane: self.plane(most_points),
            commands: self.folder.map_or(Vec::new(), commands),
        })
    }

    fn plane(&self, most: usize) -> Option<Plane> {
        let (columns, values) = self.embeddings?;
        let rows = values.len().checked_div(columns)?;
        if rows < 3 || most == 0 {
            return None;
        }
        let chosen = sample(rows, most, self.record.settings.seed);
        let of_chosen: Vec<f32> =
            chosen.iter().flat_map(|&row| &values[row * columns..(row + 1) * columns]).copied().collect();
        let (points, layout) = plane::lay_out(&of_chosen, columns);
        let graph = self.dataset.and_then(Dataset::graph);
        let name = |row: usize| graph.map_or_else(|| row.to_string(), |graph| graph.name(row as u32));
        let classes = self.dataset.and_then(classes).filter(|classes| classes.of().len() == rows);
        Some(Plane {
            points: points.into_iter().zip(&chosen).map(|(point, &row)| (point, name(row))).collect(),
            classes: chosen.iter().map(|&row| classes.and_then(|classes| classes.of()[row])).collect(),
            class_names: classes.map_or(Vec::new(), |classes| classes.names().to_vec()),
            of: rows,
            layout,
        })
    }
}

/// All rows, or evenly drawn ones where there are too many, in their order.
fn sample(rows: usize, most: usize, seed: u64) -> Vec<usize> {
    if rows <= most {
        return (0..rows).collect();
    }
    let mut numbers = stream(seed, "points of a report", 0);
    let mut chosen = Vec::with_capacity(most);
    // Knuth's selection: every row with the share of places that are left.
    for row in 0..rows {
        if numbers.random_range(0..rows - row) < most - chosen.len() {
            chosen.push(row);
        }
    }
    chosen
}

#[derive(Debug, Deserialize)]
pub(super) struct Epoch {
    pub(super) loss: f32,
    #[serde(default)]
    pub(super) validation: Option<f32>,
}

fn losses(folder: &Path) -> Result<Vec<f32>> {
    Ok(curve(folder)?.into_iter().map(|epoch| epoch.loss).collect())
}

/// What was written of every epoch.
pub(super) fn curve(folder: &Path) -> Result<Vec<Epoch>> {
    let path = folder.join(LOSSES);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let refuse = |error: csv::Error| {
        let hint = "expected losses as `fiedler embed` writes them; without the file the page has no picture of them"
            .to_owned();
        Error::new(ErrorKind::Data, format!("{}: {error}", path.display()), hint)
    };
    let epochs =
        csv::Reader::from_path(&path).map_err(refuse)?.into_deserialize::<Epoch>().collect::<Result<Vec<_>, _>>();
    epochs.map_err(refuse)
}

/// The scores in the record; or else those that `fiedler reproduce` left beside it.
fn scores(scores: &[QuickScore], folder: Option<&Path>, method: &str) -> Vec<ScoreRow> {
    if !scores.is_empty() {
        return scores.iter().map(of_record).collect();
    }
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut names: Vec<_> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    names.sort();
    let judged = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("score-")?.strip_suffix(".json")?.to_owned();
        let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let score: Evaluated = serde_json::from_value(value.get("score")?.clone()).ok()?;
        let several = score.splits.len() > 1;
        Some(ScoreRow {
            of: format!("{method}, protocol {name}"),
            metric: score.metric.name().into(),
            value: score.mean,
            deviation: several.then_some(score.std),
            deviation_is: if several {
                format!("sample deviation over {} splits", score.splits.len())
            } else {
                String::new()
            },
            protocol: score.description,
        })
    };
    names.iter().filter_map(judged).collect()
}

fn of_record(score: &QuickScore) -> ScoreRow {
    let tested = score.test_items.filter(|&tested| tested > 0 && score.metric == Metric::Accuracy);
    // A share of so many items: the normal approximation of its 95 % interval.
    let interval = tested.map(|tested| 1.96 * (score.value * (1.0 - score.value) / tested as f64).sqrt());
    let over_splits = score.std.map(|_| format!("sample deviation over {} splits", score.splits));
    ScoreRow {
        of: score.of.clone(),
        metric: score.metric.name().into(),
        value: score.value,
        deviation: score.std.or(interval),
        deviation_is: over_splits.unwrap_or_else(|| {
            tested.map_or(String::new(), |tested| {
                format!("95 % interval over {} tested", fiedler_report::number::count(tested))
            })
        }),
        protocol: score.protocol.clone(),
    }
}

/// Settings by their names, sections before a point.
fn flat_settings(record: &RunRecord) -> Vec<(String, String)> {
    let mut settings = vec![
        ("version".to_owned(), record.version.clone()),
        ("data".to_owned(), record.data.source.clone()),
        ("recipe".to_owned(), record.recipe.clone().unwrap_or_else(|| "none".into())),
    ];
    let entries = settings_tree::entries(&record.settings).unwrap_or_default();
    settings.extend(entries.into_iter().map(|entry| (entry.key, entry.value)));
    settings
}

fn commands(folder: &Path) -> Vec<(String, String)> {
    let quoted = |text: String| {
        let plain = text.chars().all(|letter| letter.is_alphanumeric() || "-_./+:,=".contains(letter));
        if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    let folder = folder.display().to_string();
    let (record, again) =
        (quoted(format!("{folder}/run.json")), quoted(format!("{}-again", folder.trim_end_matches('/'))));
    vec![
        (
            "Repeats the run, to the same embeddings:".to_owned(),
            format!("fiedler embed --settings {record} --out {again}"),
        ),
        ("Makes this page again:".to_owned(), format!("fiedler report {}", quoted(folder))),
    ]
}
