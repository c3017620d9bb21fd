//! The evaluation itself: every split of a protocol, one probe each.

mod chosen;
mod reference;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fiedler_graph::{Dense, Labels, Split};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::preparation::Preparation;
use crate::probe::{AdamSettings, LogisticSettings};
use crate::protocol::Protocol;
use crate::score::{Score, SplitScore, mean_and_deviation};
use crate::target::Target;

/// The weights that the paper chooses from.
pub const WEIGHTS: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];

/// How embeddings are judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which divisions are used; without it, what the field does with such data.
    pub protocol: Option<Protocol>,
    /// What is measured; without it, what the field reports for such labels.
    pub metric: Option<Metric>,
    /// Weights to choose from: scikit-learn's `C` (the inverse of the penalty's weight) in logistic regression, its `alpha` (the
    /// penalty's weight) in ridge regression. The reference protocol has its own.
    pub weights: Vec<f64>,
    /// What is done to embeddings first. The reference protocol does nothing.
    pub preparation: Preparation,
    /// When logistic regression stops.
    pub logistic: LogisticSettings,
    /// How the reference protocol's probe is trained.
    pub reference: AdamSettings,
    /// Seed of random splits.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            protocol: None,
            metric: None,
            weights: WEIGHTS.to_vec(),
            preparation: Preparation::default(),
            logistic: LogisticSettings::default(),
            reference: AdamSettings::default(),
            seed: 0,
        }
    }
}

impl Settings {
    fn check(&self) -> Result<()> {
        if self.weights.is_empty() {
            return Err(Error::setting("number of weights", 0, "at least one to choose from"));
        }
        if let Some(weight) = self.weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
            return Err(Error::setting("weight", weight, "a positive number"));
        }
        if self.logistic.tolerance.is_nan() || self.logistic.tolerance < 0.0 {
            return Err(Error::setting("tolerance", self.logistic.tolerance, "a number that is not negative"));
        }
        if self.reference.look_every == 0 || self.reference.steps < self.reference.look_every {
            let found = format!("{} in {} steps", self.reference.look_every, self.reference.steps);
            return Err(Error::setting("steps between looks", found, "at least 1, and at most the number of steps"));
        }
        Ok(())
    }
}

/// How far an evaluation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Splits that are done.
    pub done: usize,
    /// Splits there are.
    pub of: usize,
}

/// What every split is judged with.
struct Case<'a> {
    embeddings: &'a Dense,
    labels: &'a Labels,
    metric: Metric,
    graphs: bool,
    settings: &'a Settings,
}

/// Judges embeddings by how well a simple probe predicts labels from them.
///
/// Row k of the embeddings belongs to label k. Every split is a case of its own: what is done to embeddings is learnt from its training
/// part, the probe's weight is chosen on its validation part, and its test part is looked at once. Where a split has no validation
/// part, a tenth of the training part is held out to choose on, and the probe then learns from all of it.
///
/// `watch` hears of every finished split, from any thread, and can stop the evaluation by answering `false`.
///
/// ```
/// use fiedler_evaluate::{Settings, Target, evaluate};
/// use fiedler_graph::generate;
///
/// let dataset = generate::citation(0);
/// let features = dataset.features.as_ref().expect("features").to_dense();
/// let score = evaluate(&features, &Target::of(&dataset)?, &Settings::default(), &|_| true)?;
/// assert!(score.mean > 0.3 && score.splits.len() == 1);
/// # Ok::<(), fiedler_evaluate::Error>(())
/// ```
///
/// # Errors
/// When settings are out of range, embeddings and labels do not fit, or the metric has no meaning on a part of a split.
pub fn evaluate(
    embeddings: &Dense,
    target: &Target,
    settings: &Settings,
    watch: &(dyn Fn(Stage) -> bool + Sync),
) -> Result<Score> {
    settings.check()?;
    check_rows(embeddings, target)?;
    let metric = settings.metric.unwrap_or_else(|| Metric::usual(&target.labels));
    metric.check(&target.labels)?;
    let protocol = settings.protocol.unwrap_or_else(|| Protocol::usual(target));
    if protocol == Protocol::Reference && target.labels.classes().is_none() {
        return Err(Error::setting("protocol", protocol, "another one, since labels are not classes"));
    }
    let splits = protocol.splits(target, settings.seed)?;
    let case = Case { embeddings, labels: &target.labels, metric, graphs: target.graphs, settings };
    let judge = |(index, split): (usize, &Split)| match protocol {
        Protocol::Reference => reference::judge(&case, split),
        _ => chosen::judge(&case, split, index as u64),
    };
    let scores = each(&splits, judge, watch)?;
    let values: Vec<f64> = scores.iter().map(|score| score.value).collect();
    let (mean, std) = mean_and_deviation(&values);
    let held_out = splits.iter().any(|split| split.valid.is_empty());
    let probe = match protocol {
        Protocol::Reference => reference::describe(&case),
        _ => chosen::describe(&case, held_out),
    };
    Ok(Score {
        metric,
        mean,
        std,
        protocol: protocol.name().into(),
        description: format!("{}; {probe}", protocol.describe(target)),
        rows: embeddings.rows(),
        columns: embeddings.columns(),
        splits: scores,
        notes: notes(target),
    })
}

