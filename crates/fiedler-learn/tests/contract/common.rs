//! What the small methods share: data, stores that remember, and ways to look into checkpoints.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::Tensor;
use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Dense, Event, Features, Graph, GraphSet, NoObserver, Observer};
use fiedler_learn::method::{AnyMethod, Footprint, Requirements};
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, TrainingSettings};
use fiedler_learn::{Error, Normalization};
use rand::RngExt;
use serde_json::Value;

/// Every checkpoint that was ever kept.
#[derive(Default)]
pub struct Memory(pub Mutex<Vec<Vec<u8>>>);

impl CheckpointStore for Memory {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().last().cloned())
    }

    fn save(&self, bytes: &[u8]) -> Result<(), String> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(())
    }
}

impl Memory {
    /// Tensors and note of each checkpoint.
    pub fn all(&self) -> Vec<Kept> {
        self.0.lock().unwrap().iter().map(|bytes| Kept(StateDict::from_bytes(bytes).unwrap())).collect()
    }

    pub fn last(&self) -> Kept {
        self.all().pop().unwrap()
    }
}

/// A checkpoint, or the file of an encoder.
pub struct Kept(pub StateDict);

impl Kept {
    pub fn of(result: &RunResult) -> Kept {
        Kept(StateDict::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap())
    }

    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(name, _, _)| name).collect()
    }

    pub fn tensor(&self, name: &str) -> Vec<f32> {
        let found = self.0.iter().find(|(other, _, _)| *other == name);
        found.unwrap_or_else(|| panic!("no {name} among {:?}", self.names())).2.to_vec()
    }

    pub fn note(&self) -> Value {
        serde_json::from_str(self.0.note.as_ref().unwrap()).unwrap()
    }
}

pub fn settings(training: TrainingSettings) -> Settings {
    Settings { seed: 4, training: TrainingSettings { min_relative_std: 0.0, ..training }, ..Settings::default() }
}

pub fn training(epochs: usize) -> TrainingSettings {
    TrainingSettings { epochs, weight_decay: 0.0, checkpoint_every: 1, ..TrainingSettings::default() }
}

pub fn fit(
    method: &dyn AnyMethod,
    run: &Run<'_, '_>,
    store: Option<&Memory>,
    observer: &dyn Observer,
) -> Result<RunResult, Error> {
    let checked = run.check_method(method)?;
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = store.map(|store| Checkpointing { store, run: "contract" });
    method.fit(&checked, Fitting { schemes: &mut schemes, checkpoint, observer })
}

pub fn fit_whole(method: &dyn AnyMethod, run: &Run<'_, '_>) -> RunResult {
    fit(method, run, None, &NoObserver).unwrap()
}

/// Stops at the `events`-th event that it hears.
pub fn stop_after(events: usize) -> impl Observer {
    let left = AtomicUsize::new(events);
    move |_: &Event<'_>| match left.fetch_sub(1, Ordering::Relaxed) {
        1 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

/// Stopped after every so many events until it is done, it must give what it gives when it is never stopped.
pub fn assert_resumes(method: &dyn AnyMethod, run: &Run<'_, '_>, every: usize) -> RunResult {
    let whole = fit_whole(method, run);
    let store = Memory::default();
    let mut stops = 0;
    let resumed = loop {
        match fit(method, run, Some(&store), &stop_after(every)) {
            Ok(result) => break result,
            Err(Error::Stopped { saved: true, .. }) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(stops < 1000, "it never ends");
    };
    assert!(stops > 0, "it was never stopped");
    assert_eq!(whole.history.losses, resumed.history.losses);
    assert_eq!(whole.history.best, resumed.history.best);
    assert_eq!(whole.encoder.to_bytes().unwrap(), resumed.encoder.to_bytes().unwrap());
    assert_eq!(whole.embeddings, resumed.embeddings);
    resumed
}

/// A graph with dense features.
pub fn graph(nodes: u32, columns: usize) -> Dataset {
    let mut random = stream(8, "test graph", 0);
    let pairs = (0..3 * nodes).map(|_| (random.random_range(0..nodes), random.random_range(0..nodes))).collect();
    let mut dataset = Dataset::single("graph", Graph::from_pairs(nodes as usize, pairs).unwrap().0);
    dataset.features = Some(numbers(nodes as usize, columns));
    dataset
}

/// Rings of several sizes with dense features.
pub fn rings(count: u32, columns: usize) -> Dataset {
    let (mut pairs, mut sizes, mut first) = (Vec::new(), Vec::new(), 0);
    for graph in 0..count {
        let size = 4 + graph % 5;
        pairs.extend((0..size).map(|node| (first + node, first + (node + 1) % size)));
        sizes.push(size);
        first += size;
    }
    let arena = Graph::from_pairs(first as usize, pairs).unwrap().0;
    let mut dataset = Dataset::set("rings", GraphSet::from_block_diagonal(arena, sizes).unwrap());
    dataset.features = Some(numbers(first as usize, columns));
    dataset
}

fn numbers(rows: usize, columns: usize) -> Features {
    let mut random = stream(9, "test features", 0);
    let values = (0..rows * columns).map(|_| random.random::<f32>() * 2.0 - 0.7).collect();
    Features::Dense(Dense::new(rows, columns, values).unwrap())
}

pub fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().try_to_vec().unwrap()
}

pub fn assert_close(found: &[f32], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (&found, expected)) in found.iter().zip(expected).enumerate() {
        let apart = (f64::from(found) - expected).abs();
        assert!(apart <= tolerance * (1.0 + expected.abs()), "{what}, value {at}: {found}, expected {expected}");
    }
}

/// Trained, without labels.
pub fn requirements(clean: bool, operators: &[Normalization]) -> Requirements {
    let footprint = Footprint::default();
    Requirements { trained: true, labels: false, clean, operators: operators.to_vec(), footprint }
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

/// A matrix of rows times a dense matrix, in 64 bits.
pub fn product(operator: &fiedler_learn::Operator, dense: &[f64], width: usize) -> Vec<f64> {
    let mut product = vec![0.0; operator.num_nodes() * width];
    for node in 0..operator.num_nodes() {
        let (columns, weights) = operator.row(node);
        for (&column, &weight) in columns.iter().zip(weights) {
            for at in 0..width {
                product[node * width + at] += f64::from(weight) * dense[column as usize * width + at];
            }
        }
    }
    product
}

/// The product of two dense matrices.
pub fn matmul(one: &[f64], other: &[f64], inner: usize, columns: usize) -> Vec<f64> {
    let row = |row: &[f64]| -> Vec<f64> {
        (0..columns).map(|at| (0..inner).map(|k| row[k] * other[k * columns + at]).sum()).collect()
    };
    one.chunks(inner).flat_map(row).collect()
}
