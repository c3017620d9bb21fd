//! Labels: from arrays, and as arrays.

use fiedler_graph::{Classes, Labels, MultiLabel, Regression};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, slice};
use crate::errors;

/// Labels as arrays: what they are, and of what.
#[derive(FromPyObject)]
pub struct RawLabels<'py> {
    /// `classes`, `multi-label` or `regression`.
    #[pyo3(item)]
    kind: String,
    /// Names of classes or of columns.
    #[pyo3(item)]
    names: Vec<String>,
    /// Codes of classes, -1 where one is not known.
    #[pyo3(item)]
    codes: Option<PyReadonlyArray1<'py, i64>>,
    /// Columns of answers or values, NaN where one is not known.
    #[pyo3(item)]
    values: Option<PyReadonlyArray2<'py, f32>>,
}

impl RawLabels<'_> {
    /// The labels that the arrays hold.
    pub fn read(&self, py: Python<'_>) -> PyResult<Labels> {
        let of_data = |error: fiedler_graph::Error| errors::of_data(py, error);
        if let Some(codes) = &self.codes {
            let name = |&code: &i64| usize::try_from(code).ok().and_then(|code| self.names.get(code));
            return Ok(Labels::Classes(Classes::from_labels(slice(py, codes)?.iter().map(name))));
        }
        let Some(values) = &self.values else { return Err(errors::data(py, "labels without values")) };
        let values = arrays::rows(py, values)?.iter().map(|value| Some(*value).filter(|value| !value.is_nan()));
        let names = self.names.clone();
        Ok(match self.kind.as_str() {
            "multi-label" => {
                let answers = values.map(|value| value.map(|value| value != 0.0)).collect();
                Labels::MultiLabel(MultiLabel::new(names, answers).map_err(of_data)?)
            }
            _ => Labels::Regression(Regression::new(names, values.collect()).map_err(of_data)?),
        })
    }
}

/// Labels as a dictionary; see [`RawLabels`].
pub fn labels_out<'py>(py: Python<'py>, labels: &Labels) -> PyResult<Bound<'py, PyDict>> {
    let columns = |rows: usize, names: &[String], row: &dyn Fn(usize) -> Vec<f32>| -> PyResult<_> {
        let values: Vec<f32> = (0..rows).flat_map(row).collect();
        debug_assert_eq!(values.len(), rows * names.len());
        arrays::matrix(py, rows, values)
    };
    let out = PyDict::new(py);
    match labels {
        Labels::Classes(classes) => {
            let codes = classes.of().iter().map(|class| class.map_or(-1, i64::from)).collect();
            out.set_item("kind", "classes")?;
            out.set_item("names", classes.names())?;
            out.set_item("codes", PyArray1::from_vec(py, codes))?;
        }
        Labels::MultiLabel(tasks) => {
            let answer = |answer: &Option<bool>| answer.map_or(f32::NAN, |answer| f32::from(u8::from(answer)));
            let row = |row: usize| tasks.row(row).iter().map(answer).collect();
            out.set_item("kind", "multi-label")?;
            out.set_item("names", tasks.names())?;
            out.set_item("values", columns(labels.len(), tasks.names(), &row)?)?;
        }
        Labels::Regression(regression) => {
            let row = |row: usize| regression.row(row).iter().map(|value| value.unwrap_or(f32::NAN)).collect();
            out.set_item("kind", "regression")?;
            out.set_item("names", regression.names())?;
            out.set_item("values", columns(labels.len(), regression.names(), &row)?)?;
        }
    }
    Ok(out)
}
