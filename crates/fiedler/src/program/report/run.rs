//! The page of a run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_augment::Scheme;
use fiedler_evaluate::{Metric, Score as Evaluated};
use fiedler_graph::random::stream;
use fiedler_graph::read::TableFile;
use fiedler_graph::write::Targets;
use fiedler_graph::{Dataset, Dense};
use fiedler_learn::Embeddings;
use fiedler_report::{GraphPage, Page, Plane, RunPage, ScoreRow, classes, plane};
use rand::RngExt;
use serde::Deserialize;
use serde_json::Value;

use crate::program::failure::{Exit, Failure};
use crate::program::output::Output;
use crate::program::run::folder::{DataRecord, Folder, PAGE, Record};
use crate::program::run::score::Score;

/// Points on a plane at most, and where a page should be there at once.
const MOST_POINTS: usize = 5_000;
const QUICK_POINTS: usize = 1_000;
/// Bytes of a scheme's file above which a page that should be there at once does not look into it.
const QUICK_SCHEME: u64 = 50 << 20;

/// What a run left, for a page.
struct Left<'a> {
    record: &'a Record,
    folder: &'a Path,
    dataset: Option<&'a Dataset>,
    embeddings: Option<(usize, &'a [f32])>,
    scheme: Option<&'a Scheme>,
}

/// The record of a run that came to its end.
pub fn finished(folder: &Folder) -> Result<Record, Failure> {
    let place = folder.path().display();
    match folder.record()? {
        Some(record) if record.finished => Ok(record),
        Some(_) => {
            let hint = format!("go on with it: fiedler embed --resume --out {place}");
            Err(Failure::new(Exit::Usage, format!("the run in {place} has not come to its end"), hint))
        }
        None => Err(Failure::new(Exit::NotFound, format!("{place} holds no run"), None)),
    }
}

/// The whole page of a run, from what lies in its folder.
pub fn page(folder: &Path, around: Option<&str>, output: &Output) -> Result<Page, Failure> {
    let place = Folder::new(folder);
    let record = finished(&place)?;
    let dataset = dataset(&record, output);
    let scheme = dataset.as_ref().filter(|_| place.scheme().exists()).and_then(|dataset| {
        let loaded = Scheme::load(&place.scheme(), &dataset.graphs);
        loaded.map_err(|error| output.note(&format!("the scheme is left out: {error}"))).ok()
    });
    let embeddings = embeddings(folder)?;
    let left = Left {
        record: &record,
        folder,
        dataset: dataset.as_ref(),
        embeddings: embeddings.as_ref().map(|dense| (dense.columns(), dense.values())),
        scheme: scheme.as_ref(),
    };
    let spinner = output.spinner("laying the embeddings out on a plane");
    let run = left.figures(MOST_POINTS)?;
    spinner.finish_and_clear();
    left.page(run, around, false, output)
}

/// Leaves a page in the folder of a run that just came to its end. What would take long is left out, and nothing that goes wrong here
/// is worth losing a run for.
pub fn leave_page(record: &Record, dataset: &Dataset, embeddings: &Embeddings, folder: &Folder, output: &Output) {
    let spinner = output.spinner("making a page of it");
    let small = fs::metadata(folder.scheme()).is_ok_and(|file| file.len() <= QUICK_SCHEME);
    let scheme = if small { Scheme::load(&folder.scheme(), &dataset.graphs).ok() } else { None };
    let left = Left {
        record,
        folder: folder.path(),
        dataset: Some(dataset),
        embeddings: Some((embeddings.columns(), embeddings.values())),
        scheme: scheme.as_ref(),
    };
    let made = left.figures(QUICK_POINTS).and_then(|run| left.page(run, None, true, output));
    let made = made.and_then(|page| write_page(&page, &folder.path().join(PAGE)));
    spinner.finish_and_clear();
    tell_failure(made, output);
}

/// Leaves the page that a run was stopped before.
pub fn leave_missing_page(folder: &Folder, output: &Output) {
    let path = folder.path().join(PAGE);
    if path.exists() {
        return;
    }
    let made = page(folder.path(), None, output).and_then(|page| write_page(&page, &path));
    tell_failure(made, output);
}

fn write_page(page: &Page, path: &Path) -> Result<(), Failure> {
    let html = page.to_html()?;
    let mut targets = Targets::new(true);
    targets.write(path, |file| file.write_all(html.as_bytes()))?;
    Ok(targets.finish().map(drop)?)
}

fn tell_failure(made: Result<(), Failure>, output: &Output) {
    if let Err(failure) = made {
        output.note(&format!("no page was made: {}", failure.in_one_line()));
    }
}

/// The figures of a run without anything that takes time, for a comparison.
pub fn figures(record: &Record, folder: &Path) -> Result<RunPage, Failure> {
    Left { record, folder, dataset: None, embeddings: None, scheme: None }.figures(0)
}

/// The data of a run, if they are still what they were.
fn dataset(record: &Record, output: &Output) -> Option<Dataset> {
    let loaded = record.data.reading.load(Some(&record.data.source), record.settings.seed, output);
    match loaded {
        Ok(dataset) => {
            let now = DataRecord::new(record.data.source.clone(), record.data.reading.clone(), &dataset);
            if record.data.is_same(&now) {
                return Some(dataset);
            }
            output.note(&format!(
                "{} is not what the run learnt from any more; the page does without it",
                record.data.source
            ));
            None
        }
        Err(failure) => {
            output.note(&format!("the page does without the data: {}", failure.in_one_line()));
            None
        }
    }
}

