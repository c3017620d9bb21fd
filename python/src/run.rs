//! Runs: an embedding learned, kept, saved and applied to other graphs.

use std::path::PathBuf;
use std::sync::Arc;

use fiedler_evaluate::QuickProbe;
use fiedler_experiment::run::{Existing, RunArtifacts, RunFolder, RunPlan, RunRecord, read_encoder};
use fiedler_experiment::{ComputedScheme, Error, Result, Task};
use fiedler_graph::Observer;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::RunResult;
use fiedler_learn::trainer::History;
use fiedler_learn::{Embeddings, SavedEncoder};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::arrays::{self, slice};
use crate::dataset::RawDataset;
use crate::run_settings::Asked;
use crate::scheme::RawScheme;
use crate::{errors, work};

/// A run that has come to its end, as long as it is in memory.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub struct RawRun {
    pub artifacts: Arc<RunArtifacts>,
    pub task: Arc<Task>,
}

/// An encoder that a run left.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub struct RawEncoder {
    encoder: Arc<SavedEncoder>,
}

impl RawEncoder {
    pub fn new(encoder: SavedEncoder) -> RawEncoder {
        RawEncoder { encoder: Arc::new(encoder) }
    }

    pub fn saved(&self) -> &SavedEncoder {
        &self.encoder
    }
}

/// Learns an embedding. `asked` is what Python says of the settings, as JSON. Without a folder nothing is written; with one, a run that is
/// there and was stopped is gone on with.
#[pyfunction]
#[pyo3(signature = (dataset, asked, schemes, folder, force, progress))]
pub fn fit_run(
    py: Python<'_>,
    dataset: RawDataset,
    asked: &str,
    schemes: Vec<PyRef<'_, RawScheme>>,
    folder: Option<PathBuf>,
    force: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RawRun> {
    let asked: Asked =
        serde_json::from_str(asked).map_err(|error| errors::setting(py, "settings", &error.to_string()))?;
    let known: Vec<_> = schemes.iter().map(|scheme| Arc::clone(&scheme.scheme)).collect();
    let task = Arc::clone(&dataset.task);
    let fit = move |observer: &dyn Observer| {
        let (settings, recipe) = asked.settings(&task, observer)?;
        // Only a method that learns from labels is given any; they are those of the split that the program would take.
        let learns = matches!(settings.method, MethodSettings::Supervised(_));
        let probe = if learns { QuickProbe::one_split(&task.dataset, settings.seed) } else { None };
        let plan = RunPlan {
            recipe,
            probe: probe.as_ref(),
            evaluate: false,
            page: folder.is_some(),
            observer,
            ..RunPlan::new(&task, settings)
        };
        let Some(folder) = folder else { return plan.check()?.fit_in_memory(&known, observer) };
        let folder = RunFolder::new(&folder);
        let existing = match folder.record()? {
            _ if force => Existing::Replace,
            Some(record) if !record.finished => Existing::Resume,
            _ => Existing::Refuse,
        };
        plan.check()?.fit(&folder, existing, observer)
    };
    let artifacts = work::run(py, progress, fit)?;
    Ok(RawRun { artifacts: Arc::new(artifacts), task: dataset.task })
}

/// The record of a run that lies in a folder, as JSON, and its encoder.
#[pyfunction]
pub fn load_run(py: Python<'_>, folder: PathBuf) -> PyResult<(String, RawEncoder)> {
    work::quickly(py, || {
        let folder = RunFolder::new(&folder);
        let record = folder.finished()?;
        Ok((json!(record).to_string(), RawEncoder::new(read_encoder(&folder.encoder())?)))
    })
}

#[pymethods]
impl RawRun {
    /// Puts a run together again from what [`RawRun::parts`] gave.
    #[staticmethod]
    fn from_parts(
        py: Python<'_>,
        dataset: RawDataset,
        record: &str,
        embeddings: PyReadonlyArray2<'_, f32>,
        losses: PyReadonlyArray1<'_, f32>,
        encoder: &[u8],
        schemes: Vec<PyRef<'_, RawScheme>>,
    ) -> PyResult<RawRun> {
        let columns = embeddings.shape()[1];
        let values = arrays::rows(py, &embeddings)?.to_vec();
        let losses = slice(py, &losses)?.to_vec();
        let computed = |scheme: &PyRef<'_, RawScheme>| {
            Arc::new(ComputedScheme { scheme: Arc::clone(&scheme.scheme), seconds: 0.0 })
        };
        let schemes: Vec<_> = schemes.iter().map(computed).collect();
        let artifacts = work::quickly(py, || {
            let record = RunRecord::parse(record, std::path::Path::new("run.json"))?;
            let (best, seconds) = record.result.as_ref().map_or((None, 0.0), |result| {
                let best = result.best_epoch.and_then(|epoch| Some((epoch, *losses.get(epoch.checked_sub(1)?)?)));
                (best, result.training_seconds)
            });
            let outcome = RunResult {
                embeddings: Embeddings::new(columns, values),
                encoder: SavedEncoder::from_bytes(encoder)?,
                history: History { losses, best, seconds, validation: Vec::new() },
            };
            Ok(RunArtifacts { record, outcome, schemes })
        })?;
        Ok(RawRun { artifacts: Arc::new(artifacts), task: dataset.task })
    }

    #[getter]
    fn dataset(&self) -> RawDataset {
        RawDataset { task: Arc::clone(&self.task) }
    }

    /// What `run.json` holds.
    fn record(&self) -> String {
        json!(self.artifacts.record).to_string()
    }

    fn embeddings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let embeddings = &self.artifacts.outcome.embeddings;
        Ok(arrays::matrix(py, embeddings.rows(), embeddings.values().to_vec())?.into_any())
    }

    fn losses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, &self.artifacts.outcome.history.losses)
    }

    fn encoder(&self) -> RawEncoder {
        RawEncoder::new(self.artifacts.outcome.encoder.clone())
    }

    /// The bytes of each scheme that views were drawn from.
    fn schemes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        let bytes = work::quickly(py, || {
            let each = self.artifacts.schemes.iter().map(|computed| Ok(computed.scheme.to_bytes()?));
            each.collect::<Result<Vec<_>>>()
        })?;
        Ok(bytes.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
    }

    /// Leaves the run in a folder, as `fiedler embed` does.
    fn save(
        &self,
        py: Python<'_>,
        folder: PathBuf,
        force: bool,
        report: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (artifacts, task) = (Arc::clone(&self.artifacts), Arc::clone(&self.task));
        work::run(py, progress, move |observer| {
            let existing = if force { Existing::Replace } else { Existing::Refuse };
            artifacts.save(&task, &RunFolder::new(&folder), existing, report, observer)
        })
    }
}

#[pymethods]
impl RawEncoder {
    /// Reads the bytes of an encoder's file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<RawEncoder> {
        let encoder = work::quickly(py, || Ok(SavedEncoder::from_bytes(bytes)?))?;
        Ok(RawEncoder::new(encoder))
    }

    /// The bytes of the encoder's file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::quickly(py, || Ok(self.encoder.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Embeds other graphs; nothing is learned.
    fn embed<'py>(
        &self,
        py: Python<'py>,
        dataset: RawDataset,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let encoder = Arc::clone(&self.encoder);
        let embeddings = work::run(py, progress, move |_| encoder.embed(&dataset.task.dataset).map_err(Error::from))?;
        let (rows, values) = (embeddings.rows(), embeddings.to_dense());
        let values = values.map_err(|error| errors::raised(py, &error.into()))?.values().to_vec();
        Ok(arrays::matrix(py, rows, values)?.into_any())
    }
}
