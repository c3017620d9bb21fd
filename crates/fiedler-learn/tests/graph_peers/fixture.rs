//! Forward pass, loss and gradients of each method are those of PyTorch.

use std::collections::BTreeMap;

use burn::module::Module;
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Dense, Features, Graph, GraphSet, NoObserver};
use fiedler_learn::data::{Data, FeatureSettings};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings, InputDims};
use fiedler_learn::method::{
    AdGcl, FitData, GraphCl, GraphMae, InfoGraph, Joao, JoaoV2, Method, Mvgrl, Phase, PolicyContrast, SimGrace,
};
use fiedler_learn::pass::{DropoutRng, Pass};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::Clock;
use fiedler_learn::{GraphOffsets, Initializer, KeptNodes, Normalization, Sample, Task, TaskLevel};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::peers::{self, Held, assert_close, device, values};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

#[derive(Deserialize)]
struct Fixture {
    sizes: Vec<u32>,
    features: Held,
    pairs: Vec<(u32, u32)>,
    views: Vec<View>,
    draws: Draws,
    methods: BTreeMap<String, Expected>,
}

#[derive(Deserialize)]
struct View {
    pairs: Vec<(u32, u32)>,
    kept: Option<Vec<u32>>,
}

/// What is drawn at random, with seed 7 in the first step.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Draws {
    /// In the phase of the encoder, and in that of the view learner.
    undirected: [Vec<f32>; 2],
    directed: [Vec<f32>; 2],
    masked: Masked,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Masked {
    rows: Vec<u32>,
    replaced: Vec<(u32, u32)>,
}

const EDGES: usize = 14;
const NODES: u32 = 19;
const REPLACE_RATE: f64 = 0.3;

impl Draws {
    fn new() -> Draws {
        let noise = |count: usize, phase: u64| -> Vec<f32> {
            let mut random = stream(7, "edge dropping", phase);
            (0..count).map(|_| 1e-4 + (1.0 - 2e-4) * random.random::<f32>()).collect()
        };
        let mut random = stream(7, "masked nodes", 0);
        let mut order: Vec<u32> = (0..NODES).collect();
        order.shuffle(&mut random);
        order.truncate(NODES as usize / 2);
        let replaced = order[..(REPLACE_RATE * order.len() as f64) as usize].iter();
        let replaced = replaced.map(|&node| (node, random.random_range(0..NODES))).collect();
        order.sort_unstable();
        Draws {
            undirected: [0, 1].map(|phase| noise(EDGES, phase)),
            directed: [0, 1].map(|phase| noise(2 * EDGES, phase)),
            masked: Masked { rows: order, replaced },
        }
    }
}

#[test]
fn the_fixture_was_made_for_these_draws() {
    let fixture = Fixture::read();
    assert_eq!((fixture.pairs.len(), fixture.features.shape[0]), (EDGES, NODES as usize));
    assert_eq!(fixture.draws, Draws::new());
}

/// Writes what `make_graph_peers.py` reads; run with `--ignored` where the streams have changed.
#[test]
#[ignore = "writes a fixture"]
fn write_draws() {
    let text = serde_json::to_string(&Draws::new()).unwrap() + "\n";
    std::fs::write(format!("{FIXTURES}/graph_peers_draws.json"), text).unwrap();
}

#[derive(Deserialize)]
struct Expected {
    weights: BTreeMap<String, Held>,
    phases: Vec<peers::Expected>,
    embedding: Held,
    #[serde(default)]
    pairs: Vec<u8>,
}

impl Fixture {
    fn read() -> Fixture {
        serde_json::from_str(&std::fs::read_to_string(format!("{FIXTURES}/graph_peers.json")).unwrap()).unwrap()
    }

    fn dataset(&self, pairs: &[(u32, u32)]) -> Dataset {
        let nodes: u32 = self.sizes.iter().sum();
        let (graph, _) = Graph::from_pairs(nodes as usize, pairs.to_vec()).unwrap();
        let mut dataset = Dataset::single("graphs", graph.clone());
        dataset.graphs = GraphSet::from_block_diagonal(graph, self.sizes.clone()).unwrap();
        let columns = self.features.shape[1];
        let features = Dense::new(nodes as usize, columns, self.features.values.clone()).unwrap();
        dataset.features = Some(Features::Dense(features));
        dataset
    }

    fn task(&self, num_views: usize) -> Task {
        Task {
            level: TaskLevel::Graphs,
            dims: InputDims { nodes: self.features.shape[1], edges: None },
            num_nodes: self.features.shape[0],
            num_graphs: self.sizes.len(),
            batch_graphs: self.sizes.len(),
            num_views,
            target: None,
        }
    }

    fn sample(&self, pairs: &[(u32, u32)]) -> Sample {
        let dataset = self.dataset(pairs);
        let data = Data::new(&dataset, &FeatureSettings::default()).unwrap();
        let (task, device) = (self.task(2), device());
        let data = FitData {
            task: &task,
            data: &data,
            seed: 0,
            device: &device,
            step_nodes: task.num_nodes,
            observer: &NoObserver,
        };
        data.sample(&[Normalization::None, Normalization::Symmetric]).unwrap()
    }

    /// Both views, with nodes that the first has dropped.
    fn views(&self) -> Vec<Sample> {
        let view = |View { pairs, kept }: &View| {
            let mut sample = self.sample(pairs);
            sample.kept = kept.as_ref().map(|rows| {
                let before = |end: u32| rows.iter().filter(|&&row| row < end).count() as u32;
                let ends = sample.offsets.offsets().iter().map(|&end| before(end)).collect();
                KeptNodes { rows: rows.clone(), offsets: GraphOffsets::new(ends) }
            });
            sample
        };
        self.views.iter().map(view).collect()
    }

