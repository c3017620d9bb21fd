//! How long training will take, from a few epochs of it; and how many epochs fit into a time.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_graph::{Dataset, Event};
use fiedler_learn::method::MethodSettings;
use fiedler_learn::run::{Fitting, Run, Settings};
use fiedler_learn::trainer::{STAGE, Schedule};
use fiedler_learn::{EmbeddingSettings, Supervision};
use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// Epochs that are timed: the first one makes what the others find, and does not count.
const TIMED: usize = 4;

/// The time that training was allowed to take, and the epochs that it was given for that.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeLimit {
    /// Seconds that training may take.
    pub seconds: f64,
    /// Seconds that an epoch took when it was timed.
    pub epoch_seconds: f64,
    /// Epochs that the settings asked for.
    pub wanted_epochs: usize,
    /// Epochs that fit into the time.
    pub epochs: usize,
}

/// What timing a few epochs tells.
struct EpochTiming {
    /// Seconds before the second epoch: what is loaded once, and the first one.
    first: f64,
    /// Seconds of each epoch after it.
    each: f64,
}

/// Times a few epochs. The scheme is another than it will be: edges that go at random make views of much the same size, and need not be
/// computed.
fn time_epochs(settings: &Settings, dataset: &Dataset, supervision: Option<Supervision<'_>>) -> Result<EpochTiming> {
    let mut settings = settings.clone();
    settings.training.epochs = TIMED;
    settings.training.patience = None;
    // How long an epoch takes does not depend on the weights that it starts from.
    if let MethodSettings::Supervised(method) = &mut settings.method {
        method.start = None;
    }
    settings.training.schedule = Schedule::Constant;
    // A trained part of a few epochs may well tell nothing apart.
    settings.training.min_relative_std = 0.0;
    settings.training.checkpoint_every = TIMED;
    let rates = Rates::removing(0.2);
    settings.scheme = Some(fiedler_augment::SchemeSettings::Uniform(Uniform { first: rates, second: rates }));
    settings.views = None;
    settings.embedding = EmbeddingSettings::default();
    let checked = Run { supervision, ..Run::new(&settings, dataset) }.check()?;
    let started = Instant::now();
    let ends: Mutex<Vec<f64>> = Mutex::new(Vec::new());
    let observer = |event: &Event<'_>| {
        if let Event::Progress { stage: STAGE, value: Some(_), .. } = event {
            ends.lock().unwrap_or_else(PoisonError::into_inner).push(started.elapsed().as_secs_f64());
        }
        ControlFlow::Continue(())
    };
    let mut schemes = ComputeSchemes::new(&dataset.graphs, &observer);
    checked.fit(Fitting { schemes: &mut schemes, checkpoint: None, observer: &observer })?;
    let all = started.elapsed().as_secs_f64();
    let ends = ends.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(match ends.as_slice() {
        // The last one is told after its embedding, which is made with checkpoints only.
        [first, between @ .., _] if !between.is_empty() => {
            EpochTiming { first: *first, each: (between[between.len() - 1] - first) / between.len() as f64 }
        }
        _ => EpochTiming { first: all, each: all / TIMED as f64 },
    })
}

/// Seconds that an epoch takes.
pub(crate) fn epoch_seconds(
    settings: &Settings,
    dataset: &Dataset,
    supervision: Option<Supervision<'_>>,
) -> Result<f64> {
    Ok(time_epochs(settings, dataset, supervision)?.each)
}

/// Refuses to bound what is not trained.
pub(super) fn not_trained(settings: &Settings) -> Error {
    let message = format!("the method {} is not trained, so that there is no time to bound", settings.method.name());
    Error::new(ErrorKind::Usage, message, "leave --time out, or choose another method".to_owned())
}

/// Gives the settings as many epochs as fit into the time, after a few have been timed; never more than they ask for, and at least one.
/// The result of a run then depends on that number alone, which stands in its settings.
pub(super) fn fit_epochs(
    settings: &mut Settings,
    dataset: &Dataset,
    supervision: Option<Supervision<'_>>,
    allowed: Duration,
) -> Result<TimeLimit> {
    let started = Instant::now();
    let EpochTiming { first, each } = time_epochs(settings, dataset, supervision)?;
    let seconds = allowed.as_secs_f64();
    let left = seconds - started.elapsed().as_secs_f64() - (first - each).max(0.0);
    let wanted = settings.training.epochs;
    let epochs = ((left / each.max(1e-9)).max(0.0) as usize).clamp(1, wanted.max(1)).min(wanted);
    if let Schedule::Cosine { warmup, .. } = &mut settings.training.schedule
        && wanted > 0
    {
        // The same share of training as before.
        *warmup = *warmup * epochs / wanted;
    }
    settings.training.epochs = epochs;
    Ok(TimeLimit { seconds, epoch_seconds: each, wanted_epochs: wanted, epochs })
}

impl TimeLimit {
    /// In words.
    pub fn in_words(&self) -> String {
        let time = in_words(self.seconds);
        match self.epochs < self.wanted_epochs {
            true => format!("{} of {} epochs, which is what {time} allow", self.epochs, self.wanted_epochs),
            false => format!("all {} epochs fit into {time}", self.epochs),
        }
    }
}

/// Nodes from which on it is worth timing a few epochs before all of them.
const WORTH_TIMING: usize = 5_000;

/// How long training will take, in words, where that is long enough to be told: from a few epochs of it.
pub(super) fn expected_training(
    settings: &Settings,
    dataset: &Dataset,
    supervision: Option<Supervision<'_>>,
    timed: Option<&TimeLimit>,
) -> Option<String> {
    let epochs = settings.training.epochs;
    let worth_timing = dataset.graphs.num_nodes() >= WORTH_TIMING && epochs >= 5 * TIMED;
    let seconds = match timed {
        Some(timed) => timed.epoch_seconds,
        // What fails here will fail, and be told, when it is done in earnest.
        None if worth_timing => epoch_seconds(settings, dataset, supervision).ok()?,
        None => return None,
    };
    let seconds = seconds * epochs as f64;
    (seconds > 20.0).then(|| format!("{} of training", in_words(seconds)))
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
