//! Hyperparameter search by validation only: random changes of the best trials, and successive halving over seeds.

mod files;
mod halving;
mod space;
mod trials;
mod validation;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fiedler_evaluate::Metric;
use fiedler_graph::Observer;
use fiedler_learn::TaskLevel;
use fiedler_learn::run::Settings;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::run::timing::{epoch_seconds, in_words};
use crate::run::{Existing, RunFolder, RunPlan, remove};
use crate::scheme_store::SchemeStore;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;

pub use files::{best_path, shown};
use halving::SEEDS;
pub use space::SearchedScheme;
use space::Space;
use trials::rank;
pub use trials::{Trial, TrialScore};
use validation::ValidationScorers;

/// Seed of a search's first run and split; tables begin with 0.
pub const FIRST_SEED: u64 = 1000;

/// One trial in so many has nothing of those before.
const ANEW: usize = 5;
/// The others change one of so many best.
const PARENTS: usize = 3;

/// What is searched, and how long.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Where the search starts; what is not searched stays as it is here.
    pub base: Settings,
    /// The scheme whose settings are searched.
    pub scheme: SearchedScheme,
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
    schemes: SchemeStore,
    /// What the runs of each seed are scored by.
    scorers: Vec<ValidationScorers>,
}

impl<'a> Search<'a> {
    /// Checks the plan against the data, and makes the folder.
    ///
    /// # Errors
    /// When there are no labels or no splits to choose on, or the folder cannot be made.
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
        // The bound is of every run, the first, which takes the settings as they are, included.
        let mut base = Settings { seed: 0, ..plan.base };
        base.training.epochs = base.training.epochs.min(plan.epochs.unwrap_or(usize::MAX));
        let space = Space {
            scheme: plan.scheme,
            graphs: task.level == TaskLevel::Graphs,
            features: task.dataset.features.is_some(),
            epochs: plan.epochs,
            base,
        };
        fs::create_dir_all(&plan.out).map_err(Error::io("create", &plan.out))?;
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
            scorers,
        })
    }

    /// The protocol that is chosen by.
    pub fn protocol(&self) -> ProtocolPreset {
        self.protocol
    }

    /// All runs of all rounds.
    pub fn runs(&self) -> usize {
        halving::runs(&self.rounds)
    }

    /// What is measured.
    pub fn metric(&self) -> Metric {
        self.scorers[0].metric()
    }

    /// Makes all rounds; the best trial is the first.
    ///
    /// # Errors
    /// When the first settings cannot be trained with, files cannot be written, or the observer asks to stop; what is finished is kept.
    pub fn run(&self) -> Result<Vec<Trial>> {
        let first = self.rounds.first().copied().unwrap_or(1);
        self.announce(first)?;
        let mut trials: Vec<Trial> = Vec::new();
        let (mut done, started, mut spent) = (0, Instant::now(), 0.0);
        for (&kept, &seeds) in self.rounds.iter().zip(&SEEDS) {
            for at in 0..kept {
                if at == trials.len() {
                    trials.push(self.trial(&trials));
                }
                while trials[at].found.len() < seeds && trials[at].failed.is_none() {
                    self.observer.check("runs", "", done, Some(self.runs()))?;
                    self.next_seed(&mut trials[at])?;
                    done += 1;
                    spent += trials[at].found.last().map_or(0.0, |found| found.seconds);
                    self.tell(&trials[at], done, spent / done as f64, started);
                    let mut ranked = trials.clone();
                    rank(&mut ranked, self.metric());
                    files::write(self, &ranked)?;
                }
            }
            rank(&mut trials, self.metric());
        }
        files::write(self, &trials)?;
        Ok(trials)
    }

    /// The next trial of the first round: the settings that were given, then changes of the best so far, and now and then something else.
    fn trial(&self, before: &[Trial]) -> Trial {
        let number = before.len();
        let (settings, choices) = if number == 0 {
            self.space.start()
        } else {
            let mut ranked = before.to_vec();
            rank(&mut ranked, self.metric());
            let best: Vec<&Trial> = ranked.iter().filter(|trial| trial.failed.is_none()).take(PARENTS).collect();
            let parent = if number.is_multiple_of(ANEW) { None } else { best.get(number % best.len().max(1)) };
            self.space.trial(self.seed, number as u64, parent.map(|trial| &trial.choices))
        };
        Trial { number, settings, choices, found: Vec::new(), failed: None }
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

    fn tell(&self, trial: &Trial, done: usize, each: f64, started: Instant) {
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

    /// The next run of a trial: found, resumed or made.
    fn next_seed(&self, trial: &mut Trial) -> Result<()> {
        let at = trial.found.len();
        let scorer = &self.scorers[at];
        let judged_by = scorer.fingerprint();
        let folder = self.folder(&trial.settings, at);
        if let Some(found) = TrialScore::read(folder.path(), &judged_by) {
            trial.found.push(found);
            return Ok(());
        }
        let finished = folder.record()?.is_some_and(|record| record.finished);
        let existing = if finished { Existing::Replace } else { Existing::Resume };
        let started = Instant::now();
        let settings = Settings { seed: FIRST_SEED + at as u64, ..trial.settings.clone() };
        let plan = RunPlan { schemes: Some(&self.schemes), formats: &[], ..RunPlan::new(self.task, settings) };
        let made = plan.check().and_then(|run| run.fit(&folder, existing, self.observer));
        let artifacts = match made {
            Ok(artifacts) => artifacts,
            // What was drawn may lead nowhere, or not go together; what was given is the user's to mend.
            Err(error)
                if error.kind() == ErrorKind::Training || (trial.number > 0 && error.kind() == ErrorKind::Usage) =>
            {
                trial.failed = Some(error.in_one_line());
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let validation = scorer.value(&artifacts.outcome.embeddings, self.observer)?;
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

    /// Where everything goes.
    pub fn out(&self) -> &Path {
        &self.out
    }
}
