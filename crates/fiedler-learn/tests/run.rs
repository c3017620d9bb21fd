//! Runs from start to end: training, stopping and resuming, one graph and many, and what goes wrong.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_augment::SchemeSettings;
use fiedler_augment::pipeline::{ComputeSchemes, FeatureMasking, MaskRates};
use fiedler_augment::scheme::{DiffusionSettings, GraphCl, Operation, Rates, Spectral, Uniform};
use fiedler_graph::random::stream;
use fiedler_graph::{
    Categorical, Classes, Dataset, Event, Features, Graph, GraphSet, Labels, NoObserver, Observer, Split, generate,
};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::loss::{ContrastiveLoss, JensenShannon};
use fiedler_learn::method::{ContrastMode, MethodSettings, Raw, Span, Supervised, Untrained};
use fiedler_learn::readout::JumpingKnowledge;
use fiedler_learn::run::{Fitting, Run, RunResult, Settings};
use fiedler_learn::trainer::{CheckpointStore, Checkpointing, Schedule, ScheduleUnit, TrainingSettings};
use fiedler_learn::{Error, Normalization, Operator, SavedEncoder, Supervision, TaskLevel};
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
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden_channels: 32, ..GcnSettings::default() });
    Settings {
        seed: 1,
        method: MethodSettings::Span(Span { encoder, ..Span::default() }),
        training: TrainingSettings { epochs, checkpoint_every: 4, ..TrainingSettings::default() },
        ..Settings::default()
    }
}

fn for_graphs(epochs: usize) -> Settings {
    let mut settings = Settings::paper(TaskLevel::Graphs);
    let MethodSettings::Span(span) = &mut settings.method else { unreachable!() };
    span.encoder = EncoderSettings::Gin(GinSettings {
        hidden_channels: 16,
        num_layers: 2,
        dropout: 0.1,
        ..GinSettings::default()
    });
    settings.training = TrainingSettings { epochs, batch_size: 7, checkpoint_every: 2, ..TrainingSettings::default() };
    settings
}

fn span(settings: &mut Settings) -> &mut Span {
    match &mut settings.method {
        MethodSettings::Span(span) => span,
        _ => unreachable!(),
    }
}

/// A checkpoint in memory.
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

fn fit(run: &Run<'_, '_>, checkpoint: Option<Checkpointing<'_>>, observer: &dyn Observer) -> Result<RunResult, Error> {
    let mut schemes = ComputeSchemes::new(&run.dataset.graphs, &NoObserver);
    run.check()?.fit(Fitting { schemes: &mut schemes, checkpoint, observer })
}

fn run(settings: &Settings, dataset: &Dataset) -> RunResult {
    try_run(settings, dataset).unwrap()
}

