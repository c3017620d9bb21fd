//! Graphs, and ways to run a method.

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{Dataset, Dense, Event, Features, Graph, NoObserver, Observer, generate};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::layer::Activation;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing};
use fiedler_learn::{Error, SavedEncoder};

#[derive(Default)]
struct Memory(Mutex<Option<Vec<u8>>>);

impl CheckpointStore for Memory {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn save(&self, bytes: &[u8]) -> Result<(), String> {
        *self.0.lock().unwrap() = Some(bytes.to_vec());
        Ok(())
    }
}

pub fn gcn(width: usize) -> EncoderSettings {
    let (hidden_channels, out_channels) = (2 * width, Some(width));
    EncoderSettings::Gcn(GcnSettings {
        hidden_channels,
        out_channels,
        activation: Activation::Relu,
        ..GcnSettings::default()
    })
}

pub fn settings(method: impl Into<MethodSettings>, epochs: usize) -> Settings {
    let mut settings = Settings::of_method(method);
    settings.training.epochs = epochs;
    settings.seed = 6;
    settings
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

pub fn ring() -> Vec<(u32, u32)> {
    (0..10).map(|node| (node, (node + 1) % 10)).collect()
}

fn fit(run: &Run<'_, '_>, store: &Memory, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store, run: "run" });
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer })
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

fn assert_same(one: &RunResult, other: &RunResult) {
    assert_eq!(one.history.losses, other.history.losses);
    assert_eq!(one.embeddings, other.embeddings);
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap());
}

/// One thread or two, stopped or not: the bits are the same, the loss falls, and the encoder can be applied again.
pub fn assert_same_however_it_is_run(method: impl Into<MethodSettings>) {
    let dataset = generate::from_spec("citation", 3).unwrap();
    let settings = settings(method, 8);
    let run = Run::new(&settings, &dataset);
    let whole = on_threads(2, || run.fit().unwrap());
    assert_same(&whole, &on_threads(1, || run.fit().unwrap()));
    let store = Memory::default();
    let watch = |event: &Event<'_>| match event {
        Event::Progress { stage: "training", done: 3.., .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    match on_threads(2, || fit(&run, &store, &watch)) {
        Err(Error::Stopped { epoch: 3, saved: true, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_same(&whole, &fit(&run, &store, &NoObserver).unwrap());
    assert!(whole.history.losses.last() < whole.history.losses.first(), "{:?}", whole.history.losses);
    let saved = SavedEncoder::from_bytes(&whole.encoder.to_bytes().unwrap()).unwrap();
    assert_eq!(saved.embed(&dataset).unwrap(), whole.embeddings);
}

/// What a run tells its user.
pub fn notes(settings: &Settings, dataset: &Dataset) -> Vec<String> {
    let notes = Mutex::new(Vec::new());
    let watch = |event: &Event<'_>| {
        if let Event::Note(text) = event {
            notes.lock().unwrap().push((*text).to_owned());
        }
        ControlFlow::Continue(())
    };
    fit(&Run::new(settings, dataset), &Memory::default(), &watch).unwrap();
    notes.into_inner().unwrap()
}

fn assert_trains(method: &MethodSettings, dataset: &Dataset, what: &str) {
    let what = format!("{}, {what}", method.name());
    let mut settings = settings(method.clone(), 10);
    settings.training.min_relative_std = 0.0;
    let result = Run::new(&settings, dataset).fit().unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(result.history.losses.iter().all(|loss| loss.is_finite()), "{what}");
    assert!(result.embeddings.are_finite(), "{what}");
    assert_eq!(result.encoder.embed(dataset).unwrap(), result.embeddings, "{what}");
}

/// Graphs with little in them are learned.
pub fn assert_trains_on_little(method: impl Into<MethodSettings>) {
    let method = method.into();
    let trains = |dataset: &Dataset, what: &str| assert_trains(&method, dataset, what);
    trains(&graph(14, &ring(), 4, wave), "isolated nodes");
    trains(&graph(10, &[], 4, wave), "no edge at all");
    let half = |row: usize, column: usize| if column.is_multiple_of(2) { wave(row, column) } else { 0.0 };
    trains(&graph(10, &ring(), 5, half), "zero columns");
    trains(&graph(10, &ring(), 5, |_, _| 0.0), "nothing but zeros");
    trains(&graph(2, &[(0, 1)], 3, wave), "one component of two nodes");
    let pairs: Vec<(u32, u32)> = ring().into_iter().chain([(10, 11)]).collect();
    trains(&graph(12, &pairs, 3, wave), "a second component of two nodes");
    let all: Vec<(u32, u32)> = (0..6).flat_map(|low| (low + 1..6).map(move |high| (low, high))).collect();
    trains(&graph(6, &all, 3, wave), "a complete graph");
    let karate = generate::karate_club();
    assert!(karate.features.is_none());
    trains(&karate, "no features");
}
