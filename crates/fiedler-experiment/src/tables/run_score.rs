//! The score that a run leaves in its folder, with all that it depends on.

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_evaluate::{EvaluationSettings, Metric, Score, SplitScore};
use fiedler_io::AtomicFiles;
use serde::{Deserialize, Serialize};

use super::table::mean_interval;
use crate::error::Result;
use fiedler_evaluate::ProtocolPreset;

/// What came of a run.
#[derive(Debug, Clone)]
pub struct RunScore {
    pub value: f64,
    /// The values that it is the mean of, where every split counts by itself.
    pub splits: Vec<f64>,
    /// The values of all splits, where only their mean counts.
    pub folds: Vec<f64>,
    /// The ends of its interval by the bootstrap over test items, where that was asked for.
    pub interval: Option<[f64; 2]>,
    /// Time that learning and evaluating took.
    pub seconds: f64,
}

impl RunScore {
    /// Something that is looked up.
    pub fn instant(value: f64) -> RunScore {
        RunScore::timed(value, 0.0)
    }

    /// Something that took its time.
    pub fn timed(value: f64, seconds: f64) -> RunScore {
        RunScore { value, splits: Vec::new(), folds: Vec::new(), interval: None, seconds }
    }
}

/// What `score-PROTOCOL.json` holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScoreRecord {
    #[serde(alias = "ledger")]
    pub protocol: ProtocolPreset,
    pub evaluation: EvaluationSettings,
    /// Fingerprint of the labels.
    pub labels: String,
    /// Time that learning and evaluating took.
    pub seconds: f64,
    pub score: Score,
}

impl ScoreRecord {
    /// The score in a folder, if there is one that was made as wanted.
    pub fn read(
        folder: &Path,
        preset: ProtocolPreset,
        wanted: &EvaluationSettings,
        labels: &str,
    ) -> Option<ScoreRecord> {
        let text = fs::read_to_string(path(folder, preset, wanted.metric)).ok()?;
        let record: ScoreRecord = serde_json::from_str(&text).ok()?;
        (record.evaluation == *wanted && record.labels == labels).then_some(record)
    }

    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut targets = AtomicFiles::new(true);
        let path = path(folder, self.protocol, self.evaluation.metric);
        targets.write(&path, |file| Ok(serde_json::to_writer_pretty(file, self)?))?;
        targets.finish()?;
        Ok(())
    }

    /// The figure for a table: shares are told in per cent.
    pub fn score(&self) -> RunScore {
        let scale = if self.score.metric == Metric::Rmse { 1.0 } else { 100.0 };
        let values = self.score.values().into_iter().map(|value| scale * value).collect();
        let (splits, folds) = if self.protocol.counts_splits() { (values, Vec::new()) } else { (Vec::new(), values) };
        let ends = |split: &SplitScore| split.interval.map(|interval| [scale * interval.low, scale * interval.high]);
        let intervals: Vec<[f64; 2]> = self.score.splits.iter().filter_map(ends).collect();
        RunScore {
            value: scale * self.score.mean,
            splits,
            folds,
            interval: mean_interval(&intervals),
            seconds: self.seconds,
        }
    }
}

fn path(folder: &Path, preset: ProtocolPreset, metric: Option<Metric>) -> PathBuf {
    let metric = metric.map_or(String::new(), |metric| format!("-{metric}"));
    folder.join(format!("score-{}{metric}.json", preset.name()))
}