fn try_run(settings: &Settings, dataset: &Dataset) -> Result<RunResult, Error> {
    Run::new(settings, dataset).fit()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// Runs with a stop after each of the given epochs.
fn run_with_stops(settings: &Settings, dataset: &Dataset, stops: &[usize]) -> RunResult {
    let store = Memory::default();
    let checkpoint = Some(Checkpointing { store: &store, run: "a run" });
    let run = Run::new(settings, dataset);
    for &stop in stops {
        let watch = |event: &Event<'_>| match event {
            Event::Progress { done, .. } if *done >= stop => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        match fit(&run, checkpoint, &watch) {
            Err(Error::Stopped { epoch, saved: true, .. }) => assert_eq!(epoch, stop),
            other => panic!("{other:?}"),
        }
    }
    fit(&run, checkpoint, &NoObserver).unwrap()
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
    let saved = SavedEncoder::from_bytes(&bytes).unwrap();
    assert_eq!(saved, outcome.encoder);
    assert_eq!(saved.embed(&dataset).unwrap(), outcome.embeddings);
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let (nodes, graphs) = (citation(), molecules(40, true));
    let mut patient = for_nodes(12);
    patient.training.patience = Some(12);
    patient.training.schedule = Schedule::Cosine { warmup: 3, from_zero: false, unit: ScheduleUnit::Epoch };
    let mut two = for_nodes(12);
    span(&mut two).share_encoder = false;
    span(&mut two).loss = ContrastiveLoss::JensenShannon(JensenShannon::default());
    let mut themselves = for_nodes(7);
    span(&mut themselves).contrast = ContrastMode::LocalLocal { anchors: 300 };
    let mut whole_graphs = for_graphs(7);
    span(&mut whole_graphs).contrast = ContrastMode::GlobalGlobal;
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
        SchemeSettings::Opposite(Spectral { ratio: 0.5, ..Spectral::default() }),
        SchemeSettings::Single(Spectral::default()),
        SchemeSettings::Uniform(Uniform { first: rates, second: rates }),
        SchemeSettings::Diffusion(DiffusionSettings::default()),
        SchemeSettings::GraphCl(dropping),
    ] {
        let settings = Settings { scheme: Some(choice), ..for_nodes(3) };
        let outcome = run(&settings, &dataset);
        assert_eq!(outcome.embeddings.rows(), 34);
        assert!(outcome.embeddings.are_finite() && outcome.embeddings.relative_std() > 0.0);
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
    let with_drops = Settings { scheme: Some(SchemeSettings::GraphCl(dropping)), ..for_nodes(20) };
    for (mut settings, dataset, pairs, width) in [
        (for_nodes(20), &nodes, ContrastMode::LocalLocal { anchors: 100 }, 64),
        (with_drops, &nodes, ContrastMode::LocalLocal { anchors: usize::MAX }, 64),
        (for_graphs(20), &graphs, ContrastMode::LocalLocal { anchors: 50 }, 32),
        (for_graphs(20), &graphs, ContrastMode::GlobalGlobal, 32),
    ] {
        span(&mut settings).contrast = pairs;
        span(&mut settings).readout.jumping_knowledge = JumpingKnowledge::Concatenate;
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
    span(&mut settings).extra_propagation = 2;
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
    span(&mut sums).extra_propagation = 2;
    let error = Run::new(&sums, &molecules(6, true)).fit().unwrap_err().to_string();
    assert!(error.contains("extra_propagation"), "{error}");
}

#[test]
fn nodes_may_lose_their_features_and_embeddings_may_be_of_views() {
    let dataset = molecules(1, true);
    let rates = MaskRates { rate: 0.2, nodes: 0.5 };
    let masking = FeatureMasking { first: rates, second: rates, ..FeatureMasking::default() };
    let mut settings = Settings { feature_masking: Some(masking), ..for_nodes(2) };
    span(&mut settings).embed_views = true;
    let outcome = run(&settings, &dataset);
    assert_eq!(outcome.embeddings.columns(), 64);
    let mut clean = settings.clone();
    span(&mut clean).embed_views = false;
    assert_eq!(run(&clean, &dataset).history.losses, outcome.history.losses);
}

#[test]
fn a_saved_encoder_embeds_the_views_that_its_run_embedded() {
    let masking = FeatureMasking { first: MaskRates { rate: 0.3, nodes: 0.0 }, ..FeatureMasking::default() };
    let (mut nodes, mut graphs) = (for_nodes(2), for_graphs(2));
    nodes.scheme = Some(SchemeSettings::Opposite(Spectral { steps: 5, ..Spectral::default() }));
    graphs.scheme = Some(SchemeSettings::Uniform(Uniform {
        first: Rates { remove: 0.3, ..Rates::default() },
        ..Uniform::default()
    }));
    let [citation, other] = [3, 4].map(|seed| generate::from_spec("citation:nodes=300", seed).unwrap());
    for (settings, dataset, unseen) in
        [(&mut nodes, &citation, &other), (&mut graphs, &molecules(140, true), &molecules(30, true))]
    {
        settings.feature_masking = Some(masking);
        let clean = run(settings, dataset);
        span(settings).embed_views = true;
        let outcome = run(settings, dataset);
        // Views of another seed are others, with the same weights.
        assert_eq!((clean.history.losses, clean.embeddings == outcome.embeddings), (outcome.history.losses, false));
        let bytes = outcome.encoder.to_bytes().unwrap();
        let saved = SavedEncoder::from_bytes(&bytes).unwrap();
        assert_eq!(saved.embed(dataset).unwrap(), outcome.embeddings);
        // Of other graphs, views are embedded as well: two of them side by side.
        let embedded = saved.embed(unseen).unwrap();
        assert_eq!(embedded, SavedEncoder::from_bytes(&bytes).unwrap().embed(unseen).unwrap());
        let of_clean = clean.encoder.embed(unseen).unwrap();
        assert_eq!((embedded.rows(), embedded.columns()), (of_clean.rows(), 2 * of_clean.columns()));

        // A file of before does not say how its views are drawn, and is not taken for one that embeds the graphs as they are.
        let mut old = fiedler_learn::state_dict::StateDict::from_bytes(&bytes).unwrap();
        let mut note: serde_json::Value = serde_json::from_str(old.note.as_ref().unwrap()).unwrap();
        assert!(note.as_object_mut().unwrap().remove("views").is_some());
        old.note = Some(note.to_string());
        let error = SavedEncoder::from_bytes(&old.to_bytes().unwrap()).unwrap().embed(dataset).unwrap_err().to_string();
        assert!(error.contains("embeds drawn views") && error.contains("run.json"), "{error}");
    }
}

#[test]
fn methods_without_training() {
    let dataset = molecules(6, true);
    let raw = Settings { method: MethodSettings::Raw(Raw::default()), ..Settings::default() };
    let outcome = Run::new(&raw, &dataset).fit().unwrap();
    // Five categories and one for what is hidden.
    assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (6, 6));
    let nodes: f32 = outcome.embeddings.values().iter().sum();
    assert_eq!(nodes as usize, dataset.graphs.num_nodes());

    let citation = citation();
    let trained = for_nodes(0);
    let MethodSettings::Span(Span { encoder, readout, extra_propagation, .. }) = trained.method.clone() else {
        unreachable!()
    };
    let untrained = Settings {
        method: MethodSettings::Untrained(Untrained { encoder, readout, extra_propagation }),
        ..trained.clone()
    };
    let untrained = Run::new(&untrained, &citation).fit().unwrap();
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
    // The weights that had the smallest loss, which are those before the step of that epoch.
    settings.training = TrainingSettings { epochs: best - 1, patience: None, ..settings.training };
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
    let events = AtomicUsize::new(0);
    let watch = |_: &Event<'_>| {
        events.fetch_add(1, Ordering::Relaxed);
        ControlFlow::Continue(())
    };
    let run = Run { memory: Some(1 << 20), ..Run::new(&settings, &dataset) };
    assert!(matches!(run.check().map(drop), Err(Error::Memory { needed, .. }) if needed > 1 << 20));
    assert!(matches!(fit(&run, None, &watch), Err(Error::Memory { needed, .. }) if needed > 1 << 20));
    assert_eq!(events.load(Ordering::Relaxed), 0);
    let run = Run { memory: Some(1 << 30), ..run };
    assert!(run.check().unwrap().memory_estimate() > 1 << 20);
    assert!(fit(&run, None, &watch).is_ok());
    assert_eq!(events.load(Ordering::Relaxed), 5);
}

