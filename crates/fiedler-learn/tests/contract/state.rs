//! What JOAO needs: a state beside the model that moves after each epoch by losses of views that it asks for, and that says which
//! views come next.

use std::cell::Cell;

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_augment::pipeline::{OneOf, Rate};
use fiedler_graph::NoObserver;
use fiedler_learn::encoder::{Encoder, EncoderSettings, GinSettings};
use fiedler_learn::method::{Epoch, Loss, Method, MethodInfo, Requirements, Step};
use fiedler_learn::ops::{self, Pooling};
use fiedler_learn::pass::{Mode, Pass};
use fiedler_learn::run::Run;
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{Initializer, Normalization, Result, Task, TaskLevel};
use serde::{Deserialize, Serialize};

use crate::common::{self, Memory, assert_resumes, fit};

thread_local! {
    /// Whether this thread asks for a loss, which is then one of evaluation.
    static ASKS: Cell<bool> = const { Cell::new(false) };
}

/// Views are unchanged until the state has learned that changed ones have a larger loss.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Choosing {}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Weights {
    weights: Vec<f64>,
    asked: Vec<[f32; 2]>,
}

impl Default for Weights {
    fn default() -> Self {
        Weights { weights: vec![1.0, 0.0], asked: Vec::new() }
    }
}

#[derive(Module, Debug)]
struct ChoosingModel {
    encoder: Encoder,
}

fn choices() -> [Pipeline; 2] {
    [Pipeline::Identity, Pipeline::DropEdges(Rate { rate: 0.6 })]
}

fn encoder() -> EncoderSettings {
    EncoderSettings::Gin(GinSettings { hidden_channels: 4, num_layers: 2, ..GinSettings::default() })
}

impl Method for Choosing {
    const INFO: MethodInfo = MethodInfo { name: "choosing", about: "", citation: "", levels: &[TaskLevel::Graphs] };
    type Model = ChoosingModel;
    type State = Weights;

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(false, &[Normalization::None]))
    }

    fn views(&self, state: &Weights, _: &[Pipeline]) -> Vec<Pipeline> {
        let one_of =
            OneOf { choices: choices().to_vec(), weights: Some(state.weights.clone()), each_graph: true, joint: false };
        vec![Pipeline::OneOf(one_of), Pipeline::Identity]
    }

    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<ChoosingModel> {
        Ok(ChoosingModel { encoder: encoder().build(task.dims, initializer)? })
    }

    /// How far apart the views are: zero where they are the same.
    fn loss(&self, model: &ChoosingModel, _: &Weights, step: &Step<'_>) -> Result<Loss> {
        assert_eq!(step.pass.mode(), if ASKS.get() { Mode::Eval } else { Mode::Train });
        let of = |view: usize| -> Result<Tensor<2>> {
            let sample = &step.views[view];
            let layers = model.encoder.forward(sample.graph(Normalization::None)?, &sample.features, &step.pass)?;
            Ok(ops::pool(layers.last(), &sample.offsets, Pooling::Mean))
        };
        Ok((of(0)? - of(1)?).square().mean().into())
    }

    fn after_epoch(&self, model: &ChoosingModel, state: &mut Weights, epoch: &mut dyn Epoch) -> Result<()> {
        let before = StateDict::of(model);
        let [unchanged, dropping] = choices();
        ASKS.set(true);
        let same = epoch.loss_of(&[unchanged.clone(), unchanged.clone()])?;
        let apart = epoch.loss_of(&[dropping, unchanged])?;
        ASKS.set(false);
        assert_eq!(before, StateDict::of(model), "asking has moved the running statistics");
        assert_eq!(epoch.clock().epoch, state.asked.len());
        state.asked.push([same, apart]);
        state.weights[1] += f64::from(apart > same);
        Ok(())
    }

    fn embed(&self, model: &ChoosingModel, step: &Step<'_>) -> Result<Tensor<2>> {
        assert_eq!(step.pass.mode(), Mode::Eval);
        let sample = &step.views[0];
        let layers = model.encoder.forward(sample.graph(Normalization::None)?, &sample.features, &Pass::eval())?;
        Ok(ops::pool(layers.last(), &sample.offsets, Pooling::Mean))
    }
}

#[test]
fn the_state_learns_from_losses_that_it_asks_for_and_decides_the_next_views() {
    let dataset = common::rings(11, 3);
    let mut training = common::training(5);
    training.batch_size = 4;
    let settings = common::settings(training);
    let store = Memory::default();
    let result = fit(&Choosing::default(), &Run::new(&settings, &dataset), Some(&store), &NoObserver).unwrap();
    let losses = &result.history.losses;
    assert_eq!(losses[0], 0.0, "views of the first epoch are unchanged");
    assert!(losses[1..].iter().all(|&loss| loss > 0.0), "{losses:?}: the state has not changed the views");
    let states: Vec<Weights> =
        store.all().iter().map(|kept| serde_json::from_value(kept.note()["state"].clone()).unwrap()).collect();
    assert_eq!(states.len(), 5);
    for (epoch, state) in states.iter().enumerate() {
        assert_eq!(state.weights, [1.0, (epoch + 1) as f64]);
        assert_eq!(state.asked.len(), epoch + 1);
        assert!(state.asked.iter().all(|[same, apart]| *same == 0.0 && *apart > 0.0), "{state:?}");
    }
}

#[test]
fn the_state_survives_interruptions_between_epochs_and_within_them() {
    let dataset = common::rings(11, 3);
    let mut training = common::training(5);
    training.batch_size = 4;
    let settings = common::settings(training);
    for every in [1, 2, 5] {
        assert_resumes(&Choosing::default(), &Run::new(&settings, &dataset), every);
    }
}
