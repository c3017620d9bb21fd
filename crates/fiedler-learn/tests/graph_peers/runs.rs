//! Whole runs on sets of graphs: the same bits however they are run, and graphs with little in them.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_graph::{Dataset, Dense, Event, Features, Graph, GraphSet, NoObserver, Observer};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::method::{
    AdGcl, AugmentationPool, GraphCl, GraphMae, InfoGraph, Joao, JoaoV2, MethodSettings, Mvgrl, Policy, PolicyContrast,
    SimGrace,
};
use fiedler_learn::run::{Run, RunResult, Settings};
use fiedler_learn::{Error, SavedEncoder};

use crate::peers::{Memory, assert_robust, assert_same_bits, fit, on_threads, settings as peers_settings, wave};

/// Rings of different sizes with chords, one graph of one node and one without edges.
fn graphs() -> Dataset {
    let (mut pairs, mut sizes, mut nodes) = (Vec::new(), Vec::new(), 0u32);
    for graph in 0..21u32 {
        let size = 4 + graph * 5 % 7;
        let pair = |a: u32, b: u32| (nodes + a, nodes + b % size);
        pairs.extend((0..size).map(|node| pair(node, node + 1)));
        pairs.push(pair(0, 2 + graph % 2));
        sizes.push(size);
        nodes += size;
    }
    sizes.extend([1, 3]);
    nodes += 4;
    set(pairs, sizes, nodes)
}

fn set(pairs: Vec<(u32, u32)>, sizes: Vec<u32>, nodes: u32) -> Dataset {
    let (graph, _) = Graph::from_pairs(nodes as usize, pairs).unwrap();
    let mut dataset = Dataset::single("set", graph.clone());
    dataset.graphs = GraphSet::from_block_diagonal(graph, sizes).unwrap();
    let values = (0..nodes as usize * 4).map(|at| wave(at / 4, at % 4)).collect();
    dataset.features = Some(Features::Dense(Dense::new(nodes as usize, 4, values).unwrap()));
    dataset
}

fn gin(settings: &EncoderSettings) -> EncoderSettings {
    let EncoderSettings::Gin(gin) = settings else { unreachable!() };
    EncoderSettings::Gin(GinSettings { hidden_channels: 6, num_layers: 2, ..gin.clone() })
}

fn policy(as_released: bool) -> PolicyContrast {
    let usual = PolicyContrast::default();
    PolicyContrast { encoder: gin(&usual.encoder), as_released, ..usual }
}

fn methods() -> Vec<MethodSettings> {
    let graphcl = GraphCl { encoder: gin(&GraphCl::default().encoder), ..GraphCl::default() };
    let ad_gcl = AdGcl { encoder: gin(&AdGcl::default().encoder), ..AdGcl::default() };
    let gcn = GcnSettings { hidden_channels: 6, ..GcnSettings::default() };
    vec![
        InfoGraph { encoder: gin(&InfoGraph::default().encoder), prior: 0.1, ..InfoGraph::default() }.into(),
        GraphCl { pool: AugmentationPool::Random4, ..graphcl.clone() }.into(),
        GraphCl { as_released: true, pool: AugmentationPool::Random4, ..graphcl }.into(),
        Joao(policy(false)).into(),
        Joao(policy(true)).into(),
        JoaoV2(policy(false)).into(),
        JoaoV2(policy(true)).into(),
        ad_gcl.clone().into(),
        AdGcl { as_released: true, view_learning_rate: Some(0.01), ..ad_gcl }.into(),
        GraphMae { encoder: gin(&GraphMae::default().encoder), replace_rate: 0.2, ..GraphMae::default() }.into(),
        SimGrace { encoder: gin(&SimGrace::default().encoder), ..SimGrace::default() }.into(),
        Mvgrl { encoder: EncoderSettings::Gcn(gcn), ..Mvgrl::default() }.into(),
    ]
}

fn settings(method: MethodSettings) -> Settings {
    let mut settings = Settings::of_method(method);
    settings.training.epochs = 4;
    settings.training.batch_size = 5;
    settings.training.patience = None;
    settings.seed = 6;
    settings
}

fn assert_same(one: &RunResult, other: &RunResult, what: &str) {
    assert_eq!(one.history.losses, other.history.losses, "{what}");
    assert_eq!(one.embeddings, other.embeddings, "{what}");
    assert_eq!(one.encoder.to_bytes().unwrap(), other.encoder.to_bytes().unwrap(), "{what}");
}

/// Stops at the `events`-th event that it hears.
fn stop_after(events: usize) -> impl Observer {
    let left = AtomicUsize::new(events);
    move |_: &Event<'_>| match left.fetch_sub(1, Ordering::Relaxed) {
        1 => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    }
}