#[test]
fn a_checkpoint_of_another_run_is_refused_and_a_damaged_one_named() {
    let dataset = citation();
    let settings = for_nodes(3);
    let store = Memory::default();
    let run = Run::new(&settings, &dataset);
    let of = |run| Some(Checkpointing { store: &store, run });
    let first = fit(&run, of("one"), &NoObserver).unwrap();
    assert!(matches!(fit(&run, of("other"), &NoObserver), Err(Error::OtherRun)));
    assert_same(&first, &fit(&run, of("one"), &NoObserver).unwrap());
    let bytes = store.load().unwrap().unwrap();
    store.save(&bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(fit(&run, of("one"), &NoObserver), Err(Error::Malformed { .. })));
    *store.0.lock().unwrap() = None;
    assert_same(&first, &fit(&run, of("one"), &NoObserver).unwrap());
}

/// Refuses to read, or to write.
struct Broken {
    reads: bool,
}

impl CheckpointStore for Broken {
    fn load(&self) -> Result<Option<Vec<u8>>, String> {
        if self.reads { Ok(None) } else { Err("the disk is gone".into()) }
    }

    fn save(&self, _: &[u8]) -> Result<(), String> {
        Err("the disk is full".into())
    }
}

#[test]
fn a_store_that_fails_ends_the_run_with_its_reason() {
    let (dataset, settings) = (generate::karate_club(), for_nodes(3));
    let run = Run::new(&settings, &dataset);
    for (reads, reason) in [(false, "the disk is gone"), (true, "the disk is full")] {
        match fit(&run, Some(Checkpointing { store: &Broken { reads }, run: "" }), &NoObserver) {
            Err(error @ Error::Checkpoint { .. }) => assert!(error.to_string().contains(reason), "{error}"),
            other => panic!("{other:?}"),
        }
    }
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
    assert!(!text.contains("contrast"), "what the paper does needs no words: {text}");
    span(&mut themselves).contrast = ContrastMode::LocalLocal { anchors: 7 };
    let text = serde_json::to_string(&themselves).unwrap();
    assert!(text.contains(r#""contrast":{"name":"local-local","anchors":7}"#), "{text}");
    assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), themselves);
    span(&mut themselves).contrast = ContrastMode::LocalLocal { anchors: 1 };
    let error = try_run(&themselves, &citation()).unwrap_err();
    assert_eq!(error.to_string(), "anchors is 1; expected at least 2 nodes to be told apart");
    let partial: Settings =
        serde_json::from_str(r#"{"method": {"name": "span", "encoder": {"name": "gcn", "hidden_channels": 64}}}"#)
            .unwrap();
    let MethodSettings::Span(span) = partial.method else { unreachable!() };
    assert_eq!((span.encoder.hidden_channels(), span.encoder.num_layers()), (64, 2));
    let error = serde_json::from_str::<Settings>(r#"{"training": {"epoch": 3}}"#).unwrap_err();
    assert!(error.to_string().contains("epoch") && error.to_string().contains("epochs"), "{error}");
}

/// Every third to learn from, every third to stop by, the rest to test; and how often the highest score is right.
fn supervised(settings: &Settings, dataset: &Dataset, classes: &Classes) -> (RunResult, f64) {
    let part =
        |third: usize| (0..classes.of().len()).filter(|item| item % 3 == third).map(|item| item as u32).collect();
    let split =
        Split { name: "thirds".into(), train: part(0), validation: part(1), test: part(2), stopping: Vec::new() };
    let labels = Labels::Classes(classes.clone());
    let supervision = Some(Supervision { labels: &labels, split: &split });
    let outcome = Run { supervision, ..Run::new(settings, dataset) }.fit().unwrap();
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
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden_channels: 16, dropout: 0.2, ..GcnSettings::default() });
    let method = Supervised { encoder, ..Supervised::default() };
    let training =
        TrainingSettings { epochs: 200, learning_rate: 0.01, patience: Some(20), ..TrainingSettings::default() };
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
    let method = Supervised { encoder: span.encoder, readout: span.readout, ..Supervised::default() };
    let training = TrainingSettings { epochs: 100, learning_rate: 0.01, ..TrainingSettings::default() };
    let settings = Settings { method: method.into(), training, ..Settings::default() };
    let (outcome, accuracy) = supervised(&settings, &dataset, &classes);
    assert_eq!((outcome.embeddings.rows(), outcome.embeddings.columns()), (90, 2));
    assert!(accuracy > 0.8, "{accuracy}");
    let without = Run::new(&settings, &dataset).fit();
    assert!(matches!(without, Err(Error::Setting { .. })), "{without:?}");
}
