//! The walk of a run, from its plan to a finished folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fiedler_augment::Scheme;
use fiedler_graph::Observer;
use fiedler_learn::data::Supervision;
use fiedler_learn::run::{Outcome, Run};

use super::folder::{Existing, RunFolder};
use super::record::{ResultRecord, RunRecord};
use super::{RunPlan, scores};
use crate::error::{Error, Result};
use crate::observe::{Tell, of_training};
use crate::scheme_store::{ComputedScheme, compute_scheme};
use crate::{memory, pages};

/// A plan that has been checked against its data.
pub struct CheckedRun<'a> {
    plan: RunPlan<'a>,
    record: RunRecord,
}

/// What a run made, as long as it is in memory.
pub struct RunArtifacts {
    /// What `run.json` holds.
    pub record: RunRecord,
    /// Embeddings, encoder and losses.
    pub outcome: Outcome,
    /// The scheme that views were drawn from.
    pub scheme: Option<Arc<ComputedScheme>>,
}

impl<'a> CheckedRun<'a> {
    pub(super) fn new(plan: RunPlan<'a>) -> CheckedRun<'a> {
        let record = RunRecord::new(plan.task.record.clone(), plan.recipe.clone(), plan.settings.clone());
        CheckedRun { plan, record }
    }

    /// What will be in `run.json`.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Makes the run in a folder that is locked meanwhile: scheme, training, scores, files, page.
    ///
    /// # Errors
    /// When another process works in the folder, it holds what may not be replaced, computing or writing fails, or the observer asks to
    /// stop ([`Error::Stopped`]; the folder can be resumed).
    pub fn fit(self, folder: &RunFolder, existing: Existing, observer: &dyn Observer) -> Result<RunArtifacts> {
        if existing == Existing::Refuse {
            folder.check_free()?;
        }
        let lock = folder.lock()?;
        let observer: &dyn Observer = &lock.refreshing(observer);
        // Somebody may have been faster.
        if existing == Existing::Refuse {
            folder.check_free()?;
        }
        folder.sweep()?;
        let before = if existing == Existing::Resume { folder.record()? } else { None };
        match before {
            Some(before) => before.check_same(&self.plan.settings, &self.record.data)?,
            None => folder.begin(&self.record)?,
        }
        self.fit_locked(folder, observer).map_err(|error| with_folder(error, folder.path()))
    }

    fn fit_locked(self, folder: &RunFolder, observer: &dyn Observer) -> Result<RunArtifacts> {
        let CheckedRun { plan, mut record } = self;
        let scheme = scheme(&plan, folder, observer)?;
        let outcome = train(&plan, &record, scheme.as_deref(), folder, observer)?;
        let scores = match plan.probe {
            Some(probe) => scores::of_run(&plan.settings, plan.task, &outcome.embeddings, probe, observer)?,
            None => Vec::new(),
        };
        let scheme_seconds = scheme.as_ref().map_or(0.0, |computed| computed.seconds);
        record.finished = true;
        record.result = Some(ResultRecord::new(&outcome, scheme_seconds, scores));
        folder.finish(&record, &outcome, plan.task, plan.formats)?;
        let artifacts = RunArtifacts { record, outcome, scheme };
        if plan.page {
            pages::leave_page(&artifacts, plan.task, folder, observer);
        }
        Ok(artifacts)
    }
}

/// The scheme: shared, or kept in the folder by an earlier part of the run, or computed now. None where no views are drawn.
fn scheme(plan: &RunPlan<'_>, folder: &RunFolder, observer: &dyn Observer) -> Result<Option<Arc<ComputedScheme>>> {
    let wanted = &plan.settings.scheme.0;
    if plan.settings.method.views() == 0 {
        return Ok(None);
    }
    if let Some(schemes) = plan.schemes {
        return schemes.get(plan.task, wanted, observer).map(Some);
    }
    let started = Instant::now();
    let graphs = &plan.task.dataset.graphs;
    let kept = folder.scheme().exists().then(|| Scheme::load(&folder.scheme(), graphs).ok()).flatten();
    let scheme = match kept.filter(|scheme| scheme.settings() == wanted) {
        Some(scheme) => scheme,
        None => {
            let scheme = compute_scheme(wanted, graphs, observer)?;
            folder.keep_scheme(&scheme)?;
            scheme
        }
    };
    Ok(Some(Arc::new(ComputedScheme { scheme, seconds: started.elapsed().as_secs_f64() })))
}

/// Trains, from the start or from a checkpoint.
fn train(
    plan: &RunPlan<'_>,
    record: &RunRecord,
    scheme: Option<&ComputedScheme>,
    folder: &RunFolder,
    observer: &dyn Observer,
) -> Result<Outcome> {
    let mut checkpoint = folder.checkpoint_of(record)?;
    if let Some(Supervision { split, .. }) = plan.supervision {
        checkpoint.run += &format!(" {} {}", plan.task.labels_fingerprint(), split.fingerprint());
    }
    let stage = observer.stage("training", "");
    let run = Run {
        supervision: plan.supervision(),
        checkpoint: Some(&checkpoint),
        memory: memory::free_bytes(),
        watch: &of_training(&stage),
        ..Run::new(&plan.settings, &plan.task.dataset, scheme.map(|computed| &computed.scheme))
    };
    Ok(run.run()?)
}

/// A run that was stopped can be resumed where its folder is.
fn with_folder(error: Error, folder: &Path) -> Error {
    let folder = Some(folder.to_owned());
    match error {
        Error::Augment(fiedler_augment::Error::Stopped) => {
            Error::Stopped { message: "stopped before training began".into(), folder }
        }
        Error::Learn(error @ fiedler_learn::Error::Stopped { .. }) => {
            Error::Stopped { message: error.to_string(), folder }
        }
        Error::Stopped { message, .. } => Error::Stopped { message, folder },
        other => other,
    }
}
