//! The folder that a run leaves, and finds again when it is resumed.
//!
//! `run.json` is there from the start, with `finished` false; the checkpoint comes and goes; everything else appears together
//! at the end, `run.json` last. So whatever has `finished` true is whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fiedler_augment::Scheme;
use fiedler_graph::write::{self, Targets};
use fiedler_graph::{Dataset, Error};
use fiedler_learn::Embeddings;
use fiedler_learn::run::{Outcome, Settings};
use fiedler_learn::trainer::{self, CheckpointFile};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::score::Score;
use crate::program::failure::{Exit, Failure};
use crate::program::memory;
use crate::program::reading::Reading;

const RECORD: &str = "run.json";
const CHECKPOINT: &str = "checkpoint.safetensors";
const SCHEME: &str = "scheme.safetensors";
const ENCODER: &str = "encoder.safetensors";
const LOSSES: &str = "losses.csv";
/// A run's page.
pub const PAGE: &str = "report.html";
/// All that a run may leave beside `run.json`.
const FILES: [&str; 8] =
    [CHECKPOINT, SCHEME, ENCODER, LOSSES, PAGE, "embeddings.npy", "embeddings.csv", "embeddings.parquet"];

/// Formats that embeddings can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// numpy's array format, rows in the order of the nodes or graphs
    Npy,
    /// Comma-separated, with the names of the nodes
    Csv,
    /// Parquet, with the names of the nodes
    Parquet,
}

/// What `run.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Version of the program.
    pub version: String,
    /// Whether the run has come to its end.
    pub finished: bool,
    pub data: DataRecord,
    /// The recipe that the settings started from.
    pub recipe: Option<String>,
    pub settings: Settings,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<ResultRecord>,
}

/// What was embedded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// DATA, as it was given.
    pub source: String,
    /// How it was read.
    pub reading: Reading,
    pub name: String,
    pub graphs: usize,
    pub nodes: usize,
    pub edges: usize,
    /// Hashes of edges and of features.
    pub fingerprint: String,
    pub features_fingerprint: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultRecord {
    pub rows: usize,
    pub columns: usize,
    pub epochs: usize,
    pub first_loss: Option<f32>,
    pub last_loss: Option<f32>,
    pub best_epoch: Option<usize>,
    pub spread: f64,
    pub scheme_seconds: f64,
    pub training_seconds: f64,
    pub threads: usize,
    pub peak_bytes: Option<u64>,
    pub scores: Vec<Score>,
}

impl Record {
    /// What a run is before anything has been computed.
    pub fn new(data: DataRecord, recipe: Option<String>, settings: Settings) -> Record {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Record { version, finished: false, data, recipe, settings, result: None }
    }

    /// What tells this run from others; a checkpoint of another one is refused.
    pub fn identity(&self) -> Result<String, Failure> {
        let settings = serde_json::to_string(&self.settings);
        let settings = settings.map_err(|error| Failure::new(Exit::Unexpected, format!("settings: {error}"), None))?;
        let features = self.data.features_fingerprint.as_deref().unwrap_or("none");
        Ok(format!("{} {features} {settings}", self.data.fingerprint))
    }
}

impl ResultRecord {
    pub fn new(outcome: &Outcome, scheme_seconds: f64, scores: Vec<Score>) -> ResultRecord {
        let history = &outcome.history;
        ResultRecord {
            rows: outcome.embeddings.rows(),
            columns: outcome.embeddings.columns(),
            epochs: history.losses.len(),
            first_loss: history.losses.first().copied(),
            last_loss: history.losses.last().copied(),
            best_epoch: history.best.map(|(epoch, _)| epoch),
            spread: outcome.embeddings.spread(),
            scheme_seconds,
            training_seconds: history.seconds,
            threads: rayon::current_num_threads(),
            peak_bytes: memory::peak_bytes(),
            scores,
        }
    }
}

impl DataRecord {
    /// Whether both are of the same graphs with the same features.
    pub fn is_same(&self, other: &DataRecord) -> bool {
        (&self.fingerprint, &self.features_fingerprint) == (&other.fingerprint, &other.features_fingerprint)
    }

