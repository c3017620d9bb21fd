//! The search itself: round after round, trial after trial, seed after seed.

use std::path::Path;
use std::time::Instant;

use fiedler_evaluate::Metric;
use fiedler_learn::run::Settings;
use fiedler_learn::trainer;

use super::blind::Panel;
use super::files;
use super::halving::{self, SEEDS};
use super::space::Space;
use super::trials::{Trial, TrialScore, rank};
use crate::program::failure::{Exit, Failure};
use crate::program::interrupt;
use crate::program::ledger::Ledger;
use crate::program::output::Output;
use crate::program::run::data::Data;
use crate::program::run::folder::{Folder, Record};
use crate::program::run::schemes::Schemes;
use crate::program::run::timing::{epoch_seconds, in_words};
use crate::program::run::{fingerprint, learn};

/// Seed of a search's first run and split; tables begin with 0.
pub const FIRST_SEED: u64 = 1000;

/// One trial in so many has nothing of those before.
const ANEW: usize = 5;
/// The others change one of so many best.
const PARENTS: usize = 3;

/// All that a search needs.
pub struct Search<'a> {
    pub data: &'a Data,
    pub space: Space,
    pub ledger: Ledger,
    pub seed: u64,
    /// Trials of each round.
    pub rounds: Vec<usize>,
    pub out: &'a Path,
    pub command: String,
    pub output: &'a Output,
    pub schemes: Schemes<'a>,
    /// What the runs of each seed are judged by.
    pub judges: Vec<Panel>,
}

impl Search<'_> {
    pub fn runs(&self) -> usize {
        halving::runs(&self.rounds)
    }

    pub fn metric(&self) -> Metric {
        self.judges[0].metric()
    }

    /// Makes all rounds; the best trial is the first.
    pub fn run(&self) -> Result<Vec<Trial>, Failure> {
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
                    if interrupt::asked() {
                        return Err(Failure::new(Exit::Interrupted, "stopped", None));
                    }
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
    fn announce(&self, trials: usize) -> Result<(), Failure> {
        self.output.note(&format!("{trials} trials, {} runs in all; timing a few epochs", self.runs()));
        let start = self.space.start().0;
        let seconds = epoch_seconds(&start, &self.data.dataset, None)? * (start.training.epochs * self.runs()) as f64;
        let about = in_words(seconds);
        self.output.note(&format!("expected: about {about} if all train as long as the first, and schemes to compute"));
        Ok(())
    }

    fn tell(&self, trial: &Trial, done: usize, each: f64, started: Instant) {
        let valid = match (&trial.failed, trial.found.last()) {
            (Some(why), _) => why.clone(),
            (None, Some(found)) => files::shown(found.validation, None, self.metric()),
            (None, None) => String::new(),
        };
        let left = in_words(each * self.runs().saturating_sub(done) as f64);
        let took = in_words(started.elapsed().as_secs_f64());
        let (runs, number, seeds) = (self.runs(), trial.number, trial.found.len());
        self.output.note(&format!(
            "{done} of {runs}: trial {number}, run {seeds} of it: {valid} to choose on ({took} so far, about {left} left)"
        ));
    }

    /// The next run of a trial: found, resumed or made.
    fn next_seed(&self, trial: &mut Trial) -> Result<(), Failure> {
        let at = trial.found.len();
        let judge = &self.judges[at];
        let judged_by = judge.fingerprint();
        let settings = Settings { seed: FIRST_SEED + at as u64, ..trial.settings.clone() };
        let folder = self.folder(&trial.settings, at);
        if let Some(found) = TrialScore::read(folder.path(), &judged_by) {
            trial.found.push(found);
            return Ok(());
        }
        if folder.record()?.is_some_and(|record| record.finished) {
            folder.clear()?;
        }
        let started = Instant::now();
        let record = Record::new(self.data.record.clone(), None, settings);
        let outcome = match learn(record, self.data, &folder, &self.schemes, None, &[], self.output) {
            Ok(outcome) => outcome,
            // What was drawn may lead nowhere, or not go together; what was given is the user's to mend.
            Err(failure) if failure.exit() == Exit::Training || (trial.number > 0 && failure.exit() == Exit::Usage) => {
                trial.failed = Some(failure.in_one_line());
                return Ok(());
            }
            Err(failure) => return Err(failure),
        };
        let validation = judge.value(&outcome.embeddings)?;
        let seconds = started.elapsed().as_secs_f64();
        let found = TrialScore { judged_by, validation, seconds };
        found.write(folder.path())?;
        // Many trials leave many encoders that nobody wants.
        trainer::remove(&folder.encoder())?;
        trial.found.push(found);
        Ok(())
    }

    fn folder(&self, settings: &Settings, at: usize) -> Folder {
        let record = &self.data.record;
        let key = fingerprint::of(&(settings, &record.fingerprint, &record.features_fingerprint));
        let name = format!("{}-{}", self.data.name, &key[..10]);
        Folder::new(&self.out.join("runs").join(name).join(format!("seed-{}", FIRST_SEED + at as u64)))
    }
}