/// Judges as many splits at a time as there are threads, so that no more are held in memory.
fn each(
    splits: &[Split],
    judge: impl Fn((usize, &Split)) -> Result<SplitScore> + Sync,
    watch: &(dyn Fn(Stage) -> bool + Sync),
) -> Result<Vec<SplitScore>> {
    let (done, stopped) = (AtomicUsize::new(0), AtomicBool::new(!watch(Stage { done: 0, of: splits.len() })));
    let judge = |split| {
        if stopped.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let score = judge(split)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if !watch(Stage { done, of: splits.len() }) && done < splits.len() {
            stopped.store(true, Ordering::Relaxed);
        }
        Ok(score)
    };
    let numbered: Vec<(usize, &Split)> = splits.iter().enumerate().collect();
    let mut scores = Vec::with_capacity(splits.len());
    for some in numbered.chunks(rayon::current_num_threads().max(1)) {
        let judged: Vec<Result<SplitScore>> = some.par_iter().map(|&split| judge(split)).collect();
        for score in judged {
            scores.push(score?);
        }
    }
    Ok(scores)
}

fn check_rows(embeddings: &Dense, target: &Target) -> Result<()> {
    let (rows, labels) = (embeddings.rows(), target.labels.len());
    if rows != labels {
        let problem = format!("there are {rows} embeddings for {labels} {}s", target.items());
        return Err(Error::data(problem).advise(format!("give one row of embeddings for each {}", target.items())));
    }
    if embeddings.columns() == 0 {
        return Err(Error::data("embeddings have no columns"));
    }
    match embeddings.values().iter().position(|value| !value.is_finite()) {
        Some(at) => {
            let row = at / embeddings.columns();
            Err(Error::data(format!(
                "embedding {row} has a value that is no finite number: {}",
                embeddings.values()[at]
            )))
        }
        None => Ok(()),
    }
}

fn notes(target: &Target) -> Vec<String> {
    let without = target.labels.len() - target.labelled().len();
    let left_out = || format!("{without} {}s have no label and were left out", target.items());
    (without > 0).then(left_out).into_iter().collect()
}

/// The place of the best value; the first of equals. `None` where none has meaning.
fn best(metric: Metric, values: &[Option<f64>]) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (at, value) in values.iter().enumerate() {
        if let Some(value) = value
            && best.is_none_or(|(_, than)| metric.is_better(*value, than))
        {
            best = Some((at, *value));
        }
    }
    best
}

/// The metric has no meaning on a part of a split.
fn meaningless(metric: Metric, part: &str, split: &Split) -> Error {
    let problem = format!("{metric} cannot be told on the {part} part of split {}", split.name);
    Error::data(problem).advise("it has too few labels of more than one kind; choose another metric or protocol")
}
