//! Searches for good settings: listed, their runs made one by one, ended.

use std::path::PathBuf;
use std::sync::Arc;

use fiedler_evaluate::ProtocolPreset;
use fiedler_experiment::search::{Search, SearchPlan, SearchStart};
use fiedler_experiment::tables::TablePart;
use fiedler_experiment::{Result, Task};
use fiedler_graph::Observer;
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::dataset::RawDataset;
use crate::{errors, work};

/// What is recorded as having asked for a search.
const COMMAND: &str = "fiedler.distributed.tune";

/// What Python says of a search.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    method: Option<String>,
    scheme: Option<String>,
    recipe: Option<String>,
    /// Changes of all settings, as `key=value`.
    assignments: Vec<String>,
    protocol: Option<String>,
    epochs: Option<usize>,
    budget: usize,
    seed: u64,
}

impl Asked {
    /// The plan of a process that makes some runs, or, without a part, of the one that writes results.
    fn plan(self, task: &Task, out: PathBuf, part: Option<TablePart>, observer: &dyn Observer) -> Result<SearchPlan> {
        let start = SearchStart {
            file: None,
            recipe: self.recipe,
            method: self.method,
            scheme: self.scheme,
            assignments: self.assignments,
        };
        Ok(SearchPlan {
            base: start.resolve(task, observer)?,
            protocol: self.protocol.as_deref().map(str::parse::<ProtocolPreset>).transpose()?,
            seed: self.seed,
            budget: self.budget,
            epochs: self.epochs,
            out,
            command: COMMAND.into(),
            part,
        })
    }
}

fn read(py: Python<'_>, asked: &str) -> PyResult<Asked> {
    serde_json::from_str(asked).map_err(|error| errors::setting(py, "search", &error.to_string()))
}

/// The runs of the first generation that is not finished, as JSON.
#[pyfunction]
pub fn search_runs(
    py: Python<'_>,
    dataset: RawDataset,
    asked: &str,
    out: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (asked, task) = (read(py, asked)?, Arc::clone(&dataset.task));
    work::run(py, progress, move |observer| {
        let plan = asked.plan(&task, out, Some(TablePart::whole()), observer)?;
        Ok(json!(Search::new(plan, &task, observer)?.list()?).to_string())
    })
}

/// Makes one run of that generation, and gives whether it is there.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub fn search_run(
    py: Python<'_>,
    dataset: RawDataset,
    asked: &str,
    out: PathBuf,
    trial: usize,
    seed: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<bool> {
    let (asked, task) = (read(py, asked)?, Arc::clone(&dataset.task));
    work::run(py, progress, move |observer| {
        let plan = asked.plan(&task, out, Some(TablePart::whole()), observer)?;
        Search::new(plan, &task, observer)?.make_one(trial, seed)
    })
}

/// Makes what is not there yet, writes the results, and gives them as JSON.
#[pyfunction]
pub fn search_gather(
    py: Python<'_>,
    dataset: RawDataset,
    asked: &str,
    out: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (asked, task) = (read(py, asked)?, Arc::clone(&dataset.task));
    work::run(py, progress, move |observer| {
        let plan = asked.plan(&task, out, None, observer)?;
        let search = Search::new(plan, &task, observer)?;
        let trials = search.run()?;
        search.to_json(&trials).map(|found| found.to_string()).ok_or_else(|| search.no_result())
    })
}
