//! What AD-GCL needs: a step of two phases with an optimizer each, the first of which makes the loss large by learned edge weights.

use std::sync::Mutex;

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::activation::sigmoid;
use fiedler_augment::Pipeline;
use fiedler_augment::pipeline::Rate;
use fiedler_graph::NoObserver;
use fiedler_learn::method::{Loss, Method, MethodInfo, Phase, Requirements, Step};
use fiedler_learn::optimizer::Select;
use fiedler_learn::run::Run;
use fiedler_learn::trainer::{Optimizer, OptimizerSettings};
use fiedler_learn::{Initializer, Normalization, Operator, Result, Task, TaskLevel, ops};
use serde::{Deserialize, Serialize};

use crate::common::{self, Kept, Memory, assert_resumes, fit, wide};

const WIDTH: usize = 3;
const COLUMNS: usize = 4;
const VIEW_RATE: f64 = 0.05;
const ENCODER_RATE: f64 = 0.002;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Adversarial {
    edges: usize,
}

#[derive(Module, Debug)]
struct AdversarialModel {
    view_learner: Param<Tensor<1>>,
    encoder: Param<Tensor<2>>,
}

impl Method for Adversarial {
    const INFO: MethodInfo = MethodInfo { name: "adversarial", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = AdversarialModel;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(true, &[Normalization::Symmetric]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn phases(&self) -> Vec<Phase> {
        let views = OptimizerSettings { optimizer: Optimizer::Adam, learning_rate: VIEW_RATE, weight_decay: 0.0 };
        vec![
            Phase {
                name: "views",
                maximize: true,
                trains: Select::Fields(&["view_learner"]),
                optimizer: Some(views),
                ..Phase::default()
            },
            Phase { name: "encoder", trains: Select::Fields(&["encoder"]), ..Phase::default() },
        ]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<AdversarialModel> {
        let view_learner = initializer.by_inputs([self.edges], 4);
        Ok(AdversarialModel { view_learner, encoder: initializer.glorot(task.dims.nodes, WIDTH) })
    }

    fn loss(&self, model: &AdversarialModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        assert_eq!(step.phase.maximize, step.phase.name == "views");
        let sample = step.clean()?;
        let operator = sample.graph(Normalization::Symmetric)?.operator();
        let hidden = sample.features.times(model.encoder.val());
        let weights = sigmoid(model.view_learner.val());
        let ones = Tensor::ones([self.edges], &hidden.device());
        let whole = ops::propagate_weighted(operator, ones, hidden.clone());
        let view = ops::propagate_weighted(operator, weights, hidden);
        Ok((whole - view).square().sum().into())
    }

    fn embed(&self, model: &AdversarialModel, step: &Step<'_>) -> Result<Tensor<2>> {
        Ok(step.views[0].features.times(model.encoder.val()))
    }
}

/// The same loss in 64 bits, edge by edge.
fn by_hand(dataset: &fiedler_graph::Dataset, learner: &[f64], encoder: &[f64]) -> f64 {
    let graph = dataset.graph().unwrap();
    let operator = Operator::new(graph, Normalization::Symmetric);
    let features = wide(dataset.features.as_ref().unwrap().to_dense().values());
    let hidden = common::matmul(&features, encoder, COLUMNS, WIDTH);
    let mut apart = vec![0.0; hidden.len()];
    for ((low, high), learned) in graph.edge_pairs().zip(learner) {
        let lost = 1.0 - 1.0 / (1.0 + (-learned).exp());
        let (columns, values) = operator.row(low as usize);
        let weight = f64::from(values[columns.binary_search(&high).unwrap()]);
        for (to, from) in [(low as usize, high as usize), (high as usize, low as usize)] {
            for at in 0..WIDTH {
                apart[to * WIDTH + at] += lost * weight * hidden[from * WIDTH + at];
            }
        }
    }
    apart.iter().map(|value| value * value).sum()
}

/// Derivatives by finite differences.
fn slopes(loss: impl Fn(&[f64]) -> f64, at: &[f64]) -> Vec<f64> {
    let slope = |place: usize| {
        let moved = |step: f64| {
            let mut moved = at.to_vec();
            moved[place] += step;
            loss(&moved)
        };
        (moved(1e-5) - moved(-1e-5)) / 2e-5
    };
    (0..at.len()).map(slope).collect()
}

fn assert_moved(before: &[f64], after: &[f32], slopes: &[f64], rate: f64, what: &str) {
    for ((before, &after), slope) in before.iter().zip(after).zip(slopes) {
        // The first step of Adam has the length of the learning rate, whatever the gradient.
        let expected = before + rate * slope.signum();
        if slope.abs() > 1e-4 {
            assert!((f64::from(after) - expected).abs() < 2e-6, "{what}: {before} to {after}, expected {expected}");
        }
    }
}

fn adversarial(nodes: u32) -> (fiedler_graph::Dataset, Adversarial) {
    let dataset = common::graph(nodes, COLUMNS);
    let edges = dataset.graph().unwrap().num_edges();
    (dataset, Adversarial { edges })
}

#[test]
fn each_phase_moves_its_own_fields_in_its_own_direction_at_its_own_rate() {
    let (dataset, method) = adversarial(20);
    let start = common::settings(common::training(0));
    let first = Kept::of(&common::fit_whole(&method, &Run::new(&start, &dataset)));
    let mut training = common::training(1);
    training.learning_rate = ENCODER_RATE;
    let settings = common::settings(training);
    let store = Memory::default();
    let result = fit(&method, &Run::new(&settings, &dataset), Some(&store), &NoObserver).unwrap();
    let second = Kept::of(&result);

    let (learner, encoder) = (wide(&first.tensor("view_learner")), wide(&first.tensor("encoder")));
    let of_learner = slopes(|learner| by_hand(&dataset, learner, &encoder), &learner);
    assert!(of_learner.iter().filter(|slope| slope.abs() > 1e-4).count() > method.edges / 2);
    assert_moved(&learner, &second.tensor("view_learner"), &of_learner, VIEW_RATE, "up");
    // The second phase sees what the first has left.
    let learned = wide(&second.tensor("view_learner"));
    let of_encoder = slopes(|encoder| -by_hand(&dataset, &learned, encoder), &encoder);
    assert_moved(&encoder, &second.tensor("encoder"), &of_encoder, ENCODER_RATE, "down");
    let between = by_hand(&dataset, &learned, &encoder);
    assert!(between > by_hand(&dataset, &learner, &encoder));
    assert!(by_hand(&dataset, &learned, &wide(&second.tensor("encoder"))) < between);
    // The loss that is told is that of the last phase.
    assert!((f64::from(result.history.losses[0]) - between).abs() < 1e-4 * between);

    let kept = store.last();
    let moments: Vec<&str> = kept.names().into_iter().filter(|name| name.starts_with("optimizer")).collect();
    let expected = [
        "optimizer0.view_learner.first",
        "optimizer0.view_learner.second",
        "optimizer1.encoder.first",
        "optimizer1.encoder.second",
    ];
    assert_eq!(moments, expected);
    assert_eq!(kept.note()["optimizers"], serde_json::json!(["1", "1"]));
    // The memory is of the gradient that was followed: upwards in the first phase.
    let first_moment = kept.tensor("optimizer0.view_learner.first");
    for (moment, slope) in first_moment.iter().zip(&of_learner) {
        assert!((f64::from(*moment) + 0.1 * slope).abs() < 1e-4 * (1.0 + slope.abs()), "{moment} of {slope}");
    }
}

#[test]
fn phases_survive_interruptions() {
    let (dataset, method) = adversarial(20);
    let settings = common::settings(common::training(6));
    assert_resumes(&method, &Run::new(&settings, &dataset), 1);
}

/// What each phase of each step saw of the graph.
static SEEN: Mutex<Vec<(&'static str, Vec<u32>)>> = Mutex::new(Vec::new());

/// The second phase keeps the views of the first, the third draws anew.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Redrawn {}

#[derive(Module, Debug)]
struct OneWeight {
    weight: Param<Tensor<1>>,
}

impl Method for Redrawn {
    const INFO: MethodInfo = MethodInfo { name: "redrawn", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = OneWeight;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(false, &[Normalization::None]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::DropEdges(Rate { rate: 0.5 })]
    }

    fn phases(&self) -> Vec<Phase> {
        let phase = |name, redraw| Phase { name, redraw, ..Phase::default() };
        vec![phase("first", false), phase("kept", false), phase("anew", true)]
    }

    fn build(&self, _: &Task, initializer: &mut Initializer) -> Result<OneWeight> {
        Ok(OneWeight { weight: initializer.constant([1], 1.0) })
    }

    fn loss(&self, model: &OneWeight, _: &(), step: &Step<'_>) -> Result<Loss> {
        let graph = step.views[0].graph(Normalization::None)?;
        SEEN.lock().unwrap().push((step.phase.name, graph.operator().indices().to_vec()));
        Ok(model.weight.val().into())
    }

    fn embed(&self, _: &OneWeight, step: &Step<'_>) -> Result<Tensor<2>> {
        Ok(step.views[0].features.to_dense())
    }
}

#[test]
fn views_are_drawn_anew_where_a_phase_asks_for_it() {
    let dataset = common::graph(20, COLUMNS);
    let settings = common::settings(common::training(2));
    common::fit_whole(&Redrawn::default(), &Run::new(&settings, &dataset));
    let seen = SEEN.lock().unwrap();
    let names: Vec<&str> = seen.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["first", "kept", "anew", "first", "kept", "anew"]);
    for step in seen.chunks(3) {
        assert_eq!(step[0].1, step[1].1);
        assert_ne!(step[1].1, step[2].1);
    }
    assert_ne!(seen[0].1, seen[3].1);
    assert_ne!(seen[2].1, seen[5].1);
}

/// Phases with optimizers of their own, which nothing may come of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Optimized {
    rates: Vec<f64>,
    weight_decay: f64,
}

impl Method for Optimized {
    const INFO: MethodInfo = MethodInfo { name: "optimized", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = OneWeight;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(false, &[]))
    }

    fn phases(&self) -> Vec<Phase> {
        let phase = |&learning_rate: &f64| {
            let optimizer =
                OptimizerSettings { optimizer: Optimizer::AdamW, learning_rate, weight_decay: self.weight_decay };
            Phase { name: "own", optimizer: Some(optimizer), ..Phase::default() }
        };
        self.rates.iter().map(phase).collect()
    }

    fn build(&self, _: &Task, _: &mut Initializer) -> Result<OneWeight> {
        unreachable!("the check has refused it")
    }

    fn loss(&self, model: &OneWeight, _: &(), _: &Step<'_>) -> Result<Loss> {
        Ok(model.weight.val().into())
    }

    fn embed(&self, _: &OneWeight, step: &Step<'_>) -> Result<Tensor<2>> {
        Ok(step.views[0].features.to_dense())
    }
}

#[test]
fn phases_that_cannot_be_trained_are_refused_before_a_model_is_built() {
    let dataset = common::graph(10, COLUMNS);
    let settings = common::settings(common::training(1));
    let check = |rates: Vec<f64>, weight_decay: f64| {
        Run::new(&settings, &dataset).check_method(&Optimized { rates, weight_decay }).map(drop)
    };
    check(vec![0.1, 0.2], 0.0).unwrap();
    for (rates, weight_decay, expected) in [
        (vec![0.1, -0.5], 0.0, "learning_rate of the phase own is -0.5"),
        (vec![f64::NAN], 0.0, "learning_rate of the phase own is NaN"),
        (vec![0.1], -1.0, "weight_decay of the phase own is -1"),
        (vec![], 0.0, "number of phases is 0"),
        (vec![0.1; 17], 0.0, "number of phases is 17"),
    ] {
        let error = check(rates, weight_decay).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("; expected "), "{error:?} does not say {expected:?}");
    }
}
