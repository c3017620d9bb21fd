//! How long training will take, from a few epochs of it.

use std::time::Instant;

use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_graph::Dataset;
use fiedler_learn::Supervision;
use fiedler_learn::run::{Run, Settings};

use crate::error::Result;

/// Epochs that are timed.
const TIMED: usize = 2;

/// Seconds that an epoch takes. The scheme is another than it will be: edges that go at random make views of much the same size, and
/// need not be computed.
pub(crate) fn epoch_seconds(
    settings: &Settings,
    dataset: &Dataset,
    supervision: Option<Supervision<'_>>,
) -> Result<f64> {
    let mut settings = settings.clone();
    settings.training.epochs = TIMED;
    settings.training.patience = None;
    let rates = Rates::removing(0.2);
    settings.scheme = Some(fiedler_augment::SchemeSettings::Uniform(Uniform { first: rates, second: rates }));
    settings.views = None;
    let started = Instant::now();
    Run { supervision, ..Run::new(&settings, dataset) }.fit()?;
    Ok(started.elapsed().as_secs_f64() / TIMED as f64)
}

/// Nodes from which on it is worth timing a few epochs before all of them.
const WORTH_TIMING: usize = 5_000;

/// How long training will take, in words, where that is long enough to be told: from a few epochs of it.
pub(crate) fn expected_training(settings: &Settings, dataset: &Dataset) -> Option<String> {
    let method = settings.method.as_any();
    if dataset.graphs.num_nodes() < WORTH_TIMING
        || settings.training.epochs < 10 * TIMED
        || method.untrained().is_none()
    {
        return None;
    }
    // What fails here will fail, and be told, when it is done in earnest.
    let seconds = epoch_seconds(settings, dataset, None).ok()? * settings.training.epochs as f64;
    (seconds > 20.0).then(|| in_words(seconds))
}

/// A time as people say it: its largest unit, rounded.
pub(crate) fn in_words(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second")];
    // The next smaller unit serves until there are two of one: 90 minutes rather than an hour or two.
    let fits = |&&(length, _): &&(f64, &str)| seconds >= 1.5 * length;
    let (length, unit) = UNITS.iter().find(fits).copied().unwrap_or((1.0, "second"));
    let count = (seconds / length).round().max(1.0);
    format!("{count} {unit}{}", if count == 1.0 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn times_are_said_as_people_say_them() {
        let cases = [(0.2, "1 second"), (59.0, "59 seconds"), (90.0, "2 minutes"), (80.0, "80 seconds")];
        for (seconds, words) in cases.into_iter().chain([(5_000.0, "83 minutes"), (7_200.0, "2 hours")]) {
            assert_eq!(in_words(seconds), words);
        }
    }
}
