//! CCA-SSG as a method: the same bits however it is run, on every encoder, and on graphs that have little to learn from.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_augment::scheme::{GraphCl, Operation};
use fiedler_augment::{FeatureMasking, SchemeSettings};
use fiedler_graph::{Dataset, Dense, Event, Features, Graph, GraphSet, NoObserver, Observer, generate};
use fiedler_learn::encoder::{DecoupledSettings, EncoderSettings, GcnSettings, MlpSettings};
use fiedler_learn::layer::Activation;
use fiedler_learn::method::{CcaSsg, Dgi, Method, MethodSettings, Span, Supervised, Untrained};
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

fn gcn(hidden_channels: usize) -> EncoderSettings {
    let last_activation = Some(Activation::Identity);
    let activation = Activation::Relu;
    EncoderSettings::Gcn(GcnSettings { hidden_channels, activation, last_activation, ..GcnSettings::default() })
}

fn decoupled(hidden_channels: usize) -> EncoderSettings {
    EncoderSettings::Decoupled(DecoupledSettings { hidden_channels, ..DecoupledSettings::default() })
}

fn mlp(hidden_channels: usize) -> EncoderSettings {
    EncoderSettings::Mlp(MlpSettings { hidden_channels, ..MlpSettings::default() })
}

fn settings(encoder: EncoderSettings, epochs: usize) -> Settings {
    let mut settings = Settings::of_method(CcaSsg { encoder, ..CcaSsg::default() });
    settings.training.epochs = epochs;
    settings.training.batch_size = 3;
    settings.seed = 6;
    settings
}

/// A graph of pairs with dense features.
fn graph(nodes: usize, pairs: &[(u32, u32)], columns: usize, values: impl Fn(usize, usize) -> f32) -> Dataset {
    let mut dataset = Dataset::single("graph", Graph::from_pairs(nodes, pairs.to_vec()).unwrap().0);
    let values = (0..nodes * columns).map(|at| values(at / columns, at % columns)).collect();
    dataset.features = Some(Features::Dense(Dense::new(nodes, columns, values).unwrap()));
    dataset
}

fn wave(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 3) as f32 * 1.3 + 0.2).sin() * 2.0
}

/// Ten paths of different lengths.
fn paths() -> Dataset {
    let (mut pairs, mut sizes, mut first) = (Vec::new(), Vec::new(), 0);
    for size in 3..13u32 {
        pairs.extend((1..size).map(|node| (first + node - 1, first + node)));
        sizes.push(size);
        first += size;
    }
    let arena = Graph::from_pairs(first as usize, pairs).unwrap().0;
    let mut dataset = Dataset::set("paths", GraphSet::from_block_diagonal(arena, sizes).unwrap());
    let values = (0..first as usize * 4).map(|at| wave(at / 4, at % 4)).collect();
    dataset.features = Some(Features::Dense(Dense::new(first as usize, 4, values).unwrap()));
    dataset
}

