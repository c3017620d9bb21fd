//! A run: data, settings and a folder in; embeddings, encoder, scores and a page out.
//!
//! There is one way to make a run, whoever asks for it. [`RunPlan::check`] refuses what would not work before anything is computed or a
//! folder touched; only a [`CheckedRun`] goes on to [`CheckedRun::fit`].

mod apply;
pub(crate) mod embeddings;
mod fit;
mod folder;
mod lock;
mod loss_curve;
mod record;
mod scores;
pub(crate) mod timing;
pub mod version1;

use fiedler_learn::Supervision;
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Run, Settings};

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::scheme_store::SchemeStore;
use crate::task::Task;
use fiedler_evaluate::QuickProbe;

pub use apply::{Application, AppliedEncoder, read_encoder};
pub use embeddings::TableFormat;
pub use fit::{CheckedRun, RunArtifacts};
pub use folder::{Existing, PAGE, RunFolder};
pub(crate) use folder::{LOSSES, remove};
pub use lock::{RunLock, STALE_AFTER};
pub use record::{FORMAT, ResultRecord, RunRecord};
pub use scores::verdict;

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
}

impl<'a> RunPlan<'a> {
    /// A run that shares nothing, scores nothing, and leaves its embeddings as npy and no page.
    pub fn new(task: &'a Task, settings: Settings) -> RunPlan<'a> {
        RunPlan {
            task,
            settings,
            recipe: None,
            supervision: None,
            schemes: None,
            probe: None,
            evaluate: true,
            formats: &[TableFormat::Npy],
            page: false,
        }
    }

    /// Refuses what would not work before anything is computed, or a folder touched.
    ///
    /// # Errors
    /// When a setting is out of its range or not for such data, labels are missing, or memory would not suffice.
    pub fn check(self) -> Result<CheckedRun<'a>> {
        check_formats(self.formats)?;
        let supervision = self.supervision();
        let needs_labels = matches!(self.settings.method, MethodSettings::Supervised(_));
        if needs_labels && supervision.is_none() {
            let message = format!("{} has no labels to learn from, or too few of each class", self.task.record.name);
            let hint = "choose a method that needs no labels, such as span".to_owned();
            return Err(Error::new(ErrorKind::Data, message, hint));
        }
        let memory = memory::free_bytes();
        let run = Run { supervision, memory, ..Run::new(&self.settings, &self.task.dataset) };
        let checked = run.check()?;
        Ok(CheckedRun::new(self, checked))
    }

    fn supervision(&self) -> Option<Supervision<'a>> {
        let of_probe =
            |probe: &'a QuickProbe| Some(Supervision { labels: &probe.target().labels, split: probe.split()? });
        self.supervision.or_else(|| self.probe.and_then(of_probe))
    }
}

/// Refuses formats that this build cannot write.
fn check_formats(formats: &[TableFormat]) -> Result<()> {
    if cfg!(not(feature = "parquet")) && formats.contains(&TableFormat::Parquet) {
        let hint = "build with the feature `parquet`, or choose npy or csv".to_owned();
        return Err(Error::new(ErrorKind::Usage, "this build cannot write parquet files", hint));
    }
    Ok(())
}
