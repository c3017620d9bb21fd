//! Several datasets as one set of graphs.

use fiedler_graph::Dataset;
use pyo3::prelude::*;

use crate::dataset::RawDataset;
use crate::errors;

/// All graphs of several datasets as one set, with what all of them have: features, labels of nodes, labels of graphs.
#[pyfunction]
pub fn gather_datasets(py: Python<'_>, name: &str, datasets: Vec<PyRef<'_, RawDataset>>) -> PyResult<RawDataset> {
    let datasets: Vec<&Dataset> = datasets.iter().map(|dataset| &dataset.task.dataset).collect();
    let gathered = Dataset::gather(name, &datasets).map_err(|error| errors::of_data(py, error))?;
    RawDataset::new(py, gathered)
}
