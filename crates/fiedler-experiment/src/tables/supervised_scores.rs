//! The supervised encoder, scored by the classes that it gives itself on the test part.

use std::fs;
use std::path::Path;

use fiedler_evaluate::{Metric, Preparation, Score, Settings, SplitScore, mean_and_deviation};
use fiedler_graph::write::Targets;
use fiedler_graph::{Classes, Split};
use fiedler_learn::run::Outcome;
use serde::{Deserialize, Serialize};

use super::run_score::ScoreRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::preset::ProtocolPreset;
use crate::quick_probe::accuracy;
use crate::task::Task;

/// Where a split has no part to choose on, one in so many of what is learnt from says when to stop.
const SET_ASIDE: usize = 10;
const FILE: &str = "answers.json";

/// The splits of a run with what has been found on them.
pub struct SupervisedScores<'a> {
    classes: &'a Classes,
    splits: Vec<Split>,
    found: Vec<Finished>,
    labels: &'a str,
    description: String,
    items: usize,
}

/// What came of one split.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finished {
    labels: String,
    score: SplitScore,
    seconds: f64,
}

impl<'a> SupervisedScores<'a> {
    pub fn new(data: &'a Task, preset: ProtocolPreset, evaluation: &Settings) -> Result<SupervisedScores<'a>> {
        let Some(classes) = data.target()?.labels.classes() else {
            let message = format!("{} has no classes to learn from", data.title);
            return Err(Error::new(ErrorKind::Data, message, "leave the supervised row out".to_owned()));
        };
        let mut splits = preset.protocol().splits(data.target()?, evaluation.seed)?;
        splits.iter_mut().for_each(set_aside);
        let description = preset.protocol().describe(data.target()?) + "; the answers of the encoder itself";
        let (labels, items) = (data.labels_fingerprint(), data.target()?.labels.len());
        Ok(SupervisedScores { classes, splits, found: Vec::new(), labels, description, items })
    }

    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    pub fn classes(&self) -> &'a Classes {
        self.classes
    }

    /// What an earlier attempt left in a split's folder, if it is still true.
    pub fn read(&self, folder: &Path, split: &Split) -> Option<Finished> {
        let finished: Finished = serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()?;
        (finished.labels == self.labels && finished.score.fingerprint == split.fingerprint()).then_some(finished)
    }

    pub fn write(&self, folder: &Path, finished: &Finished) -> Result<()> {
        let mut targets = Targets::new(true);
        targets.write(&folder.join(FILE), |file| Ok(serde_json::to_writer_pretty(file, finished)?))?;
        targets.finish()?;
        Ok(())
    }

    pub fn score(&self, split: &Split, outcome: &Outcome) -> Finished {
        let share = |items: &[u32]| accuracy(self.classes, items, &outcome.embeddings);
        let score = SplitScore {
            name: split.name.clone(),
            value: share(&split.test),
            validation: share(&split.validation),
            weight: 0.0,
            preparation: Preparation::AsIs,
            train_items: split.train.len(),
            validation_items: split.validation.len(),
            test_items: split.test.len(),
            fingerprint: split.fingerprint(),
        };
        Finished { labels: self.labels.to_owned(), score, seconds: outcome.history.seconds }
    }

    pub fn add(&mut self, finished: Finished) {
        self.found.push(finished);
    }

    /// The score of all splits.
    pub fn record(self, preset: ProtocolPreset, evaluation: Settings) -> ScoreRecord {
        let splits: Vec<SplitScore> = self.found.iter().map(|finished| finished.score.clone()).collect();
        let (mean, std) = mean_and_deviation(&splits.iter().map(|split| split.value).collect::<Vec<_>>());
        let score = Score {
            metric: Metric::Accuracy,
            mean,
            std,
            protocol: preset.protocol().name().into(),
            description: self.description,
            rows: self.items,
            columns: self.classes.count(),
            splits,
            notes: Vec::new(),
        };
        let seconds = self.found.iter().map(|finished| finished.seconds).sum();
        ScoreRecord { protocol: preset, evaluation, labels: self.labels.to_owned(), seconds, score }
    }
}

fn set_aside(split: &mut Split) {
    if !split.validation.is_empty() {
        return;
    }
    let every = |place: usize| place % SET_ASIDE == SET_ASIDE - 1;
    let parts = |wanted: bool| {
        let of = split.train.iter().enumerate().filter(move |(place, _)| every(*place) == wanted);
        of.map(|(_, &item)| item).collect::<Vec<u32>>()
    };
    (split.validation, split.train) = (parts(true), parts(false));
}