#[test]
fn one_thread_or_two_stopped_in_the_middle_or_not_the_bits_are_the_same() {
    let dataset = graphs();
    for method in methods() {
        let settings = settings(method);
        let name = settings.method.name();
        let run = Run::new(&settings, &dataset);
        let whole = on_threads(2, || run.fit().unwrap_or_else(|error| panic!("{name}: {error}")));
        assert!(whole.history.losses.iter().all(|loss| loss.is_finite()), "{name}");
        assert_same(&whole, &on_threads(1, || run.fit().unwrap()), name);
        let (store, mut stops) = (Memory::default(), 0);
        // Three steps at a time: in the middle of epochs as well as between them.
        let resumed = loop {
            match fit(&run, &store, &stop_after(3)) {
                Ok(result) => break result,
                Err(Error::Stopped { saved: true, .. }) => stops += 1,
                Err(other) => panic!("{name}: {other}"),
            }
        };
        assert!(stops > 4, "{name} was stopped {stops} times");
        assert_same(&whole, &resumed, name);
        let saved = SavedEncoder::from_bytes(&whole.encoder.to_bytes().unwrap()).unwrap();
        assert_eq!(saved.embed(&dataset).unwrap(), whole.embeddings, "{name}");
    }
}

#[test]
fn the_policy_is_kept_in_the_checkpoint() {
    let dataset = graphs();
    for as_released in [false, true] {
        let settings = settings(Joao(policy(as_released)).into());
        let store = Memory::default();
        fit(&Run::new(&settings, &dataset), &store, &NoObserver).unwrap();
        let note = store.all().pop().unwrap().note.unwrap();
        let note: serde_json::Value = serde_json::from_str(&note).unwrap();
        let policy: Policy = serde_json::from_value(note["state"].clone()).unwrap();
        let count = if as_released { 5 } else { 25 };
        let found = policy.probabilities(count);
        assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(found.iter().any(|p| (p - 1.0 / count as f64).abs() > 1e-6), "it has not moved: {found:?}");
    }
}

#[test]
fn sets_with_little_in_them_are_learned_or_refused_by_name() {
    let edgeless = set(Vec::new(), vec![2, 1, 3, 1, 2, 4], 13);
    let pairs = set(vec![(0, 1), (3, 4)], vec![2, 1, 3], 6);
    for method in methods() {
        for (dataset, what) in [(&edgeless, "no edge at all"), (&pairs, "three small graphs")] {
            let settings = settings(method.clone());
            let name = method.name();
            let result = Run::new(&settings, dataset).fit().unwrap_or_else(|error| panic!("{name}, {what}: {error}"));
            assert!(result.history.losses.iter().all(|loss| loss.is_finite()), "{name}, {what}");
            assert!(result.embeddings.are_finite(), "{name}, {what}");
        }
        let mut alone = settings(method.clone());
        alone.training.batch_size = 1;
        let result = Run::new(&alone, &pairs).check().map(drop);
        match method {
            // It compares graphs with nothing.
            MethodSettings::GraphMae(_) => result.unwrap(),
            _ => {
                let error = result.unwrap_err().to_string();
                assert!(error.contains("number of graphs in a batch is 1; expected at least 2"), "{error}");
            }
        }
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let dataset = graphs();
    let refused = |method: MethodSettings| {
        let mut settings = settings(method);
        settings.training.batch_size = 5;
        Run::new(&settings, &dataset).check().err().unwrap().to_string()
    };
    assert!(refused(GraphCl { rate: 1.5, ..GraphCl::default() }.into()).contains("rate is 1.5"));
    assert!(refused(InfoGraph { prior: -1.0, ..InfoGraph::default() }.into()).contains("prior is -1"));
    assert!(refused(AdGcl { lambda: f64::NAN, ..AdGcl::default() }.into()).contains("lambda is NaN"));
    let gcn = EncoderSettings::default();
    assert!(refused(AdGcl { encoder: gcn, ..AdGcl::default() }.into()).contains("expected gin"));
    assert!(refused(SimGrace { eta: -0.1, ..SimGrace::default() }.into()).contains("eta is -0.1"));
    assert!(refused(GraphMae { mask_rate: 0.0, ..GraphMae::default() }.into()).contains("mask_rate is 0"));
    assert!(refused(GraphMae { gamma: 0.2, ..GraphMae::default() }.into()).contains("gamma is 0.2"));
    let estimate = PolicyContrast { estimate: 0.0, ..PolicyContrast::default() };
    assert!(refused(Joao(estimate).into()).contains("estimate is 0"));
    let mut with_views = settings(Joao::default().into());
    with_views.scheme = Some(Default::default());
    let error = Run::new(&with_views, &dataset).check().err().unwrap().to_string();
    assert!(error.contains("method.augmentations"), "{error}");
}

#[test]
fn graphmae_embeds_the_nodes_of_one_graph() {
    let gcn = GcnSettings { hidden_channels: 8, batch_norm: true, ..GcnSettings::default() };
    let method = GraphMae { encoder: EncoderSettings::Gcn(gcn), replace_rate: 0.1, ..GraphMae::default() };
    let result = assert_same_bits(&peers_settings(method.clone(), 8));
    assert_eq!(result.embeddings.columns(), 8);
    let (first, last) = (result.history.losses[0], result.history.losses[7]);
    assert!(last < first, "it rebuilds nothing: {first} to {last}");
    assert_robust(&peers_settings(method, 6));
}
