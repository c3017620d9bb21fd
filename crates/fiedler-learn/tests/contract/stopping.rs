//! Early stopping and stopping from outside.

use burn::Tensor;
use burn::module::{Module, Param};
use fiedler_augment::Pipeline;
use fiedler_graph::NoObserver;
use fiedler_learn::encoder::{EncoderSettings, GinSettings};
use fiedler_learn::method::{Loss, Method, MethodInfo, MethodSettings, Requirements, Step};
use fiedler_learn::ops::{self, Pooling};
use fiedler_learn::pass::Mode;
use fiedler_learn::run::{Run, Settings};
use fiedler_learn::{Error, Initializer, Result, Task, TaskLevel};
use serde::{Deserialize, Serialize};

use crate::common::{self, Kept, Memory, assert_resumes, fit, stop_after};

const RATE: f64 = 0.25;

#[derive(Module, Debug)]
struct OneWeight {
    weight: Param<Tensor<1>>,
}

/// Its weight falls from 4 by a learning rate a step; the value that it is judged by is the distance from a goal.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Falling {
    goal: f32,
    validates: bool,
}

impl Method for Falling {
    const INFO: MethodInfo =
        MethodInfo { name: "falling", about: "", citation: "", levels: &[TaskLevel::Nodes, TaskLevel::Graphs] };
    type Model = OneWeight;
    type State = ();

    fn check(&self, _: &Task) -> Result<Requirements> {
        Ok(common::requirements(true, &[]))
    }

    fn views(&self, _: &(), _: &[Pipeline]) -> Vec<Pipeline> {
        Vec::new()
    }

    fn build(&self, _: &Task, initializer: &mut Initializer) -> Result<OneWeight> {
        Ok(OneWeight { weight: initializer.constant([1], 4.0) })
    }

    fn loss(&self, model: &OneWeight, _: &(), step: &Step<'_>) -> Result<Loss> {
        assert_eq!(step.pass.mode(), Mode::Train);
        let weight = model.weight.val();
        // Where another value decides, the loss is smaller than any of its values.
        Ok(if self.validates { weight - 100.0 } else { (weight - self.goal).abs() }.into())
    }

    fn validate(&self, model: &OneWeight, step: &Step<'_>) -> Result<Option<f32>> {
        assert_eq!(step.pass.mode(), Mode::Eval);
        step.clean()?;
        let weight = model.weight.val().into_scalar::<f32>();
        Ok(self.validates.then(|| (weight - self.goal).abs()))
    }

    fn embed(&self, model: &OneWeight, step: &Step<'_>) -> Result<Tensor<2>> {
        let sample = &step.views[0];
        let nodes = sample.features.to_dense() * model.weight.val().unsqueeze::<2>();
        Ok(match step.task.level {
            TaskLevel::Nodes => nodes,
            TaskLevel::Graphs => ops::pool(nodes, &sample.offsets, Pooling::Mean),
        })
    }
}

fn patient(epochs: usize, patience: usize) -> Settings {
    let mut training = common::training(epochs);
    training.learning_rate = RATE;
    training.patience = Some(patience);
    training.batch_size = 4;
    common::settings(training)
}

fn weight(kept: &Kept, name: &str) -> f32 {
    kept.tensor(name)[0]
}

#[test]
fn a_methods_own_value_decides_when_to_stop_and_which_weights_are_kept() {
    for (dataset, steps) in [(common::graph(20, 2), 1), (common::rings(8, 2), 2)] {
        // After eight steps the weight is 2, which is the goal.
        let method = Falling { goal: 2.1, validates: true };
        let settings = patient(50, 3);
        let result = common::fit_whole(&method, &Run::new(&settings, &dataset));
        let best = 8 / steps;
        assert_eq!(result.history.losses.len(), best + 3);
        let (epoch, value) = result.history.best.unwrap();
        assert_eq!(epoch, best);
        assert!((value - 0.1).abs() < 1e-3, "{value}");
        let found = weight(&Kept::of(&result), "weight");
        assert_eq!((found - 2.1).abs(), value, "the weights are not those that had the value");
        // The embedding is theirs as well.
        let feature = dataset.features.as_ref().unwrap().to_dense().values()[0];
        if steps == 1 {
            assert_eq!(result.embeddings.row(0)[0], feature * found);
        }
        assert_resumes(&method, &Run::new(&settings, &dataset), 2);
    }
}

