//! Datasets, given out as arrays.

use std::path::PathBuf;
use std::sync::Arc;

use fiedler_experiment::{ReadOptions, Task};
use fiedler_graph::{Dataset, Dense, Features, GraphSet, Names, Sparse, Split, measure};
use fiedler_io::write;
use fiedler_spectral::properties::{self, SummarySettings};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::arrays::{self, Ids, slice};
use crate::labels::{RawLabels, labels_out};
use crate::{errors, work};

/// A dataset, with where it comes from.
#[pyclass(frozen, from_py_object, module = "fiedler._fiedler")]
#[derive(Clone)]
pub struct RawDataset {
    pub task: Arc<Task>,
}

/// Names of nodes.
#[derive(FromPyObject)]
pub enum RawNames {
    Integers(Vec<i64>),
    Strings(Vec<String>),
}

/// Columns, `indptr`, `indices` and values of sparse features.
type RawSparse<'py> = (usize, Ids<'py>, Ids<'py>, PyReadonlyArray1<'py, f32>);
/// Name, train, validation, test and stopping of a split.
type RawSplit<'py> = (String, Ids<'py>, Ids<'py>, Ids<'py>, Ids<'py>);

impl RawDataset {
    /// A dataset that was made of arrays. Edges and features are hashed.
    pub fn new(py: Python<'_>, dataset: Dataset) -> PyResult<RawDataset> {
        let task = work::quickly(py, || {
            let source = dataset.name.clone();
            Ok(Task::of(&source, &ReadOptions::default(), dataset))
        })?;
        Ok(RawDataset { task: Arc::new(task) })
    }

    fn data(&self) -> &Dataset {
        &self.task.dataset
    }
}

#[pymethods]
impl RawDataset {
    #[getter]
    fn name(&self) -> &str {
        &self.data().name
    }

    #[getter]
    fn source(&self) -> &str {
        &self.task.record.source
    }

    #[getter]
    fn num_graphs(&self) -> usize {
        self.data().graphs.len()
    }

    #[getter]
    fn num_nodes(&self) -> usize {
        self.data().graphs.num_nodes()
    }

    #[getter]
    fn num_edges(&self) -> usize {
        self.data().graphs.num_edges()
    }

    #[getter]
    fn fingerprint(&self) -> &str {
        &self.task.record.fingerprint
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.data().report.notes.clone()
    }

