//! Methods, one file each: what views a method wants, which encoders and heads it has, its loss, and what its embedding is.
//!
//! All else is written once, in [`trainer`](crate::trainer): batches, views, steps, checkpoints. A new method is a file here that
//! implements [`Method`], and one line in the list at the end of this file, from which enum, names, help, serde and dispatch follow.
//! A method of one's own, outside this crate, implements the same trait and is trained by [`Run::fit_method`](crate::run::Run::fit_method).

mod ad_gcl;
mod anchors;
mod any;
mod augmentation_pool;
mod bgrl;
mod cca_ssg;
mod dgi;
mod fit;
mod footprint;
mod gbt;
mod gca;
mod gmi;
mod grace;
mod graph_contrast;
mod graphcl;
mod graphmae;
mod hops;
mod infograph;
mod joao;
mod joao_v2;
mod mvgrl;
mod node_contrast;
mod policy;
mod policy_contrast;
mod raw;
mod sgrl;
mod simgrace;
mod span;
mod spectral;
mod supervised;
mod two_views;
mod untrained;

use burn::Tensor;
use burn::module::Module;
use fiedler_augment::{Axis, FeatureMasking, Pipeline, SchemeSettings};
use fiedler_graph::Observer;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use ad_gcl::{AdGcl, AdGclModel};
pub use anchors::Anchors;
pub use any::AnyMethod;
pub use augmentation_pool::AugmentationPool;
pub use bgrl::{Bgrl, BgrlModel};
pub use cca_ssg::{CcaSsg, CcaSsgModel};
pub use dgi::{Dgi, DgiModel};
pub use fit::FitData;
pub use footprint::{Compared, Footprint};
pub use gbt::{Gbt, GbtModel};
pub use gca::Gca;
pub use gmi::{Gmi, GmiModel, PairWeights};
pub use grace::Grace;
pub use graph_contrast::{GraphEncoder, GraphReadout};
pub use graphcl::{GraphCl, GraphClModel};
pub use graphmae::{GraphMae, GraphMaeModel};
pub use hops::{Hops, HopsModel};
pub use infograph::{InfoGraph, InfoGraphModel};
pub use joao::Joao;
pub use joao_v2::JoaoV2;
pub use mvgrl::{Mvgrl, MvgrlDiffusion, MvgrlModel, TruncatedPageRank};
pub use node_contrast::{NodeContrast, NodeContrastModel};
pub use policy::{Policy, project_to_simplex};
pub use policy_contrast::{PolicyContrast, PolicyContrastModel};
pub use raw::{NoModel, Raw};
pub use sgrl::{Sgrl, SgrlModel};
pub use simgrace::{SimGrace, SimGraceModel};
pub use span::{ContrastMode, NegativesFrom, Span, SpanModel};
pub use spectral::{Spectral, SpectralModel};
pub use supervised::{ClassWeights, Supervised, SupervisedModel, TuningMode};
pub use untrained::{Untrained, UntrainedModel};

use crate::error::{Error, Result};
use crate::optimizer::Select;
use crate::pass::Pass;
use crate::sample::Sample;
use crate::state_dict::StateDict;
use crate::supervision::BatchLabels;
use crate::task::{Task, TaskLevel};
use crate::trainer::{Clock, OptimizerSettings, TrainingSettings};
use crate::{Initializer, Normalization};

