//! The supervised encoder, scored by its own predictions, split by split in folders that are found again.

use std::fs;
use std::path::Path;

use fiedler_evaluate::{EvaluationSettings, ProtocolPreset, SplitScore};
use fiedler_graph::Split;
use fiedler_io::AtomicFiles;
use fiedler_learn::run::RunResult;
use serde::{Deserialize, Serialize};

use super::run_score::ScoreRecord;
use crate::error::Result;
use crate::task::Task;

const FILE: &str = "answers.json";

/// The splits of a run with what has been found on them.
pub struct SupervisedScores<'a> {
    scores: fiedler_evaluate::SupervisedScores<'a>,
    found: Vec<Finished>,
    labels: &'a str,
}

/// What came of one split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finished {
    labels: String,
    score: SplitScore,
    seconds: f64,
}

impl<'a> SupervisedScores<'a> {
    pub fn new(
        data: &'a Task,
        preset: ProtocolPreset,
        evaluation: &EvaluationSettings,
    ) -> Result<SupervisedScores<'a>> {
        let scores = fiedler_evaluate::SupervisedScores::new(data.target()?, preset.protocol(), evaluation.seed)?
            .with_bootstrap(evaluation.bootstrap, evaluation.seed);
        Ok(SupervisedScores { scores, found: Vec::new(), labels: data.labels_fingerprint() })
    }

    pub fn splits(&self) -> &[Split] {
        self.scores.splits()
    }

    /// What an earlier attempt left in a split's folder, if it is still true.
    pub fn read(&self, folder: &Path, split: &Split) -> Option<Finished> {
        let finished: Finished = serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()?;
        (finished.labels == self.labels && finished.score.fingerprint == split.fingerprint()).then_some(finished)
    }

    pub fn write(&self, folder: &Path, finished: &Finished) -> Result<()> {
        let mut files = AtomicFiles::new(true);
        files.write(&folder.join(FILE), |file| Ok(serde_json::to_writer_pretty(file, finished)?))?;
        files.finish()?;
        Ok(())
    }

    pub fn score(&self, split: &Split, result: &RunResult) -> Result<Finished> {
        let score = self.scores.score(split, &result.embeddings.to_dense()?)?;
        Ok(Finished { labels: self.labels.to_owned(), score, seconds: result.history.seconds })
    }

    pub fn add(&mut self, finished: Finished) {
        self.found.push(finished);
    }

    /// The score of all splits.
    pub fn record(self, preset: ProtocolPreset, evaluation: EvaluationSettings) -> Result<ScoreRecord> {
        let seconds = self.found.iter().map(|finished| finished.seconds).sum();
        let score = self.scores.gather(self.found.into_iter().map(|finished| finished.score).collect())?;
        Ok(ScoreRecord { protocol: preset, evaluation, labels: self.labels.to_owned(), seconds, score })
    }
}
