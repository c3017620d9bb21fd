//! Schemes: computed, drawn from, saved and read.

use std::path::PathBuf;
use std::sync::Arc;

use fiedler_augment::scheme::Augmentation;
use fiedler_augment::{Scheme, SchemeSettings, View, ViewKey};
use fiedler_experiment::{Error, Result, load_scheme, save_scheme};
use fiedler_graph::Batch;
use fiedler_learn::run::Settings;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};

use crate::dataset::RawDataset;
use crate::run_settings::assign;
use crate::{arrays, errors, work};

/// A scheme with the graphs it belongs to.
#[pyclass(frozen, module = "fiedler._fiedler")]
pub struct RawScheme {
    pub scheme: Arc<Scheme>,
    pub dataset: RawDataset,
    /// All graphs, as most views are drawn of.
    whole: Batch,
}

/// `edge_index`, places of edges in the graph, weights, nodes that are kept, and what nodes give to themselves.
type RawView<'py> = (
    Bound<'py, PyAny>,
    Option<Bound<'py, PyArray1<i64>>>,
    Option<Bound<'py, PyArray1<f32>>>,
    Option<Bound<'py, PyArray1<bool>>>,
    Option<Bound<'py, PyArray1<f32>>>,
);

/// Lower and higher ends of pairs, with their probabilities.
type RawPairs<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f32>>);

/// The settings of a scheme in full, from its name and the keys that are not to have their defaults.
#[pyfunction]
pub fn scheme_settings(py: Python<'_>, settings: &str, seed: u64) -> PyResult<String> {
    let read = || -> Result<String> { Ok(json!(read_settings(settings, seed)?).to_string()) };
    read().map_err(|error| errors::raised(py, &error))
}

fn read_settings(settings: &str, seed: u64) -> Result<SchemeSettings> {
    let refuse = |error: serde_json::Error| fiedler_augment::Error::setting("settings", error, "an object");
    let mut tree: Map<String, Value> = serde_json::from_str(settings).map_err(refuse)?;
    let name = tree.remove("name");
    let name = name.as_ref().and_then(Value::as_str).unwrap_or("opposite");
    let scheme = SchemeSettings::default().with_name(name)?.with_seed(seed);
    let settings = Settings { scheme: Some(scheme), ..Settings::default() };
    let group = Map::from_iter([("scheme".to_owned(), Value::Object(tree))]);
    Ok(assign(settings, "", &group)?.scheme.unwrap_or_default())
}

