//! Runs from start to end: training, stopping and resuming, one graph and many, and what goes wrong.
#![allow(clippy::unwrap_used)]

use std::cell::Cell;

use fiedler_augment::mask::{MaskRates, Masking};
use fiedler_augment::scheme::{Diffused, GraphCl, Operation, Rates, Spectral, Uniform, unwatched};
use fiedler_augment::{Scheme, Settings as SchemeChoice};
use fiedler_graph::random::stream;
use fiedler_graph::{Categorical, Classes, Dataset, Features, Graph, GraphSet, Split, generate};
use fiedler_learn::data::{Supervision, TaskLevel};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::loss::{ContrastiveLoss, JensenShannon};
use fiedler_learn::method::{ContrastMode, EmbeddingOf, MethodSettings, Raw, Span, Supervised, Untrained};
use fiedler_learn::readout::JumpingKnowledge;
use fiedler_learn::run::{Run, RunResult, SavedEncoder, SchemeSettings, Settings};
use fiedler_learn::trainer::{CheckpointFile, Progress, Schedule, TrainingSettings};
use fiedler_learn::{Error, Normalization, Operator, trainer};
use rand::RngExt;

fn citation() -> Dataset {
    generate::from_spec("citation", 3).unwrap()
}

/// Small graphs of two kinds, rings and stars with a few random edges, with categories for nodes and edges if so wished.
fn molecules(count: usize, with_features: bool) -> Dataset {
    let mut random = stream(5, "test graphs", 0);
    let (mut pairs, mut sizes, mut first) = (Vec::new(), Vec::new(), 0);
    for graph in 0..count {
        let size: u32 = random.random_range(4..12);
        for node in 1..size {
            pairs.push((first + node, first + if graph % 2 == 0 { 0 } else { node - 1 }));
        }
        pairs.push((first + random.random_range(0..size), first + random.random_range(0..size)));
        sizes.push(size);
        first += size;
    }
    let (arena, _) = Graph::from_pairs(first as usize, pairs).unwrap();
    let edges = arena.num_edges();
    let mut dataset = Dataset::set("molecules", GraphSet::from_block_diagonal(arena, sizes).unwrap());
    if with_features {
        let mut codes = |rows: usize, categories: u8| (0..rows).map(|_| random.random_range(0..categories)).collect();
        dataset.features = Some(Features::Categorical(Categorical::new(vec![5], codes(first as usize, 5)).unwrap()));
        dataset.edge_features = Some(Features::Categorical(Categorical::new(vec![3], codes(edges, 3)).unwrap()));
    }
    dataset
}

fn for_nodes(epochs: usize) -> Settings {
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden: 32, ..GcnSettings::default() });
    Settings {
        seed: 1,
        method: MethodSettings::Span(Span { encoder, ..Span::default() }),
        training: Training { epochs, checkpoint_every: 4, ..TrainingSettings::default() },
        ..Settings::default()
    }
}

fn for_graphs(epochs: usize) -> Settings {
    let mut settings = Settings::paper(TaskLevel::Graphs);
    let MethodSettings::Span(span) = &mut settings.method else { unreachable!() };
    span.encoder = EncoderSettings::Gin(GinSettings { hidden: 16, layers: 2, dropout: 0.1, ..GinSettings::default() });
    settings.training = Training { epochs, batch_size: 7, checkpoint_every: 2, ..TrainingSettings::default() };
    settings
}

fn span(settings: &mut Settings) -> &mut Span {
    match &mut settings.method {
        MethodSettings::Span(span) => span,
        _ => unreachable!(),
    }
}

fn scheme(settings: &Settings, dataset: &Dataset) -> Scheme {
    settings.scheme.0.compute(&dataset.graphs, &unwatched).unwrap()
}

fn run(settings: &Settings, dataset: &Dataset) -> RunResult {
    try_run(settings, dataset).unwrap()
}