    pub fn new(source: String, reading: Reading, dataset: &Dataset) -> DataRecord {
        DataRecord {
            source,
            reading,
            name: dataset.name.clone(),
            graphs: dataset.graphs.len(),
            nodes: dataset.graphs.num_nodes(),
            edges: dataset.graphs.num_edges(),
            fingerprint: dataset.graphs.fingerprint(),
            features_fingerprint: dataset.features.as_ref().map(fiedler_graph::Features::fingerprint),
        }
    }
}

/// A folder for one run.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.into() }
    }

    /// A folder named after data and method that is not there yet.
    pub fn free(data: &str, method: &str) -> Folder {
        let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
        let base = format!("{}-{method}", data.chars().map(plain).collect::<String>());
        let mut names = std::iter::once(base.clone()).chain((2..).map(|number| format!("{base}-{number}")));
        Folder { path: names.find(|name| !Path::new(name).exists()).unwrap_or(base).into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn encoder(&self) -> PathBuf {
        self.path.join(ENCODER)
    }

    pub fn checkpoint(&self) -> PathBuf {
        self.path.join(CHECKPOINT)
    }

    /// Where a run keeps its checkpoint, with what tells it from other runs.
    pub fn checkpoint_of(&self, record: &Record) -> Result<CheckpointFile, Failure> {
        Ok(CheckpointFile { path: self.checkpoint(), run: record.identity()? })
    }

    pub fn scheme(&self) -> PathBuf {
        self.path.join(SCHEME)
    }

    /// What an earlier run in this folder left.
    pub fn record(&self) -> Result<Option<Record>, Failure> {
        let path = self.path.join(RECORD);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(parse_record(&text, &path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Io { action: "read", path, source: error }.into()),
        }
    }

    /// Refuses a folder that holds a run, unless it may be replaced.
    pub fn check_free(&self, force: bool) -> Result<(), Failure> {
        if force {
            return Ok(());
        }
        let record = self.path.join(RECORD);
        if record.exists() {
            let finished = self.record()?.is_some_and(|record| record.finished);
            let state = if finished { "a finished run" } else { "a run that has not come to its end" };
            let hint = if finished {
                "choose another folder, or pass --force to replace the run"
            } else {
                "--resume goes on with it, --force replaces it"
            };
            let message = format!("{} holds {state} already", self.path.display());
            return Err(Failure::new(Exit::Output, message, hint.to_owned()));
        }
        for name in FILES {
            let path = self.path.join(name);
            if path.exists() {
                return Err(Error::Exists { path }.into());
            }
        }
        Ok(())
    }

    /// Removes what a run that was killed may have left half-written.
    pub fn sweep(&self) -> Result<(), Failure> {
        for entry in fs::read_dir(&self.path).map_err(Error::io("read", &self.path))?.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(".tmp") || (name.starts_with(".fiedler-") && name.ends_with(".part")) {
                trainer::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Makes the folder and writes what is known before anything is computed; what another run left is removed.
    pub fn begin(&self, record: &Record) -> Result<(), Failure> {
        fs::create_dir_all(&self.path).map_err(Error::io("create", &self.path))?;
        for name in FILES {
            trainer::remove(&self.path.join(name))?;
        }
        let mut targets = Targets::new(true);
        targets.write(&self.path.join(RECORD), |file| write_record(record, file))?;
        targets.finish()?;
        Ok(())
    }

    /// Removes everything that is in the folder.
    pub fn clear(&self) -> Result<(), Failure> {
        Ok(fs::remove_dir_all(&self.path).map_err(Error::io("remove", &self.path))?)
    }

    pub fn keep_scheme(&self, scheme: &Scheme) -> Result<(), Failure> {
        Ok(scheme.save(&self.scheme(), true)?)
    }

    /// Writes everything under temporary names, gives all files their own, and removes the checkpoint.
    pub fn finish(
        &self,
        record: &Record,
        outcome: &Outcome,
        dataset: &Dataset,
        formats: &[TableFormat],
    ) -> Result<(), Failure> {
        let mut targets = Targets::new(true);
        targets.write(&self.path.join(RECORD), |file| write_record(record, file))?;
        write_embeddings(&self.path, &outcome.embeddings, dataset, formats, &mut targets)?;
        let encoder = outcome.encoder.to_bytes()?;
        targets.write(&self.path.join(ENCODER), |file| file.write_all(&encoder))?;
        if !outcome.history.losses.is_empty() {
            targets.write(&self.path.join(LOSSES), |file| {
                writeln!(file, "epoch,loss")?;
                outcome
                    .history
                    .losses
                    .iter()
                    .enumerate()
                    .try_for_each(|(epoch, loss)| writeln!(file, "{},{loss}", epoch + 1))
            })?;
        }
        targets.finish()?;
        Ok(trainer::remove(&self.checkpoint())?)
    }
}

/// Settings, and data if the file names them, from a `run.json` or a TOML file.
pub fn read_settings(path: &Path) -> Result<(Settings, Option<Record>), Failure> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    if path.extension().is_some_and(|extension| extension == "json") {
        let record = parse_record(&text, path)?;
        return Ok((record.settings.clone(), Some(record)));
    }
    let settings = super::recipe::parse(&text);
    let settings = settings.map_err(|problem| {
        let hint = "settings stand in TOML, under [features], [scheme], [masking], [method] and [training]".to_owned();
        Failure::new(Exit::Usage, format!("{}: {problem}", path.display()), hint)
    })?;
    Ok((settings, None))
}

fn parse_record(text: &str, path: &Path) -> Result<Record, Failure> {
    serde_json::from_str(text).map_err(|error| {
        let hint = "expected a run.json as `fiedler embed` writes it".to_owned();
        Failure::new(Exit::Data, format!("{}: {error}", path.display()), hint)
    })
}

fn write_record(record: &Record, file: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *file, record)?;
    writeln!(file)
}

/// One row a node with the user's names, or one a graph.
pub fn write_embeddings(
    folder: &Path,
    embeddings: &Embeddings,
    dataset: &Dataset,
    formats: &[TableFormat],
    targets: &mut Targets,
) -> Result<(), Failure> {
    let what = if dataset.graph().is_some() { "node" } else { "graph" };
    let name = |row: usize| dataset.graph().map_or_else(|| row.to_string(), |graph| graph.name(row as u32));
    for format in formats {
        match format {
            TableFormat::Npy => targets.write(&folder.join("embeddings.npy"), |file| {
                write::npy(file, [embeddings.rows(), embeddings.columns()], embeddings.values())
            })?,
            TableFormat::Csv => targets.write(&folder.join("embeddings.csv"), |file| {
                let mut rows = csv::Writer::from_writer(file);
                let header = (0..embeddings.columns()).map(|column| column.to_string());
                rows.write_record(std::iter::once(what.to_owned()).chain(header))?;
                for row in 0..embeddings.rows() {
                    let values = embeddings.row(row).iter().map(f32::to_string);
                    rows.write_record(std::iter::once(name(row)).chain(values))?;
                }
                rows.flush()
            })?,
            TableFormat::Parquet => targets.write(&folder.join("embeddings.parquet"), |file| {
                let names: Vec<String> = (0..embeddings.rows()).map(name).collect();
                write::parquet(file, what, &names, embeddings.columns(), embeddings.values())
            })?,
        }
    }
    Ok(())
}

/// The settings in which two runs differ, in words.
pub fn differences(there: &Settings, here: &Settings) -> Vec<String> {
    let value = |settings: &Settings| serde_json::to_value(settings).unwrap_or_default();
    let mut found = Vec::new();
    compare("", &value(there), &value(here), &mut found);
    found
}

fn compare(name: &str, there: &Value, here: &Value, found: &mut Vec<String>) {
    match (there, here) {
        (Value::Object(there), Value::Object(here)) => {
            let keys = there.keys().chain(here.keys().filter(|key| !there.contains_key(*key)));
            for key in keys {
                let name = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
                compare(&name, there.get(key).unwrap_or(&Value::Null), here.get(key).unwrap_or(&Value::Null), found);
            }
        }
        _ if there != here => found.push(format!("{name} is {there} there and {here} here")),
        _ => {}
    }
}
