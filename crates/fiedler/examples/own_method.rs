//! A contrastive method of one's own, trained by fiedler's trainer: nodes recognize themselves in two views (InfoNCE).
use fiedler::augment::{FeatureMasking, SchemeSettings};
use fiedler::learn::burn::{self, Tensor, module::Module};
use fiedler::learn::encoder::{Encoder, EncoderSettings};
use fiedler::learn::loss::{ContrastiveLoss, PositivePairs};
use fiedler::learn::method::{Footprint, Loss, Method, MethodInfo, Requirements, Step};
use fiedler::learn::run::{Run, Settings};
use fiedler::learn::{Initializer, Result, Task, TaskLevel, pass::Pass};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Twins {
    encoder: EncoderSettings,
}
#[derive(Module, Debug)]
struct Model {
    encoder: Encoder,
}

impl Method for Twins {
    const INFO: MethodInfo = MethodInfo { name: "twins", about: "", citation: "", levels: &[TaskLevel::Nodes] };
    type Model = Model;
    type State = ();
    fn check(&self, task: &Task) -> Result<Requirements> {
        self.encoder.check()?;
        let footprint = Footprint::of_encoder(&self.encoder, task.dims);
        let operators = vec![self.encoder.normalization()];
        Ok(Requirements { trained: true, labels: false, clean: false, operators, footprint })
    }
    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        Some(Default::default())
    }
    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<Model> {
        Ok(Model { encoder: self.encoder.build(task.dims, initializer)? })
    }
    fn loss(&self, model: &Model, _: &(), step: &Step<'_>) -> Result<Loss> {
        let nodes = |view: usize| self.encode(model, step, view, &step.pass);
        Ok(ContrastiveLoss::default().loss_of_pairs(&PositivePairs::new([nodes(0)?, nodes(1)?])?)?.into())
    }
    fn embed(&self, model: &Model, step: &Step<'_>) -> Result<Tensor<2>> {
        self.encode(model, step, 0, &Pass::eval())
    }
}

impl Twins {
    fn encode(&self, model: &Model, step: &Step<'_>, view: usize, pass: &Pass) -> Result<Tensor<2>> {
        let sample = &step.views[view];
        Ok(model.encoder.forward(sample.graph(self.encoder.normalization())?, &sample.features, pass)?.last())
    }
}

/// Runs the example; the tests call it too.
pub fn main() -> Result<()> {
    let mut settings = Settings::default();
    settings.training.epochs = 20;
    let karate = fiedler::graph::generate::karate_club();
    let (embeddings, history) = Run::new(&settings, &karate).fit_method(&Twins::default())?;
    assert!(embeddings.rows() == 34 && history.losses[19] < history.losses[0]);
    Ok(())
}
