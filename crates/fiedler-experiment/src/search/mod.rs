//! Hyperparameter search by validation only: random changes of the best trials, and successive halving over seeds.

mod files;
mod generation;
mod halving;
mod space;
mod start;
mod trials;
mod validation;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fiedler_evaluate::Metric;
use fiedler_graph::Observer;
use fiedler_learn::run::Settings;
use serde_json::json;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::run::timing::{epoch_seconds, in_words};
use crate::run::{Existing, RunFolder, RunLock, RunPlan, remove};
use crate::scheme_store::SchemeStore;
use crate::tables::TablePart;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;

pub use files::{best_path, shown};
pub use generation::{GENERATION, SearchRun};
use generation::{Job, Progress};
use halving::SEEDS;
pub use space::Choice;
use space::Space;
pub use start::SearchStart;
use trials::{FailedRun, rank};
pub use trials::{Trial, TrialScore};
use validation::ValidationScorers;

/// Seed of a search's first run and split; tables begin with 0.
pub const FIRST_SEED: u64 = 1000;

/// Between two looks at runs that other processes are at.
const WAIT: Duration = Duration::from_millis(500);
/// One trial in so many has nothing of those before.
const ANEW: usize = 5;
/// The others change one of so many best.
const PARENTS: usize = 3;

/// What is searched, and how long.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Where the search starts: method, scheme, and whatever is not searched.
    pub base: Settings,
    /// Which parts are trained on and chosen on; without, random splits for nodes and folds for graphs.
    pub protocol: Option<ProtocolPreset>,
    /// Seed of what is drawn.
    pub seed: u64,
    /// Most runs, over all rounds.
    pub budget: usize,
    /// Most epochs of a run.
    pub epochs: Option<usize>,
    /// Folder for trials and results.
    pub out: PathBuf,
    /// What is recorded as having started the search.
    pub command: String,
    /// The runs of each generation that are this process's, where several share the search; without it, it has the folder for itself.
    pub part: Option<TablePart>,
}

/// How fast a search is.
struct Pace {
    started: Instant,
    done: usize,
    /// Seconds of all runs so far.
    spent: f64,
}

/// A search that can be run.
pub struct Search<'a> {
    pub(crate) task: &'a Task,
    space: Space,
    protocol: ProtocolPreset,
    seed: u64,
    /// Trials of each round.
    rounds: Vec<usize>,
    out: PathBuf,
    command: String,
    observer: &'a dyn Observer,
    /// Trials, schemes and scores in the folder are those of one process, but for those that share a search in parts.
    lock: Option<RunLock>,
    /// The runs of each generation that are this process's first.
    part: Option<TablePart>,
    schemes: SchemeStore,
    /// What the runs of each seed are scored by.
    scorers: Vec<ValidationScorers>,
}

