//! The walk of a run, from its plan to a finished folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_augment::{Scheme, SchemeSettings};
use fiedler_evaluate::QuickScore;
use fiedler_graph::{Observer, measure};
use fiedler_learn::Supervision;
use fiedler_learn::run::{self, Fitting, RunResult, Settings};
use fiedler_learn::trainer::Checkpointing;

use super::embeddings::TableFormat;
use super::estimate::MemoryEstimate;
use super::folder::{Existing, RunFolder};
use super::record::{ResultRecord, RunRecord};
use super::timing::{self, TimeLimit};
use super::{RunPlan, scores};
use crate::error::{Error, Result};
use crate::observe::{KeepWarnings, Tell};
use crate::pages;
use crate::scheme_store::{ComputedScheme, compute_scheme, load_scheme, save_scheme};
use crate::task::Task;

/// Edge AUC up to which averaging over neighbors is doubtful.
const DOUBTFUL_AUC: f64 = 0.55;

/// A plan that has been checked against its data.
pub struct CheckedRun<'a> {
    plan: RunPlan<'a>,
    run: run::CheckedRun<'a>,
    record: RunRecord,
    expected: Expected,
}

/// What a run is expected to take.
pub(super) struct Expected {
    pub(super) memory: MemoryEstimate,
    /// Bytes that it may hold at once.
    pub(super) limit: Option<u64>,
    pub(super) time_limit: Option<TimeLimit>,
    /// What was found out about the features meanwhile.
    pub(super) warnings: Vec<String>,
}

/// What a run made, as long as it is in memory.
pub struct RunArtifacts {
    /// What `run.json` holds.
    pub record: RunRecord,
    /// Embeddings, encoder and losses.
    pub outcome: RunResult,
    /// The schemes that views were drawn from.
    pub schemes: Vec<Arc<ComputedScheme>>,
}

