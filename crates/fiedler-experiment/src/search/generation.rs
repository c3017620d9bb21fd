//! Generations: trials that are proposed together, and runs that do not wait for each other.
//!
//! A trial is proposed by what the generations before it have found, never by what others of its own have. So the same trials come of a search however many processes
//! share it, and in whatever order they finish.

use serde::Serialize;

use super::halving::SEEDS;
use super::trials::rank;
use super::{ANEW, PARENTS, Search, Trial};
use crate::error::Result;

/// Trials of the first round that are proposed together.
pub const GENERATION: usize = 8;

/// A run of a trial that a generation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    /// Where the trial stands in the list.
    pub(super) trial: usize,
    /// Which of its seeds, from zero.
    pub(super) seed: usize,
}

/// A run of a search, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchRun {
    /// Its number within its generation, which decides the part that it belongs to.
    pub number: usize,
    /// The trial.
    pub trial: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Whether it is there.
    pub finished: bool,
}

/// How far a search is.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The round of halving.
    round: usize,
    /// Trials so far; within a round in the order of their numbers, and between rounds the best first.
    pub(super) trials: Vec<Trial>,
}

impl Progress {
    /// The runs of the next generation, all of whose trials are in the list; none where the search is over. All runs that were handed out before have been made.
    pub(super) fn next(&mut self, search: &Search<'_>) -> Result<Option<Vec<Job>>> {
        if self.round == 0 {
            let (first, wanted) = (self.trials.len(), search.rounds[0]);
            if first < wanted {
                let before = self.trials.clone();
                for number in first..wanted.min(first + GENERATION) {
                    self.trials.push(search.propose(number, &before)?);
                }
                return Ok(Some((first..self.trials.len()).map(|trial| Job { trial, seed: 0 }).collect()));
            }
        }
        loop {
            rank(&mut self.trials, search.metric());
            self.round += 1;
            let Some(&kept) = search.rounds.get(self.round) else { return Ok(None) };
            let jobs = |(at, trial): (usize, &Trial)| {
                let missing = if trial.failed.is_some() { 0..0 } else { trial.found.len()..SEEDS[self.round] };
                missing.map(move |seed| Job { trial: at, seed })
            };
            let jobs: Vec<Job> = self.trials.iter().enumerate().take(kept).flat_map(jobs).collect();
            if !jobs.is_empty() {
                return Ok(Some(jobs));
            }
        }
    }
}

impl Search<'_> {
    /// A trial of the first round: the settings that were given, then changes of the best of the generations before, and now and then something else. The first
    /// generation changes what was given.
    fn propose(&self, number: usize, before: &[Trial]) -> Result<Trial> {
        let start = self.space.start();
        let (settings, choices) = if number == 0 {
            start
        } else {
            let mut ranked = before.to_vec();
            rank(&mut ranked, self.metric());
            let best: Vec<&Trial> = ranked.iter().filter(|trial| trial.failed.is_none()).take(PARENTS).collect();
            let parent = match best.get(number % best.len().max(1)) {
                _ if number.is_multiple_of(ANEW) => None,
                None if before.is_empty() => Some(start.1.as_slice()),
                best => best.map(|trial| trial.choices.as_slice()),
            };
            self.space.trial(self.seed, number as u64, parent)?
        };
        Ok(Trial { number, settings, choices, found: Vec::new(), failed: None })
    }
}