impl<'a> Search<'a> {
    /// Checks the plan against the data, makes the folder, and locks it until the search is dropped.
    ///
    /// # Errors
    /// When there are no labels or no splits to choose on, the method has nothing to search, another process works in the folder, or it
    /// cannot be made.
    pub fn new(plan: SearchPlan, task: &'a Task, observer: &'a dyn Observer) -> Result<Search<'a>> {
        let target = task.target()?;
        let protocol = match plan.protocol {
            Some(ProtocolPreset::Reference) => {
                let hint = "its settings are those of the paper's program; choose random, public or folds".to_owned();
                return Err(Error::new(
                    ErrorKind::Usage,
                    "there is nothing to look for in the protocol reference",
                    hint,
                ));
            }
            Some(protocol) => protocol,
            None if target.graphs => ProtocolPreset::Kfold,
            None => ProtocolPreset::Random,
        };
        let seeds = 0..SEEDS[SEEDS.len() - 1] as u64;
        let scorers =
            seeds.map(|at| ValidationScorers::new(target, protocol, FIRST_SEED, at)).collect::<Result<_>>()?;
        let space = Space::new(&plan.base, task, plan.epochs)?;
        let lock = match plan.part {
            Some(_) => None,
            None => Some(RunLock::make(&plan.out)?),
        };
        Ok(Search {
            task,
            space,
            protocol,
            seed: plan.seed,
            rounds: halving::rounds(plan.budget),
            schemes: SchemeStore::new(plan.out.join("schemes")),
            out: plan.out,
            command: plan.command,
            observer,
            lock,
            part: plan.part,
            scorers,
        })
    }

    /// The protocol that is chosen by.
    pub fn protocol(&self) -> ProtocolPreset {
        self.protocol
    }

    /// The settings that the search started from, with the method's usual views.
    pub fn base(&self) -> &Settings {
        self.space.base()
    }

    /// All runs of all rounds.
    pub fn runs(&self) -> usize {
        halving::runs(&self.rounds)
    }

    /// What is measured.
    pub fn metric(&self) -> Metric {
        self.scorers[0].metric()
    }

    /// Makes all rounds; the best trial is the first. Of a search in parts, the runs of other parts are left to them as long as they are at them, and made
    /// here where nobody is; so every process sees the search to its end.
    ///
    /// # Errors
    /// When the first settings cannot be trained with, files cannot be written, or the observer asks to stop; what is finished is kept.
    pub fn run(&self) -> Result<Vec<Trial>> {
        let first = self.rounds.first().copied().unwrap_or(1);
        self.announce(first)?;
        let mut progress = Progress::default();
        let mut pace = Pace { started: Instant::now(), done: 0, spent: 0.0 };
        while let Some(jobs) = progress.next(self)? {
            self.make_all(&jobs, &mut progress.trials, &mut pace)?;
        }
        if self.part.is_none() {
            files::write(self, &progress.trials)?;
        }
        Ok(progress.trials)
    }

    /// What came of the search, as a program reads it; nothing where no trial led anywhere.
    pub fn to_json(&self, trials: &[Trial]) -> Option<serde_json::Value> {
        let best = trials.first()?;
        let (mean, std) = best.valid()?;
        let choices: serde_json::Map<String, serde_json::Value> =
            best.choices.iter().map(|choice| (choice.name.clone(), choice.text().into())).collect();
        Some(json!({
            "data": self.task.name,
            "metric": self.metric(),
            "protocol": self.protocol,
            "validation": { "mean": mean, "std": std, "seeds": best.found.len() },
            "trial": best.number,
            "trials": trials.len(),
            "runs": trials.iter().map(|trial| trial.found.len()).sum::<usize>(),
            "choices": choices,
            "settings": best.settings,
            "best": best_path(&self.out).display().to_string(),
        }))
    }

    /// The error of a search in which no trial led anywhere.
    pub fn no_result(&self) -> Error {
        let hint = format!("{} says why", self.out.join("trials.csv").display());
        Error::new(ErrorKind::Training, "no trial led anywhere", hint)
    }

    /// The runs of the first generation that is not finished; none where the search is over.
    ///
    /// # Errors
    /// When choices do not go together.
    pub fn list(&self) -> Result<Vec<SearchRun>> {
        let mut progress = Progress::default();
        while let Some(jobs) = progress.next(self)? {
            let seed = |job: &Job| FIRST_SEED + job.seed as u64;
            let mut listed = Vec::with_capacity(jobs.len());
            for (number, job) in jobs.iter().enumerate() {
                let trial = &mut progress.trials[job.trial];
                let finished = trial.failed.is_some() || self.found(trial, job.seed);
                listed.push(SearchRun { number, trial: trial.number, seed: seed(job), finished });
            }
            if listed.iter().any(|run| !run.finished) {
                return Ok(listed);
            }
        }
        Ok(Vec::new())
    }

    /// Makes one run, if it is of the first generation that is not finished, and writes no results. Gives whether it is there; it is not where another process
    /// is at it, or where those before it are not finished.
    ///
    /// # Errors
    /// As [`Search::run`].
    pub fn make_one(&self, trial: usize, seed: u64) -> Result<bool> {
        let mut progress = Progress::default();
        while let Some(jobs) = progress.next(self)? {
            let mut is_finished = true;
            let mut there = None;
            for Job { trial: at, seed: of_trial } in jobs {
                let one = &mut progress.trials[at];
                let wanted = one.number == trial && FIRST_SEED + of_trial as u64 == seed;
                let found = one.failed.is_some() || self.found(one, of_trial);
                let made = match wanted && !found {
                    true => match self.make(one, of_trial) {
                        Ok(()) => true,
                        Err(Error::Busy { .. }) => false,
                        Err(error) => return Err(error),
                    },
                    false => found,
                };
                if wanted {
                    there = Some(made);
                }
                is_finished &= made;
            }
            match there {
                Some(there) => return Ok(there),
                None if !is_finished => return Ok(false),
                None => {}
            }
        }
        Ok(false)
    }

    /// Makes the runs of a generation: those of this part, then those that nobody is at, until all are there.
    fn make_all(&self, jobs: &[Job], trials: &mut [Trial], pace: &mut Pace) -> Result<()> {
        let own = |number: usize| self.part.is_none_or(|part| part.has(number));
        let order = (0..jobs.len()).filter(|&number| own(number)).chain((0..jobs.len()).filter(|&number| !own(number)));
        let mut left: Vec<usize> = order.collect();
        while !left.is_empty() {
            let before = left.len();
            let mut waiting = Vec::new();
            for &number in &left {
                let Job { trial, seed } = jobs[number];
                let trial = &mut trials[trial];
                if trial.failed.is_some() {
                    continue;
                }
                self.observer.check("runs", "", pace.done, Some(self.runs()))?;
                match self.make(trial, seed) {
                    Ok(()) => {}
                    Err(Error::Busy { .. }) if self.part.is_some() => {
                        waiting.push(number);
                        continue;
                    }
                    Err(error) => return Err(error),
                }
                pace.done += 1;
                pace.spent += trial.found.last().map_or(0.0, |found| found.seconds);
                self.tell(trial, pace);
                if self.part.is_none() {
                    let mut ranked = trials.to_vec();
                    rank(&mut ranked, self.metric());
                    files::write(self, &ranked)?;
                }
            }
            if waiting.len() == before {
                std::thread::sleep(WAIT);
            }
            left = waiting;
        }
        // Whoever made them, what was found stands in the order of the seeds, and ends where a run failed.
        for job in jobs.iter().filter(|_| self.part.is_some()) {
            let trial = &mut trials[job.trial];
            (trial.found, trial.failed) = (Vec::new(), None);
            let last = jobs.iter().filter(|other| other.trial == job.trial).map(|other| other.seed).max();
            for seed in 0..=last.unwrap_or(job.seed) {
                if trial.failed.is_none() && !self.found(trial, seed) {
                    let message = format!("the result of trial {} has gone from the folder", trial.number);
                    return Err(Error::new(ErrorKind::Output, message, "start the search again".to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Says how much there is to do, and how long that will take.
    fn announce(&self, trials: usize) -> Result<()> {
        self.observer.note(&format!("{trials} trials, {} runs in all; timing a few epochs", self.runs()));
        let start = self.space.start().0;
        let seconds = epoch_seconds(&start, &self.task.dataset, None)? * (start.training.epochs * self.runs()) as f64;
        let about = in_words(seconds);
        self.observer
            .note(&format!("expected: about {about} if all train as long as the first, and schemes to compute"));
        Ok(())
    }

    fn tell(&self, trial: &Trial, pace: &Pace) {
        let Pace { started, done, spent } = *pace;
        let each = spent / done.max(1) as f64;
        let valid = match (&trial.failed, trial.found.last()) {
            (Some(why), _) => why.clone(),
            (None, Some(found)) => format!("validation {}", shown(found.validation, None, self.metric())),
            (None, None) => String::new(),
        };
        let left = in_words(each * self.runs().saturating_sub(done) as f64);
        let took = in_words(started.elapsed().as_secs_f64());
        let (runs, number, seeds) = (self.runs(), trial.number, trial.found.len());
        self.observer.note(&format!(
            "{done} of {runs}: trial {number}, run {seeds} of it: {valid} ({took} so far, about {left} left)"
        ));
    }

    /// Whether a run of a trial is there; what came of it is noted.
    fn found(&self, trial: &mut Trial, at: usize) -> bool {
        let judged_by = self.scorers[at].fingerprint();
        let folder = self.folder(&trial.settings, at);
        if let Some(found) = TrialScore::read(folder.path(), &judged_by) {
            trial.found.push(found);
            return true;
        }
        trial.failed = FailedRun::read(folder.path(), &judged_by).map(|failed| failed.why);
        trial.failed.is_some()
    }

    /// A run of a trial: found, resumed or made.
    fn make(&self, trial: &mut Trial, at: usize) -> Result<()> {
        if self.found(trial, at) {
            return Ok(());
        }
        let scorer = &self.scorers[at];
        let judged_by = scorer.fingerprint();
        let folder = self.folder(&trial.settings, at);
        // Of a search in parts, whoever makes a run keeps others away until it is scored as well.
        let held = match self.part {
            Some(_) => Some(RunLock::make(&self.locks(folder.path()))?),
            None => None,
        };
        if held.is_some() && self.found(trial, at) {
            return Ok(());
        }
        let finished = folder.record()?.is_some_and(|record| record.finished);
        let existing = if finished { Existing::Replace } else { Existing::Resume };
        let refreshing = self.lock.as_ref().or(held.as_ref()).map(|lock| lock.refreshing(self.observer));
        let observer: &dyn Observer = match &refreshing {
            Some(refreshing) => refreshing,
            None => self.observer,
        };
        let started = Instant::now();
        let settings = Settings { seed: FIRST_SEED + at as u64, ..trial.settings.clone() };
        let schemes = Some(&self.schemes);
        let plan = RunPlan { schemes, formats: &[], observer, ..RunPlan::new(self.task, settings) };
        let made = plan.check().and_then(|run| run.fit(&folder, existing, observer));
        let artifacts = match made {
            Ok(artifacts) => artifacts,
            // Whether it fits depends on the machine and the moment: that is not kept for others.
            Err(error) if trial.number > 0 && error.kind() == ErrorKind::Memory => {
                trial.failed = Some(error.in_one_line());
                return Ok(());
            }
            // What was drawn may lead nowhere, or not go together; what was given is the user's to mend.
            Err(error)
                if error.kind() == ErrorKind::Training || (trial.number > 0 && error.kind() == ErrorKind::Usage) =>
            {
                let why = error.in_one_line();
                FailedRun { judged_by, why: why.clone() }.write(folder.path())?;
                trial.failed = Some(why);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let validation = scorer.value(&artifacts.outcome.embeddings, observer)?;
        let seconds = started.elapsed().as_secs_f64();
        let found = TrialScore { judged_by, validation, seconds };
        found.write(folder.path())?;
        // Many trials leave many encoders that nobody wants.
        remove(&folder.encoder())?;
        trial.found.push(found);
        Ok(())
    }

    fn folder(&self, settings: &Settings, at: usize) -> RunFolder {
        let record = &self.task.record;
        let key = short_hash(&(settings, &record.fingerprint, &record.features_fingerprint));
        let name = format!("{}-{}", self.task.name, &key[..10]);
        RunFolder::new(&self.out.join("runs").join(name).join(format!("seed-{}", FIRST_SEED + at as u64)))
    }

    /// Where the lock of a run lies that several processes could make.
    fn locks(&self, folder: &Path) -> PathBuf {
        let names: Vec<_> = folder.iter().rev().take(2).map(|name| name.to_string_lossy()).collect();
        self.out.join("locks").join(names.join("-"))
    }

    /// Where everything goes.
    pub fn out(&self) -> &Path {
        &self.out
    }
}
