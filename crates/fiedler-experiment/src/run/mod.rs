//! A run: data, settings and a folder in; embeddings, encoder, scores and a page out.
//!
//! There is one way to make a run, whoever asks for it. [`RunPlan::check`] refuses what would not work before anything is computed or a
//! folder touched; only a [`CheckedRun`] goes on to [`CheckedRun::fit`].

mod apply;
pub(crate) mod embeddings;
mod estimate;
mod fit;
mod folder;
mod lock;
mod loss_curve;
mod record;
mod scores;
pub(crate) mod timing;
pub mod version1;

use std::time::Duration;

use fiedler_graph::{NoObserver, Observer};
use fiedler_learn::Supervision;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Run, Settings};
use fiedler_learn::state_dict::StateDict;

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::observe::KeepWarnings;
use crate::scheme_store::SchemeStore;
use crate::task::Task;
use fiedler_evaluate::QuickProbe;

pub use apply::{Application, AppliedEncoder, read_encoder};
pub use embeddings::TableFormat;
pub use estimate::MemoryEstimate;
use fit::Expected;
pub use fit::{CheckedRun, RunArtifacts};
pub(crate) use folder::{ENCODER, LOSSES, remove};
pub use folder::{Existing, PAGE, RunFolder};
pub use lock::{RunLock, STALE_AFTER};
pub use record::{FORMAT, ResultRecord, RunRecord};
pub use scores::{in_words as method_in_words, verdict};
pub use timing::TimeLimit;

/// What a run is to be.
#[derive(Clone)]
pub struct RunPlan<'a> {
    /// The data, opened once.
    pub task: &'a Task,
    /// All settings.
    pub settings: Settings,
    /// The recipe that they started from.
    pub recipe: Option<String>,
    /// Labels, for a method that learns from them; without, those of the probe.
    pub supervision: Option<Supervision<'a>>,
    /// Weights of another run, for a method that starts from them.
    pub initial: Option<&'a StateDict>,
    /// Schemes that several runs share; without, the run keeps its own in its folder.
    pub schemes: Option<&'a SchemeStore>,
    /// Says how well labels can be predicted; without, nothing is scored.
    pub probe: Option<&'a QuickProbe>,
    /// Whether the probe is asked at the end; a method that learns from labels takes them from it in any case.
    pub evaluate: bool,
    /// Formats of the embeddings.
    pub formats: &'a [TableFormat],
    /// Whether a page is left in the folder.
    pub page: bool,
    /// Bytes that the whole run may hold at once: data, scheme, training, evaluation. Without, what the machine has.
    pub memory: Option<u64>,
    /// The time that training may take: epochs are fitted to it.
    pub time: Option<Duration>,
    /// Who hears of features that take long to compute, and may stop.
    pub observer: &'a dyn Observer,
}

impl<'a> RunPlan<'a> {
    /// A run that shares nothing, scores nothing, and leaves its embeddings as npy and no page.
    pub fn new(task: &'a Task, settings: Settings) -> RunPlan<'a> {
        RunPlan {
            task,
            settings,
            recipe: None,
            supervision: None,
            initial: None,
            schemes: None,
            probe: None,
            evaluate: true,
            formats: &[TableFormat::Npy],
            page: false,
            memory: None,
            time: None,
            observer: &NoObserver,
        }
    }

    /// Refuses what would not work before anything is computed, or a folder touched. Where training has a time, a few epochs are timed
    /// then, and the settings are given as many as fit.
    ///
    /// # Errors
    /// When a setting is out of its range or not for such data, labels are missing, or memory would not suffice.
    pub fn check(mut self) -> Result<CheckedRun<'a>> {
        check_formats(self.formats)?;
        let supervision = self.supervision();
        let needs_labels = matches!(self.settings.method, MethodSettings::Supervised(_));
        if needs_labels && supervision.is_none() {
            let message = format!("{} has no labels to learn from, or too few of each class", self.task.record.name);
            let hint = "choose a method that needs no labels, such as span".to_owned();
            return Err(Error::new(ErrorKind::Data, message, hint));
        }
        let (free, initial, keeper) = (memory::free_bytes(), self.initial, KeepWarnings::new(self.observer));
        let dataset = &self.task.dataset;
        let check = |settings: &Settings| {
            Run { supervision, initial, memory: free, observer: &keeper, ..Run::new(settings, dataset) }.check()
        };
        let mut checked = check(&self.settings)?;
        let limit = self.memory.or_else(|| Some(free? + memory::held_bytes()?));
        let estimate = MemoryEstimate::of(&self, &checked, limit);
        if let Some(allowed) = self.memory.filter(|&allowed| estimate.needed() > allowed) {
            return Err(too_large(&estimate, allowed));
        }
        let mut time_limit = None;
        if let Some(allowed) = self.time {
            if !checked.requirements().trained {
                return Err(timing::not_trained(&self.settings));
            }
            time_limit = Some(timing::fit_epochs(&mut self.settings, dataset, supervision, allowed)?);
            checked = check(&self.settings)?;
        }
        Ok(CheckedRun::new(self, checked, Expected { memory: estimate, limit, time_limit, warnings: keeper.kept() }))
    }

    pub(crate) fn supervision(&self) -> Option<Supervision<'a>> {
        let of_probe =
            |probe: &'a QuickProbe| Some(Supervision { labels: &probe.target().labels, split: probe.split()? });
        self.supervision.or_else(|| self.probe.and_then(of_probe))
    }
}

/// A run that would exceed the memory it was allowed.
fn too_large(estimate: &MemoryEstimate, allowed: u64) -> Error {
    let of = |bytes| memory::in_words(bytes);
    let (what, advice) = match estimate.scheme > estimate.training {
        true => ("the scheme", "choose --support candidates or edges"),
        false => (
            "training",
            "choose a smaller --hidden or --batch-size, --batch-nodes for one large graph, or --method hops",
        ),
    };
    let message = format!(
        "this run needs about {} of memory, of which {} are held by the data and {} go to {what}; it may have {}",
        of(estimate.needed()),
        of(estimate.held),
        of(estimate.scheme.max(estimate.training)),
        of(allowed)
    );
    Error::new(ErrorKind::Memory, message, format!("allow more with --memory, or {advice}"))
}

/// Refuses formats that this build cannot write.
fn check_formats(formats: &[TableFormat]) -> Result<()> {
    if cfg!(not(feature = "parquet")) && formats.contains(&TableFormat::Parquet) {
        let hint = "build with the feature `parquet`, or choose npy or csv".to_owned();
        return Err(Error::new(ErrorKind::Usage, "this build cannot write parquet files", hint));
    }
    Ok(())
}
