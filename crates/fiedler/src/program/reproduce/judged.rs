//! The score that a run leaves in its folder, with all that it depends on.

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_evaluate::{Metric, Score, Settings};
use fiedler_graph::write::Targets;
use serde::{Deserialize, Serialize};

use super::workshop::Done;
use crate::program::failure::Failure;
use crate::program::ledger::Ledger;

/// What `score-LEDGER.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Judged {
    pub ledger: Ledger,
    pub evaluation: Settings,
    /// Fingerprint of the labels.
    pub labels: String,
    /// Time that learning and judging took.
    pub seconds: f64,
    pub score: Score,
}

impl Judged {
    /// The score in a folder, if there is one that was made as wanted.
    pub fn read(folder: &Path, ledger: Ledger, wanted: &Settings, labels: &str) -> Option<Judged> {
        let text = fs::read_to_string(path(folder, ledger, wanted.metric)).ok()?;
        let judged: Judged = serde_json::from_str(&text).ok()?;
        (judged.evaluation == *wanted && judged.labels == labels).then_some(judged)
    }

    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let mut targets = Targets::new(true);
        let path = path(folder, self.ledger, self.evaluation.metric);
        targets.write(&path, |file| Ok(serde_json::to_writer_pretty(file, self)?))?;
        targets.finish()?;
        Ok(())
    }

    /// The figure for a table: shares are told in per cent.
    pub fn done(&self) -> Done {
        let scale = if self.score.metric == Metric::Rmse { 1.0 } else { 100.0 };
        Done { value: scale * self.score.mean, seconds: self.seconds }
    }
}

fn path(folder: &Path, ledger: Ledger, metric: Option<Metric>) -> PathBuf {
    let metric = metric.map_or(String::new(), |metric| format!("-{metric}"));
    folder.join(format!("score-{}{metric}.json", ledger.name()))
}
