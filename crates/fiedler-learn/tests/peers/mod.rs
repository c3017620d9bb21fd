//! What the tests of node-level methods share: fixtures of PyTorch (`fixtures/make_peers.py`), steps taken by hand, and runs that are
//! stopped, resumed and compared.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use burn::Tensor;
use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients};
use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{Dataset, Dense, Event, Features, Graph, NoObserver, Observer, Sparse, generate};
use fiedler_learn::data::{Data, FeatureSettings};
use fiedler_learn::encoder::InputDims;
use fiedler_learn::method::{FitData, Method, MethodSettings, Phase, Step};
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, Clock, Optimizer, TrainingSettings};
use fiedler_learn::{Error, Initializer, Normalization, Sample, SavedEncoder, Task, TaskLevel};
use serde::Deserialize;
use serde_json::Value;

/// Of Adam, in the fixtures.
const EPSILON: f64 = 1e-3;

#[derive(Deserialize)]
pub struct Held {
    pub shape: Vec<usize>,
    pub values: Vec<f32>,
}

#[derive(Deserialize)]
pub struct View {
    pub pairs: Vec<(u32, u32)>,
    pub features: Held,
}

/// A fixture of one method.
#[derive(Deserialize)]
pub struct Fixture {
    pub nodes: usize,
    pub features: Held,
    pub pairs: Vec<(u32, u32)>,
    pub views: Vec<View>,
    pub weights: BTreeMap<String, Held>,
    pub trained: BTreeMap<String, Held>,
    pub embedding: Held,
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}

/// The loss of a step and its gradients by the names of weights.
#[derive(Deserialize)]
pub struct Expected {
    pub loss: f32,
    pub gradients: BTreeMap<String, Held>,
}

impl Fixture {
    pub fn read(text: &str) -> Fixture {
        serde_json::from_str(text).unwrap()
    }

    /// What only some fixtures have.
    pub fn get<T: for<'de> Deserialize<'de>>(&self, name: &str) -> T {
        serde_json::from_value(self.more[name].clone()).unwrap()
    }

    pub fn expected(&self) -> Expected {
        Expected { loss: self.get("loss"), gradients: self.get("gradients") }
    }

    pub fn clean(&self) -> Dataset {
        sparse_dataset(self.nodes, &self.pairs, &self.features)
    }

    pub fn task(&self) -> Task {
        task(self.nodes, self.features.shape[1], 2)
    }

    /// Both views as a step takes them.
    pub fn views(&self) -> Vec<Sample> {
        self.views.iter().map(|view| sample(&sparse_dataset(self.nodes, &view.pairs, &view.features))).collect()
    }

    /// The model with the fixture's weights.
    pub fn model<M: Method>(&self, method: &M) -> M::Model {
        let model = method.build(&self.task(), &mut Initializer::new(1, &device())).unwrap();
        let mut weights = StateDict::of(&model);
        for (name, held) in &self.weights {
            assert!(weights.get(name).is_some(), "no {name}");
            weights.insert(name.clone(), held.shape.clone(), held.values.clone()).unwrap();
        }
        weights.apply(model).unwrap()
    }

    /// Checks weights after training.
    pub fn assert_trained(&self, model: &impl Module) {
        let weights = StateDict::of(model);
        for (name, expected) in &self.trained {
            assert_close(weights.get(name).unwrap(), &expected.values, 1e-5, name);
            let moves = |(new, old): (&f32, &f32)| (new - old).abs() > 1e-4;
            let moved = expected.values.iter().zip(&self.weights[name].values).any(moves);
            // A bias that a normalization follows has no gradient.
            assert!(moved || name.ends_with("bias"), "{name} does not move: the fixture shows nothing");
        }
    }

    /// Checks the embedding of the clean graph, by what the trainer would do with the model.
    pub fn assert_embeds<M: Method>(&self, method: &M, model: M::Model) {
        let dataset = self.clean();
        let (task, device) = (self.task(), device());
        let data = Data::new(&dataset, &FeatureSettings::default()).unwrap();
        let data = FitData {
            task: &task,
            data: &data,
            seed: 0,
            device: &device,
            step_nodes: task.num_nodes,
            observer: &NoObserver,
        };
        let before = StateDict::of(&model);
        let calibrated = method.calibrate(model.clone(), &data).unwrap();
        assert_eq!(StateDict::of(&model), before, "what is trained on has been changed");
        let views = vec![sample(&dataset); 2];
        let phase = &method.phases()[0];
        let step = step(&task, None, &views, phase, Clock::default(), Pass::eval());
        let found = method.embed(&calibrated.valid(), &step).unwrap();
        assert_close(&values(&found), &self.embedding.values, 1e-5, "the embedding");
    }
}

pub fn device() -> Device {
    Device::flex().autodiff()
}