/// Computes a scheme from settings in full.
#[pyfunction]
pub fn compute_scheme(
    py: Python<'_>,
    dataset: RawDataset,
    settings: &str,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RawScheme> {
    let settings: SchemeSettings =
        serde_json::from_str(settings).map_err(|error| errors::setting(py, "settings", &error.to_string()))?;
    let task = Arc::clone(&dataset.task);
    let scheme = work::run(py, progress, move |observer| {
        fiedler_experiment::compute_scheme(&settings, &task.dataset.graphs, observer)
    })?;
    Ok(RawScheme::new(scheme, dataset))
}

/// Reads a scheme from a file, or from the bytes of one.
#[pyfunction]
pub fn read_scheme(
    py: Python<'_>,
    dataset: RawDataset,
    path: Option<PathBuf>,
    bytes: Option<&[u8]>,
) -> PyResult<RawScheme> {
    let graphs = &dataset.task.dataset.graphs;
    let scheme = work::quickly(py, || match (path, bytes) {
        (Some(path), _) => load_scheme(&path, graphs),
        (None, bytes) => Ok(Scheme::from_bytes(bytes.unwrap_or_default(), graphs)?),
    })?;
    Ok(RawScheme::new(scheme, dataset))
}

impl RawScheme {
    pub fn new(scheme: Scheme, dataset: RawDataset) -> RawScheme {
        let whole = dataset.task.dataset.graphs.whole();
        RawScheme { scheme: Arc::new(scheme), dataset, whole }
    }

    /// Draws views of all graphs, or of some, each on a thread of its own where there are several.
    fn draw(&self, graphs: Option<&[usize]>, keys: &[ViewKey], places: bool) -> Result<Vec<Drawn>> {
        let set = &self.dataset.task.dataset.graphs;
        let some;
        let batch = match graphs {
            None => &self.whole,
            Some(graphs) => {
                if let Some(graph) = graphs.iter().find(|graph| **graph >= set.len()) {
                    let expected = format!("a number below {}, the number of graphs", set.len());
                    return Err(Error::from(fiedler_graph::Error::setting("graph", graph, expected)));
                }
                some = set.batch(graphs);
                &some
            }
        };
        let draw = |key: &ViewKey| Ok(Drawn::new(self.scheme.draw(batch, *key)?, batch, places));
        match keys {
            [first, second] => {
                let (first, second) = rayon::join(|| draw(first), || draw(second));
                Ok(vec![first?, second?])
            }
            keys => keys.iter().map(draw).collect(),
        }
    }
}

/// A view as arrays.
struct Drawn {
    edge_index: Vec<i64>,
    places: Option<Vec<i64>>,
    weights: Option<Vec<f32>>,
    kept: Option<Vec<bool>>,
    self_loop_weights: Option<Vec<f32>>,
}

impl Drawn {
    fn new(view: View, batch: &Batch, places: bool) -> Drawn {
        let place = |place: Option<usize>| place.map_or(-1, |place| place as i64);
        Drawn {
            edge_index: arrays::edge_index_values(&view.graph),
            places: places.then(|| view.graph.places_in(&batch.graph).into_iter().map(place).collect()),
            kept: view.dropped.map(|dropped| dropped.into_iter().map(|dropped| !dropped).collect()),
            self_loop_weights: view.self_loop_weights,
            weights: view.graph.into_csr().2,
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<RawView<'_>> {
        Ok((
            arrays::matrix(py, 2, self.edge_index)?.into_any(),
            self.places.map(|places| PyArray1::from_vec(py, places)),
            self.weights.map(|weights| PyArray1::from_vec(py, weights)),
            self.kept.map(|kept| PyArray1::from_vec(py, kept)),
            self.self_loop_weights.map(|weights| PyArray1::from_vec(py, weights)),
        ))
    }
}

#[pymethods]
impl RawScheme {
    #[getter]
    fn dataset(&self) -> RawDataset {
        self.dataset.clone()
    }

    /// Number of views.
    fn __len__(&self) -> usize {
        self.scheme.views().len()
    }

    /// How the computation went.
    fn report(&self) -> String {
        json!(self.scheme.report()).to_string()
    }

    fn settings(&self) -> String {
        json!(self.scheme.settings()).to_string()
    }

    /// Draws the given views of all graphs, or of some; two of them at once. Without `places`, nothing is said of where edges stood. `first`
    /// is the number of the first graph in the set that these are a shard of.
    #[pyo3(signature = (seed, epoch, views, graphs=None, places=true, first=0))]
    #[allow(clippy::too_many_arguments)]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        epoch: u32,
        views: Vec<u32>,
        graphs: Option<Vec<usize>>,
        places: bool,
        first: u32,
    ) -> PyResult<Vec<RawView<'py>>> {
        let key = |view| ViewKey { first_graph: first, ..ViewKey::new(seed, epoch, view) };
        let keys: Vec<ViewKey> = views.into_iter().map(key).collect();
        let drawn = work::quickly(py, || self.draw(graphs.as_deref(), &keys, places))?;
        drawn.into_iter().map(|drawn| drawn.into_python(py)).collect()
    }

    /// Lower and higher end of every pair that may flip in a view, with its probability.
    fn probabilities<'py>(&self, py: Python<'py>, view: usize) -> PyResult<RawPairs<'py>> {
        let (low, high, flips) = work::quickly(py, || self.pair_probabilities(view))?;
        Ok((PyArray1::from_vec(py, low), PyArray1::from_vec(py, high), PyArray1::from_vec(py, flips)))
    }

    /// Writes the scheme to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        work::quickly(py, || save_scheme(&self.scheme, &path))
    }

    /// The bytes of a file of the scheme.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = work::quickly(py, || Ok(self.scheme.to_bytes()?))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl RawScheme {
    fn pair_probabilities(&self, view: usize) -> Result<(Vec<i64>, Vec<i64>, Vec<f32>)> {
        let set = &self.dataset.task.dataset.graphs;
        let (mut low, mut high, mut flips) = (Vec::new(), Vec::new(), Vec::new());
        let mut push = |a: u32, b: u32, p: f32| {
            low.push(i64::from(a));
            high.push(i64::from(b));
            flips.push(p);
        };
        match self.scheme.views().get(view) {
            Some(Augmentation::Pairs(pairs)) => {
                for (graph, own) in pairs.graphs().iter().enumerate() {
                    let first = set.node_range(graph).start;
                    own.visit(|(a, b), p| push(a + first, b + first, p));
                }
            }
            Some(Augmentation::Unchanged) => {}
            Some(Augmentation::Uniform(rates)) if rates.add == 0.0 => {
                set.block_diagonal().edge_pairs().for_each(|(a, b)| push(a, b, rates.remove as f32));
            }
            Some(_) => {
                let expected = "a scheme whose pairs have probabilities of their own";
                return Err(fiedler_augment::Error::setting("scheme", self.scheme.settings().name(), expected).into());
            }
            None => {
                let expected = format!("a number below {}", self.scheme.views().len());
                return Err(fiedler_augment::Error::setting("view", view, expected).into());
            }
        }
        Ok((low, high, flips))
    }
}
