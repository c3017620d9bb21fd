//! Grid search: penalty and scaling are chosen on the validation set or, where there is none, by cross-validation inside the training
//! part.

use std::collections::BTreeMap;

use fiedler_graph::Labels;
use rayon::prelude::*;

use super::linear::ProbeModel;
use super::task::{ChosenProbe, ProbeTask};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::protocol::inner_folds;
use crate::scaling::{FittedScaling, Scaling};

/// A probe with one hyperparameter to choose.
pub(super) trait GridProbe: Sync {
    /// What a fit gives.
    type Model: ProbeModel + 'static;
    /// Name of the hyperparameter in scores.
    const PARAMETER: &str;

    /// Values to choose from, the strongest penalty first: of equals the simplest model is chosen.
    fn grid(&self) -> Vec<f64>;

    /// One model for each of the given values. `items` are the labels' indices of the rows.
    fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32], grid: &[f64]) -> Vec<Self::Model>;
}

/// The models of one scaling, one for each value of the grid.
struct Fitted<M> {
    scaling: Scaling,
    fitted_scaling: FittedScaling,
    models: Vec<M>,
}

pub(super) fn choose<P: GridProbe>(probe: &P, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
    let grid = probe.grid();
    let chosen = match task.validation.is_empty() {
        true => choose_inside(probe, task, &grid),
        false => {
            let fitted = fit(probe, task, task.train, task.scaling, &grid);
            let (at, validation) = task.best(&measure(task, &fitted, task.validation))?;
            take::<P>(fitted, at, &grid, validation, task.validation.len())
        }
    };
    task.progress.advance(task.split);
    chosen
}

/// Every inner fold tells how well each candidate does on it; the best mean wins and is fitted to the whole training set.
fn choose_inside<P: GridProbe>(probe: &P, task: &ProbeTask<'_>, grid: &[f64]) -> Result<ChosenProbe> {
    let folds = task.inner_folds.min(task.train.len());
    if folds < 2 {
        let found = format!("{folds} items and no validation set");
        return Err(Error::data(format!("training set of split {}", task.split), found, "at least 2 items"));
    }
    let splits = inner_folds(task.train, folds, task.labels, task.seed, task.index);
    let measured: Vec<Vec<Option<f64>>> = splits
        .par_iter()
        .map(|split| measure(task, &fit(probe, task, &split.train, task.scaling, grid), &split.test))
        .collect();
    let mean_of = |at: usize| {
        let known: Vec<f64> = measured.iter().filter_map(|of_fold| of_fold[at]).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let means: Vec<Option<f64>> = (0..task.scaling.len() * grid.len()).map(mean_of).collect();
    let (at, validation) = task.best(&means)?;
    let (scaling, value) = (task.scaling[at / grid.len()], grid[at % grid.len()]);
    let fitted = fit(probe, task, task.train, &[scaling], &[value]);
    take::<P>(fitted, 0, &[value], validation, task.train.len())
}

/// For each scaling, one model for each value of the grid.
fn fit<P: GridProbe>(
    probe: &P,
    task: &ProbeTask<'_>,
    train: &[u32],
    scaling: &[Scaling],
    grid: &[f64],
) -> Vec<Fitted<P::Model>> {
    let rows = Matrix::gather(task.embeddings, train);
    let fit = |&scaling: &Scaling| {
        let fitted_scaling = scaling.fit(&rows);
        let models = probe.fit(&fitted_scaling.apply(rows.clone()), task.labels, train, grid);
        Fitted { scaling, fitted_scaling, models }
    };
    scaling.iter().map(fit).collect()
}

/// The metric of every model on the given items, scaling after scaling.
fn measure<M: ProbeModel>(task: &ProbeTask<'_>, fitted: &[Fitted<M>], items: &[u32]) -> Vec<Option<f64>> {
    let rows = Matrix::gather(task.embeddings, items);
    let mut measured = Vec::new();
    for Fitted { fitted_scaling, models, .. } in fitted {
        let rows = fitted_scaling.apply(rows.clone());
        let measure = |model: &M| task.metric.measure(task.labels, items, &model.scores(&rows));
        measured.extend(models.iter().map(measure));
    }
    measured
}

/// The model at a place of what was measured.
fn take<P: GridProbe>(
    mut fitted: Vec<Fitted<P::Model>>,
    at: usize,
    grid: &[f64],
    validation: f64,
    validation_items: usize,
) -> Result<ChosenProbe> {
    let Fitted { scaling, fitted_scaling, mut models } = fitted.swap_remove(at / grid.len());
    Ok(ChosenProbe {
        model: Box::new(models.swap_remove(at % grid.len())),
        scaling,
        fitted_scaling,
        hyperparameters: BTreeMap::from([(P::PARAMETER.to_owned(), grid[at % grid.len()])]),
        validation,
        validation_items,
    })
}
