//! Arrays of numpy: read where they lie, and handed over without a copy.

use fiedler_graph::MAX_NODES;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors;

/// Ids, or places in other arrays, in whichever type they are kept.
#[derive(FromPyObject)]
pub enum Ids<'py> {
    /// As scipy has them.
    Narrow(PyReadonlyArray1<'py, i32>),
    /// As PyTorch Geometric and numpy have them.
    Wide(PyReadonlyArray1<'py, i64>),
    /// As fiedler has them.
    Unsigned(PyReadonlyArray1<'py, u32>),
}

/// The slice of an array, which the Python layer has made sure to be contiguous.
pub fn slice<'a, T: numpy::Element>(py: Python<'_>, array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array
        .as_slice()
        .map_err(|_| errors::data(py, "an array is not contiguous; expected one from numpy.ascontiguousarray"))
}

/// The values of a matrix, row after row.
pub fn rows<'a>(py: Python<'_>, array: &'a PyReadonlyArray2<'_, f32>) -> PyResult<&'a [f32]> {
    array
        .as_slice()
        .map_err(|_| errors::data(py, "a matrix is not contiguous; expected one from numpy.ascontiguousarray"))
}

impl Ids<'_> {
    /// How many.
    pub fn len(&self) -> usize {
        match self {
            Ids::Narrow(ids) => ids.len(),
            Ids::Wide(ids) => ids.len(),
            Ids::Unsigned(ids) => ids.len(),
        }
    }

    /// As ids of nodes; `what` is what an error calls them.
    pub fn to_ids(&self, py: Python<'_>, what: &str) -> PyResult<Vec<u32>> {
        let most = MAX_NODES as i64;
        let refuse = |id: i64| errors::data(py, &format!("{what} is {id}; expected a whole number from 0 to {most}"));
        match self {
            Ids::Narrow(ids) => match slice(py, ids)?.iter().find(|id| **id < 0) {
                Some(&id) => Err(refuse(id.into())),
                None => Ok(slice(py, ids)?.iter().map(|&id| id as u32).collect()),
            },
            Ids::Wide(ids) => match slice(py, ids)?.iter().find(|id| !(0..=most).contains(*id)) {
                Some(&id) => Err(refuse(id)),
                None => Ok(slice(py, ids)?.iter().map(|&id| id as u32).collect()),
            },
            Ids::Unsigned(ids) => match slice(py, ids)?.iter().find(|id| i64::from(**id) > most) {
                Some(&id) => Err(refuse(id.into())),
                None => Ok(slice(py, ids)?.to_vec()),
            },
        }
    }

    /// As places in another array.
    pub fn to_places(&self, py: Python<'_>, what: &str) -> PyResult<Vec<usize>> {
        let places: Result<Vec<usize>, i64> = match self {
            Ids::Narrow(ids) => slice(py, ids)?.iter().map(|&id| usize::try_from(id).map_err(|_| id.into())).collect(),
            Ids::Wide(ids) => slice(py, ids)?.iter().map(|&id| usize::try_from(id).map_err(|_| id)).collect(),
            Ids::Unsigned(ids) => Ok(slice(py, ids)?.iter().map(|&id| id as usize).collect()),
        };
        places.map_err(|place| errors::data(py, &format!("{what} is {place}; expected a number that is not negative")))
    }
}

/// Row after row as a matrix.
pub fn matrix<T: numpy::Element>(py: Python<'_>, rows: usize, values: Vec<T>) -> PyResult<Bound<'_, PyArray2<T>>> {
    let columns = values.len().checked_div(rows).unwrap_or(0);
    PyArray1::from_vec(py, values).reshape([rows, columns])
}

/// Compressed sparse rows as scipy takes them: places and ids of one type, the narrower where it suffices.
pub fn csr<'py>(py: Python<'py>, indptr: &[usize], indices: &[u32]) -> (Bound<'py, PyAny>, Bound<'py, PyAny>) {
    if i32::try_from(indices.len()).is_ok() {
        let indptr: Vec<i32> = indptr.iter().map(|&place| place as i32).collect();
        let indices: Vec<i32> = indices.iter().map(|&id| id as i32).collect();
        return (PyArray1::from_vec(py, indptr).into_any(), PyArray1::from_vec(py, indices).into_any());
    }
    let indptr: Vec<i64> = indptr.iter().map(|&place| place as i64).collect();
    let indices: Vec<i64> = indices.iter().map(|&id| i64::from(id)).collect();
    (PyArray1::from_vec(py, indptr).into_any(), PyArray1::from_vec(py, indices).into_any())
}

/// Sources and then targets of all edges, each in both directions, as PyTorch Geometric has them.
pub fn edge_index_values(graph: &fiedler_graph::Graph) -> Vec<i64> {
    let mut values = Vec::with_capacity(2 * graph.indices().len());
    for (node, range) in graph.indptr().windows(2).enumerate() {
        values.resize(range[1], node as i64);
    }
    values.extend(graph.indices().iter().map(|&id| i64::from(id)));
    values
}