fn fit(run: &Run<'_, '_>, store: &Memory, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    let checkpoint = Some(Checkpointing { store, run: "cca-ssg" });
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

#[test]
fn the_method_recommends_how_it_is_trained_and_files_may_say_otherwise() {
    let settings = Settings::of_method(CcaSsg::default()).resolved();
    assert_eq!((settings.training.epochs, settings.training.weight_decay), (50, 0.0));
    let Some(SchemeSettings::Uniform(uniform)) = settings.scheme else { panic!("{:?}", settings.scheme) };
    assert_eq!((uniform.first.remove, uniform.second.remove, uniform.first.add), (0.4, 0.4, 0.0));
    let masking = settings.feature_masking.unwrap();
    assert_eq!((masking.first.rate, masking.second.rate), (0.2, 0.2));
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    assert_eq!(read(r#"{"method": {"name": "cca-ssg"}}"#).unwrap(), Settings::of_method(CcaSsg::default()));
    let some = read(r#"{"method": {"name": "cca-ssg"}, "training": {"epochs": 7}}"#).unwrap();
    assert_eq!((some.training.epochs, some.training.weight_decay), (7, 0.0));
    assert_eq!(read("{}").unwrap(), Settings::default());
    assert_eq!(read(r#"{"training": {"epochs": 7}}"#).unwrap().training.weight_decay, 1e-5);
    // All that is written is read again.
    let written = serde_json::to_string(&settings).unwrap();
    assert_eq!(read(&written).unwrap(), settings);
    assert!(read(r#"{"training": {"epoch": 7}}"#).unwrap_err().to_string().contains("epoch"));
    assert!(read(r#"{"trainin": {}}"#).unwrap_err().to_string().contains("training"));
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same_on_every_encoder() {
    let citation = generate::from_spec("citation", 3).unwrap();
    let paths = paths();
    for (dataset, encoder) in [
        (&citation, gcn(64)),
        (&citation, decoupled(64)),
        (&citation, mlp(64)),
        (&paths, gcn(16)),
        (&paths, decoupled(16)),
    ] {
        let settings = settings(encoder, 8);
        let run = Run::new(&settings, dataset);
        let whole = on_threads(2, || run.fit().unwrap());
        assert_same(&whole, &on_threads(1, || run.fit().unwrap()));
        let store = Memory::default();
        for stop in [1, 5] {
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
        // The loss of a batch of small graphs says more of the graphs than of the encoder.
        let is_less = whole.history.losses.last() < whole.history.losses.first();
        assert!(is_less || dataset.graphs.len() > 1, "{:?}", whole.history.losses);
        let saved = SavedEncoder::from_bytes(&whole.encoder.to_bytes().unwrap()).unwrap();
        assert_eq!(saved.embed(dataset).unwrap(), whole.embeddings);
    }
}

#[test]
fn every_method_takes_the_new_encoders() {
    let nodes = generate::from_spec("citation", 3).unwrap();
    let graphs = paths();
    for encoder in [decoupled(8), mlp(8)] {
        let is_mlp = matches!(encoder, EncoderSettings::Mlp(_));
        let untrained = Untrained { encoder: encoder.clone(), ..Untrained::default() };
        let span = Span { encoder: encoder.clone(), ..Span::default() };
        let dgi = Dgi { encoder: encoder.clone(), ..Dgi::default() };
        let methods: [MethodSettings; 4] =
            [untrained.into(), span.clone().into(), dgi.into(), CcaSsg { encoder, ..CcaSsg::default() }.into()];
        for method in methods {
            for dataset in [&nodes, &graphs] {
                let mut settings = Settings::of_method(method.clone());
                settings.training.epochs = 2;
                settings.training.min_relative_std = 0.0;
                settings.scheme = Some(SchemeSettings::Uniform(Default::default()));
                let corrupts = match method.name() {
                    "dgi" => true,
                    "span" => dataset.graphs.len() == 1,
                    _ => false,
                };
                match Run::new(&settings, dataset).fit() {
                    Ok(result) => {
                        assert!(!(is_mlp && corrupts), "{} learns nothing from a corruption", method.name());
                        assert_eq!(result.encoder.embed(dataset).unwrap(), result.embeddings);
                        assert_eq!(result.embeddings.columns(), 8);
                    }
                    // Shuffled features are no corruption to an encoder that looks at no edges.
                    Err(error) => {
                        assert!(is_mlp && corrupts, "{}: {error}", method.name());
                        assert!(error.to_string().contains("encoder is mlp"), "{error}");
                    }
                }
            }
        }
    }
    let supervised = Supervised { encoder: decoupled(8), ..Supervised::default() };
    assert!(Method::check(&supervised, &task(5, 2)).is_err(), "no labels");
}

fn task(num_nodes: usize, num_views: usize) -> fiedler_learn::Task {
    fiedler_learn::Task {
        level: fiedler_learn::TaskLevel::Nodes,
        dims: fiedler_learn::encoder::InputDims { nodes: 4, edges: None },
        num_nodes,
        num_graphs: 1,
        batch_graphs: 1,
        num_views,
        target: None,
    }
}

#[test]
fn settings_and_tasks_that_cannot_work_are_refused() {
    let refused = |method: CcaSsg, task: &fiedler_learn::Task| method.check(task).unwrap_err().to_string();
    assert!(CcaSsg::default().check(&task(2, 2)).is_ok());
    let error = refused(CcaSsg::default(), &task(1, 2));
    assert!(error.contains("number of nodes is 1") && error.contains("at least 2"), "{error}");
    assert!(refused(CcaSsg::default(), &task(5, 3)).contains("number of views is 3"));
    assert!(refused(CcaSsg { lambda: -1.0, ..CcaSsg::default() }, &task(5, 2)).contains("lambda is -1"));
    assert!(refused(CcaSsg { encoder: gcn(0), ..CcaSsg::default() }, &task(5, 2)).contains("hidden_channels is 0"));
    // A single node: refused by name before anything is computed.
    let alone = graph(1, &[], 2, wave);
    let settings = settings(gcn(4), 3);
    let error = Run::new(&settings, &alone).check().err().unwrap().to_string();
    assert!(error.contains("number of nodes is 1"), "{error}");
}

fn assert_trains(dataset: &Dataset, what: &str) {
    for encoder in [gcn(6), decoupled(6), mlp(6)] {
        let result = Run::new(&settings(encoder, 20), dataset).fit().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(result.history.losses.iter().all(|loss| loss.is_finite()), "{what}");
        assert!(result.embeddings.are_finite(), "{what}");
        assert_eq!(result.encoder.embed(dataset).unwrap(), result.embeddings, "{what}");
    }
}

#[test]
fn graphs_with_little_in_them_are_learned_or_refused_by_name() {
    let ring: Vec<(u32, u32)> = (0..10).map(|node| (node, (node + 1) % 10)).collect();
    assert_trains(&graph(14, &ring, 4, wave), "isolated nodes");
    assert_trains(&graph(10, &[], 4, wave), "no edge at all");
    assert_trains(
        &graph(10, &ring, 5, |row, column| if column % 2 == 0 { wave(row, column) } else { 0.0 }),
        "zero columns",
    );
    assert_trains(
        &graph(10, &ring, 5, |row, column| if column == 1 { wave(row, column) } else { 3.5 }),
        "constant columns",
    );
    assert_trains(&graph(2, &[], 3, wave), "two nodes");
    // Nodes without features have their degrees.
    let karate = generate::karate_club();
    assert!(karate.features.is_none());
    assert_trains(&karate, "no features");
    for encoder in [decoupled(6), mlp(6)] {
        let joined = graph(2, &[(0, 1)], 3, wave);
        assert!(Run::new(&settings(encoder, 20), &joined).fit().unwrap().embeddings.are_finite(), "two nodes, joined");
    }
    // Where all nodes are alike to the encoder there is nothing to learn, which is said.
    for (dataset, encoder) in [
        (graph(10, &ring, 4, |_, _| 0.0), gcn(6)),
        (graph(10, &ring, 4, |_, _| 0.0), decoupled(6)),
        (graph(10, &ring, 4, |_, column| column as f32), mlp(6)),
        // Both have the mean of the two.
        (graph(2, &[(0, 1)], 3, wave), gcn(6)),
    ] {
        match Run::new(&settings(encoder, 5), &dataset).fit() {
            Err(Error::Collapsed { .. }) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn views_that_drop_nodes_compare_those_that_both_have() {
    let dataset = generate::from_spec("citation", 3).unwrap();
    let mut settings = settings(gcn(16), 4);
    let (first, second) = (Operation::NodeDropping, Operation::NodeDropping);
    settings.scheme = Some(SchemeSettings::GraphCl(GraphCl { first, second, ratio: 0.3 }));
    settings.feature_masking = Some(FeatureMasking::default());
    let result = Run::new(&settings, &dataset).fit().unwrap();
    assert!(result.history.losses.last() < result.history.losses.first(), "{:?}", result.history.losses);
    assert_eq!(result.embeddings.rows(), dataset.graphs.num_nodes());
}
