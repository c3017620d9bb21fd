//! Fine-tuning: an encoder trained further by labels.

use std::path::{Path, PathBuf};

use fiedler_evaluate::Protocol;
use fiedler_experiment::finetune::{FinetunePlan, FinetuneRecord, Start};
use fiedler_experiment::run::{Existing, RunFolder, read_encoder};
use fiedler_experiment::{Error, ErrorKind, Result, Task, settings_tree};
use fiedler_graph::Observer;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::dataset::RawDataset;
use crate::run::RawEncoder;
use crate::run_settings::assign;
use crate::{errors, work};

/// Epochs that the head is trained alone where nothing else is said, as in the program.
const HEAD_EPOCHS: u64 = 10;

/// What an encoder in memory is called in the record.
const IN_MEMORY: &str = "an embedder in memory";

/// What Python says of a fine-tuning.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Keys of settings with their values, before `settings`.
    keys: Map<String, Value>,
    /// Settings by their keys, nested or with points in them.
    settings: Map<String, Value>,
    protocol: Option<String>,
    splits: Option<usize>,
    stratified: Option<bool>,
    label_fraction: f64,
    seeds: usize,
    seed: u64,
    /// Whether it starts from weights, and not only from a shape.
    weights: bool,
    force: bool,
    page: bool,
    /// Whether the folder stays: what is stopped there can be gone on with.
    keep: bool,
}

/// Trains an encoder further by labels, in a folder; what is there and was stopped is gone on with. Gives what `finetune.json` holds and the
/// encoder of the best run. `path` says where the encoder comes from, or is read where there is none in memory.
#[pyfunction]
#[pyo3(signature = (dataset, encoder, path, asked, folder, progress))]
pub fn finetune(
    py: Python<'_>,
    dataset: RawDataset,
    encoder: Option<PyRef<'_, RawEncoder>>,
    path: Option<PathBuf>,
    asked: &str,
    folder: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, RawEncoder)> {
    let asked: Asked =
        serde_json::from_str(asked).map_err(|error| errors::setting(py, "settings", &error.to_string()))?;
    let encoder = encoder.map(|encoder| encoder.saved().clone());
    let fit = move |observer: &dyn Observer| {
        let start = match (encoder, path) {
            (Some(encoder), path) => Start::of(encoder, asked.weights.then(|| path.unwrap_or(IN_MEMORY.into())))?,
            (None, Some(path)) if asked.weights => Start::read(&path.display().to_string(), None)?,
            (None, path) => Start::read("none", path.as_deref())?,
        };
        let mut task = Task::clone(&dataset.task);
        start.align(&mut task)?;
        let record = asked.plan(&task, &start)?.check()?.fit(&folder, asked.existing(&folder)?, observer);
        let record = record.map_err(|error| asked.stopped(error, &folder))?;
        let best = read_encoder(&RunFolder::new(&folder).encoder())?;
        Ok((json!(record).to_string(), best))
    };
    let (record, best) = work::run(py, progress, fit)?;
    Ok((record, RawEncoder::new(best)))
}

impl Asked {
    fn plan<'a>(&self, task: &'a Task, start: &'a Start) -> Result<FinetunePlan<'a>> {
        let protocol = Protocol::asked(self.protocol.as_deref(), self.splits, self.stratified, task.target()?)?;
        let mut settings = start.settings(task.level)?;
        if self.keys.get("method.mode").is_some_and(|mode| mode == "head-first") {
            settings = settings_tree::assign_value(&settings, "method.head_epochs", HEAD_EPOCHS.into())?;
        }
        for tree in [&self.keys, &self.settings] {
            settings = assign(settings, "", tree)?;
        }
        settings.seed = self.seed;
        Ok(FinetunePlan {
            task,
            start,
            settings,
            protocol,
            label_fraction: self.label_fraction,
            seeds: self.seeds,
            page: self.page,
        })
    }

    fn existing(&self, folder: &Path) -> Result<Existing> {
        Ok(match FinetuneRecord::read(folder)? {
            _ if self.force => Existing::Replace,
            Some(record) if !record.finished => Existing::Resume,
            _ => Existing::Refuse,
        })
    }

    /// What can be gone on with is the fine-tuning, not the run that was stopped in it.
    fn stopped(&self, error: Error, folder: &Path) -> Error {
        match error.kind() {
            ErrorKind::Interrupted => {
                Error::Stopped { message: error.to_string(), folder: self.keep.then(|| folder.to_owned()) }
            }
            _ => error,
        }
    }
}