fn try_run(settings: &Settings, dataset: &Dataset) -> Result<RunResult, Error> {
    let scheme = scheme(settings, dataset);
    Run::new(settings, dataset, Some(&scheme)).run()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Runs with a stop after each of the given epochs.
fn run_with_stops(settings: &Settings, dataset: &Dataset, stops: &[usize]) -> RunResult {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = CheckpointFile { path: folder.path().join("checkpoint"), run: "a run".into() };
    let scheme = scheme(settings, dataset);
    for &stop in stops {
        let watch = |progress: &Progress| progress.epoch < stop;
        let stopped =
            Run { checkpoint: Some(&checkpoint), watch: &watch, ..Run::new(settings, dataset, Some(&scheme)) };
        match stopped.run() {
            Err(Error::Stopped { epoch, saved: true, .. }) => assert_eq!(epoch, stop),
            other => panic!("{other:?}"),
        }
    }
    Run { checkpoint: Some(&checkpoint), ..Run::new(settings, dataset, Some(&scheme)) }.run().unwrap()
}

fn assert_same(one: &RunResult, other: &RunResult) {
    assert_eq!(one.embeddings, other.embeddings);
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap());
    assert_eq!(one.history.losses, other.history.losses);
}

#[test]
fn the_loss_falls_and_the_embedding_is_that_of_the_clean_graph() {
    let dataset = citation();
    let outcome = run(&for_nodes(30), &dataset);
    let losses = &outcome.history.losses;
    assert_eq!(losses.len(), 30);
    assert!(losses[25..].iter().sum::<f32>() < losses[..5].iter().sum::<f32>(), "{losses:?}");
    assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (dataset.graphs.num_nodes(), 32));
    let bytes = outcome.encoder.to_bytes().unwrap();
    let saved = SavedEncoder::from_bytes(&bytes, "encoder".as_ref()).unwrap();
    assert_eq!(saved, outcome.encoder);
    assert_eq!(saved.embed(&dataset).unwrap(), outcome.embeddings);
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let (nodes, graphs) = (citation(), molecules(40, true));
    let mut patient = for_nodes(12);
    patient.training.patience = Some(12);
    patient.training.schedule = Schedule::Cosine { warm_up: 3 };
    let mut two = for_nodes(12);
    span(&mut two).encoders = 2;
    span(&mut two).loss = ContrastiveLoss::JensenShannon(JensenShannon::default());
    let mut themselves = for_nodes(7);
    span(&mut themselves).pairs = ContrastMode::LocalLocal { anchors: 300 };
    let mut whole_graphs = for_graphs(7);
    span(&mut whole_graphs).pairs = ContrastMode::GlobalGlobal;
    for (settings, dataset) in
        [(patient, &nodes), (two, &nodes), (themselves, &nodes), (for_graphs(7), &graphs), (whole_graphs, &graphs)]
    {
        let whole = on_threads(2, || run(&settings, dataset));
        assert_same(&whole, &on_threads(1, || run(&settings, dataset)));
        assert_same(&whole, &on_threads(2, || run_with_stops(&settings, dataset, &[1, 3, 5])));
    }
}

#[test]
fn another_seed_gives_another_run() {
    let dataset = citation();
    let settings = for_nodes(2);
    let other = Settings { seed: 2, ..settings.clone() };
    assert_ne!(run(&settings, &dataset).embeddings, run(&other, &dataset).embeddings);
}

#[test]
fn any_scheme_can_be_plugged_in() {
    let dataset = generate::karate_club();
    let rates = Rates::flipping(0.3);
    let dropping = GraphCl { first: Operation::NodeDropping, second: Operation::Subgraph, ratio: 0.2 };
    for choice in [
        SchemeChoice::Opposite(Spectral { ratio: 0.5, ..Spectral::default() }),
        SchemeChoice::Single(Spectral::default()),
        SchemeChoice::Uniform(Uniform { first: rates, second: rates }),
        SchemeChoice::Diffusion(Diffused::default()),
        SchemeChoice::GraphCl(dropping),
    ] {
        let settings = Settings { scheme: SchemeSettings(choice), ..for_nodes(3) };
        let outcome = run(&settings, &dataset);
        assert_eq!(outcome.embeddings.rows(), 34);
        assert!(outcome.embeddings.are_finite() && outcome.embeddings.spread() > 0.0);
    }
}