/// Embeddings in whatever format the run left them.
fn embeddings(folder: &Path) -> Result<Option<Dense>, Failure> {
    for name in ["embeddings.npy", "embeddings.parquet", "embeddings.csv"] {
        let path = folder.join(name);
        if path.exists() {
            let table = TableFile::open(&path)?;
            let has_ids = table.ids(&[], true)?.is_some();
            return Ok(Some(table.numbers(has_ids)?));
        }
    }
    Ok(None)
}

impl Left<'_> {
    fn page(&self, run: RunPage, around: Option<&str>, quick: bool, output: &Output) -> Result<Page, Failure> {
        let mut page = super::page(format!("{}: embedded by {}", run.data, run.method), run.lead());
        let mut sections = run.sections();
        let settings = sections.pop();
        page.extend(sections);
        let seed = self.record.settings.seed;
        if let (Some(scheme), Some(dataset)) = (self.scheme, self.dataset) {
            page.extend([super::scheme_page(scheme, dataset, around, seed, output)?.section()]);
        }
        if let Some(dataset) = self.dataset {
            let graph: GraphPage = super::graph_page(dataset, None, seed, quick)?;
            page.extend(graph.sections());
        }
        page.extend(settings);
        Ok(page)
    }

    /// The figures, with at most so many points on a plane.
    fn figures(&self, most_points: usize) -> Result<RunPage, Failure> {
        let Record { data, settings, result, .. } = self.record;
        let Some(result) = result else {
            return Err(Failure::new(Exit::Data, format!("{} says nothing of a result", self.folder.display()), None));
        };
        Ok(RunPage {
            data: data.name.clone(),
            method: settings.method.name().into(),
            items: if data.graphs == 1 { "nodes" } else { "graphs" }.into(),
            size: (result.rows, result.columns),
            losses: losses(self.folder)?,
            kept_epoch: result.best_epoch.filter(|_| settings.training.patience.is_some()),
            scores: scores(&result.scores, self.folder, settings.method.name()),
            spread: result.spread,
            seconds: (result.scheme_seconds, result.training_seconds),
            threads: result.threads,
            peak_bytes: result.peak_bytes,
            settings: flat_settings(self.record),
            plane: self.plane(most_points),
            commands: commands(self.folder),
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
struct Epoch {
    loss: f32,
}

fn losses(folder: &Path) -> Result<Vec<f32>, Failure> {
    let path = folder.join("losses.csv");
    if !path.exists() {
        return Ok(Vec::new());
    }
    let refuse = |error: csv::Error| {
        let hint = "expected losses as `fiedler embed` writes them; without the file the page has no picture of them"
            .to_owned();
        Failure::new(Exit::Data, format!("{}: {error}", path.display()), hint)
    };
    let epochs =
        csv::Reader::from_path(&path).map_err(refuse)?.into_deserialize::<Epoch>().collect::<Result<Vec<_>, _>>();
    Ok(epochs.map_err(refuse)?.into_iter().map(|epoch| epoch.loss).collect())
}

/// The scores in the record; or else those that `fiedler reproduce` left beside it.
fn scores(scores: &[Score], folder: &Path, method: &str) -> Vec<ScoreRow> {
    if !scores.is_empty() {
        return scores.iter().map(of_record).collect();
    }
    let mut names: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    names.sort();
    let judged = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("score-")?.strip_suffix(".json")?.to_owned();
        let value: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        let score: Evaluated = serde_json::from_value(value.get("score")?.clone()).ok()?;
        let several = score.splits.len() > 1;
        Some(ScoreRow {
            of: format!("{method}, ledger {name}"),
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

fn of_record(score: &Score) -> ScoreRow {
    let tested = score.tested.filter(|&tested| tested > 0 && score.metric == Metric::Accuracy);
    // A share of so many items: the normal approximation of its 95 % interval.
    let deviation = tested.map(|tested| 1.96 * (score.value * (1.0 - score.value) / tested as f64).sqrt());
    ScoreRow {
        of: score.of.clone(),
        metric: score.metric.name().into(),
        value: score.value,
        deviation,
        deviation_is: tested.map_or(String::new(), |tested| {
            format!("95 % interval over {} tested", fiedler_report::number::count(tested))
        }),
        protocol: score.protocol.clone(),
    }
}

/// Settings by their names, sections before a point.
fn flat_settings(record: &Record) -> Vec<(String, String)> {
    let mut settings = vec![
        ("version".to_owned(), record.version.clone()),
        ("data".to_owned(), record.data.source.clone()),
        ("recipe".to_owned(), record.recipe.clone().unwrap_or_else(|| "none".into())),
    ];
    flatten("", &serde_json::to_value(&record.settings).unwrap_or_default(), &mut settings);
    settings
}

fn flatten(name: &str, value: &Value, settings: &mut Vec<(String, String)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                flatten(&name, value, settings);
            }
        }
        Value::Null => settings.push((name.to_owned(), "none".into())),
        Value::String(text) => settings.push((name.to_owned(), text.clone())),
        other => settings.push((name.to_owned(), other.to_string())),
    }
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