#[test]
fn with_the_training_loss_the_weights_are_those_that_had_it() {
    let dataset = common::graph(20, 2);
    let method = Falling { goal: 2.1, validates: false };
    let settings = patient(50, 2);
    let result = assert_resumes(&method, &Run::new(&settings, &dataset), 1);
    let (epoch, loss) = result.history.best.unwrap();
    assert_eq!(result.history.losses.len(), epoch + 2);
    assert_eq!(result.history.losses[epoch - 1], loss);
    let found = weight(&Kept::of(&result), "weight");
    assert_eq!((found - 2.1).abs(), loss, "the weights after the step have another loss");
    assert!(epoch > 1 && loss < 0.2, "{:?}", result.history);
    let feature = dataset.features.as_ref().unwrap().to_dense().values()[0];
    assert_eq!(result.embeddings.row(0)[0], feature * found);
    // Training itself goes on from where the step led.
    let store = Memory::default();
    fit(&method, &Run::new(&settings, &dataset), Some(&store), &NoObserver).unwrap();
    let at_best = &store.all()[epoch - 1];
    assert_eq!(weight(at_best, "best.weight"), found);
    assert_ne!(weight(at_best, "model.weight"), found);
}

#[test]
fn without_patience_the_last_weights_are_kept() {
    let dataset = common::graph(20, 2);
    let mut settings = patient(16, 3);
    settings.training.patience = None;
    let result = common::fit_whole(&Falling { goal: 2.1, validates: true }, &Run::new(&settings, &dataset));
    assert!(weight(&Kept::of(&result), "weight").abs() < 1e-4);
    assert_eq!(result.history.losses.len(), 16);
}

fn several_batches() -> Settings {
    let mut settings = Settings::paper(TaskLevel::Graphs);
    let MethodSettings::Span(span) = &mut settings.method else { unreachable!() };
    let gin = GinSettings { hidden_channels: 8, num_layers: 2, dropout: 0.3, ..GinSettings::default() };
    span.encoder = EncoderSettings::Gin(gin);
    settings.training = common::training(3);
    settings.training.batch_size = 4;
    settings
}

#[test]
fn a_run_that_is_stopped_in_the_middle_of_an_epoch_goes_on_from_there() {
    let (settings, dataset) = (several_batches(), common::rings(15, 3));
    let run = Run::new(&settings, &dataset);
    let method = settings.method.as_any();
    let store = Memory::default();
    // Four batches an epoch: the sixth event is between the second and the third of the second epoch.
    match fit(method, &run, Some(&store), &stop_after(6)) {
        Err(Error::Stopped { epoch: 1, epochs: 3, saved: true }) => {}
        other => panic!("{other:?}"),
    }
    let note = store.last().note();
    assert_eq!((&note["position"]["batch"], &note["position"]["graphs"]), (&2.into(), &8.into()));
    assert_eq!(note["optimizers"], serde_json::json!(["6"]));
    let whole = common::fit_whole(method, &run);
    let resumed = fit(method, &run, Some(&store), &NoObserver).unwrap();
    assert_eq!(whole.encoder.to_bytes().unwrap(), resumed.encoder.to_bytes().unwrap());
    assert_eq!(whole.embeddings, resumed.embeddings);
    assert_eq!(whole.history.losses, resumed.history.losses);
    for every in [1, 3] {
        assert_resumes(method, &run, every);
    }
}

#[test]
fn a_run_without_a_store_says_that_nothing_was_kept() {
    let (settings, dataset) = (several_batches(), common::rings(15, 3));
    let stopped = fit(settings.method.as_any(), &Run::new(&settings, &dataset), None, &stop_after(6));
    assert!(matches!(stopped, Err(Error::Stopped { epoch: 1, saved: false, .. })), "{stopped:?}");
}
