//! One probe for labels of any kind.

use std::collections::HashMap;

use fiedler_graph::Labels;
use rayon::prelude::*;

use super::{Design, Linear, LogisticSettings, fit_logistic, fit_ridge};
use crate::matrix::Matrix;

/// Fits one model for each weight: logistic regression of classes and tasks, where weights are `C`, and ridge regression of values,
/// where they are `alpha`. `items` are the labels' indices of the rows.
///
/// Every task and every column has a model of its own, fitted to the rows whose label is known; a task without both answers scores 0.
pub fn fit(rows: &Matrix, labels: &Labels, items: &[u32], weights: &[f64], settings: &LogisticSettings) -> Vec<Linear> {
    match labels {
        Labels::Classes(classes) => {
            let known = |&item: &u32| classes.of()[item as usize];
            let column: Vec<Option<u32>> = items.iter().map(known).collect();
            let (places, targets) = split_known(&column);
            let design = Design::new(rows.choose(&places));
            let fits = fit_logistic(&design, &targets, classes.count(), weights, settings);
            fits.into_iter().map(|fit| fit.model).collect()
        }
        Labels::MultiLabel(tasks) => {
            let column = |task: usize| items.iter().map(|&item| tasks.row(item as usize)[task]).collect();
            fit_columns(rows, tasks.names().len(), column, |design, targets: &[bool]| {
                let targets: Vec<u32> = targets.iter().map(|answer| u32::from(*answer)).collect();
                let fits = fit_logistic(design, &targets, 2, weights, settings);
                fits.into_iter().map(|fit| yes_against_no(&fit.model)).collect()
            })
        }
        Labels::Regression(values) => {
            let column = |column: usize| items.iter().map(|&item| values.row(item as usize)[column]).collect();
            fit_columns(rows, values.names().len(), column, |design, targets: &[f32]| {
                let targets: Vec<f64> = targets.iter().map(|&value| value.into()).collect();
                fit_ridge(design, &targets, weights)
            })
        }
    }
}

/// Places and values of what is known.
fn split_known<T: Copy>(column: &[Option<T>]) -> (Vec<u32>, Vec<T>) {
    column.iter().enumerate().filter_map(|(place, value)| Some((place as u32, (*value)?))).unzip()
}

/// Fits every column by itself, then puts the columns of each weight side by side. Columns known of the same rows share their design.
fn fit_columns<T: Copy + Send + Sync>(
    rows: &Matrix,
    columns: usize,
    column: impl Fn(usize) -> Vec<Option<T>>,
    fit: impl Fn(&Design, &[T]) -> Vec<Linear> + Sync,
) -> Vec<Linear> {
    let known: Vec<(Vec<u32>, Vec<T>)> = (0..columns).map(|at| split_known(&column(at))).collect();
    let mut designs: HashMap<&[u32], Design> = HashMap::new();
    for (places, _) in &known {
        designs.entry(places).or_insert_with(|| Design::new(rows.choose(places)));
    }
    let models: Vec<Vec<Linear>> =
        known.par_iter().map(|(places, targets)| fit(&designs[places.as_slice()], targets)).collect();
    let weights = models.first().map_or(0, Vec::len);
    (0..weights).map(|weight| beside(models.iter().map(|of_column| &of_column[weight]), rows.columns())).collect()
}

/// Models of one output each as one model.
fn beside<'a>(models: impl Iterator<Item = &'a Linear> + Clone, rows: usize) -> Linear {
    let weights = (0..rows).flat_map(|row| models.clone().map(move |model| model.weights[row])).collect();
    Linear { weights, intercepts: models.map(|model| model.intercepts[0]).collect() }
}

/// One score, positive for yes, out of one for no and one for yes.
fn yes_against_no(model: &Linear) -> Linear {
    let difference = |pair: &[f64]| match pair[1] - pair[0] {
        difference if difference.is_finite() => difference,
        // Only one answer was seen: nothing is known of the other.
        _ => 0.0,
    };
    Linear {
        weights: model.weights.chunks_exact(2).map(difference).collect(),
        intercepts: vec![difference(&model.intercepts)],
    }
}