    /// Where the nodes of each graph start, and the end of the last.
    fn node_offsets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        PyArray1::from_vec(py, self.data().graphs.node_offsets().iter().map(|&offset| i64::from(offset)).collect())
    }

    /// Sources and targets of all edges, in both directions.
    fn edge_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(arrays::matrix(py, 2, arrays::edge_index_values(self.data().graphs.block_diagonal()))?.into_any())
    }

    /// `indptr`, `indices` and weights.
    fn csr<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyArray1<f32>>>) {
        let graph = self.data().graphs.block_diagonal();
        let (indptr, indices) = arrays::csr(py, graph.indptr(), graph.indices());
        (indptr, indices, graph.weights().map(|weights| PyArray1::from_slice(py, weights)))
    }

    /// Dense features as a matrix; sparse ones as values, `indices`, `indptr` and the number of columns.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.data().features.as_ref().map(|features| features_out(py, features)).transpose()
    }

    /// Features of edges, a row for each undirected edge.
    fn edge_features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.data().edge_features.as_ref().map(|features| features_out(py, features)).transpose()
    }

    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.data().feature_names.clone()
    }

    /// Labels of nodes, or of graphs, as a dictionary; see [`RawLabels`].
    fn labels<'py>(&self, py: Python<'py>, of_graphs: bool) -> PyResult<Option<Bound<'py, PyDict>>> {
        let labels = if of_graphs { &self.data().graph_labels } else { &self.data().node_labels };
        labels.as_ref().map(|labels| labels_out(py, labels)).transpose()
    }

    /// Name, train, validation, test and stopping of each split.
    fn splits<'py>(&self, py: Python<'py>) -> Vec<(String, [Bound<'py, PyArray1<i64>>; 4])> {
        let array = |ids: &[u32]| PyArray1::from_vec(py, ids.iter().map(|&id| i64::from(id)).collect());
        let of = |split: &Split| {
            let parts = [&split.train, &split.validation, &split.test, &split.stopping];
            (split.name.clone(), parts.map(|ids| array(ids)))
        };
        self.data().splits.iter().map(of).collect()
    }

    /// The user's own names of nodes.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(match self.data().graphs.block_diagonal().names() {
            Some(Names::Integers(names)) => Some(PyArray1::from_slice(py, names).into_any()),
            Some(Names::Strings(names)) => {
                let names: Vec<&str> = names.iter().map(|name| &**name).collect();
                Some(names.into_pyobject(py)?)
            }
            None => None,
        })
    }

    /// One graph by itself, with what is known of it.
    fn graph(&self, py: Python<'_>, graph: usize) -> PyResult<RawDataset> {
        RawDataset::new(py, work::quickly(py, || Ok(self.data().alone(graph)?))?)
    }

    /// Some graphs as a set, with what is known of them.
    fn select(&self, py: Python<'_>, graphs: Vec<u32>) -> PyResult<RawDataset> {
        RawDataset::new(py, work::quickly(py, || Ok(self.data().clone().select(&graphs)?))?)
    }

    /// Figures of the dataset, as `fiedler inspect --json` prints them.
    fn summary(&self, py: Python<'_>, spectrum: bool, progress: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        let task = Arc::clone(&self.task);
        work::run(py, progress, move |_| {
            let dataset = &task.dataset;
            let mut summary = json!(measure::summarize(dataset));
            if let Some(graph) = dataset.graph().filter(|_| spectrum) {
                summary["spectrum"] = json!(properties::summarize(graph, &SummarySettings::default())?);
            }
            summary["notes"] = json!(dataset.report.notes);
            Ok(summary.to_string())
        })
    }

    /// Writes the dataset in the format that the path's name asks for, and gives what that format has no place for.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<Vec<String>> {
        work::quickly(py, || Ok(write::write(self.data(), &path, &write::WriteOptions { force })?.notes))
    }

    /// The same graphs with other features, labels, splits or names; what is left out stays.
    #[pyo3(signature = (*, dense=None, sparse=None, feature_names=None, edges=None, node_labels=None, graph_labels=None, splits=None,
        names=None, name=None))]
    #[allow(clippy::too_many_arguments)]
    fn replaced<'py>(
        &self,
        py: Python<'py>,
        dense: Option<PyReadonlyArray2<'py, f32>>,
        sparse: Option<RawSparse<'py>>,
        feature_names: Option<Vec<String>>,
        edges: Option<PyReadonlyArray2<'py, f32>>,
        node_labels: Option<RawLabels<'py>>,
        graph_labels: Option<RawLabels<'py>>,
        splits: Option<Vec<RawSplit<'py>>>,
        names: Option<RawNames>,
        name: Option<String>,
    ) -> PyResult<RawDataset> {
        let of_data = |error: fiedler_graph::Error| errors::of_data(py, error);
        let mut dataset = self.data().clone();
        if let Some(dense) = dense {
            let values = arrays::rows(py, &dense)?.to_vec();
            let dense = Dense::new(dense.shape()[0], dense.shape()[1], values).map_err(of_data)?;
            (dataset.features, dataset.feature_names) = (Some(Features::Dense(dense)), None);
        }
        if let Some((columns, indptr, indices, values)) = sparse {
            let indptr = indptr.to_places(py, "a place of indptr")?;
            let indices = indices.to_ids(py, "a feature column")?;
            let values = slice(py, &values)?.to_vec();
            let sparse = Sparse::new(columns, indptr, indices, values).map_err(of_data)?;
            (dataset.features, dataset.feature_names) = (Some(Features::Sparse(sparse)), None);
        }
        if let Some(edges) = edges {
            let values = arrays::rows(py, &edges)?.to_vec();
            let dense = Dense::new(edges.shape()[0], edges.shape()[1], values).map_err(of_data)?;
            dataset.edge_features = Some(Features::Dense(dense));
        }
        if let Some(labels) = node_labels {
            dataset.node_labels = Some(labels.read(py)?);
        }
        if let Some(labels) = graph_labels {
            dataset.graph_labels = Some(labels.read(py)?);
        }
        if let Some(splits) = splits {
            let read = |(name, train, validation, test, stopping): RawSplit<'py>| -> PyResult<Split> {
                let ids = |ids: Ids<'py>| ids.to_ids(py, &format!("an id of split {name}"));
                let (train, validation) = (ids(train)?, ids(validation)?);
                Ok(Split { train, validation, test: ids(test)?, stopping: ids(stopping)?, name: name.clone() })
            };
            dataset.splits = splits.into_iter().map(read).collect::<PyResult<_>>()?;
        }
        if let Some(names) = names {
            dataset.graphs = named(&dataset, names).map_err(of_data)?;
        }
        dataset.feature_names = feature_names.or(dataset.feature_names);
        if let Some(name) = name {
            dataset.name = name;
        }
        dataset.check().map_err(of_data)?;
        RawDataset::new(py, dataset)
    }
}

/// The graphs with names of their nodes.
fn named(dataset: &Dataset, names: RawNames) -> fiedler_graph::Result<GraphSet> {
    let names = match names {
        RawNames::Integers(names) => Names::Integers(names),
        RawNames::Strings(names) => Names::Strings(names.into_iter().map(Into::into).collect()),
    };
    let Some(names) = names.unless_counting() else { return Ok(dataset.graphs.clone()) };
    let offsets = dataset.graphs.node_offsets();
    let sizes = offsets.windows(2).map(|range| range[1] - range[0]).collect();
    GraphSet::from_block_diagonal(dataset.graphs.block_diagonal().clone().with_names(names)?, sizes)
}

fn features_out<'py>(py: Python<'py>, features: &Features) -> PyResult<Bound<'py, PyAny>> {
    if let Features::Sparse(sparse) = features {
        let (indptr, indices) = arrays::csr(py, sparse.indptr(), sparse.indices());
        let values = PyArray1::from_slice(py, sparse.values());
        return Ok((values, indices, indptr, sparse.columns()).into_pyobject(py)?.into_any());
    }
    let dense = features.to_dense();
    Ok(arrays::matrix(py, dense.rows(), dense.values().to_vec())?.into_any())
}
