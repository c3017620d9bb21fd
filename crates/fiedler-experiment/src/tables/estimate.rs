//! How long runs will take: from those that are finished, else from a few epochs.

use std::collections::BTreeMap;

use fiedler_learn::Supervision;
use fiedler_learn::method::MethodSettings;

use super::cell::{Cell, Measure};
use crate::error::Result;
use crate::run::timing::epoch_seconds;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;

/// Seconds that a run takes, cell by cell.
#[derive(Debug, Default)]
pub struct Estimate {
    /// Sum and number of what was measured.
    measured: BTreeMap<usize, (f64, usize)>,
    guessed: BTreeMap<usize, f64>,
    /// Seconds for an epoch of cells that are alike.
    timed: BTreeMap<String, f64>,
}

impl Estimate {
    pub fn measure(&mut self, cell: usize, seconds: f64) {
        let (sum, count) = self.measured.entry(cell).or_default();
        *sum += seconds;
        *count += 1;
    }

    /// Times a few epochs of a cell that nothing is known of. What fails here will fail, and be told, when it is made.
    pub fn guess(&mut self, at: usize, cell: &Cell, data: &Task, preset: ProtocolPreset) {
        let is_timed = matches!(cell.measure, Measure::Score(_) | Measure::TrainingSeconds { .. });
        if self.measured.contains_key(&at) || !is_timed || cell.settings.method.as_any().untrained().is_none() {
            return;
        }
        // Schemes make no difference to how long an epoch takes, or little.
        let alike = short_hash(&(&data.name, &cell.settings.method, &cell.settings.features));
        let timed = self.timed.entry(alike).or_insert_with(|| seconds(cell, data, preset).unwrap_or(0.0));
        self.guessed.insert(at, *timed * cell.settings.training.epochs as f64);
    }

    /// Seconds for one run of a cell.
    pub fn of(&self, cell: usize) -> f64 {
        match self.measured.get(&cell) {
            Some((sum, count)) => sum / *count as f64,
            None => self.guessed.get(&cell).copied().unwrap_or(0.0),
        }
    }
}

/// Seconds for one epoch, on every split where each is trained on.
fn seconds(cell: &Cell, data: &Task, preset: ProtocolPreset) -> Result<f64> {
    let splits = preset.protocol().splits(data.target()?, 0)?;
    let labels = &data.target()?.labels;
    let supervision = splits.first().map(|split| Supervision { labels, split });
    let repeated = if matches!(cell.settings.method, MethodSettings::Supervised(_)) { splits.len() } else { 1 };
    Ok(epoch_seconds(&cell.settings, &data.dataset, supervision)? * repeated as f64)
}