pub fn task(num_nodes: usize, columns: usize, num_views: usize) -> Task {
    Task {
        level: TaskLevel::Nodes,
        dims: InputDims { nodes: columns, edges: None },
        num_nodes,
        num_graphs: 1,
        batch_graphs: 1,
        num_views,
        target: None,
    }
}

fn sparse_dataset(nodes: usize, pairs: &[(u32, u32)], features: &Held) -> Dataset {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in features.values.chunks(features.shape[1]) {
        for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(column as u32);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    let mut dataset = Dataset::single("fixture", Graph::from_pairs(nodes, pairs.to_vec()).unwrap().0);
    dataset.features = Some(Features::Sparse(Sparse::new(features.shape[1], offsets, indices, values).unwrap()));
    dataset
}

/// A dataset as a step takes it.
pub fn sample(dataset: &Dataset) -> Sample {
    let data = Data::new(dataset, &FeatureSettings::default()).unwrap();
    let task = task(dataset.graphs.num_nodes(), data.dims().nodes, 2);
    let device = device();
    let data = FitData {
        task: &task,
        data: &data,
        seed: 0,
        device: &device,
        step_nodes: task.num_nodes,
        observer: &NoObserver,
    };
    data.sample(&[Normalization::Symmetric]).unwrap()
}

/// A step with seed 7.
pub fn step<'a>(
    task: &'a Task,
    clean: Option<&'a Sample>,
    views: &'a [Sample],
    phase: &'a Phase,
    clock: Clock,
    pass: Pass,
) -> Step<'a> {
    Step {
        task,
        clean,
        views,
        labels: None,
        rows: None,
        phase,
        clock,
        seed: 7,
        pass,
        observer: &fiedler_graph::NoObserver,
    }
}

/// The loss of each phase of a first step, with its gradients.
pub fn losses<M: Method>(
    method: &M,
    model: &M::Model,
    task: &Task,
    clean: Option<&Sample>,
    views: &[Sample],
) -> Vec<(f32, BTreeMap<String, Vec<f32>>)> {
    let of_phase = |phase: &Phase| {
        let pass = Pass::train(DropoutRng::new(7, 0));
        let loss = method.loss(model, &M::State::default(), &step(task, clean, views, phase, Clock::default(), pass));
        let loss = loss.unwrap().value;
        let value = values(&loss)[0];
        (value, gradients(model, &loss.backward()))
    };
    method.phases().iter().map(of_phase).collect()
}

/// Takes steps as the trainer does, with Adam's epsilon of the fixtures.
pub fn train<M: Method>(
    method: &M,
    mut model: M::Model,
    training: &TrainingSettings,
    task: &Task,
    clean: Option<&Sample>,
    views: &[Sample],
) -> M::Model {
    let phases = method.phases();
    let settings = |phase: &Phase| {
        let own = phase.optimizer;
        AdamSettings {
            learning_rate: own.map_or(training.learning_rate, |own| own.learning_rate),
            weight_decay: own.map_or(training.weight_decay, |own| own.weight_decay),
            decoupled: own.map_or(training.optimizer, |own| own.optimizer) == Optimizer::AdamW,
            epsilon: EPSILON,
            ..AdamSettings::default()
        }
    };
    let mut optimizers: Vec<Adam> = phases.iter().map(|phase| Adam::new(settings(phase)).unwrap()).collect();
    for at in 0..training.epochs {
        let (epochs, total_steps) = (training.epochs, training.epochs as u64);
        let clock = Clock { epoch: at, epochs, step: at as u64, steps_per_epoch: 1, total_steps };
        for (phase, optimizer) in phases.iter().zip(&mut optimizers) {
            let pass = Pass::train(DropoutRng::new(7, at as u64));
            let loss = method.loss(&model, &M::State::default(), &step(task, clean, views, phase, clock, pass));
            optimizer.set_learning_rate(settings(phase).learning_rate * training.schedule.factor(&clock));
            let gradients = loss.unwrap().value.backward();
            model = optimizer.step_selected(model, gradients, &phase.trains, phase.maximize);
        }
        model = method.after_step(model, &Clock { step: clock.step + 1, ..clock });
    }
    model
}

/// Checks a loss and its gradients.
pub fn assert_expected(found: &(f32, BTreeMap<String, Vec<f32>>), expected: &Expected) {
    assert_close(&[found.0], &[expected.loss], 1e-5, "the loss");
    let names = |found: Vec<&String>| found.into_iter().cloned().collect::<Vec<String>>();
    assert_eq!(names(found.1.keys().collect()), names(expected.gradients.keys().collect()));
    for (name, expected) in &expected.gradients {
        assert_close(&found.1[name], &expected.values, 1e-5, name);
    }
}

struct OfWeights<'a> {
    names: Vec<String>,
    gradients: &'a Gradients,
    found: BTreeMap<String, Vec<f32>>,
}

impl ModuleVisitor for OfWeights<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.names.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.names.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = param.val().grad(self.gradients) {
            self.found.insert(self.names.join("."), values(&gradient));
        }
    }
}