    /// Checks the embedding of the untrained model, and loss and gradients of each phase.
    fn check<M: Method>(&self, name: &str, method: &M, clean: bool, views: &[Sample]) {
        let expected = &self.methods[name];
        let task = self.task(views.len());
        method.check(&task).unwrap();
        let build = || method.build(&task, &mut Initializer::new(1, &device())).unwrap();
        let mut weights = StateDict::of(&build());
        for (name, held) in &expected.weights {
            assert!(weights.get(name).is_some(), "no {name}");
            weights.insert(name.clone(), held.shape.clone(), held.values.clone()).unwrap();
        }
        let learned = weights.iter().filter(|(name, _, _)| !name.contains("running_")).count();
        assert_eq!(learned, expected.weights.len(), "weights that the fixture does not have");
        // A new one each time: training mode moves running statistics.
        let model = || weights.apply(build()).unwrap();

        let sample = self.sample(&self.pairs);
        let phases = method.phases();
        let embedded = vec![sample.clone(); method.embedding_views(&[]).len()];
        let step = peers::step(&task, None, &embedded, &phases[0], Clock::default(), Pass::eval());
        let found = method.embed(&model().valid(), &step).unwrap();
        assert_close(&values(&found), &expected.embedding.values, 1e-5, name);

        assert_eq!(phases.len(), expected.phases.len());
        for (phase, expected) in phases.iter().zip(&expected.phases) {
            let pass = Pass::train(DropoutRng::new(7, 0));
            let clean = clean.then_some(&sample);
            let step = peers::step(&task, clean, views, phase, Clock::default(), pass);
            let model = model();
            let loss = method.loss(&model, &M::State::default(), &step).unwrap().value;
            let mut found = (values(&loss)[0], peers::gradients(&model, &loss.backward()));
            // What was only asked whether it is there.
            found
                .1
                .retain(|name, gradient| expected.gradients.contains_key(name) || gradient.iter().any(|&g| g != 0.0));
            peers::assert_expected(&found, expected);
            assert!(reaches(phase, &found.1), "{name}: {}", phase.name);
        }
    }
}

/// Whether gradients reach what the phase moves, and nothing else that another phase moves.
fn reaches(phase: &Phase, gradients: &BTreeMap<String, Vec<f32>>) -> bool {
    !gradients.is_empty() && gradients.keys().all(|name| phase.trains.holds(name))
}

fn gin(settings: &EncoderSettings) -> EncoderSettings {
    let EncoderSettings::Gin(gin) = settings else { unreachable!() };
    EncoderSettings::Gin(GinSettings { hidden_channels: 5, num_layers: 2, dropout: 0.0, ..gin.clone() })
}

#[test]
fn infograph_is_that_of_pytorch() {
    let method = InfoGraph { encoder: gin(&InfoGraph::default().encoder), ..InfoGraph::default() };
    Fixture::read().check("infograph", &method, true, &[]);
}

#[test]
fn graphcl_is_that_of_pytorch() {
    let fixture = Fixture::read();
    let method = GraphCl { encoder: gin(&GraphCl::default().encoder), ..GraphCl::default() };
    fixture.check("graphcl", &method, false, &fixture.views());
}

#[test]
fn heads_of_joao_v2_follow_augmentations() {
    let fixture = Fixture::read();
    let settings = PolicyContrast { encoder: gin(&PolicyContrast::default().encoder), ..PolicyContrast::default() };
    let mut views = fixture.views();
    let pairs = fixture.methods["joao-v2"].pairs.clone();
    views.iter_mut().for_each(|view| view.choices = vec![pairs.clone()]);
    fixture.check("joao-v2", &JoaoV2(settings.clone()), false, &views);
    // With one head, whatever is drawn, it is GraphCL.
    let task = fixture.task(2);
    let (joao, graphcl) = (Joao(settings.clone()), GraphCl { encoder: settings.encoder, ..GraphCl::default() });
    let one = joao.build(&task, &mut Initializer::new(1, &device())).unwrap();
    let other = graphcl.build(&task, &mut Initializer::new(1, &device())).unwrap();
    let one = peers::losses(&joao, &one, &task, None, &views)[0].0;
    assert_eq!(one, peers::losses(&graphcl, &other, &task, None, &views)[0].0);
}

#[test]
fn simgrace_without_noise_is_that_of_pytorch() {
    let method = SimGrace { encoder: gin(&SimGrace::default().encoder), eta: 0.0, ..SimGrace::default() };
    Fixture::read().check("simgrace", &method, true, &[]);
}

#[test]
fn both_phases_of_ad_gcl_are_those_of_pytorch() {
    let fixture = Fixture::read();
    let method = AdGcl { encoder: gin(&AdGcl::default().encoder), ..AdGcl::default() };
    fixture.check("ad-gcl", &method, true, &[]);
    fixture.check("ad-gcl as released", &AdGcl { as_released: true, ..method }, true, &[]);
}

#[test]
fn graphmae_is_that_of_pytorch() {
    let fixture = Fixture::read();
    let encoder = gin(&GraphMae::default().encoder);
    let method = GraphMae { encoder, gamma: 2.0, replace_rate: REPLACE_RATE, ..GraphMae::default() };
    fixture.check("graphmae", &method, true, &[]);
}

#[test]
fn mvgrl_of_graphs_is_that_of_pytorch() {
    let fixture = Fixture::read();
    let gcn = GcnSettings { hidden_channels: 5, num_layers: 2, ..GcnSettings::default() };
    let method = Mvgrl { encoder: EncoderSettings::Gcn(gcn), ..Mvgrl::default() };
    fixture.check("mvgrl", &method, false, &vec![fixture.sample(&fixture.pairs); 2]);
}
