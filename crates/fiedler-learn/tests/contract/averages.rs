//! What BGRL needs: a target network that follows the online one, with batch normalizations of its own.

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_augment::pipeline::Rate;
use fiedler_graph::NoObserver;
use fiedler_learn::encoder::{Encoder, EncoderSettings, GcnSettings, InputDims};
use fiedler_learn::layer::{BatchNorm, Linear};
use fiedler_learn::method::{Loss, Method, MethodInfo, Requirements, Step};
use fiedler_learn::pass::{DropoutRng, Mode, Pass};
use fiedler_learn::run::Run;
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::Clock;
use fiedler_learn::{
    DeviceSettings, FeatureMatrix, Initializer, MessageGraph, Normalization, Operator, Result, Task, TaskLevel,
    deep_copy, ema,
};
use serde::{Deserialize, Serialize};

use crate::common::{self, Memory, assert_close, assert_resumes, fit, matmul, product, wide};

const MOMENTUM: f64 = 0.75;
const WIDTH: usize = 6;
const COLUMNS: usize = 5;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Bootstrap {}

#[derive(Module, Debug)]
struct BootstrapModel {
    online: Encoder,
    target: Encoder,
    predictor: Linear,
}

fn encoder() -> EncoderSettings {
    let settings = GcnSettings { hidden_channels: WIDTH, num_layers: 1, batch_norm: true, ..GcnSettings::default() };
    EncoderSettings::Gcn(settings)
}

