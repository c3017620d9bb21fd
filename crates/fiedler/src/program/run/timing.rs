//! How long training will take, from a few epochs of it.

use std::time::{Duration, Instant};

use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_graph::Dataset;
use fiedler_learn::data::Supervision;
use fiedler_learn::run::{Run, Settings};
use indicatif::HumanDuration;

use crate::program::failure::Failure;

/// Epochs that are timed.
const TIMED: usize = 2;

/// Seconds that an epoch takes. The scheme is another than it will be: edges that go at random make views of much the same size, and
/// need not be computed.
pub fn epoch_seconds(
    settings: &Settings,
    dataset: &Dataset,
    supervision: Option<Supervision<'_>>,
) -> Result<f64, Failure> {
    let mut settings = settings.clone();
    settings.training.epochs = TIMED;
    settings.training.patience = None;
    let rates = Rates::removing(0.2);
    settings.scheme.0 = fiedler_augment::Settings::Uniform(Uniform { first: rates, second: rates });
    let scheme = settings.scheme.0.compute(&dataset.graphs, &|_| true)?;
    let started = Instant::now();
    Run { supervision, ..Run::new(&settings, dataset, Some(&scheme)) }.run()?;
    Ok(started.elapsed().as_secs_f64() / TIMED as f64)
}

/// A time as people say it.
pub fn in_words(seconds: f64) -> String {
    HumanDuration(Duration::from_secs_f64(seconds.max(1.0))).to_string()
}
