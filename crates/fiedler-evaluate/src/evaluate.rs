//! The evaluation itself: every split of a protocol, one probe each.

pub(crate) mod checks;

use fiedler_graph::{Dense, Labels, Observer, Split};
use rayon::prelude::*;

use crate::compare::bootstrap_interval;
use crate::error::Result;
use crate::probe::{ChosenProbe, ProbeTask, meaningless};
use crate::progress::Progress;
use crate::score::{Score, SplitScore, mean_and_deviation};
use crate::settings::{EvaluationSettings, Plan};
use crate::target::Target;

/// What every split is evaluated with.
struct Case<'a> {
    embeddings: &'a Dense,
    target: &'a Target,
    plan: &'a Plan,
    settings: &'a EvaluationSettings,
    progress: Progress<'a>,
}

/// Linear evaluation: how well a simple probe predicts labels from embeddings.
///
/// Row k of the embeddings belongs to label k. Every split is a case of its own: scaling and probe are fitted to its training set,
/// hyperparameters are chosen on its validation set, and its test set is looked at once: labels of the test set are removed before
/// anything is chosen. Where a split has no validation set, hyperparameters are chosen by cross-validation inside the training set, and
/// the probe is then fitted to all of it.
///
/// The result depends on embeddings, target and settings alone, not on the number of threads. The observer hears of the stage
/// `evaluation`, from any thread, and can stop it.
///
/// ```
/// use fiedler_evaluate::{EvaluationSettings, Target, evaluate};
/// use fiedler_graph::{NoObserver, generate};
///
/// let dataset = generate::citation(0);
/// let features = dataset.features.as_ref().expect("features").to_dense();
/// let score = evaluate(&features, &Target::of(&dataset)?, &EvaluationSettings::default(), &NoObserver)?;
/// assert!(score.mean > 0.3 && score.splits.len() == 1);
/// # Ok::<(), fiedler_evaluate::Error>(())
/// ```
///
/// # Errors
/// When settings are out of range, embeddings and labels do not fit, the metric has no meaning on a part of a split, or the observer
/// stopped it.
pub fn evaluate(
    embeddings: &Dense,
    target: &Target,
    settings: &EvaluationSettings,
    observer: &dyn Observer,
) -> Result<Score> {
    let plan = settings.plan(target)?;
    checks::check(embeddings, target)?;
    let mut splits = plan.protocol.splits(target, settings.seed)?;
    let all = splits.len();
    splits.truncate(affordable(&splits, settings));
    checks::check_splits(&plan, &splits, target)?;
    let steps = plan.probe.steps(target, plan.scaling.len());
    let progress = Progress::begin(splits.len() * steps, observer);
    let case = Case { embeddings, target, plan: &plan, settings, progress };
    let evaluated = case.evaluate_all(&splits);
    case.progress.end();
    let (scores, converged): (Vec<SplitScore>, Vec<bool>) = evaluated?.into_iter().unzip();
    let (mean, std) = mean_and_deviation(&scores.iter().map(|score| score.value).collect::<Vec<f64>>());
    Ok(Score {
        metric: plan.metric,
        mean,
        std,
        protocol: plan.protocol.name().into(),
        probe: plan.probe.name().into(),
        description: describe(&plan, &splits, all, target, settings.inner_folds),
        rows: embeddings.rows(),
        columns: embeddings.columns(),
        splits: scores,
        notes: checks::notes(plan.protocol, &splits, target)
            .into_iter()
            .chain(checks::convergence_note(&plan, &converged))
            .collect(),
    })
}

/// How many of the splits there is time for.
fn affordable(splits: &[Split], settings: &EvaluationSettings) -> usize {
    let Some(most) = settings.max_train_items else { return splits.len() };
    let folds = |split: &Split| if split.validation.is_empty() { settings.inner_folds } else { 1 };
    let items = splits.iter().scan(0, |sum: &mut usize, split| {
        *sum += split.train.len() * folds(split);
        Some(*sum)
    });
    items.take_while(|&items| items <= most).count().max(1)
}

/// Protocol, scaling, probe and choice in words.
fn describe(plan: &Plan, splits: &[Split], all: usize, target: &Target, inner_folds: usize) -> String {
    let scaling: Vec<&str> = plan.scaling.iter().map(|scaling| scaling.describe()).collect();
    let choice = match splits.iter().all(|split| !split.validation.is_empty()) {
        true => "on the validation set".into(),
        false => format!("in {inner_folds}-fold cross-validation inside the training set"),
    };
    let (mut protocol, probe) = (plan.protocol.describe(target), plan.probe.describe(target));
    if splits.len() < all {
        protocol += &format!(", the first {} of {all} since there are many items", splits.len());
    }
    format!("{protocol}; {}; {probe}; chosen by {} {choice}", scaling.join(" or "), plan.metric)
}

impl Case<'_> {
    /// Evaluates as many splits at a time as there are threads, so that no more are held in memory.
    ///
    /// Beside each score stands whether the solver of its probe has converged.
    fn evaluate_all(&self, splits: &[Split]) -> Result<Vec<(SplitScore, bool)>> {
        let numbered: Vec<(usize, &Split)> = splits.iter().enumerate().collect();
        let mut scores = Vec::with_capacity(splits.len());
        for some in numbered.chunks(rayon::current_num_threads().max(1)) {
            let found: Vec<Result<(SplitScore, bool)>> =
                some.par_iter().map(|&(index, split)| self.evaluate_split(split, index as u64)).collect();
            for score in found {
                scores.push(score?);
            }
        }
        Ok(scores)
    }

    fn evaluate_split(&self, split: &Split, index: u64) -> Result<(SplitScore, bool)> {
        self.progress.go_on()?;
        let chosen = self.choose(split, index)?;
        let scores = chosen.scores(self.embeddings, &split.test);
        let metric = self.plan.metric;
        let value = metric.measure(&self.target.labels, &split.test, &scores);
        let converged = chosen.model.converged();
        let score = SplitScore {
            name: split.name.clone(),
            value: value.ok_or_else(|| meaningless(metric, "test", &split.name))?,
            interval: (self.settings.bootstrap > 0)
                .then(|| {
                    let (labels, resamples) = (&self.target.labels, self.settings.bootstrap);
                    bootstrap_interval(metric, labels, &split.test, &scores, resamples, self.settings.seed)
                })
                .flatten(),
            validation: chosen.validation,
            hyperparameters: chosen.hyperparameters,
            scaling: chosen.scaling,
            train_items: split.train.len(),
            validation_items: chosen.validation_items,
            test_items: split.test.len(),
            fingerprint: split.fingerprint(),
        };
        Ok((score, converged))
    }

    /// Nothing here can depend on labels of the test set: they are not there.
    fn choose(&self, split: &Split, index: u64) -> Result<ChosenProbe> {
        let labels: Labels = self.target.labels.without(&split.test);
        self.plan.probe.choose(&ProbeTask {
            embeddings: self.embeddings,
            labels: &labels,
            train: &split.train,
            validation: &split.validation,
            split: &split.name,
            index,
            metric: self.plan.metric,
            graphs: self.target.graphs,
            scaling: &self.plan.scaling,
            inner_folds: self.settings.inner_folds,
            seed: self.settings.seed,
            progress: &self.progress,
        })
    }
}

#[cfg(test)]
mod tests;
