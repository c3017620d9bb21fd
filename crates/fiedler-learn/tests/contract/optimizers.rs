//! Optimizers and schedules against what they are defined to be.

use burn::Tensor;
use burn::module::{Module, Param};
use burn::tensor::TensorData;
use fiedler_augment::Pipeline;
use fiedler_graph::NoObserver;
use fiedler_learn::method::{Loss, Method, MethodInfo, Requirements, Step};
use fiedler_learn::ops::{self, Pooling};
use fiedler_learn::optimizer::{Adam, AdamSettings};
use fiedler_learn::run::Run;
use fiedler_learn::trainer::{Clock, Optimizer, Schedule, ScheduleUnit};
use fiedler_learn::{DeviceSettings, Initializer, Result, Task, TaskLevel};
use serde::{Deserialize, Serialize};

use crate::common::{self, Memory, assert_close, fit, values};

#[derive(Module, Debug)]
struct Bowl {
    weight: Param<Tensor<1>>,
}

#[test]
fn adamw_decays_weights_and_not_gradients() {
    let settings = AdamSettings { learning_rate: 0.05, weight_decay: 0.3, decoupled: true, ..AdamSettings::default() };
    let device = DeviceSettings::Cpu.open().autodiff();
    let start: Vec<f32> = (0..40).map(|at| (at as f32 * 0.7).sin() * 2.0).collect();
    let of = |values: &[f32]| Tensor::<1>::from_data(TensorData::new(values.to_vec(), [values.len()]), &device);
    let mut bowl = Bowl { weight: Param::from_tensor(of(&start)) };
    let mut adam = Adam::new(settings).unwrap();
    let mut expected: Vec<f64> = start.iter().map(|&value| value.into()).collect();
    let mut moments = vec![(0.0, 0.0); start.len()];
    for step in 1..=15 {
        let loss = (bowl.weight.val() - 0.5).powi_scalar(4).sum();
        bowl = adam.step(bowl, loss.backward());
        // torch.optim.AdamW, line by line.
        for (value, (first, second)) in expected.iter_mut().zip(&mut moments) {
            let gradient = 4.0 * (*value - 0.5).powi(3);
            *value *= 1.0 - settings.learning_rate * settings.weight_decay;
            *first = 0.9 * *first + 0.1 * gradient;
            *second = 0.999 * *second + 0.001 * gradient * gradient;
            let step_size = settings.learning_rate / (1.0 - 0.9f64.powi(step));
            let denominator = second.sqrt() / (1.0 - 0.999f64.powi(step)).sqrt() + settings.epsilon;
            *value -= step_size * *first / denominator;
        }
    }
    assert_close(&values(&bowl.weight.val()), &expected, 1e-5, "fifteen steps of AdamW");
}

/// The loss is its weight, so that every step of Adam is as long as the learning rate of the moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Falling {}

impl Method for Falling {
    const INFO: MethodInfo = MethodInfo { name: "falling", about: "", citation: "", levels: &[TaskLevel::Graphs] };
    type Model = Bowl;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(false, &[]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, initializer: &mut Initializer) -> Result<Bowl> {
        Ok(Bowl { weight: initializer.constant([1], 4.0) })
    }

    fn loss(&self, model: &Bowl, _: &(), _: &Step<'_>) -> Result<Loss> {
        Ok(model.weight.val().into())
    }

    fn embed(&self, _: &Bowl, step: &Step<'_>) -> Result<Tensor<2>> {
        Ok(ops::pool(step.views[0].features.to_dense(), &step.views[0].offsets, Pooling::Mean))
    }
}

/// The factor as it is described: up in a straight line, then down along half a cosine.
fn factor(at: usize, total: usize, warmup: usize, from_zero: bool) -> f64 {
    match at {
        at if at < warmup && from_zero => at as f64 / warmup as f64,
        at if at < warmup => (at + 1) as f64 / warmup as f64,
        at => 0.5 * (1.0 + (std::f64::consts::PI * (at - warmup) as f64 / (total - warmup) as f64).cos()),
    }
}

#[test]
fn the_learning_rate_of_every_step_is_that_of_the_schedule() {
    // Ten graphs, three a step: four steps, of which the last would have one graph, which joins the third.
    let dataset = common::rings(10, 2);
    let (epochs, per_epoch) = (4, 3);
    for (optimizer, decay) in [(Optimizer::Adam, 0.0), (Optimizer::AdamW, 0.4)] {
        for (unit, from_zero, warmup) in [
            (ScheduleUnit::Step, true, 5),
            (ScheduleUnit::Step, false, 5),
            (ScheduleUnit::Epoch, true, 2),
            (ScheduleUnit::Epoch, false, 2),
            (ScheduleUnit::Step, false, 0),
            (ScheduleUnit::Percent, true, 40),
            (ScheduleUnit::Percent, false, 25),
        ] {
            let mut training = common::training(epochs);
            training.batch_size = 3;
            training.learning_rate = 0.1;
            training.optimizer = optimizer;
            training.weight_decay = decay;
            training.schedule = Schedule::Cosine { warmup, from_zero, unit };
            let settings = common::settings(training);
            let store = Memory::default();
            fit(&Falling::default(), &Run::new(&settings, &dataset), Some(&store), &NoObserver).unwrap();
            let found: Vec<f32> = store.all().iter().flat_map(|kept| kept.tensor("model.weight")).collect();
            let (mut weight, mut expected) = (4.0, Vec::new());
            for step in 0..epochs * per_epoch {
                let rate = 0.1
                    * match unit {
                        ScheduleUnit::Epoch => factor(step / per_epoch, epochs, warmup, from_zero),
                        ScheduleUnit::Step => factor(step, epochs * per_epoch, warmup, from_zero),
                        // 12 steps: 40 % are 4.8, which are 5, and 25 % are 3.
                        ScheduleUnit::Percent => factor(step, 12, if warmup == 40 { 5 } else { 3 }, from_zero),
                    };
                weight = weight * (1.0 - rate * decay) - rate;
                if (step + 1) % per_epoch == 0 {
                    expected.push(weight);
                }
            }
            assert_close(&found, &expected, 1e-5, &format!("{optimizer:?}, {unit:?}, {from_zero}, {warmup}"));
        }
    }
}

#[test]
fn schedules_begin_and_end_where_they_should() {
    let schedule = |from_zero| Schedule::Cosine { warmup: 4, from_zero, unit: ScheduleUnit::Step };
    let at = |schedule: Schedule, step| {
        schedule.factor(&Clock { step, total_steps: 12, epoch: 7, epochs: 8, steps_per_epoch: 1 })
    };
    let factors: Vec<f64> = (0..5).map(|step| at(schedule(true), step)).collect();
    assert_eq!(factors, [0.0, 0.25, 0.5, 0.75, 1.0]);
    let factors: Vec<f64> = (0..5).map(|step| at(schedule(false), step)).collect();
    assert_eq!(factors, [0.25, 0.5, 0.75, 1.0, 1.0]);
    assert!(at(schedule(true), 12).abs() < 1e-12 && (at(schedule(true), 8) - 0.5).abs() < 1e-12);
    assert_eq!(at(Schedule::Constant, 12), 1.0);
}