#[test]
fn sets_of_graphs_with_and_without_features() {
    for with_features in [false, true] {
        let dataset = molecules(23, with_features);
        let settings = for_graphs(20);
        let outcome = run(&settings, &dataset);
        assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (23, 16));
        let losses = &outcome.history.losses;
        assert!(losses[15..].iter().sum::<f32>() < losses[..5].iter().sum::<f32>(), "{losses:?}");
        assert_eq!(outcome.encoder.embed(&dataset).unwrap(), outcome.embeddings);
    }
}

#[test]
fn nodes_and_graphs_may_find_themselves_and_show_all_layers() {
    let (nodes, graphs) = (citation(), molecules(23, true));
    let dropping = GraphCl { first: Operation::NodeDropping, second: Operation::Subgraph, ratio: 0.2 };
    let with_drops = Settings { scheme: SchemeSettings(SchemeChoice::GraphCl(dropping)), ..for_nodes(20) };
    for (mut settings, dataset, pairs, width) in [
        (for_nodes(20), &nodes, ContrastMode::LocalLocal { anchors: 100 }, 64),
        (with_drops, &nodes, ContrastMode::LocalLocal { anchors: usize::MAX }, 64),
        (for_graphs(20), &graphs, ContrastMode::LocalLocal { anchors: 50 }, 32),
        (for_graphs(20), &graphs, ContrastMode::GlobalGlobal, 32),
    ] {
        span(&mut settings).pairs = pairs;
        span(&mut settings).readout.jumping = JumpingKnowledge::Concatenate;
        let outcome = run(&settings, dataset);
        let losses = &outcome.history.losses;
        assert!(losses[15..].iter().sum::<f32>() < losses[..5].iter().sum::<f32>(), "{pairs:?}: {losses:?}");
        assert_eq!(outcome.embeddings.columns(), width, "{pairs:?}");
        assert_eq!(outcome.encoder.embed(dataset).unwrap(), outcome.embeddings);
    }
}

#[test]
fn embeddings_of_nodes_may_reach_further() {
    let dataset = citation();
    let near = run(&for_nodes(3), &dataset);
    let mut settings = for_nodes(3);
    span(&mut settings).readout.reach = 2;
    let far = run(&settings, &dataset);
    assert_eq!(far.history.losses, near.history.losses);
    assert_eq!(far.encoder.embed(&dataset).unwrap(), far.embeddings);

    let operator = Operator::new(dataset.graph().unwrap(), Normalization::Symmetric);
    let columns = near.embeddings.columns();
    let step = |rows: Vec<f32>| -> Vec<f32> {
        let of_node = |node: usize| {
            let (others, weights) = operator.row(node);
            let entries = others.iter().zip(weights).map(|(&other, &weight)| (other as usize * columns, weight));
            (0..columns).map(|column| entries.clone().map(|(row, weight)| weight * rows[row + column]).sum()).collect()
        };
        (0..near.embeddings.rows()).flat_map::<Vec<f32>, _>(of_node).collect()
    };
    let twice = step(step(near.embeddings.values().to_vec()));
    for ((far, near), twice) in far.embeddings.values().iter().zip(near.embeddings.values()).zip(twice) {
        assert!((far - near - twice).abs() < 1e-5, "{far} is not {near} + {twice}");
    }

    let mut sums = for_graphs(1);
    span(&mut sums).readout.reach = 2;
    let error = Run::new(&sums, &molecules(6, true), None).run().unwrap_err().to_string();
    assert!(error.contains("reach"), "{error}");
}

#[test]
fn nodes_may_lose_their_features_and_embeddings_may_be_of_views() {
    let dataset = molecules(1, true);
    let rates = MaskRates { columns: 0.2, nodes: 0.5 };
    let masking = Masking { first: rates, second: rates, ..Masking::default() };
    let mut settings = Settings { masking, ..for_nodes(2) };
    span(&mut settings).embedding = EmbeddingOf::Views;
    let outcome = run(&settings, &dataset);
    assert_eq!(outcome.embeddings.columns(), 64);
    let mut clean = settings.clone();
    span(&mut clean).embedding = EmbeddingOf::Clean;
    assert_eq!(run(&clean, &dataset).history.losses, outcome.history.losses);
}

