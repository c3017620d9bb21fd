//! `finetune.json`: what a fine-tuning is and what came of it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_evaluate::{Metric, Protocol, SplitScore, mean_and_deviation};
use fiedler_io::AtomicFiles;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::Settings;
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::task::DataRecord;

/// The file's name.
pub const RECORD: &str = "finetune.json";

/// Version of the format.
const FORMAT: u32 = 1;

/// What is to be done: all that results depend on beside the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// All settings; the seed is the first.
    pub settings: Settings,
    /// Which items are train, validation and test.
    pub protocol: Protocol,
    /// Share of the training set whose labels are used.
    pub label_fraction: f64,
    /// Number of seeds.
    pub seeds: usize,
    /// Fingerprint of the labels.
    pub labels: String,
}

/// What `finetune.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinetuneRecord {
    /// Version of the format.
    pub format: u32,
    /// Version of the program.
    pub version: String,
    /// Whether it has come to its end.
    pub finished: bool,
    /// The run whose encoder it started from, if it did.
    pub start: Option<PathBuf>,
    /// What was predicted.
    pub data: DataRecord,
    /// What is to be done.
    pub plan: PlanRecord,
    /// What came of each seed and split so far.
    pub runs: Vec<FinetunedRun>,
    /// What came of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<FinetuneScore>,
}

/// What came of one seed and split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinetunedRun {
    /// The seed.
    pub seed: u64,
    /// The folder, below that of the fine-tuning.
    pub folder: PathBuf,
    /// The metric on test and validation set, and which split it is.
    pub score: SplitScore,
    /// Epochs of training.
    pub epochs: usize,
    /// The epoch whose weights were kept.
    pub kept_epoch: Option<usize>,
    /// Seconds of training.
    pub seconds: f64,
}

/// What came of all seeds and splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinetuneScore {
    /// What is measured.
    pub metric: Metric,
    /// Mean over runs of the metric on the test set.
    pub mean: f64,
    /// Sample deviation over runs.
    pub std: f64,
    /// Mean over runs of the metric on the validation set.
    pub validation_mean: f64,
    /// Its sample deviation.
    pub validation_std: f64,
    /// How it was judged, in words.
    pub description: String,
    /// The run that is best on its validation set; its encoder lies beside this file.
    pub best: PathBuf,
}

impl FinetuneScore {
    /// Out of the scores of all runs; nothing where there are none.
    pub(super) fn of(runs: &[FinetunedRun], metric: Metric, description: String) -> Option<FinetuneScore> {
        let part = |value: fn(&SplitScore) -> f64| {
            mean_and_deviation(&runs.iter().map(|run| value(&run.score)).collect::<Vec<f64>>())
        };
        let quality =
            |run: &FinetunedRun| if metric == Metric::Rmse { -run.score.validation } else { run.score.validation };
        let first = runs.first()?;
        // The first of those that are equally good.
        let best = runs.iter().fold(first, |best, run| if quality(run) > quality(best) { run } else { best });
        let ((mean, std), (validation_mean, validation_std)) =
            (part(|score| score.value), part(|score| score.validation));
        let best = best.folder.clone();
        Some(FinetuneScore { metric, mean, std, validation_mean, validation_std, description, best })
    }
}

impl FinetuneRecord {
    pub(super) fn new(start: Option<PathBuf>, data: DataRecord, plan: PlanRecord) -> FinetuneRecord {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        FinetuneRecord { format: FORMAT, version, finished: false, start, data, plan, runs: Vec::new(), score: None }
    }

    /// What lies in a folder, if anything does.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(folder: &Path) -> Result<Option<FinetuneRecord>> {
        let path = folder.join(RECORD);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let refuse = |problem: String| {
            let hint = "expected a finetune.json as `fiedler finetune` writes it".to_owned();
            Error::new(ErrorKind::Data, format!("{}: {problem}", path.display()), hint)
        };
        let record: FinetuneRecord = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        match record.format {
            FORMAT => Ok(Some(record)),
            other => Err(refuse(format!("its format is {other}; this program knows {FORMAT}"))),
        }
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut files = AtomicFiles::new(true);
        files.write(&folder.join(RECORD), |file| {
            serde_json::to_writer_pretty(&mut *file, self)?;
            writeln!(file)
        })?;
        files.finish()?;
        Ok(())
    }

    /// Refuses to go on with something else than was started.
    pub(super) fn check_same(&self, other: &FinetuneRecord) -> Result<()> {
        if self.plan == other.plan && self.data.is_same(&other.data) {
            return Ok(());
        }
        let what = if self.plan == other.plan { "other data" } else { "other settings" };
        let hint = "resume with the same RUN, DATA and flags, or choose another folder".to_owned();
        Err(Error::new(ErrorKind::Usage, format!("the fine-tuning there was started with {what}"), hint))
    }

    /// What it started from, in words.
    pub fn start_in_words(&self) -> String {
        self.start.as_ref().map_or("random weights".to_owned(), |run| format!("the weights of {}", run.display()))
    }

    /// What was trained.
    pub fn mode(&self) -> String {
        let MethodSettings::Supervised(method) = &self.plan.settings.method else { return String::new() };
        serde_json::to_value(method.mode).ok().and_then(|mode| mode.as_str().map(str::to_owned)).unwrap_or_default()
    }
}
