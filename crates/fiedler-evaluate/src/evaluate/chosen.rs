//! A probe whose weight is chosen on the validation part or, where there is none, by cross-validation inside the training part.

use fiedler_graph::Labels;
use rayon::prelude::*;

use super::lesson::{Chosen, Lesson};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::preparation::Prepared;
use crate::probe::{self, Linear};
use crate::protocol::inner_folds;

pub(super) fn choose(lesson: &Lesson<'_>) -> Result<Chosen> {
    let weights = strongest_first(lesson);
    if lesson.valid.is_empty() {
        return choose_inside(lesson, &weights);
    }
    let (mut models, prepared) = learn(lesson, lesson.train, &weights);
    let (at, valid) = lesson.best(&measure(lesson, &models, &prepared, lesson.valid))?;
    Ok(Chosen { model: models.swap_remove(at), prepared, weight: weights[at], valid, valid_items: lesson.valid.len() })
}

/// Every inner fold tells how well each weight does on it; the best mean wins, and the probe then learns from all there is.
fn choose_inside(lesson: &Lesson<'_>, weights: &[f64]) -> Result<Chosen> {
    let folds = lesson.settings.inner_folds.min(lesson.train.len());
    if folds < 2 {
        let problem = format!("split {} has {} items to learn from and none to choose on", lesson.name, folds);
        return Err(Error::data(problem).advise("there must be at least 2 to learn from"));
    }
    let splits = inner_folds(lesson.train, folds, lesson.labels, lesson.settings.seed, lesson.index);
    let measured: Vec<Vec<Option<f64>>> = splits
        .par_iter()
        .map(|split| {
            let (models, prepared) = learn(lesson, &split.train, weights);
            measure(lesson, &models, &prepared, &split.test)
        })
        .collect();
    let mean_of = |at: usize| {
        let known: Vec<f64> = measured.iter().filter_map(|of_fold| of_fold[at]).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = (0..weights.len()).map(mean_of).collect();
    let (at, valid) = lesson.best(&means)?;
    let (mut models, prepared) = learn(lesson, lesson.train, &weights[at..=at]);
    let valid_items = lesson.train.len();
    Ok(Chosen { model: models.swap_remove(0), prepared, weight: weights[at], valid, valid_items })
}

/// One model for each weight, and the preparation that goes with them.
fn learn(lesson: &Lesson<'_>, train: &[u32], weights: &[f64]) -> (Vec<Linear>, Prepared) {
    let rows = Matrix::gather(lesson.embeddings, train);
    let prepared = lesson.settings.preparation.learn(&rows);
    let models = probe::fit(&prepared.apply(rows), lesson.labels, train, weights, &lesson.settings.logistic);
    (models, prepared)
}

fn measure(lesson: &Lesson<'_>, models: &[Linear], prepared: &Prepared, items: &[u32]) -> Vec<Option<f64>> {
    let rows = prepared.apply(Matrix::gather(lesson.embeddings, items));
    models.iter().map(|model| lesson.metric.measure(lesson.labels, items, &model.scores(&rows))).collect()
}

/// The weights in the order in which the penalty falls, so that of equals the simplest model is chosen.
fn strongest_first(lesson: &Lesson<'_>) -> Vec<f64> {
    let mut weights = lesson.settings.weights.clone();
    weights.sort_by(f64::total_cmp);
    if matches!(lesson.labels, Labels::Values(_)) {
        weights.reverse();
    }
    weights
}