#[test]
fn methods_without_training() {
    let dataset = molecules(6, true);
    let raw = Settings { method: MethodSettings::Raw(Raw::default()), ..Settings::default() };
    let outcome = Run::new(&raw, &dataset, None).run().unwrap();
    // Five categories and one for what is hidden.
    assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (6, 6));
    let nodes: f32 = outcome.embeddings.values().iter().sum();
    assert_eq!(nodes as usize, dataset.graphs.num_nodes());

    let citation = citation();
    let trained = for_nodes(0);
    let MethodSettings::Span(Span { encoder, readout, .. }) = trained.method.clone() else { unreachable!() };
    let untrained = Settings { method: MethodSettings::Untrained(Untrained { encoder, readout }), ..trained.clone() };
    let untrained = Run::new(&untrained, &citation, None).run().unwrap();
    assert_eq!(untrained.embeddings, run(&trained, &citation).embeddings);
}

#[test]
fn an_impatient_run_goes_back_to_its_best() {
    let dataset = citation();
    let mut settings = for_nodes(200);
    settings.training.learning_rate = 0.05;
    settings.training.patience = Some(3);
    let outcome = run(&settings, &dataset);
    let (best, loss) = outcome.history.best.unwrap();
    assert_eq!(outcome.history.losses.len(), best + 3);
    assert_eq!(outcome.history.losses[best - 1], loss);
    settings.training = Training { epochs: best, patience: None, ..settings.training };
    assert_eq!(run(&settings, &dataset).embeddings, outcome.embeddings);
}

