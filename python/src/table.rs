//! Tables of runs: listed, made one by one, gathered.

use std::path::PathBuf;

use fiedler_evaluate::ProtocolPreset;
use fiedler_experiment::tables::{TableKind, TablePart, TablePlan};
use fiedler_experiment::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::{errors, work};

/// What is recorded as having asked for a table.
const COMMAND: &str = "fiedler.distributed.reproduce";

/// What Python says of a table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    table: String,
    datasets: Vec<String>,
    methods: Vec<String>,
    seeds: usize,
    seed: u64,
    protocol: Option<String>,
    epochs: Option<usize>,
    recipes: Option<PathBuf>,
    /// Changes of all settings, as `key=value`.
    assignments: Vec<String>,
    lean: bool,
    /// Whether the table is made at a size that ends in minutes.
    #[serde(default)]
    quick: bool,
    /// What encoders are trained on before, in a table that does so.
    #[serde(default)]
    pretraining: Option<String>,
}

impl Asked {
    fn plan(self, out: PathBuf) -> Result<TablePlan> {
        let kind = self.table.parse()?;
        if kind == TableKind::CaseStudy {
            let hint = "`fiedler reproduce case-study` draws its pictures".to_owned();
            return Err(Error::new(ErrorKind::Usage, "the case study has no runs to share out", hint));
        }
        Ok(TablePlan {
            kind,
            datasets: self.datasets,
            methods: self.methods,
            seed: self.seed,
            seeds: self.seeds,
            protocol: self.protocol.as_deref().map(str::parse::<ProtocolPreset>).transpose()?,
            epochs: self.epochs,
            recipes: self.recipes,
            assignments: self.assignments,
            lean: self.lean,
            quick: self.quick,
            pretraining: self.pretraining,
            out,
            command: COMMAND.into(),
        })
    }
}

fn read(py: Python<'_>, asked: &str) -> PyResult<Asked> {
    serde_json::from_str(asked).map_err(|error| errors::setting(py, "table", &error.to_string()))
}

/// The runs of a table as JSON, with their numbers, and whether they are there.
#[pyfunction]
pub fn table_runs(py: Python<'_>, asked: &str, out: PathBuf, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let asked = read(py, asked)?;
    work::run(py, progress, move |observer| Ok(json!(asked.plan(out)?.runs(observer)?).to_string()))
}

/// Makes the run of one number, and no table; gives what came of it as JSON.
#[pyfunction]
pub fn table_run(
    py: Python<'_>,
    asked: &str,
    out: PathBuf,
    number: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let asked = read(py, asked)?;
    work::run(py, progress, move |observer| {
        Ok(json!(asked.plan(out)?.run_part(TablePart::one(number), observer)?).to_string())
    })
}

/// Makes what is not there yet, writes the table, and gives it as JSON.
#[pyfunction]
pub fn table_gather(
    py: Python<'_>,
    asked: &str,
    out: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let asked = read(py, asked)?;
    work::run(py, progress, move |observer| Ok(asked.plan(out)?.run(observer)?.to_json().to_string()))
}