/// The gradients of a model's weights by name.
pub fn gradients(model: &impl Module, gradients: &Gradients) -> BTreeMap<String, Vec<f32>> {
    let mut visitor = OfWeights { names: Vec::new(), gradients, found: BTreeMap::new() };
    model.visit(&mut visitor);
    visitor.found
}

pub fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().try_to_vec().unwrap()
}

pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: number of values");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * (1.0 + expected.abs());
        assert!((found - expected).abs() <= allowed, "{what}, value {at}: {found}, expected {expected}");
    }
}

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
    pub fn all(&self) -> Vec<StateDict> {
        self.0.lock().unwrap().iter().map(|bytes| StateDict::from_bytes(bytes).unwrap()).collect()
    }
}

pub fn fit(run: &Run<'_, '_>, store: &Memory, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store, run: "peers" });
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer })
}

pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

pub fn settings(method: impl Into<MethodSettings>, epochs: usize) -> Settings {
    let mut settings = Settings::of_method(method);
    settings.training.epochs = epochs;
    settings.seed = 6;
    settings
}

fn assert_same(one: &RunResult, other: &RunResult) {
    assert_eq!(one.history.losses, other.history.losses);
    assert_eq!(one.embeddings, other.embeddings);
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap());
}

/// Checks that one thread or two, stopped or not, give the same bytes, and that a stored encoder embeds as the run did.
pub fn assert_same_bits(settings: &Settings) -> RunResult {
    let dataset = generate::from_spec("citation:nodes=300", 3).unwrap();
    let run = Run::new(settings, &dataset);
    let whole = on_threads(2, || run.fit().unwrap());
    assert_same(&whole, &on_threads(1, || run.fit().unwrap()));
    let store = Memory::default();
    for stop in [1, settings.training.epochs / 2] {
        let watch = |event: &Event<'_>| match event {
            Event::Progress { done, .. } if *done >= stop => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        match on_threads(2, || fit(&run, &store, &watch)) {
            Err(Error::Stopped { epoch, saved: true, .. }) => assert_eq!(epoch, stop),
            other => panic!("{other:?}"),
        }
    }
    assert_same(&whole, &fit(&run, &store, &NoObserver).unwrap());
    let saved = SavedEncoder::from_bytes(&whole.encoder.to_bytes().unwrap()).unwrap();
    assert_eq!(saved.embed(&dataset).unwrap(), whole.embeddings);
    whole
}

/// A graph of pairs with dense features.
pub fn graph(nodes: usize, pairs: &[(u32, u32)], columns: usize, values: impl Fn(usize, usize) -> f32) -> Dataset {
    let mut dataset = Dataset::single("graph", Graph::from_pairs(nodes, pairs.to_vec()).unwrap().0);
    let values = (0..nodes * columns).map(|at| values(at / columns, at % columns)).collect();
    dataset.features = Some(Features::Dense(Dense::new(nodes, columns, values).unwrap()));
    dataset
}

pub fn wave(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 3) as f32 * 1.3 + 0.2).sin() * 2.0
}

/// Checks that a method learns from graphs with little in them, and says so where there is nothing to learn.
pub fn assert_robust(settings: &Settings) {
    let ring: Vec<(u32, u32)> = (0..10).map(|node| (node, (node + 1) % 10)).collect();
    let with_pair: Vec<(u32, u32)> = ring.iter().copied().chain([(10, 11)]).collect();
    let karate = generate::karate_club();
    assert!(karate.features.is_none());
    for (dataset, what) in [
        (graph(14, &ring, 4, wave), "isolated nodes"),
        (graph(12, &with_pair, 4, wave), "a component of two nodes"),
        (graph(10, &[], 4, wave), "no edge at all"),
        (graph(10, &ring, 5, |row, at| if at % 2 == 0 { wave(row, at) } else { 0.0 }), "zero columns"),
        (graph(10, &ring, 5, |row, at| if at == 1 { wave(row, at) } else { 3.5 }), "constant columns"),
        (graph(2, &[], 3, wave), "two nodes"),
        (karate, "no features"),
    ] {
        let result = Run::new(settings, &dataset).fit().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(result.history.losses.iter().all(|loss| loss.is_finite()), "{what}");
        assert!(result.embeddings.are_finite(), "{what}");
        assert_eq!(result.encoder.embed(&dataset).unwrap(), result.embeddings, "{what}");
    }
    match Run::new(settings, &graph(10, &ring, 4, |_, _| 0.0)).fit() {
        Err(Error::Collapsed { .. }) => {}
        other => panic!("nodes that are all alike: {other:?}"),
    }
    let alone = graph(1, &[], 2, wave);
    let error = Run::new(settings, &alone).check().err().unwrap().to_string();
    assert!(error.contains("number of nodes is 1"), "{error}");
}