/// A way to learn an encoder, or to do without one. The value itself is the method's settings.
pub trait Method:
    std::fmt::Debug + Clone + PartialEq + Default + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Name, help and citation.
    const INFO: MethodInfo;

    /// All that is learned by gradients: encoders, projectors, predictors, discriminators, moving averages; and what is
    /// [fitted](Method::fit) without them.
    type Model: Module;

    /// What is learned without gradients, kept in checkpoints; `()` for most.
    type State: Serialize + DeserializeOwned + Default + Clone + Send + Sync;

    /// Refuses settings that are out of their range or not for such a task, and says what the method needs. This is the only place where
    /// its settings are refused, and nothing is built here.
    ///
    /// # Errors
    /// Names the setting, its value and what is allowed.
    fn check(&self, task: &Task) -> Result<Requirements>;

    /// The views that it wants where the user says nothing: a scheme and a feature masking.
    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        None
    }

    /// Whether its views may be those of a scheme, where the user names one.
    fn takes_scheme(&self) -> bool {
        self.default_views().is_some()
    }

    /// Whether a step may look at a block of a graph in place of all of it: whether its loss looks only at the rows that count
    /// ([`Step::rows`], [`Sample::kept`]) and does not need the graph whole.
    fn takes_blocks(&self) -> bool {
        false
    }

    /// Whether it can do with features of nodes that stay in their file ([`Sample::stored_features`]), in place of those in memory.
    fn takes_stored_features(&self) -> bool {
        false
    }

    /// How it is trained where the user says nothing; `None` where it has no way of its own, and settings of another method serve as well.
    fn default_training(&self) -> Option<TrainingSettings> {
        None
    }

    /// The views of the next epoch; `given` are those that the run's settings ask for. None is fine.
    fn views(&self, state: &Self::State, given: &[Pipeline]) -> Vec<Pipeline> {
        let _ = state;
        given.to_vec()
    }

    /// The views that are embedded, also of graphs that training has not seen. They are drawn once; `given` as in [`Method::views`].
    fn embedding_views(&self, given: &[Pipeline]) -> Vec<Pipeline> {
        let _ = given;
        vec![Pipeline::Identity]
    }

    /// What a step consists of: one after the other, each with an optimizer of its own.
    fn phases(&self) -> Vec<Phase> {
        vec![Phase::default()]
    }

    /// The model before training. Settings have been checked.
    ///
    /// # Errors
    /// When a setting is out of its range after all.
    fn build(&self, task: &Task, initializer: &mut Initializer) -> Result<Self::Model>;

    /// Fits what needs no gradients to the data: projections, means, vocabularies. Called once, before the first epoch, or in place of
    /// training where there is none; a run that goes on from a checkpoint finds it there. What is fitted is part of the model, is stored
    /// with it like any weights, and applies to other graphs as it is.
    ///
    /// # Errors
    /// When the data do not allow it, or the observer asks to stop.
    fn fit(&self, model: Self::Model, data: &FitData<'_>) -> Result<Self::Model> {
        let _ = data;
        Ok(model)
    }

    /// The model that stored weights are of. Methods whose shapes follow from the data that they were [fitted](Method::fit) to take them
    /// from the weights; others have those that [`Method::build`] makes.
    ///
    /// # Errors
    /// When the weights are not those of a model with these settings.
    fn restore(&self, task: &Task, weights: &StateDict, initializer: &mut Initializer) -> Result<Self::Model> {
        let model = self.build(task, initializer)?;
        if initializer.is_exceeded() {
            let problem = "its settings describe a larger model than it has weights for".into();
            return Err(Error::NotAnEncoder { problem });
        }
        weights.apply(model)
    }

    /// What a phase of a step makes small, or large.
    ///
    /// # Errors
    /// When the views do not fit the model.
    fn loss(&self, model: &Self::Model, state: &Self::State, step: &Step<'_>) -> Result<Loss>;

    /// What becomes of the model after each step, such as a moving average.
    fn after_step(&self, model: Self::Model, clock: &Clock) -> Self::Model {
        let _ = clock;
        model
    }

    /// What becomes of the state after each epoch.
    ///
    /// # Errors
    /// When a loss that it asks for cannot be computed.
    fn after_epoch(&self, model: &Self::Model, state: &mut Self::State, epoch: &mut dyn Epoch) -> Result<()> {
        let _ = (model, state, epoch);
        Ok(())
    }

    /// What early stopping looks at instead of the training loss, computed after the epoch in evaluation mode; smaller is better. The step
    /// has the labels of the validation set.
    ///
    /// # Errors
    /// When the sample does not fit the model.
    fn validate(&self, model: &Self::Model, step: &Step<'_>) -> Result<Option<f32>> {
        let _ = (model, step);
        Ok(None)
    }

    /// Recomputes running statistics from the graphs as they are: what views and a moving average have made of them during training is not
    /// what graphs are embedded with. Called with a model before it embeds and before it is stored, so that a stored encoder embeds other
    /// graphs by the statistics of those that it was trained on. What is shared with the model that is trained on must stay as it is.
    ///
    /// # Errors
    /// When the graphs do not fit the model.
    fn calibrate(&self, model: Self::Model, data: &FitData<'_>) -> Result<Self::Model> {
        let _ = data;
        Ok(model)
    }

    /// One row for each node, or for each graph. The step's views are those of [`Method::embedding_views`].
    ///
    /// # Errors
    /// When the views do not fit the model.
    fn embed(&self, model: &Self::Model, step: &Step<'_>) -> Result<Tensor<2>>;

    /// What a hyperparameter search may change of the method's settings, by keys such as `method.loss.temperature`.
    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        let _ = level;
        Vec::new()
    }

    /// The encoder with random weights that a score of this method is compared with.
    fn untrained(&self) -> Option<Untrained> {
        None
    }

    /// Where the encoder of [`Method::untrained`] stands among the weights of the model: what fine-tuning starts from.
    fn encoder_field(&self) -> &'static str {
        "encoder"
    }

    /// Fingerprint of the weights that it starts from, where it does not start from random ones ([`Run::initial`](crate::run::Run)).
    fn start(&self) -> Option<&str> {
        None
    }
}

