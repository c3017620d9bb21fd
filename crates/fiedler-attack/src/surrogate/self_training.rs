//! Labels that the attacker guesses for the nodes that have none: the predictions of a linear GCN trained on the clean graph.

use fiedler_graph::random::stream;
use fiedler_spectral::{Normalized, SymmetricMap};
use rand::RngExt;

use super::loss::arg_max;
use super::training::{Adam, column_sums, softmax};
use crate::feature_rows::FeatureRows;
use crate::knowledge::TrainingLabels;
use crate::matrix::{Matrix, add_scaled};

const STEPS: u64 = 200;
const HIDDEN: usize = 16;

/// Predictions of a linear GCN with biases, trained by Adam with dropout on its hidden layer: one class a node. Training nodes keep their
/// labels.
pub(crate) fn self_training_labels(
    map: &Normalized<'_>,
    features: &FeatureRows,
    labels: &TrainingLabels,
    seed: u64,
) -> Vec<u32> {
    let mut classes = predict(map, features, labels, seed);
    labels.nodes.iter().zip(&labels.classes).for_each(|(&node, &class)| classes[node as usize] = class);
    classes
}

/// The predictions themselves, also of training nodes.
pub(crate) fn predict(map: &Normalized<'_>, features: &FeatureRows, labels: &TrainingLabels, seed: u64) -> Vec<u32> {
    let (nodes, classes) = (features.rows(), labels.count);
    let mut random = stream(seed, "self-training", 0);
    let mut draw = |rows: usize, columns: usize| uniform(&mut random, rows, columns);
    let (mut first, mut second) = (draw(features.columns(), HIDDEN), draw(HIDDEN, classes));
    let (mut first_bias, mut second_bias) = (draw(1, HIDDEN), draw(1, classes));
    let mut adam = [&first, &second, &first_bias, &second_bias].map(Adam::new);
    for step in 0..STEPS {
        let mut hidden = propagate(map, &features.times(&first));
        add_to_rows(&mut hidden, &first_bias);
        let mut mask = stream(seed, "self-training dropout", step);
        let mask: Vec<f64> =
            (0..hidden.values().len()).map(|_| if mask.random::<bool>() { 2.0 } else { 0.0 }).collect();
        hidden.values_mut().iter_mut().zip(&mask).for_each(|(value, keep)| *value *= keep);
        let mut predictions = propagate(map, &hidden.times(&second));
        add_to_rows(&mut predictions, &second_bias);

        let mut slope = Matrix::zeros(nodes, classes);
        let mean = 1.0 / labels.nodes.len() as f64;
        for (&node, &class) in labels.nodes.iter().zip(&labels.classes) {
            let row = predictions.row_mut(node as usize);
            softmax(row);
            row[class as usize] -= 1.0;
            add_scaled(slope.row_mut(node as usize), mean, row);
        }
        let of_second_bias = column_sums(&slope);
        let slope = propagate(map, &slope);
        let of_second = hidden.transposed_times(&slope);
        let mut slope = slope.times_transposed(&second);
        slope.values_mut().iter_mut().zip(&mask).for_each(|(value, keep)| *value *= keep);
        let of_first_bias = column_sums(&slope);
        let of_first = features.transposed_times(&propagate(map, &slope));
        adam[0].step(&mut first, &of_first);
        adam[1].step(&mut second, &of_second);
        adam[2].step(&mut first_bias, &of_first_bias);
        adam[3].step(&mut second_bias, &of_second_bias);
    }
    let mut hidden = propagate(map, &features.times(&first));
    add_to_rows(&mut hidden, &first_bias);
    let mut predictions = propagate(map, &hidden.times(&second));
    add_to_rows(&mut predictions, &second_bias);
    (0..nodes).map(|node| arg_max(predictions.row(node)) as u32).collect()
}

/// `Â · matrix`.
pub(crate) fn propagate(map: &Normalized<'_>, matrix: &Matrix) -> Matrix {
    let mut image = Matrix::zeros(matrix.rows(), matrix.columns());
    if matrix.columns() > 0 {
        map.apply_block(matrix.values(), matrix.columns(), image.values_mut());
    }
    image
}

fn add_to_rows(matrix: &mut Matrix, bias: &Matrix) {
    (0..matrix.rows()).for_each(|row| add_scaled(matrix.row_mut(row), 1.0, bias.row(0)));
}

/// Uniform in ±1/√columns, the usual start of a graph convolution.
pub(crate) fn uniform(random: &mut impl rand::Rng, rows: usize, columns: usize) -> Matrix {
    uniform_within(random, rows, columns, 1.0 / (columns as f64).sqrt())
}

/// Uniform in ±bound.
pub(crate) fn uniform_within(random: &mut impl rand::Rng, rows: usize, columns: usize, bound: f64) -> Matrix {
    let values = (0..rows * columns).map(|_| bound * (2.0 * random.random::<f64>() - 1.0)).collect();
    Matrix::from_values(rows, columns, values)
}