impl<'a> CheckedRun<'a> {
    pub(super) fn new(plan: RunPlan<'a>, run: run::CheckedRun<'a>, expected: Expected) -> CheckedRun<'a> {
        let mut record = RunRecord::new(plan.task.record.clone(), plan.recipe.clone(), run.settings().clone());
        record.time_limit = expected.time_limit;
        CheckedRun { plan, run, record, expected }
    }

    /// What will be in `run.json`.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Bytes that the run will hold at once, by an estimate.
    pub fn memory_estimate(&self) -> &MemoryEstimate {
        &self.expected.memory
    }

    /// Time and memory that the run will take, in words, where that is worth telling; it takes a few epochs to find out.
    pub fn expected(&self) -> Option<String> {
        let Expected { memory, time_limit, .. } = &self.expected;
        let timed = || {
            let (dataset, supervision) = (&self.plan.task.dataset, self.plan.supervision());
            timing::expected_training(&self.record.settings, dataset, supervision, time_limit.as_ref())
        };
        let time = if self.run.requirements().trained { timed() } else { None };
        let told: Vec<String> = time.into_iter().chain(memory.in_words()).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// Makes the run in a folder that is locked meanwhile: scheme, training, scores, files, page.
    ///
    /// # Errors
    /// When another process works in the folder, it holds what may not be replaced, computing or writing fails, or the observer asks to
    /// stop ([`Error::Stopped`]; the folder can be resumed).
    pub fn fit(mut self, folder: &RunFolder, existing: Existing, observer: &dyn Observer) -> Result<RunArtifacts> {
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
            Some(before) => {
                before.check_same(&self.record.settings, &self.record.data)?;
                self.record.time_limit = before.time_limit;
            }
            None => folder.begin(&self.record)?,
        }
        self.fit_locked(folder, observer).map_err(|error| with_folder(error, folder.path()))
    }

    fn fit_locked(self, folder: &RunFolder, observer: &dyn Observer) -> Result<RunArtifacts> {
        let (task, page) = (self.plan.task, self.plan.page);
        let schemes = schemes(&self.plan, &self.run, folder, observer)?;
        let keeper = KeepWarnings::new(observer);
        let outcome = train(&self.plan, &self.run, &self.record, &schemes, Some(folder), &keeper)?;
        // What was learned is on the disk before anything else can fail.
        folder.write_outcome(&outcome, task, self.plan.formats)?;
        let artifacts = self.judged(outcome, schemes, keeper.kept(), observer)?;
        folder.finish(&artifacts.record)?;
        if page {
            pages::leave_page(&artifacts, task, folder, observer);
        }
        Ok(artifacts)
    }

    /// Makes the run in memory: nothing is written, and of a run that is stopped nothing is left. `known` are schemes that need not be
    /// computed again. [`RunArtifacts::save`] leaves what came of it in a folder.
    ///
    /// # Errors
    /// When computing fails, or the observer asks to stop.
    pub fn fit_in_memory(self, known: &[Arc<Scheme>], observer: &dyn Observer) -> Result<RunArtifacts> {
        let graphs = &self.plan.task.dataset.graphs;
        let get = |wanted: SchemeSettings| {
            let started = Instant::now();
            let found = known.iter().find(|scheme| *scheme.settings() == wanted && scheme.check(graphs).is_ok());
            let scheme = match found {
                Some(scheme) => Arc::clone(scheme),
                None => Arc::new(compute_scheme(&wanted, graphs, observer)?),
            };
            Ok(Arc::new(ComputedScheme { scheme, seconds: started.elapsed().as_secs_f64() }))
        };
        let schemes = self.run.schemes().into_iter().map(get).collect::<Result<Vec<_>>>()?;
        let keeper = KeepWarnings::new(observer);
        let outcome = train(&self.plan, &self.run, &self.record, &schemes, None, &keeper)?;
        self.judged(outcome, schemes, keeper.kept(), observer)
    }

    /// What came of the run, with its scores where they are wanted.
    fn judged(
        self,
        outcome: RunResult,
        schemes: Vec<Arc<ComputedScheme>>,
        warnings: Vec<String>,
        observer: &dyn Observer,
    ) -> Result<RunArtifacts> {
        let CheckedRun { plan, run, mut record, expected } = self;
        let (scores, not_judged) = judge(&plan, &run, &outcome, expected.limit, observer)?;
        let scheme_seconds = schemes.iter().fold(0.0, |sum, computed| sum + computed.seconds);
        record.finished = true;
        let told = ResultRecord::new(&outcome, run.settings().training.patience.is_some(), scheme_seconds, scores);
        let mut warnings: Vec<String> = [expected.warnings, told.warnings.clone(), warnings].concat();
        warnings.dedup();
        let verdict = scores::verdict(&run.settings().method, &told.scores);
        record.result = Some(ResultRecord {
            warnings,
            not_judged,
            expected_bytes: Some(expected.memory.peak()),
            verdict,
            edge_auc: (plan.page || plan.probe.is_some())
                .then(|| edge_auc(plan.task, &record.settings, observer))
                .flatten(),
            ..told
        });
        Ok(RunArtifacts { record, outcome, schemes })
    }
}

impl RunArtifacts {
    /// Leaves the run in a folder, as [`CheckedRun::fit`] would have; with a page, if one is wanted.
    ///
    /// # Errors
    /// When another process works in the folder, it holds what may not be replaced, or writing fails.
    pub fn save(
        &self,
        task: &Task,
        folder: &RunFolder,
        existing: Existing,
        page: bool,
        observer: &dyn Observer,
    ) -> Result<()> {
        if existing == Existing::Refuse {
            folder.check_free()?;
        }
        let _lock = folder.lock()?;
        folder.sweep()?;
        folder.begin(&RunRecord { finished: false, result: None, ..self.record.clone() })?;
        for (at, computed) in self.schemes.iter().enumerate() {
            save_scheme(&computed.scheme, &folder.scheme(at))?;
        }
        folder.write_outcome(&self.outcome, task, &[TableFormat::Npy])?;
        folder.finish(&self.record)?;
        if page {
            pages::leave_page(self, task, folder, observer);
        }
        Ok(())
    }
}