#[test]
fn what_is_no_number_or_tells_nothing_apart_is_named() {
    let dataset = citation();
    let mut wild = for_nodes(50);
    wild.training.learning_rate = 1e30;
    match try_run(&wild, &dataset) {
        Err(error @ Error::NotFinite { .. }) => assert!(error.hint().unwrap().contains("learning rate")),
        other => panic!("{other:?}"),
    }
    let ring = Graph::from_pairs(20, (0..20).map(|node| (node, (node + 1) % 20)).collect()).unwrap().0;
    let ring = Dataset::single("ring", ring);
    match try_run(&for_nodes(10), &ring) {
        Err(error @ Error::Collapsed { epoch: 4, .. }) => assert!(error.to_string().contains("collapsed"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_fit_is_refused_before_it_starts() {
    let dataset = citation();
    let settings = for_nodes(5);
    let scheme = scheme(&settings, &dataset);
    let epochs = Cell::new(0);
    let watch = |_: &Progress| {
        epochs.set(epochs.get() + 1);
        true
    };
    let run = Run { memory: Some(1 << 20), watch: &watch, ..Run::new(&settings, &dataset, Some(&scheme)) };
    assert!(matches!(run.run(), Err(Error::Memory { needed, .. }) if needed > 1 << 20));
    assert_eq!(epochs.get(), 0);
    assert!(Run { memory: Some(1 << 30), ..run }.run().is_ok());
}

#[test]
fn a_checkpoint_of_another_run_is_refused_and_a_damaged_one_named() {
    let dataset = citation();
    let settings = for_nodes(3);
    let scheme = scheme(&settings, &dataset);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let one = CheckpointFile { path: path.clone(), run: "one".into() };
    let other = CheckpointFile { path: path.clone(), run: "other".into() };
    let run = Run { checkpoint: Some(&one), ..Run::new(&settings, &dataset, Some(&scheme)) };
    run.run().unwrap();
    assert!(matches!(Run { checkpoint: Some(&other), ..run }.run(), Err(Error::OtherRun { .. })));
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(run.run(), Err(Error::Malformed { .. })));
    trainer::remove(&path).unwrap();
    trainer::remove(&path).unwrap();
    run.run().unwrap();
}

#[test]
fn an_encoder_is_applied_only_to_the_features_it_knows() {
    let encoder = run(&for_nodes(1), &citation()).encoder;
    let unseen = generate::from_spec("citation", 9).unwrap();
    assert_eq!(encoder.embed(&unseen).unwrap().rows(), unseen.graphs.num_nodes());
    match encoder.embed(&generate::karate_club()) {
        Err(error @ Error::OtherFeatures { .. }) => assert!(error.to_string().contains("degrees"), "{error}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn settings_survive_files_and_mistakes_in_them_are_named() {
    for settings in [Settings::paper(TaskLevel::Nodes), Settings::paper(TaskLevel::Graphs), for_graphs(3)] {
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    }
    let mut themselves = for_nodes(3);
    let text = serde_json::to_string(&themselves).unwrap();
    assert!(!text.contains("pairs"), "what the paper does needs no words, and old files stay what they were: {text}");
    span(&mut themselves).pairs = ContrastMode::LocalLocal { anchors: 7 };
    let text = serde_json::to_string(&themselves).unwrap();
    assert!(text.contains(r#""pairs":{"kind":"node-node","at-once":7}"#), "{text}");
    assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), themselves);
    span(&mut themselves).pairs = ContrastMode::LocalLocal { anchors: 1 };
    let error = try_run(&themselves, &citation()).unwrap_err();
    assert_eq!(error.to_string(), "at-once is 1; expected at least 2 nodes to be told apart");
    let partial: Settings =
        serde_json::from_str(r#"{"method": {"kind": "span", "encoder": {"kind": "gcn", "hidden": 64}}}"#).unwrap();
    let MethodSettings::Span(span) = partial.method else { unreachable!() };
    assert_eq!((span.encoder.width(), span.encoder.layers()), (64, 2));
    let error = serde_json::from_str::<Settings>(r#"{"training": {"epoch": 3}}"#).unwrap_err();
    assert!(error.to_string().contains("epoch") && error.to_string().contains("epochs"), "{error}");
}

/// Every third to learn from, every third to stop by, the rest to test; and how often the highest score is right.
fn supervised(settings: &Settings, dataset: &Dataset, classes: &Classes) -> (RunResult, f64) {
    let part =
        |third: usize| (0..classes.of().len()).filter(|item| item % 3 == third).map(|item| item as u32).collect();
    let split =
        Split { name: "thirds".into(), train: part(0), validation: part(1), test: part(2), stopping: Vec::new() };
    let supervision = Some(Supervision { classes, split: &split });
    let outcome = Run { supervision, ..Run::new(settings, dataset, None) }.run().unwrap();
    let right = |&&item: &&u32| {
        let scores = outcome.embeddings.row(item as usize);
        let best = (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        best == classes.of()[item as usize].map(|class| class as usize)
    };
    let accuracy = split.test.iter().filter(right).count() as f64 / split.test.len() as f64;
    (outcome, accuracy)
}

#[test]
fn labels_teach_nodes_and_graphs_and_those_of_the_test_part_change_nothing() {
    let dataset = citation();
    let classes = dataset.node_labels.as_ref().unwrap().classes().unwrap();
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden: 16, dropout: 0.2, ..GcnSettings::default() });
    let method = Supervised { encoder, ..Supervised::default() };
    let training = Training { epochs: 200, learning_rate: 0.01, patience: Some(20), ..TrainingSettings::default() };
    let settings = Settings { method: method.into(), training, ..Settings::default() };
    let (outcome, accuracy) = supervised(&settings, &dataset, classes);
    assert!(accuracy > 0.8, "{accuracy}");
    assert!(outcome.history.losses.len() < 200, "patience ends training");
    assert_eq!(outcome.encoder.embed(&dataset).unwrap(), outcome.embeddings);

    let others = classes.of().iter().enumerate().map(|(item, class)| {
        let class = class.map(i64::from);
        if item % 3 == 2 { class.map(|class| (class + 1) % classes.names().len() as i64) } else { class }
    });
    let others = Classes::from_integers(others);
    assert_eq!(supervised(&settings, &dataset, &others).0.embeddings, outcome.embeddings);

    let dataset = molecules(90, false);
    let classes = Classes::from_integers((0..90).map(|graph| Some(graph % 2)));
    let Settings { method: MethodSettings::Span(span), .. } = Settings::paper(TaskLevel::Graphs) else {
        unreachable!()
    };
    let method = Supervised { encoder: span.encoder, readout: span.readout, classes: None };
    let training = Training { epochs: 100, learning_rate: 0.01, ..TrainingSettings::default() };
    let settings = Settings { method: method.into(), training, ..Settings::default() };
    let (outcome, accuracy) = supervised(&settings, &dataset, &classes);
    assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (90, 2));
    assert!(accuracy > 0.8, "{accuracy}");
    let without = Run::new(&settings, &dataset, None).run();
    assert!(matches!(without, Err(Error::Setting { .. })), "{without:?}");
}
