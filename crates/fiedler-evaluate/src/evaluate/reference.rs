//! The probe of the program behind the paper's printed numbers.

use fiedler_graph::{Classes, Dense, Labels};
use rayon::prelude::*;

use super::lesson::{Chosen, Lesson};
use crate::error::{Error, Result};
use crate::preparation::{Preparation, Prepared};
use crate::probe::{Adam, Linear};

const DECAYS_OF_NODES: [f64; 5] = [0.0, 0.001, 0.005, 0.01, 0.1];
const DECAYS_OF_GRAPHS: [f64; 7] = [0.0, 0.001, 0.01, 0.1, 0.5, 1.0, 5.0];

/// The weight decays to choose from.
pub(super) fn decays(graphs: bool) -> &'static [f64] {
    if graphs { &DECAYS_OF_GRAPHS } else { &DECAYS_OF_NODES }
}

pub(super) fn choose(lesson: &Lesson<'_>) -> Result<Chosen> {
    let Labels::Classes(classes) = lesson.labels else {
        return Err(Error::data("the reference protocol needs classes"));
    };
    let decays = decays(lesson.graphs);
    let validation = gather(lesson.embeddings, lesson.validation)?;
    let train_with = |&decay: &f64| train(lesson, classes, &validation, decay);
    let mut found: Vec<Option<(f64, Linear)>> = decays.par_iter().map(train_with).collect::<Result<_>>()?;
    let values: Vec<Option<f64>> = found.iter().map(|found| found.as_ref().map(|(value, _)| *value)).collect();
    let (at, _) = lesson.best(&values)?;
    match found.swap_remove(at) {
        Some((validation, model)) => {
            let (weight, validation_items) = (decays[at], lesson.validation.len());
            let preparation = Preparation::AsIs;
            Ok(Chosen { model, prepared: Prepared::AsIs.into(), preparation, weight, validation, validation_items })
        }
        None => Err(Error::data("no setting could be chosen")),
    }
}

/// The best of the models looked at on the way, with what it does on the part to choose on.
fn train(lesson: &Lesson<'_>, classes: &Classes, validation: &Dense, decay: f64) -> Result<Option<(f64, Linear)>> {
    let settings = &lesson.settings.reference;
    let rows = gather(lesson.embeddings, lesson.train)?;
    let targets = lesson.train.iter().filter_map(|&item| classes.of()[item as usize]).collect();
    let start = Adam::start(rows.columns(), classes.count(), lesson.settings.seed);
    let mut adam = Adam::new(rows, targets, &start, settings.rate, decay as f32);
    let mut found: Option<(f64, Linear)> = None;
    for step in 1..=settings.steps {
        adam.step();
        if step % settings.look_every != 0 {
            continue;
        }
        lesson.progress.ask()?;
        if let Some(value) = lesson.metric.measure(lesson.labels, lesson.validation, &adam.scores(validation))
            && found.as_ref().is_none_or(|(than, _)| lesson.metric.is_better(value, *than))
        {
            found = Some((value, adam.model()));
        }
    }
    lesson.progress.advance();
    Ok(found)
}

fn gather(table: &Dense, rows: &[u32]) -> Result<Dense> {
    let values = rows.iter().flat_map(|&row| table.row(row as usize)).copied().collect();
    Ok(Dense::new(rows.len(), table.columns(), values)?)
}
