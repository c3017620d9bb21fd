//! Datasets opened by name or path, and made of arrays.

use std::sync::Arc;

use fiedler_experiment::{Error, ReadOptions, Result, Task};
use fiedler_graph::{BuildReport, Dataset, Graph, GraphSet, Observer};
use fiedler_io::catalogue::{self, FetchSettings};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use serde_json::json;

use crate::arrays::{Ids, slice};
use crate::dataset::RawDataset;
use crate::{errors, work};

/// Reads, finds or makes a dataset. With `fetch`, one of the catalogue that is not on this machine is downloaded.
#[pyfunction]
#[pyo3(signature = (source, options, seed, fetch, progress))]
pub fn open_dataset(
    py: Python<'_>,
    source: String,
    options: &str,
    seed: u64,
    fetch: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RawDataset> {
    let options: ReadOptions =
        serde_json::from_str(options).map_err(|error| errors::setting(py, "options", &error.to_string()))?;
    let open = move |observer: &dyn Observer| match Task::open(&source, &options, seed, observer) {
        Err(Error::Io(fiedler_io::Error::NotFound { name, .. })) if fetch => {
            let entry = catalogue::find(&name)?;
            if let Some(cache) = catalogue::cache_folder() {
                catalogue::fetch(entry, &FetchSettings::new(cache))?;
            }
            Task::open(&source, &options, seed, observer)
        }
        other => other,
    };
    Ok(RawDataset { task: Arc::new(work::run(py, progress, open)?) })
}

/// A dataset of one graph, from compressed sparse rows. Rows that are not those of a simple undirected graph are made to be; the second
/// value says what that took.
#[pyfunction]
pub fn dataset_from_csr<'py>(
    py: Python<'py>,
    name: &str,
    indptr: Ids<'py>,
    indices: Ids<'py>,
    weights: Option<PyReadonlyArray1<'py, f32>>,
) -> PyResult<(RawDataset, Option<String>)> {
    let arrays = || -> PyResult<_> {
        let weights = weights.as_ref().map(|weights| slice(py, weights).map(<[f32]>::to_vec)).transpose()?;
        Ok((indptr.to_places(py, "a place of indptr")?, indices.to_ids(py, "a column of the matrix")?, weights))
    };
    let (rows, columns, values) = arrays()?;
    if rows.first() != Some(&0) || rows.last() != Some(&columns.len()) || !rows.is_sorted() {
        return Err(errors::data(py, "the rows of the matrix do not fit its entries; expected a valid CSR matrix"));
    }
    // Most matrices are those of a simple undirected graph already, and sorting them would take ten times as long as looking.
    let taken = work::quickly(py, || Ok(Graph::from_csr(rows, columns, values).ok()))?;
    if let Some(graph) = taken {
        return Ok((RawDataset::new(py, Dataset::single(name, graph))?, None));
    }
    let (rows, columns, values) = arrays()?;
    let (graph, report) = work::quickly(py, || simple(&rows, &columns, values)).map_err(|error| as_data(py, error))?;
    Ok((RawDataset::new(py, Dataset::single(name, graph))?, Some(json!(report).to_string())))
}

/// The simple undirected graph that rows come to.
fn simple(indptr: &[usize], indices: &[u32], weights: Option<Vec<f32>>) -> Result<(Graph, BuildReport)> {
    let nodes = indptr.len() - 1;
    let mut pairs = Vec::with_capacity(indices.len());
    for (node, range) in indptr.windows(2).enumerate() {
        pairs.extend(indices[range[0]..range[1]].iter().map(|&other| (node as u32, other)));
    }
    Ok(match weights {
        Some(weights) => Graph::from_weighted_pairs(nodes, pairs, weights)?,
        None => Graph::from_pairs(nodes, pairs)?,
    })
}

/// A dataset from the two ends of every edge, in either or both directions; `sizes` are the numbers of nodes of its graphs. The second
/// value says what was merged and dropped.
#[pyfunction]
pub fn dataset_from_pairs<'py>(
    py: Python<'py>,
    name: &str,
    sizes: Vec<u32>,
    sources: Ids<'py>,
    targets: Ids<'py>,
    weights: Option<PyReadonlyArray1<'py, f32>>,
) -> PyResult<(RawDataset, String)> {
    if sources.len() != targets.len() {
        return Err(errors::data(py, "there are not as many sources as targets of edges"));
    }
    let sources = sources.to_ids(py, "a node id")?;
    let targets = targets.to_ids(py, "a node id")?;
    let weights = weights.map(|weights| slice(py, &weights).map(<[f32]>::to_vec)).transpose()?;
    let build = || {
        let nodes = sizes.iter().map(|&size| size as usize).sum();
        let pairs = sources.into_iter().zip(targets).collect();
        let (graph, report) = match weights {
            Some(weights) => Graph::from_weighted_pairs(nodes, pairs, weights)?,
            None => Graph::from_pairs(nodes, pairs)?,
        };
        Ok((GraphSet::from_block_diagonal(graph, sizes)?, report))
    };
    let (graphs, report) = work::quickly(py, build).map_err(|error| as_data(py, error))?;
    Ok((RawDataset::new(py, Dataset::set(name, graphs))?, json!(report).to_string()))
}

/// What the library calls a setting is part of the data here.
fn as_data(py: Python<'_>, error: PyErr) -> PyErr {
    let converted = || -> PyResult<PyErr> {
        let made = py.import("fiedler._errors")?.getattr("as_data")?.call1((error.value(py),))?;
        Ok(PyErr::from_value(made))
    };
    converted().unwrap_or_else(|_| error.clone_ref(py))
}
