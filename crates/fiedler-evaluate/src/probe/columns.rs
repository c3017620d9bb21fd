//! Labels of several columns: one model for each column, put side by side.

use std::collections::HashMap;

use rayon::prelude::*;

use super::{Design, Linear};
use crate::matrix::Matrix;

/// Places and values of what is known.
pub(super) fn split_known<T: Copy>(column: &[Option<T>]) -> (Vec<u32>, Vec<T>) {
    column.iter().enumerate().filter_map(|(place, value)| Some((place as u32, (*value)?))).unzip()
}

/// Fits every column by itself to the rows whose label is known, then puts the columns of each value of the grid side by side. Columns
/// known of the same rows share their design.
pub(super) fn fit_columns<T: Copy + Send + Sync>(
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
    let grid = models.first().map_or(0, Vec::len);
    (0..grid).map(|at| beside(models.iter().map(|of_column| &of_column[at]), rows.columns())).collect()
}

/// Models of one output each as one model.
fn beside<'a>(models: impl Iterator<Item = &'a Linear> + Clone, rows: usize) -> Linear {
    let weights = (0..rows).flat_map(|row| models.clone().map(move |model| model.weights[row])).collect();
    Linear { weights, intercepts: models.map(|model| model.intercepts[0]).collect() }
}
