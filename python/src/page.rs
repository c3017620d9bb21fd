//! Pages, as HTML.

use std::sync::Arc;

use fiedler_experiment::ReadOptions;
use fiedler_experiment::pages::{self, PageRequest};
use pyo3::prelude::*;

use crate::dataset::RawDataset;
use crate::run::RawRun;
use crate::scheme::RawScheme;
use crate::work;

/// Title and HTML of the page of a dataset.
#[pyfunction]
pub fn page_of_dataset(
    py: Python<'_>,
    dataset: RawDataset,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    work::run(py, progress, move |observer| {
        let page = pages::of_dataset(&dataset.task.dataset, None, 0, observer)?;
        Ok((page.title.clone(), page.to_html()?))
    })
}

/// Title and HTML of the page of a scheme.
#[pyfunction]
pub fn page_of_scheme(
    py: Python<'_>,
    scheme: PyRef<'_, RawScheme>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let (own, task) = (Arc::clone(&scheme.scheme), Arc::clone(&scheme.dataset.task));
    work::run(py, progress, move |observer| {
        let page = pages::of_scheme(&own, &task.dataset, None, 0, observer)?;
        Ok((page.title.clone(), page.to_html()?))
    })
}

/// Title and HTML of the page of a run in memory.
#[pyfunction]
pub fn page_of_run(
    py: Python<'_>,
    run: PyRef<'_, RawRun>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    let (artifacts, task) = (Arc::clone(&run.artifacts), Arc::clone(&run.task));
    work::run(py, progress, move |observer| {
        let page = pages::of_artifacts(&artifacts, &task, observer)?;
        Ok((page.title.clone(), page.to_html()?))
    })
}

/// Title and HTML of the page of run folders, a scheme's file, data by name, or tables; of a scheme, with the data it belongs to.
#[pyfunction]
pub fn page_of_paths(
    py: Python<'_>,
    what: Vec<String>,
    data: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, String)> {
    work::run(py, progress, move |observer| {
        let options = ReadOptions::default();
        let request = PageRequest { what: &what, data: data.as_deref(), options: &options, around: None, seed: 0 };
        let page = request.plan(observer)?.page;
        Ok((page.title.clone(), page.to_html()?))
    })
}
