//! Schemes whose pairs are held in parts by other processes, which Python reaches.

use std::sync::{Arc, Mutex, PoisonError};

use fiedler_augment::support::{Answer, Holders, Part, Question};
use fiedler_augment::{Error, Result, SchemeSettings};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::dataset::RawDataset;
use crate::scheme::RawScheme;
use crate::{errors, work};

/// A part, where it is held.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub struct RawPart {
    part: Mutex<Part>,
}

#[pymethods]
impl RawPart {
    /// From the bytes that it travelled as, or was kept as.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<RawPart> {
        let part = work::quickly(py, || Ok(Part::from_bytes(bytes)?))?;
        Ok(RawPart { part: Mutex::new(part) })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::quickly(py, || Ok(self.part.lock().unwrap_or_else(PoisonError::into_inner).to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The answer to a question, both as they travel.
    fn ask<'py>(&self, py: Python<'py>, question: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let answer = work::quickly(py, || {
            let question = Question::from_bytes(question)?;
            Ok(self.part.lock().unwrap_or_else(PoisonError::into_inner).ask(&question)?.to_bytes()?)
        })?;
        Ok(PyBytes::new(py, &answer))
    }
}

/// Those that Python hands parts to, and asks.
struct Reached {
    count: usize,
    hold: Py<PyAny>,
    ask: Py<PyAny>,
    /// What a call has raised.
    raised: Mutex<Option<PyErr>>,
}

impl Reached {
    fn call<T>(&self, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T> {
        Python::attach(call).map_err(|raised| {
            let error = Error::parts(&raised);
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
            error
        })
    }
}

impl Holders for Reached {
    fn count(&self) -> usize {
        self.count
    }

    fn hold(&self, parts: Vec<Part>) -> Result<()> {
        let parts: Vec<Vec<u8>> = parts.iter().map(Part::to_bytes).collect::<Result<_>>()?;
        self.call(|py| {
            let parts = PyList::new(py, parts.iter().map(|part| PyBytes::new(py, part)))?;
            self.hold.call1(py, (parts,)).map(drop)
        })
    }

    fn ask(&self, question: &Question) -> Result<Vec<Answer>> {
        let bytes = question.to_bytes()?;
        let answers: Vec<Vec<u8>> = self.call(|py| {
            let answers = self.ask.bind(py).call1((PyBytes::new(py, &bytes), question.changes()))?;
            let answers = answers.try_iter()?.map(|answer| Ok(answer?.cast_into::<PyBytes>()?.as_bytes().to_vec()));
            answers.collect()
        })?;
        answers.iter().map(|answer| Answer::from_bytes(answer)).collect()
    }
}

/// Computes a scheme from settings in full, with the pairs in so many parts: `hold` is called with the bytes of all parts, `ask` with a question and whether it
/// changes them, and gives the answers of all parts in their order.
#[pyfunction]
pub fn compute_in_parts(
    py: Python<'_>,
    dataset: RawDataset,
    settings: &str,
    count: usize,
    hold: Py<PyAny>,
    ask: Py<PyAny>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RawScheme> {
    let settings: SchemeSettings =
        serde_json::from_str(settings).map_err(|error| errors::setting(py, "settings", &error.to_string()))?;
    let reached = Arc::new(Reached { count, hold, ask, raised: Mutex::new(None) });
    let (task, holders) = (Arc::clone(&dataset.task), Arc::clone(&reached));
    let computed = work::run(py, progress, move |observer| {
        Ok(settings.compute_in_parts(&task.dataset.graphs, holders.as_ref(), observer)?)
    });
    match (computed, reached.raised.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        (Ok(scheme), _) => Ok(RawScheme::new(scheme, dataset)),
        (Err(_), Some(raised)) => Err(raised),
        (Err(error), None) => Err(error),
    }
}
