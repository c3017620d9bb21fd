//! How long runs will take: from those that are finished, else from a few epochs.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_learn::data::Supervision;
use fiedler_learn::run::{Run, Settings};
use indicatif::HumanDuration;

use super::cell::{Cell, Measure};
use super::data::Data;
use super::ledger::Ledger;
use crate::program::failure::Failure;

/// Epochs that are timed.
const TIMED: usize = 2;

/// Seconds that a run takes, cell by cell.
#[derive(Debug, Default)]
pub struct Estimate {
    /// Sum and number of what was measured.
    measured: BTreeMap<usize, (f64, usize)>,
    guessed: BTreeMap<usize, f64>,
}

impl Estimate {
    pub fn measure(&mut self, cell: usize, seconds: f64) {
        let (sum, count) = self.measured.entry(cell).or_default();
        *sum += seconds;
        *count += 1;
    }

    /// Times a few epochs of a cell that nothing is known of.
    pub fn guess(&mut self, at: usize, cell: &Cell, data: &Data, ledger: Ledger) -> Result<(), Failure> {
        if self.measured.contains_key(&at) {
            return Ok(());
        }
        let seconds = match cell.measure {
            Measure::Score(_) if cell.settings.method.is_trained() => seconds(cell, data, ledger)?,
            _ => 0.0,
        };
        self.guessed.insert(at, seconds);
        Ok(())
    }

    /// Seconds for one run of a cell.
    pub fn of(&self, cell: usize) -> f64 {
        match self.measured.get(&cell) {
            Some((sum, count)) => sum / *count as f64,
            None => self.guessed.get(&cell).copied().unwrap_or(0.0),
        }
    }
}

/// Training as it will be, but for the scheme: edges that go at random make views of much the same size at once.
fn seconds(cell: &Cell, data: &Data, ledger: Ledger) -> Result<f64, Failure> {
    let mut settings = Settings { seed: 0, ..cell.settings.clone() };
    let epochs = std::mem::replace(&mut settings.training.epochs, TIMED);
    settings.training.patience = None;
    let rates = Rates::removing(0.2);
    settings.scheme.0 = fiedler_augment::Settings::Uniform(Uniform { first: rates, second: rates });
    let scheme = settings.scheme.0.compute(&data.dataset.graphs, &|_| true)?;
    let splits = ledger.protocol().splits(&data.target, 0)?;
    let supervision = match (data.target.labels.classes(), splits.first()) {
        (Some(classes), Some(split)) => Some(Supervision { classes, split }),
        _ => None,
    };
    let repeated = if settings.method.learns_from_labels() { splits.len() } else { 1 };
    let started = Instant::now();
    Run { supervision, ..Run::new(&settings, &data.dataset, Some(&scheme)) }.run()?;
    Ok(started.elapsed().as_secs_f64() / TIMED as f64 * epochs as f64 * repeated as f64)
}

/// A time as people say it.
pub fn in_words(seconds: f64) -> String {
    HumanDuration(Duration::from_secs_f64(seconds.max(1.0))).to_string()
}
