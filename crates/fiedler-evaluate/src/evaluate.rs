//! The evaluation itself: every split of a protocol, one probe each.

mod checks;
mod chosen;
mod describe;
mod lesson;
mod progress;
mod reference;

use fiedler_graph::{Dense, Labels, Split};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use progress::Stage;

use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::preparation::Preparation;
use crate::probe::{AdamSettings, LogisticSettings};
use crate::protocol::Protocol;
use crate::score::{Score, SplitScore, mean_and_deviation};
use crate::target::Target;
use lesson::{Chosen, Lesson, meaningless};
use progress::Progress;

/// The weights that the paper chooses from.
pub const WEIGHTS: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];

/// What may be done to embeddings: which one helps depends on how they were learnt.
pub const PREPARATIONS: [Preparation; 2] = [Preparation::Standardize, Preparation::UnitRows];

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
    /// Folds inside the training part to choose a weight by, where a split has no part to choose on.
    pub inner_folds: usize,
    /// What may be done to embeddings first, to choose from like weights. The reference protocol does nothing.
    pub preparations: Vec<Preparation>,
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
            inner_folds: 5,
            preparations: PREPARATIONS.to_vec(),
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
        if self.preparations.is_empty() {
            return Err(Error::setting("number of preparations", 0, "at least one to choose from"));
        }
        if self.inner_folds < 2 {
            return Err(Error::setting("number of inner folds", self.inner_folds, "at least 2"));
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

/// What every split is judged with.
struct Case<'a> {
    embeddings: &'a Dense,
    target: &'a Target,
    metric: Metric,
    protocol: Protocol,
    settings: &'a Settings,
    progress: Progress<'a>,
}

/// Judges embeddings by how well a simple probe predicts labels from them.
///
/// Row k of the embeddings belongs to label k. Every split is a case of its own: what is done to embeddings is learnt from its training
/// part, the probe's setting is chosen on its validation part, and its test part is looked at once: labels of the test part are taken away
/// before anything is chosen. Where a split has no validation part, the setting is chosen by cross-validation inside the training part,
/// and the probe then learns from all of it.
///
/// The result depends on embeddings, target and settings alone, not on the number of threads. `watch` hears of progress, from any
/// thread, and can stop the evaluation by answering `false`.
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
    checks::check(embeddings, target)?;
    let metric = settings.metric.unwrap_or_else(|| Metric::usual(&target.labels));
    metric.check(&target.labels)?;
    let protocol = settings.protocol.unwrap_or_else(|| Protocol::usual(target));
    if protocol == Protocol::Reference && target.labels.classes().is_none() {
        return Err(Error::setting("protocol", protocol, "another one, since labels are not classes"));
    }
    let splits = protocol.splits(target, settings.seed)?;
    checks::check_splits(protocol, &splits, target)?;
    let parts = if protocol == Protocol::Reference { reference::decays(target.graphs).len() } else { 1 };
    let progress = Progress::new(splits.len() * parts, watch);
    let scores = Case { embeddings, target, metric, protocol, settings, progress }.judge_all(&splits)?;
    let (mean, std) = mean_and_deviation(&scores.iter().map(|score| score.value).collect::<Vec<f64>>());
    let probe = describe::probe(protocol, &splits, target, metric, settings);
    Ok(Score {
        metric,
        mean,
        std,
        protocol: protocol.name().into(),
        description: format!("{}; {probe}", protocol.describe(target)),
        rows: embeddings.rows(),
        columns: embeddings.columns(),
        splits: scores,
        notes: checks::notes(protocol, &splits, target),
    })
}

impl Case<'_> {
    /// Judges as many splits at a time as there are threads, so that no more are held in memory.
    fn judge_all(&self, splits: &[Split]) -> Result<Vec<SplitScore>> {
        let numbered: Vec<(usize, &Split)> = splits.iter().enumerate().collect();
        let mut scores = Vec::with_capacity(splits.len());
        for some in numbered.chunks(rayon::current_num_threads().max(1)) {
            let judged: Vec<Result<SplitScore>> =
                some.par_iter().map(|&(index, split)| self.judge(split, index as u64)).collect();
            for score in judged {
                scores.push(score?);
            }
        }
        Ok(scores)
    }

    fn judge(&self, split: &Split, index: u64) -> Result<SplitScore> {
        self.progress.go_on()?;
        let chosen = self.choose(split, index)?;
        let scores = chosen.scores(self.embeddings, &split.test);
        let value = self.metric.measure(&self.target.labels, &split.test, &scores);
        Ok(SplitScore {
            name: split.name.clone(),
            value: value.ok_or_else(|| meaningless(self.metric, "test", &split.name))?,
            validation: chosen.validation,
            weight: chosen.weight,
            preparation: chosen.preparation,
            train_items: split.train.len(),
            validation_items: chosen.validation_items,
            test_items: split.test.len(),
            fingerprint: split.fingerprint(),
        })
    }

    /// Nothing here can depend on labels of the test part: they are not there.
    fn choose(&self, split: &Split, index: u64) -> Result<Chosen> {
        let labels: Labels = self.target.labels.without(&split.test);
        let lesson = Lesson {
            embeddings: self.embeddings,
            labels: &labels,
            train: &split.train,
            validation: &split.validation,
            name: &split.name,
            index,
            metric: self.metric,
            graphs: self.target.graphs,
            settings: self.settings,
            progress: &self.progress,
        };
        if self.protocol == Protocol::Reference {
            return reference::choose(&lesson);
        }
        let chosen = chosen::choose(&lesson);
        self.progress.advance();
        chosen
    }
}

#[cfg(test)]
mod tests;
