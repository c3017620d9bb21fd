//! Eigenvalues.

use std::sync::Arc;

use fiedler_experiment::{Error, ErrorKind};
use fiedler_spectral::{Normalized, Operator, PartialSettings, eigenvalues, partial};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::dataset::RawDataset;
use crate::work;

/// All eigenvalues, ascending; or the `k` lowest and the `k` highest.
#[pyfunction]
pub fn spectrum<'py>(
    py: Python<'py>,
    dataset: RawDataset,
    k: Option<usize>,
    operator: String,
    memory: u64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let task = Arc::clone(&dataset.task);
    let values = work::run(py, progress, move |_| {
        let operator: Operator = operator.parse()?;
        let Some(graph) = task.dataset.graph() else {
            let (name, graphs) = (&task.dataset.name, task.dataset.graphs.len());
            let message = format!("{name} has {graphs} graphs, and a spectrum is of one");
            return Err(Error::new(ErrorKind::Usage, message, "choose one by its number: dataset[0]".to_owned()));
        };
        let map = Normalized::of(graph, operator);
        match k.filter(|k| 2 * k < graph.num_nodes()) {
            None => Ok(eigenvalues(&map, memory)?),
            Some(k) => {
                let found = partial(&map, &PartialSettings { lowest: k, highest: k, ..Default::default() }, None)?;
                Ok(found.lowest.values.iter().chain(found.highest.values.iter().rev()).copied().collect())
            }
        }
    })?;
    Ok(PyArray1::from_vec(py, values))
}