impl Method for Bootstrap {
    const INFO: MethodInfo = MethodInfo { name: "bootstrap", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = BootstrapModel;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(false, &[Normalization::Symmetric]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        vec![Pipeline::DropEdges(Rate { rate: 0.5 }), Pipeline::Identity]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<BootstrapModel> {
        let online = encoder().build(task.dims, initializer)?;
        let target = deep_copy(&online).no_grad();
        Ok(BootstrapModel { online, target, predictor: Linear::new(WIDTH, WIDTH, initializer) })
    }

    fn loss(&self, model: &BootstrapModel, _: &(), step: &Step<'_>) -> Result<Loss> {
        let nodes = |encoder: &Encoder, view: usize| -> Result<Tensor<2>> {
            let sample = &step.views[view];
            Ok(encoder.forward(sample.graph(Normalization::Symmetric)?, &sample.features, &step.pass)?.last())
        };
        let predicted = model.predictor.forward(nodes(&model.online, 0)?);
        let wanted = nodes(&model.target, 1)?;
        Ok((predicted - wanted).square().mean().into())
    }

    fn after_step(&self, model: BootstrapModel, _: &Clock) -> BootstrapModel {
        let target = ema(model.target, &model.online, MOMENTUM);
        BootstrapModel { target, ..model }
    }

    fn embed(&self, model: &BootstrapModel, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let graph = sample.graph(Normalization::Symmetric)?;
        Ok(model.online.forward(graph, &sample.features, &Pass::eval())?.last())
    }
}

#[test]
fn the_target_follows_the_online_network_and_keeps_its_own_statistics() {
    let dataset = common::graph(30, COLUMNS);
    let method = Bootstrap::default();
    let mut training = common::training(5);
    training.learning_rate = 0.05;
    let settings = common::settings(training);
    let store = Memory::default();
    let start = common::settings(common::training(0));
    let first = common::fit_whole(&method, &Run::new(&start, &dataset));
    fit(&method, &Run::new(&settings, &dataset), Some(&store), &NoObserver).unwrap();
    let mut before = prefixed(&common::Kept::of(&first).0);
    let after: Vec<StateDict> = store.all().iter().map(|kept| kept.0.clone()).collect();
    assert_eq!(after.len(), 5);
    let operator = Operator::new(dataset.graph().unwrap(), Normalization::Symmetric);
    let features = wide(dataset.features.as_ref().unwrap().to_dense().values());
    for epoch in after {
        let (old, new) = (common::Kept(before), common::Kept(epoch));
        let learned: Vec<&str> = new.names().into_iter().filter(|name| name.starts_with("model.online")).collect();
        assert_eq!(learned.len(), 7, "{learned:?}");
        for online in learned {
            let target = online.replace("online", "target");
            let (of_target, of_online) = (old.tensor(&target), new.tensor(online));
            if online.contains("running_") {
                assert_ne!(new.tensor(&target), of_online, "{online}");
                assert_ne!(new.tensor(&target), of_target, "{online} has not moved");
                continue;
            }
            if !online.ends_with("bias") {
                assert_ne!(old.tensor(online), of_online, "{online} has not learned");
            }
            let average = of_target.iter().zip(&of_online);
            let average: Vec<f64> =
                average.map(|(&old, &new)| MOMENTUM * f64::from(old) + (1.0 - MOMENTUM) * f64::from(new)).collect();
            assert_close(&new.tensor(&target), &average, 1e-6, &target);
        }
        // The target sees the graph as it is: what its normalization sees follows from its weights before the step.
        let weight = wide(&old.tensor("model.target.Gcn.layers.0.weight"));
        let bias = old.tensor("model.target.Gcn.layers.0.bias");
        let seen = product(&operator, &matmul(&features, &weight, COLUMNS, WIDTH), WIDTH);
        let rows = seen.len() / WIDTH;
        for column in 0..WIDTH {
            let seen: Vec<f64> = (0..rows).map(|row| seen[row * WIDTH + column] + f64::from(bias[column])).collect();
            let mean = seen.iter().sum::<f64>() / rows as f64;
            let variance = seen.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rows - 1) as f64;
            for (name, seen) in [("running_mean", mean), ("running_var", variance)] {
                let name = format!("model.target.Gcn.layers.0.norm.{name}");
                let expected = 0.9 * f64::from(old.tensor(&name)[column]) + 0.1 * seen;
                assert_close(&new.tensor(&name)[column..=column], &[expected], 1e-5, &name);
            }
        }
        // The optimizer has nothing of the target.
        assert!(new.names().iter().all(|name| !name.starts_with("optimizer0.target")), "{:?}", new.names());
        before = new.0;
    }
}

/// The weights of an encoder's file, by the names that they have in a checkpoint.
fn prefixed(weights: &StateDict) -> StateDict {
    let mut prefixed = StateDict::default();
    for (name, shape, values) in weights.iter() {
        prefixed.insert(format!("model.{name}"), shape.to_vec(), values.to_vec()).unwrap();
    }
    prefixed
}

#[test]
fn both_networks_start_from_the_same_weights() {
    let dataset = common::graph(20, COLUMNS);
    let settings = common::settings(common::training(0));
    let kept = common::Kept::of(&common::fit_whole(&Bootstrap::default(), &Run::new(&settings, &dataset)));
    for name in kept.names().iter().filter(|name| name.starts_with("online")) {
        assert_eq!(kept.tensor(name), kept.tensor(&name.replace("online", "target")));
    }
}

#[test]
fn averages_and_their_statistics_survive_interruptions() {
    let dataset = common::graph(30, COLUMNS);
    let mut training = common::training(7);
    training.patience = Some(7);
    let settings = common::settings(training);
    assert_resumes(&Bootstrap::default(), &Run::new(&settings, &dataset), 2);
}

fn sample() -> (Encoder, MessageGraph, FeatureMatrix) {
    let device = DeviceSettings::Cpu.open().autodiff();
    let dataset = common::graph(30, COLUMNS);
    let dims = InputDims { nodes: COLUMNS, edges: None };
    let encoder = encoder().build(dims, &mut Initializer::new(1, &device)).unwrap();
    let graph = MessageGraph::new(dataset.graph().unwrap(), Normalization::Symmetric);
    (encoder, graph, FeatureMatrix::new(dataset.features.as_ref().unwrap(), &device))
}

#[test]
fn a_deep_copy_shares_no_statistics_where_a_clone_does() {
    let (encoder, graph, input) = sample();
    let before = StateDict::of(&encoder);
    let copy = deep_copy(&encoder);
    assert_eq!(StateDict::of(&copy), before);
    let train = || Pass::train(DropoutRng::new(1, 1));
    copy.forward(&graph, &input, &train()).unwrap();
    assert_ne!(StateDict::of(&copy), before);
    assert_eq!(StateDict::of(&encoder), before, "training the copy has moved the original");
    let copied = StateDict::of(&copy);
    encoder.forward(&graph, &input, &train()).unwrap();
    encoder.forward(&graph, &input, &train()).unwrap();
    assert_ne!(StateDict::of(&encoder), before);
    assert_eq!(StateDict::of(&copy), copied, "training the original has moved the copy");
    // What a deep copy is for.
    let clone = encoder.clone();
    let before = StateDict::of(&encoder);
    clone.forward(&graph, &input, &train()).unwrap();
    assert_ne!(StateDict::of(&encoder), before);
}

#[test]
fn a_deep_copy_wants_gradients_where_the_original_does() {
    let (encoder, graph, input) = sample();
    for (model, expected) in [(deep_copy(&encoder), true), (deep_copy(&encoder.no_grad()), false)] {
        let output = model.forward(&graph, &input, &Pass::train(DropoutRng::new(1, 1))).unwrap().last();
        assert_eq!(output.is_require_grad() || output.is_tracked(), expected);
    }
}

#[test]
fn averages_leave_buffers_alone_and_do_not_tie_the_networks_together() {
    let (online, graph, input) = sample();
    let target = deep_copy(&online).no_grad();
    for _ in 0..3 {
        online.forward(&graph, &input, &Pass::train(DropoutRng::new(1, 1))).unwrap();
    }
    let (before, of_online) = (common::Kept(StateDict::of(&target)), common::Kept(StateDict::of(&online)));
    let target = ema(target, &online, 0.5);
    let after = common::Kept(StateDict::of(&target));
    for name in after.names().iter().filter(|name| name.contains("running_")) {
        assert_ne!(before.tensor(name), of_online.tensor(name));
        assert_eq!(before.tensor(name), after.tensor(name));
    }
    target.forward(&graph, &input, &Pass::train(DropoutRng::new(1, 1))).unwrap();
    assert_eq!(StateDict::of(&online), of_online.0, "the target's statistics are those of the online network");
}

#[test]
fn calibration_replaces_statistics_by_those_of_the_batch() {
    let device = DeviceSettings::Cpu.open().autodiff();
    let norm = BatchNorm::new(COLUMNS, &Initializer::new(1, &device));
    let dataset = common::graph(30, COLUMNS);
    let features = dataset.features.as_ref().unwrap().to_dense();
    let input = FeatureMatrix::new(dataset.features.as_ref().unwrap(), &device).to_dense();
    norm.forward(input.clone() * 7.0 + 3.0, false, Mode::Train);
    let trained = StateDict::of(&norm);
    let calibrated = norm.forward(input.clone(), false, Mode::Calibrate);
    assert_ne!(StateDict::of(&norm), trained);
    let kept = common::Kept(StateDict::of(&norm));
    for column in 0..COLUMNS {
        let seen: Vec<f64> =
            features.values().iter().skip(column).step_by(COLUMNS).map(|&value| value.into()).collect();
        let mean = seen.iter().sum::<f64>() / 30.0;
        let variance = seen.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 29.0;
        assert_close(&kept.tensor("running_mean")[column..=column], &[mean], 1e-6, "mean");
        assert_close(&kept.tensor("running_var")[column..=column], &[variance], 1e-6, "variance");
        let biased = variance * 29.0 / 30.0;
        let expected: Vec<f64> = seen.iter().map(|value| (value - mean) / (biased + 1e-5).sqrt()).collect();
        let found: Vec<f32> = common::values(&calibrated).into_iter().skip(column).step_by(COLUMNS).collect();
        assert_close(&found, &expected, 1e-5, "normalized by the batch");
    }
    // Neither does evaluation move them, nor does calibration drop anything.
    norm.forward(input, false, Mode::Eval);
    assert_eq!(StateDict::of(&norm), kept.0);
    let ones = Tensor::<2>::ones([4, 4], &device);
    assert_eq!(common::values(&Pass::calibrate().drop(ones.clone(), 0.5)), [1.0; 16]);
    assert_ne!(common::values(&Pass::train(DropoutRng::new(1, 1)).drop(ones, 0.5)), [1.0; 16]);
}
