//! Trials and what came of them.

use std::fs;
use std::path::Path;

use fiedler_evaluate::{Metric, mean_and_deviation};
use fiedler_io::AtomicFiles;
use fiedler_learn::run::Settings;
use serde::{Deserialize, Serialize};

use super::space::Choice;
use crate::error::{Error, Result};

/// Settings that are tried.
#[derive(Debug, Clone)]
pub struct Trial {
    /// Its place in the order of trials.
    pub number: usize,
    /// Its settings.
    pub settings: Settings,
    /// What it has of each axis.
    pub choices: Vec<Choice>,
    /// What was found on the validation sets, seed by seed.
    pub found: Vec<TrialScore>,
    /// Why it led nowhere.
    pub failed: Option<String>,
}

/// What a run leaves in its folder as `valid.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TrialScore {
    /// What tells labels and split from others; labels of the test set do not count.
    pub judged_by: String,
    /// The metric on the validation set.
    pub validation: f64,
    /// Seconds for learning and scoring.
    pub seconds: f64,
}

const FILE: &str = "valid.json";

impl TrialScore {
    /// What an earlier search left, if it was judged alike.
    pub(super) fn read(folder: &Path, judged_by: &str) -> Option<TrialScore> {
        let found: TrialScore = serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()?;
        (found.judged_by == judged_by).then_some(found)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let mut targets = AtomicFiles::new(true);
        targets.write(&folder.join(FILE), |file| Ok(serde_json::to_writer_pretty(file, self)?))?;
        targets.finish()?;
        Ok(())
    }
}

/// What a run that led nowhere leaves in its folder as `failed.json`, so that no other process tries it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct FailedRun {
    /// As in [`TrialScore`].
    pub(super) judged_by: String,
    /// What went wrong.
    pub(super) why: String,
}

const FAILED: &str = "failed.json";

impl FailedRun {
    /// What an earlier search left, if it was judged alike.
    pub(super) fn read(folder: &Path, judged_by: &str) -> Option<FailedRun> {
        let found: FailedRun = serde_json::from_str(&fs::read_to_string(folder.join(FAILED)).ok()?).ok()?;
        (found.judged_by == judged_by).then_some(found)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut targets = AtomicFiles::new(true);
        targets.write(&folder.join(FAILED), |file| Ok(serde_json::to_writer_pretty(file, self)?))?;
        targets.finish()?;
        Ok(())
    }
}

impl Trial {
    /// Mean and deviation on the validation sets.
    pub fn valid(&self) -> Option<(f64, f64)> {
        let values: Vec<f64> = self.found.iter().map(|found| found.validation).collect();
        (self.failed.is_none() && !values.is_empty()).then(|| mean_and_deviation(&values))
    }

    /// Seconds for all seeds.
    pub fn seconds(&self) -> f64 {
        self.found.iter().map(|found| found.seconds).sum()
    }
}

/// The best first; what failed last. Trials that had more seeds were better before, and stand before those that had fewer.
pub(super) fn rank(trials: &mut [Trial], metric: Metric) {
    trials.sort_by(|one, other| {
        let key = |trial: &Trial| trial.valid().map(|(mean, _)| if metric.higher_is_better() { -mean } else { mean });
        other
            .found
            .len()
            .cmp(&one.found.len())
            .then_with(|| match (key(one), key(other)) {
                (Some(one), Some(other)) => one.total_cmp(&other),
                (one, other) => other.is_some().cmp(&one.is_some()),
            })
            .then(one.number.cmp(&other.number))
    });
}