/// The scores, or why there are none: that embeddings cannot be judged is no reason to lose them.
fn judge(
    plan: &RunPlan<'_>,
    run: &run::CheckedRun<'_>,
    outcome: &RunResult,
    limit: Option<u64>,
    observer: &dyn Observer,
) -> Result<(Vec<QuickScore>, Option<String>)> {
    let Some(probe) = plan.probe.filter(|_| plan.evaluate) else { return Ok((Vec::new(), None)) };
    match scores::of_run(run, plan.task, &outcome.embeddings, probe, limit, observer) {
        Ok(scores) => Ok((scores, None)),
        Err(error) => scores::why_not(error, probe, observer).map(|reason| (Vec::new(), Some(reason))),
    }
}

/// How much more alike features are on edges than on random pairs, where a graph of nodes has features; tells the user where they are
/// hardly so.
fn edge_auc(task: &Task, settings: &Settings, observer: &dyn Observer) -> Option<f64> {
    let (graph, features) = (task.dataset.graph()?, task.dataset.features.as_ref()?);
    let auc = measure::edge_auc(graph, features, settings.seed)?;
    if auc <= DOUBTFUL_AUC {
        observer.note(&format!(
            "features on edges are hardly more alike than on random pairs (edge AUC {auc:.2}): propagation may hurt"
        ));
    }
    Some(auc)
}

/// The schemes: shared, or kept in the folder by an earlier part of the run, or computed now. None where no views are drawn.
fn schemes(
    plan: &RunPlan<'_>,
    run: &run::CheckedRun<'_>,
    folder: &RunFolder,
    observer: &dyn Observer,
) -> Result<Vec<Arc<ComputedScheme>>> {
    let graphs = &plan.task.dataset.graphs;
    let get = |(at, wanted): (usize, SchemeSettings)| {
        if let Some(schemes) = plan.schemes {
            return schemes.get(plan.task, &wanted, observer);
        }
        let started = Instant::now();
        let path = folder.scheme(at);
        let kept = path.exists().then(|| load_scheme(&path, graphs)).and_then(|kept| {
            let told = |error: &Error| observer.note(&format!("note: the scheme is computed again: {error}"));
            kept.inspect_err(told).ok()
        });
        let scheme = match kept.filter(|scheme| *scheme.settings() == wanted) {
            Some(scheme) => scheme,
            None => {
                let scheme = compute_scheme(&wanted, graphs, observer)?;
                save_scheme(&scheme, &path)?;
                scheme
            }
        };
        Ok(Arc::new(ComputedScheme { scheme: Arc::new(scheme), seconds: started.elapsed().as_secs_f64() }))
    };
    run.schemes().into_iter().enumerate().map(get).collect()
}

/// Trains, from the start or from a checkpoint; where there is a folder, one is kept there.
fn train(
    plan: &RunPlan<'_>,
    run: &run::CheckedRun<'_>,
    record: &RunRecord,
    schemes: &[Arc<ComputedScheme>],
    folder: Option<&RunFolder>,
    observer: &dyn Observer,
) -> Result<RunResult> {
    let mut identity = record.identity()?;
    if let Some(Supervision { split, .. }) = plan.supervision {
        identity += &format!(" {} {}", plan.task.labels_fingerprint(), split.fingerprint());
    }
    let mut source = ComputeSchemes::new(&plan.task.dataset.graphs, observer);
    for computed in schemes {
        source = source.with(Arc::clone(&computed.scheme))?;
    }
    let _stage = observer.stage(fiedler_learn::trainer::STAGE, "");
    let store = folder.map(RunFolder::checkpoint);
    let checkpoint = store.as_ref().map(|store| Checkpointing { store, run: &identity });
    Ok(run.fit(Fitting { schemes: &mut source, checkpoint, observer })?)
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
        Error::Evaluate(fiedler_evaluate::Error::Stopped) => {
            Error::Stopped { message: "stopped while the embeddings, which are written, were judged".into(), folder }
        }
        Error::Stopped { message, .. } => Error::Stopped { message, folder },
        other => other,
    }
}
