//! Methods behind one type, for settings that are read from files.

use fiedler_augment::{Axis, FeatureMasking, Pipeline, SchemeSettings};

use super::{Method, MethodInfo, Phase, Requirements, Untrained};
use crate::error::Result;
use crate::run::{CheckedRun, Fitting, RunResult};
use crate::saved::SavedEncoder;
use crate::state_dict::StateDict;
use crate::task::{Task, TaskLevel};
use crate::trainer::TrainingSettings;
use crate::{DeviceSettings, Embeddings, Initializer, data::Data};

/// What can be asked of any [`Method`]; every method has it.
pub trait AnyMethod: Send + Sync {
    /// Name, help and citation.
    fn info(&self) -> MethodInfo;

    /// See [`Method::check`].
    ///
    /// # Errors
    /// As there.
    fn check(&self, task: &Task) -> Result<Requirements>;

    /// See [`Method::default_views`].
    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)>;

    /// See [`Method::takes_scheme`].
    fn takes_scheme(&self) -> bool;

    /// See [`Method::takes_blocks`].
    fn takes_blocks(&self) -> bool;

    /// See [`Method::takes_stored_features`].
    fn takes_stored_features(&self) -> bool;

    /// See [`Method::default_training`].
    fn default_training(&self) -> Option<TrainingSettings>;

    /// The views of the first epoch, and those that are embedded.
    fn all_views(&self, given: &[Pipeline]) -> [Vec<Pipeline>; 2];

    /// See [`Method::search_axes`].
    fn search_axes(&self, level: TaskLevel) -> Vec<Axis>;

    /// See [`Method::phases`].
    fn all_phases(&self) -> Vec<Phase>;

    /// See [`Method::untrained`].
    fn untrained(&self) -> Option<Untrained>;

    /// See [`Method::encoder_field`].
    fn encoder_field(&self) -> &'static str;

    /// See [`Method::start`].
    fn start(&self) -> Option<&str>;

    /// Refuses weights to start from that the model has no place for.
    ///
    /// # Errors
    /// Names the weight.
    fn check_initial(&self, task: &Task, weights: &StateDict) -> Result<()>;

    /// Trains and embeds.
    ///
    /// # Errors
    /// As [`CheckedRun::fit`].
    fn fit(&self, run: &CheckedRun<'_>, fitting: Fitting<'_>) -> Result<RunResult>;

    /// Embeds data with saved weights.
    ///
    /// # Errors
    /// As [`SavedEncoder::embed`].
    fn apply(&self, saved: &SavedEncoder, data: &Data<'_>) -> Result<Embeddings>;
}

impl<M: Method> AnyMethod for M {
    fn info(&self) -> MethodInfo {
        M::INFO
    }

    fn check(&self, task: &Task) -> Result<Requirements> {
        Method::check(self, task)
    }

    fn default_views(&self) -> Option<(SchemeSettings, FeatureMasking)> {
        Method::default_views(self)
    }

    fn takes_scheme(&self) -> bool {
        Method::takes_scheme(self)
    }

    fn takes_blocks(&self) -> bool {
        Method::takes_blocks(self)
    }

    fn takes_stored_features(&self) -> bool {
        Method::takes_stored_features(self)
    }

    fn default_training(&self) -> Option<TrainingSettings> {
        Method::default_training(self)
    }

    fn all_views(&self, given: &[Pipeline]) -> [Vec<Pipeline>; 2] {
        [self.views(&M::State::default(), given), self.embedding_views(given)]
    }

    fn search_axes(&self, level: TaskLevel) -> Vec<Axis> {
        Method::search_axes(self, level)
    }

    fn all_phases(&self) -> Vec<Phase> {
        self.phases()
    }

    fn untrained(&self) -> Option<Untrained> {
        Method::untrained(self)
    }

    fn encoder_field(&self) -> &'static str {
        Method::encoder_field(self)
    }

    fn start(&self) -> Option<&str> {
        Method::start(self)
    }

    fn check_initial(&self, task: &Task, weights: &StateDict) -> Result<()> {
        let device = DeviceSettings::default().open();
        weights.apply_part(self.build(task, &mut Initializer::new(0, &device))?).map(drop)
    }

    fn fit(&self, run: &CheckedRun<'_>, fitting: Fitting<'_>) -> Result<RunResult> {
        run.fit_method(self, fitting)
    }

    fn apply(&self, saved: &SavedEncoder, data: &Data<'_>) -> Result<Embeddings> {
        saved.embed_by(self, data)
    }
}
