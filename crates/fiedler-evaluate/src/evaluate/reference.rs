//! The probe of the program behind the paper's printed numbers.

use fiedler_graph::{Dense, Labels, Split};
use rayon::prelude::*;

use super::{Case, best, meaningless};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::probe::{Adam, Linear};
use crate::score::SplitScore;

const DECAYS_OF_NODES: [f64; 5] = [0.0, 0.001, 0.005, 0.01, 0.1];
const DECAYS_OF_GRAPHS: [f64; 7] = [0.0, 0.001, 0.01, 0.1, 0.5, 1.0, 5.0];

fn decays(case: &Case<'_>) -> &'static [f64] {
    if case.graphs { &DECAYS_OF_GRAPHS } else { &DECAYS_OF_NODES }
}

pub(super) fn judge(case: &Case<'_>, split: &Split) -> Result<SplitScore> {
    let Labels::Classes(classes) = case.labels else {
        return Err(Error::data("the reference protocol needs classes"));
    };
    let train = gather(case.embeddings, &split.train)?;
    let targets: Vec<u32> = split.train.iter().filter_map(|&item| classes.of()[item as usize]).collect();
    let valid = gather(case.embeddings, &split.valid)?;
    let start = Adam::start(case.embeddings.columns(), classes.count(), case.settings.seed);
    let settings = &case.settings.reference;
    let train_with = |&decay: &f64| {
        let mut adam = Adam::new(train.clone(), targets.clone(), &start, settings.rate, decay as f32);
        let mut found: Option<(f64, Linear)> = None;
        for step in 1..=settings.steps {
            adam.step();
            if step % settings.look_every == 0
                && let Some(value) = case.metric.measure(case.labels, &split.valid, &adam.scores(&valid))
                && found.as_ref().is_none_or(|(than, _)| case.metric.is_better(value, *than))
            {
                found = Some((value, adam.model()));
            }
        }
        found
    };
    let found: Vec<Option<(f64, Linear)>> = decays(case).par_iter().map(train_with).collect();
    let values: Vec<Option<f64>> = found.iter().map(|found| found.as_ref().map(|(value, _)| *value)).collect();
    let undefined = || meaningless(case.metric, "validation", split);
    let (at, on_valid) = best(case.metric, &values).ok_or_else(undefined)?;
    let (_, model) = found[at].as_ref().ok_or_else(undefined)?;
    let scores = model.scores(&Matrix::gather(case.embeddings, &split.test));
    let value = case.metric.measure(case.labels, &split.test, &scores);
    Ok(SplitScore {
        name: split.name.clone(),
        value: value.ok_or_else(|| meaningless(case.metric, "test", split))?,
        valid: on_valid,
        weight: decays(case)[at],
        train_items: split.train.len(),
        valid_items: split.valid.len(),
        test_items: split.test.len(),
        fingerprint: split.fingerprint(),
    })
}

fn gather(table: &Dense, rows: &[u32]) -> Result<Dense> {
    let values = rows.iter().flat_map(|&row| table.row(row as usize)).copied().collect();
    Ok(Dense::new(rows.len(), table.columns(), values)?)
}

/// The probe and its choice in words.
pub(super) fn describe(case: &Case<'_>) -> String {
    let decays: Vec<String> = decays(case).iter().map(ToString::to_string).collect();
    let settings = &case.settings.reference;
    format!(
        "embeddings as they are; logistic regression by Adam at {}, the best of up to {} steps and its weight decay chosen from {{{}}} by {} on the part to choose on",
        settings.rate,
        settings.steps,
        decays.join(", "),
        case.metric
    )
}