/// What a method is called, and where it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodInfo {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// Who published it.
    pub citation: &'static str,
    /// What it can embed.
    pub levels: &'static [TaskLevel],
}

/// What a method needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirements {
    /// Whether there is anything to train.
    pub trained: bool,
    /// Whether it learns from labels.
    pub labels: bool,
    /// Whether a step looks at the graphs as they are, beside views.
    pub clean: bool,
    /// How its encoders want messages weighted.
    pub operators: Vec<Normalization>,
    /// What a step holds in memory, by an estimate.
    pub footprint: Footprint,
}

/// One phase of a step.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Phase {
    /// Name, for messages.
    pub name: &'static str,
    /// Whether the loss is made large instead of small.
    pub maximize: bool,
    /// Which parameters move.
    pub trains: Select,
    /// The optimizer, where it is not the run's.
    pub optimizer: Option<OptimizerSettings>,
    /// Whether views are drawn anew.
    pub redraw: bool,
    /// The epochs, counted from zero, that it is part of; `None` where it is part of all.
    pub epochs: Option<std::ops::Range<usize>>,
    /// Fields of the model with a learning rate of their own, which the schedule changes as it does the others'.
    pub learning_rates: Vec<(&'static str, f64)>,
}

impl Phase {
    /// The most phases that a step may have.
    pub(crate) const MOST: usize = 16;

    /// Refuses phases that cannot be trained: none, too many, or one whose optimizer has settings out of their range.
    pub(crate) fn check_all(phases: &[Phase]) -> Result<()> {
        if !(1..=Phase::MOST).contains(&phases.len()) {
            return Err(Error::setting("number of phases", phases.len(), format!("1 to {}", Phase::MOST)));
        }
        for Phase { name: phase, optimizer, learning_rates, .. } in phases {
            if let Some((field, rate)) = learning_rates.iter().find(|(_, rate)| !(rate.is_finite() && *rate > 0.0)) {
                return Err(Error::setting(format!("learning rate of {field}"), rate, "a positive number"));
            }
            optimizer.map_or(Ok(()), |optimizer| optimizer.adam().check()).map_err(|error| match error {
                Error::Setting { name, value, expected } => {
                    Error::Setting { name: format!("{name} of the phase {phase}"), value, expected }
                }
                other => other,
            })?;
        }
        Ok(())
    }

    /// Whether it is part of an epoch.
    pub(crate) fn is_in(&self, epoch: usize) -> bool {
        self.epochs.as_ref().is_none_or(|epochs| epochs.contains(&epoch))
    }

    /// Steps that its optimizer has taken after so many epochs and so many steps of the next.
    pub(crate) fn steps(&self, epochs: usize, batch: usize, steps_per_epoch: usize) -> u64 {
        let whole = match &self.epochs {
            Some(own) => epochs.min(own.end).saturating_sub(own.start),
            None => epochs,
        };
        (whole * steps_per_epoch + if self.is_in(epochs) { batch } else { 0 }) as u64
    }
}

/// What one step of training, or an embedding, looks at.
pub struct Step<'a> {
    /// What there is to learn from.
    pub task: &'a Task,
    /// The graphs as they are, where the method requires them.
    pub clean: Option<&'a Sample>,
    /// As many views as the method wants.
    pub views: &'a [Sample],
    /// What is known of the rows, for methods that learn from labels.
    pub labels: Option<&'a BatchLabels>,
    /// The nodes that count, where a sampler has brought others along; `None` where all do.
    pub rows: Option<&'a [u32]>,
    /// The phase.
    pub phase: &'a Phase,
    /// How far training is.
    pub clock: Clock,
    /// Seed of the run.
    pub seed: u64,
    /// The way through the model: training with dropout, or evaluation.
    pub pass: Pass,
    /// Who hears of what takes long, and may stop.
    pub observer: &'a dyn Observer,
}

