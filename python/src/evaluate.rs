//! Embeddings judged by how well labels can be predicted from them.

use std::path::PathBuf;

use fiedler_evaluate::{EvaluationSettings, Metric, Probe, Protocol, Score, Target};
use fiedler_experiment::{Result, evaluate_file, read_labels};
use fiedler_graph::Dense;
use fiedler_io::tables::Matching;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::dataset::RawDataset;
use crate::{arrays, errors, work};

/// What is to be predicted: the labels of a dataset, or those in a table.
#[derive(FromPyObject)]
pub enum RawTarget {
    Dataset(RawDataset),
    Table(PathBuf),
}

impl RawTarget {
    fn read(self) -> Result<Target> {
        match self {
            RawTarget::Dataset(dataset) => Ok(Target::of(&dataset.task.dataset)?),
            RawTarget::Table(path) => read_labels(&path),
        }
    }
}

/// What Python says of an evaluation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Asked {
    protocol: Option<String>,
    splits: Option<usize>,
    stratified: Option<bool>,
    probe: Option<Probe>,
    metric: Option<String>,
    seed: u64,
}

impl Asked {
    fn read(py: Python<'_>, asked: &str) -> PyResult<Asked> {
        serde_json::from_str(asked).map_err(|error| errors::setting(py, "probe", &error.to_string()))
    }

    /// As the program makes settings of its flags.
    fn settings(&self, target: &Target) -> Result<EvaluationSettings> {
        let protocol = Protocol::asked(self.protocol.as_deref(), self.splits, self.stratified, target)?;
        Ok(EvaluationSettings {
            protocol: Some(protocol),
            probe: self.probe.clone(),
            metric: self.metric.as_deref().map(str::parse::<Metric>).transpose()?,
            seed: self.seed,
            ..Default::default()
        })
    }
}

/// Evaluates embeddings, row k of which belongs to item k; gives the score as JSON.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    embeddings: PyReadonlyArray2<'_, f32>,
    target: RawTarget,
    asked: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let asked = Asked::read(py, asked)?;
    let values = arrays::rows(py, &embeddings)?.to_vec();
    let dense = Dense::new(embeddings.shape()[0], embeddings.shape()[1], values);
    let dense = dense.map_err(|error| errors::of_data(py, error))?;
    work::run(py, progress, move |observer| {
        let target = target.read()?;
        let score = fiedler_evaluate::evaluate(&dense, &target, &asked.settings(&target)?, observer)?;
        Ok(json!(score).to_string())
    })
}

/// As [`evaluate`], of embeddings in files, whose rows are matched by their ids; several files are several seeds.
#[pyfunction]
pub fn evaluate_tables(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    target: RawTarget,
    asked: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let asked = Asked::read(py, asked)?;
    work::run(py, progress, move |observer| {
        let target = target.read()?;
        let settings = asked.settings(&target)?;
        let score = |path: &PathBuf| Ok(evaluate_file(path, &target, Matching::default(), &settings, observer)?.score);
        let scores = paths.iter().map(score).collect::<Result<Vec<_>>>()?;
        Ok(json!(Score::gather(scores)?).to_string())
    })
}
