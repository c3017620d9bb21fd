//! `run.json`: what a run is and what came of it.

use std::io::{self, Write};
use std::path::Path;

use fiedler_learn::run::{RunResult, Settings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::run::timing::TimeLimit;
use crate::run::{loss_curve, version1};
use crate::task::DataRecord;
use crate::unreadable::{self, Unreadable};
use fiedler_evaluate::QuickScore;

/// Version of the format of `run.json`. Version 1 had no such number.
pub const FORMAT: u32 = 2;

/// What `run.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of the format, [`FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Whether the run has come to its end.
    pub finished: bool,
    /// What was embedded.
    pub data: DataRecord,
    /// The recipe that the settings started from.
    pub recipe: Option<String>,
    /// All settings.
    pub settings: Settings,
    /// The time that training was allowed, where epochs were fitted to one; the settings have as many as fit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time_limit: Option<TimeLimit>,
    /// What came of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<ResultRecord>,
}

/// How a run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResultRecord {
    /// Rows of the embeddings: nodes or graphs.
    pub rows: usize,
    /// Columns of the embeddings.
    pub columns: usize,
    /// Epochs of training.
    pub epochs: usize,
    /// Mean loss of the first epoch.
    pub first_loss: Option<f32>,
    /// Mean loss of the last epoch.
    pub last_loss: Option<f32>,
    /// The epoch whose weights are kept, where training has patience.
    pub best_epoch: Option<usize>,
    /// Lowest mean loss of an epoch.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lowest_loss: Option<f32>,
    /// The epoch, counted from one, that is embedded: the last, or with patience the best.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub embedded_epoch: Option<usize>,
    /// What is to be doubted, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
    /// Relative standard deviation of the embeddings: near zero where they have collapsed.
    pub relative_std: f64,
    /// Seconds for the scheme.
    pub scheme_seconds: f64,
    /// Seconds for training.
    pub training_seconds: f64,
    /// Threads that worked.
    pub threads: usize,
    /// Peak memory of the process.
    pub peak_bytes: Option<u64>,
    /// Peak memory, as it was expected before the start.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expected_bytes: Option<u64>,
    /// How well labels can be predicted, from the embedding and from what it has to beat.
    pub scores: Vec<QuickScore>,
    /// Why there are no scores, where there are labels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_judged: Option<String>,
    /// One sentence on who won, where there are scores to compare.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verdict: Option<String>,
    /// Edge AUC: how much more alike features are on edges than on random pairs; near one half where they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub edge_auc: Option<f64>,
}

impl RunRecord {
    /// What a run is before anything has been computed.
    pub fn new(data: DataRecord, recipe: Option<String>, settings: Settings) -> RunRecord {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        RunRecord { format: FORMAT, version, finished: false, data, recipe, settings, time_limit: None, result: None }
    }

    /// Reads the text of a `run.json` of this version or of version 1; `path` is what an error names.
    ///
    /// # Errors
    /// When it is not a run's record.
    pub fn parse(text: &str, path: &Path) -> Result<RunRecord> {
        const HINT: &str = "expected a run.json as `fiedler embed` writes it";
        let name = path.display().to_string();
        let refuse = |problem: String| Error::new(ErrorKind::Data, format!("{name}: {problem}"), HINT.to_owned());
        let blame = |unreadable: Unreadable| unreadable.in_file(&name, ErrorKind::Data, HINT);
        let value: Value = serde_json::from_str(text).map_err(|error| refuse(error.to_string()))?;
        match value.get("format").map(Value::as_u64) {
            None => unreadable::read(value, version1::record).map_err(blame),
            Some(Some(format)) if format == u64::from(FORMAT) => {
                unreadable::read(value, serde_json::from_value).map_err(blame)
            }
            Some(_) => Err(refuse(format!(
                "its format is {}; this program, version {}, knows 1 and {FORMAT}",
                value["format"],
                env!("CARGO_PKG_VERSION")
            ))),
        }
    }

    /// Writes it, indented, with a line end.
    pub(crate) fn write(&self, file: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *file, self)?;
        writeln!(file)
    }

    /// What tells this run from others; a checkpoint of another one is refused.
    pub(crate) fn identity(&self) -> Result<String> {
        let settings = serde_json::to_string(&self.settings).map_err(|error| Error::unexpected("settings", error))?;
        let features = self.data.features_fingerprint.as_deref().unwrap_or("none");
        Ok(format!("{} {features} {settings}", self.data.fingerprint))
    }

    /// Refuses to go on with other settings or data than the run was started with.
    ///
    /// # Errors
    /// When settings or data differ; the message names the settings.
    pub fn check_same(&self, settings: &Settings, data: &DataRecord) -> Result<()> {
        let other = differences(&self.settings, settings);
        if !other.is_empty() {
            let hint = "a run is resumed with the settings it was started with; leave the flags out".to_owned();
            return Err(Error::new(ErrorKind::Usage, format!("this is another run: {}", other.join(", ")), hint));
        }
        if !self.data.is_same(data) {
            let message = format!("{} is not the data that the run was started with", data.source);
            return Err(Error::new(ErrorKind::Usage, message, "give the same data, or begin anew".to_owned()));
        }
        Ok(())
    }
}

impl ResultRecord {
    /// `keeps_best`: whether the best epoch is embedded rather than the last.
    pub(crate) fn new(
        outcome: &RunResult,
        keeps_best: bool,
        scheme_seconds: f64,
        scores: Vec<QuickScore>,
    ) -> ResultRecord {
        let history = &outcome.history;
        let best_epoch = history.best.map(|(epoch, _)| epoch);
        let last_epoch = Some(history.losses.len()).filter(|&epochs| epochs > 0);
        ResultRecord {
            rows: outcome.embeddings.rows(),
            columns: outcome.embeddings.columns(),
            epochs: history.losses.len(),
            first_loss: history.losses.first().copied(),
            last_loss: history.losses.last().copied(),
            best_epoch,
            lowest_loss: loss_curve::lowest(&history.losses).map(|(_, loss)| loss),
            embedded_epoch: if keeps_best { best_epoch } else { last_epoch },
            warnings: loss_curve::warning(&history.losses, keeps_best).into_iter().collect(),
            relative_std: outcome.embeddings.relative_std(),
            scheme_seconds,
            training_seconds: history.seconds,
            threads: rayon::current_num_threads(),
            peak_bytes: memory::peak_bytes(),
            expected_bytes: None,
            scores,
            not_judged: None,
            verdict: None,
            edge_auc: None,
        }
    }
}

/// The settings in which two runs differ, in words.
fn differences(there: &Settings, here: &Settings) -> Vec<String> {
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
