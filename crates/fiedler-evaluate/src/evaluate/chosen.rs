//! A probe whose weight and preparation are chosen on the validation part or, where there is none, by cross-validation inside the training part.

use std::sync::Arc;

use fiedler_graph::Labels;
use rayon::prelude::*;

use super::lesson::{Chosen, Lesson};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::preparation::{Preparation, Prepared};
use crate::probe::{self, Linear};
use crate::protocol::inner_folds;

/// What there is to choose from.
#[derive(Clone, Copy)]
struct Candidate {
    preparation: Preparation,
    weight: f64,
}

pub(super) fn choose(lesson: &Lesson<'_>) -> Result<Chosen> {
    let candidates = candidates(lesson);
    if lesson.validation.is_empty() {
        return choose_inside(lesson, &candidates);
    }
    let mut learnt = learn(lesson, lesson.train, &candidates);
    let (at, validation) = lesson.best(&measure(lesson, &learnt, lesson.validation))?;
    Ok(chosen(learnt.swap_remove(at), candidates[at], validation, lesson.validation.len()))
}

/// Every inner fold tells how well each candidate does on it; the best mean wins, and the probe then learns from all there is.
fn choose_inside(lesson: &Lesson<'_>, candidates: &[Candidate]) -> Result<Chosen> {
    let folds = lesson.settings.inner_folds.min(lesson.train.len());
    if folds < 2 {
        let problem = format!("split {} has {} items to learn from and none to choose on", lesson.name, folds);
        return Err(Error::data(problem).advise("there must be at least 2 to learn from"));
    }
    let splits = inner_folds(lesson.train, folds, lesson.labels, lesson.settings.seed, lesson.index);
    let measured: Vec<Vec<Option<f64>>> =
        splits.par_iter().map(|split| measure(lesson, &learn(lesson, &split.train, candidates), &split.test)).collect();
    let mean_of = |at: usize| {
        let known: Vec<f64> = measured.iter().filter_map(|of_fold| of_fold[at]).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = (0..candidates.len()).map(mean_of).collect();
    let (at, validation) = lesson.best(&means)?;
    let mut learnt = learn(lesson, lesson.train, &candidates[at..=at]);
    Ok(chosen(learnt.swap_remove(0), candidates[at], validation, lesson.train.len()))
}

fn chosen(learnt: Learnt, candidate: Candidate, validation: f64, validation_items: usize) -> Chosen {
    let Learnt { model, prepared } = learnt;
    Chosen {
        model,
        prepared,
        preparation: candidate.preparation,
        weight: candidate.weight,
        validation,
        validation_items,
    }
}

/// A model, and what is done to embeddings before it sees them.
struct Learnt {
    model: Linear,
    prepared: Arc<Prepared>,
}

/// One model for each candidate; those of one preparation, which follow each other, learn from the same rows.
fn learn(lesson: &Lesson<'_>, train: &[u32], candidates: &[Candidate]) -> Vec<Learnt> {
    let rows = Matrix::gather(lesson.embeddings, train);
    let alike = candidates.chunk_by(|one, other| one.preparation == other.preparation);
    alike
        .flat_map(|alike| {
            let prepared = Arc::new(alike[0].preparation.learn(&rows));
            let weights: Vec<f64> = alike.iter().map(|candidate| candidate.weight).collect();
            let rows = prepared.apply(rows.clone());
            let models = probe::fit(&rows, lesson.labels, train, &weights, &lesson.settings.logistic);
            models.into_iter().map(move |model| Learnt { model, prepared: prepared.clone() })
        })
        .collect()
}

fn measure(lesson: &Lesson<'_>, learnt: &[Learnt], items: &[u32]) -> Vec<Option<f64>> {
    let rows = Matrix::gather(lesson.embeddings, items);
    let alike = learnt.chunk_by(|one, other| Arc::ptr_eq(&one.prepared, &other.prepared));
    alike
        .flat_map(|alike| {
            let rows = alike[0].prepared.apply(rows.clone());
            let value =
                move |Learnt { model, .. }: &Learnt| lesson.metric.measure(lesson.labels, items, &model.scores(&rows));
            alike.iter().map(value)
        })
        .collect()
}

/// Preparations in their order, and weights in the order in which the penalty falls, so that of equals the simplest model is chosen.
fn candidates(lesson: &Lesson<'_>) -> Vec<Candidate> {
    let mut weights = lesson.settings.weights.clone();
    weights.sort_by(f64::total_cmp);
    if matches!(lesson.labels, Labels::Regression(_)) {
        weights.reverse();
    }
    let with = |&preparation: &Preparation| weights.iter().map(move |&weight| Candidate { preparation, weight });
    lesson.settings.preparations.iter().flat_map(with).collect()
}
