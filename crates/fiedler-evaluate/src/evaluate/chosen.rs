//! A probe whose weight is chosen on the validation part.

use fiedler_graph::{Labels, Split};

use super::{Case, best, meaningless};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::probe::{self, Linear};
use crate::protocol::hold_out;
use crate::score::SplitScore;

pub(super) fn judge(case: &Case<'_>, split: &Split, index: u64) -> Result<SplitScore> {
    let held_out = split.valid.is_empty();
    let (train, valid) = match held_out {
        true => hold_out(&split.train, case.labels, case.settings.seed, index),
        false => (split.train.clone(), split.valid.clone()),
    };
    let weights = strongest_first(case);
    let (models, prepare) = learn(case, &train, &weights);
    let rows = prepare(&valid);
    let measured: Vec<Option<f64>> =
        models.iter().map(|model| case.metric.measure(case.labels, &valid, &model.scores(&rows))).collect();
    let (at, on_valid) = best(case.metric, &measured).ok_or_else(|| meaningless(case.metric, "validation", split))?;
    let value = if held_out {
        let (models, prepare) = learn(case, &split.train, &weights[at..=at]);
        test(case, split, &models[0], prepare)
    } else {
        test(case, split, &models[at], prepare)
    }?;
    Ok(SplitScore {
        name: split.name.clone(),
        value,
        valid: on_valid,
        weight: weights[at],
        train_items: split.train.len(),
        valid_items: valid.len(),
        test_items: split.test.len(),
        fingerprint: split.fingerprint(),
    })
}

/// One model for each weight, and the preparation that goes with them.
fn learn<'a>(case: &'a Case<'a>, train: &[u32], weights: &[f64]) -> (Vec<Linear>, impl Fn(&[u32]) -> Matrix + 'a) {
    let rows = Matrix::gather(case.embeddings, train);
    let prepared = case.settings.preparation.learn(&rows);
    let models = probe::fit(&prepared.apply(rows), case.labels, train, weights, &case.settings.logistic);
    (models, move |items: &[u32]| prepared.apply(Matrix::gather(case.embeddings, items)))
}

fn test(case: &Case<'_>, split: &Split, model: &Linear, prepare: impl Fn(&[u32]) -> Matrix) -> Result<f64> {
    let scores = model.scores(&prepare(&split.test));
    case.metric.measure(case.labels, &split.test, &scores).ok_or_else(|| meaningless(case.metric, "test", split))
}

/// The weights in the order in which the penalty falls, so that of equals the simplest model is chosen.
fn strongest_first(case: &Case<'_>) -> Vec<f64> {
    let mut weights = case.settings.weights.clone();
    weights.sort_by(f64::total_cmp);
    if is_ridge(case) {
        weights.reverse();
    }
    weights
}

fn is_ridge(case: &Case<'_>) -> bool {
    matches!(case.labels, Labels::Values(_))
}

/// The probe and its choice in words.
pub(super) fn describe(case: &Case<'_>, held_out: bool) -> String {
    let probe = match case.labels {
        Labels::Classes(_) => "logistic regression, its C",
        Labels::Tasks(_) => "one logistic regression a task, their C",
        Labels::Values(_) => "ridge regression, its alpha",
    };
    let weights: Vec<String> = case.settings.weights.iter().map(ToString::to_string).collect();
    let choice = match held_out {
        true => "on a tenth held out of what is learnt from, then fitted to all of it",
        false => "on the part to choose on",
    };
    let preparation = case.settings.preparation.describe();
    format!(
        "{preparation}; {probe} (as in scikit-learn) chosen from {{{}}} by {} {choice}",
        weights.join(", "),
        case.metric
    )
}