impl Step<'_> {
    /// The graphs as they are.
    ///
    /// # Errors
    /// When the method has not asked for them ([`Requirements::clean`]).
    pub fn clean(&self) -> Result<&Sample> {
        self.clean.ok_or_else(|| Error::setting("clean graphs", "missing", "a method that requires them"))
    }

    /// The nodes that count and that no view has dropped; `None` where that is all of them, or where too few are left to be compared (what was
    /// dropped still has its features).
    pub fn rows_in_all_views(&self) -> Option<Vec<u32>> {
        let mut kept = self.views.iter().filter_map(|view| view.kept.as_ref());
        let mut rows = kept.next()?.rows.clone();
        for other in kept {
            rows.retain(|row| other.rows.binary_search(row).is_ok());
        }
        let all = self.views[0].offsets.rows();
        match (2..all).contains(&rows.len()) {
            true => Some(rows),
            false => self.rows.map(<[u32]>::to_vec),
        }
    }
}

/// The value of a step, with what it is made of.
#[derive(Debug, Clone)]
pub struct Loss {
    /// A single number.
    pub value: Tensor<1>,
    /// Its parts by name, for those who watch.
    pub parts: Vec<(&'static str, f32)>,
}

impl From<Tensor<1>> for Loss {
    fn from(value: Tensor<1>) -> Loss {
        Loss { value, parts: Vec::new() }
    }
}

/// What a method may ask for after an epoch.
pub trait Epoch {
    /// How far training is.
    fn clock(&self) -> Clock;

    /// The mean loss over all graphs if views were drawn from these pipelines; nothing is learned from it.
    ///
    /// # Errors
    /// When the views do not fit the model.
    fn loss_of(&mut self, views: &[Pipeline]) -> Result<f32> {
        self.loss_of_share(views, 1.0)
    }

    /// The same over a share of the epoch's steps, the first ones and at least one.
    ///
    /// # Errors
    /// As there.
    fn loss_of_share(&mut self, views: &[Pipeline], share: f64) -> Result<f32>;
}

/// Makes the enum of all methods and everything that follows from the list.
macro_rules! methods {
    ($($variant:ident($method:ty) = $name:literal,)+) => {
        /// A method and its settings, as they stand in files.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "name")]
        pub enum MethodSettings {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $variant($method),
            )+
        }

        impl MethodSettings {
            /// Every method: its name, help line and citation.
            pub const ALL: &[MethodInfo] = &[$(<$method as Method>::INFO,)+];

            /// The method, whatever it is.
            // Inlined into another crate, it would have all methods with their training compiled there once more.
            #[inline(never)]
            pub fn as_any(&self) -> &dyn AnyMethod {
                match self {
                    $(MethodSettings::$variant(method) => method,)+
                }
            }
        }

        $(
            impl From<$method> for MethodSettings {
                fn from(method: $method) -> MethodSettings {
                    MethodSettings::$variant(method)
                }
            }
        )+

        /// The method of a name, with its default settings.
        impl std::str::FromStr for MethodSettings {
            type Err = Error;

            fn from_str(name: &str) -> Result<MethodSettings> {
                match name {
                    $($name => Ok(MethodSettings::$variant(<$method>::default())),)+
                    _ => Err(Error::unknown_name("method", name, MethodSettings::ALL.iter().map(|info| info.name))),
                }
            }
        }
    };
}

methods! {
    Span(Span) = "span",
    CcaSsg(CcaSsg) = "cca-ssg",
    Dgi(Dgi) = "dgi",
    Grace(Grace) = "grace",
    Gca(Gca) = "gca",
    Gbt(Gbt) = "gbt",
    Bgrl(Bgrl) = "bgrl",
    Sgrl(Sgrl) = "sgrl",
    Mvgrl(Mvgrl) = "mvgrl",
    Gmi(Gmi) = "gmi",
    InfoGraph(InfoGraph) = "infograph",
    GraphCl(GraphCl) = "graphcl",
    Joao(Joao) = "joao",
    JoaoV2(JoaoV2) = "joao-v2",
    AdGcl(AdGcl) = "ad-gcl",
    GraphMae(GraphMae) = "graphmae",
    SimGrace(SimGrace) = "simgrace",
    Untrained(Untrained) = "untrained",
    Raw(Raw) = "raw",
    Supervised(Supervised) = "supervised",
    Hops(Hops) = "hops",
    Spectral(Spectral) = "spectral",
}

impl Default for MethodSettings {
    fn default() -> Self {
        MethodSettings::Span(Span::default())
    }
}

impl MethodSettings {
    /// The name, as it stands in files and on the command line.
    pub fn name(&self) -> &'static str {
        self.as_any().info().name
    }
}
