//! CCA-SSG's loss and the operations under it: against PyTorch (`tests/fixtures/make_cca.py`), plain versions and finite differences.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_graph::Graph;
use fiedler_learn::encoder::{DecoupledSettings, EncoderSettings, InputDims};
use fiedler_learn::loss::Cca;
use fiedler_learn::ops::{self, plain};
use fiedler_learn::pass::Pass;
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{Initializer, MessageGraph, Normalization, Operator};
use serde::Deserialize;

use crate::common::{self, assert_close, assert_derivative, assert_same, matrix, numbers, values, vector};
use crate::fixture::{Held, gradients_of};

#[derive(Deserialize)]
struct Fixture {
    lambda: f64,
    views: Vec<Held>,
    loss: f32,
    published_loss: f32,
    gradients: Vec<Held>,
    nodes: usize,
    pairs: Vec<(u32, u32)>,
    other_pairs: Vec<(u32, u32)>,
    features: Held,
    masked: Held,
    weights: BTreeMap<String, Held>,
    layers: Vec<Held>,
    step_loss: f32,
    step_gradients: BTreeMap<String, Held>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/cca.json")).unwrap()
}

#[test]
fn the_loss_and_its_gradients_are_those_of_pytorch() {
    let fixture = fixture();
    let views = [fixture.views[0].tensor(), fixture.views[1].tensor()];
    let loss = Cca { lambda: fixture.lambda }.loss(views.clone()).unwrap();
    assert_close(&values(&loss), &[fixture.loss], 1e-6, "the loss");
    // The published program guards no column: on columns that vary, the guard moves the loss by less than 1 in 10,000.
    assert_close(&values(&loss), &[fixture.published_loss], 1e-4, "the published loss");
    let gradients = loss.backward();
    for (view, expected) in views.iter().zip(&fixture.gradients) {
        assert_close(&values(&view.grad(&gradients).unwrap()), &expected.values, 1e-5, "the gradient");
    }
}

#[test]
fn a_step_with_a_decoupled_encoder_is_that_of_pytorch() {
    let fixture = fixture();
    let device = common::device();
    let settings = EncoderSettings::Decoupled(DecoupledSettings { hidden_channels: 5, ..DecoupledSettings::default() });
    let dims = InputDims { nodes: fixture.features.shape[1], edges: None };
    let encoder = settings.build(dims, &mut Initializer::new(1, &device)).unwrap();
    // The coefficients that learning starts from are PyTorch's as well.
    let first = StateDict::of(&encoder);
    let gamma = first.iter().find(|(name, ..)| *name == "Decoupled.gamma").unwrap().2.to_vec();
    assert_close(&gamma, &fixture.weights["gamma"].values, 1e-6, "first coefficients");
    let mut weights = StateDict::default();
    for (name, held) in &fixture.weights {
        weights.insert(format!("Decoupled.{name}"), held.shape.clone(), held.values.clone()).unwrap();
    }
    let encoder = weights.apply(encoder).unwrap();
    let forward = |pairs: &[(u32, u32)], features: &Held| {
        let graph = Graph::from_pairs(fixture.nodes, pairs.to_vec()).unwrap().0;
        let structure = MessageGraph::new(&graph, settings.normalization());
        encoder.forward(&structure, &features.features(), &Pass::eval()).unwrap()
    };
    let layers = forward(&fixture.pairs, &fixture.features);
    assert_eq!(layers.each().len(), fixture.layers.len());
    for (found, expected) in layers.each().iter().zip(&fixture.layers) {
        assert_close(&values(found), &expected.values, 1e-5, "a layer");
    }
    let other = forward(&fixture.other_pairs, &fixture.masked);
    let loss = Cca { lambda: fixture.lambda }.loss([layers.last(), other.last()]).unwrap();
    assert_close(&values(&loss), &[fixture.step_loss], 1e-5, "the loss");
    let gradients = loss.backward();
    let found = gradients_of(&encoder, &gradients);
    assert_eq!(found.len(), fixture.step_gradients.len());
    for (name, expected) in &fixture.step_gradients {
        assert_close(&found[&format!("Decoupled.{name}")], &expected.values, 2e-4, name);
    }
}

#[test]
fn standardized_columns_have_mean_zero_and_deviation_one() {
    for (rows, width) in [(2, 3), (150, 1), (150, 21), (200, 130)] {
        let input = matrix(rows, width, 1) * 3.0 + 7.0;
        let found = values(&ops::standardize(input));
        for column in 0..width {
            let column: Vec<f64> = found.iter().skip(column).step_by(width).map(|&value| f64::from(value)).collect();
            let mean = column.iter().sum::<f64>() / rows as f64;
            let variance = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rows - 1) as f64;
            assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-3, "{rows} x {width}: {mean}, {variance}");
        }
        let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::standardize(m[0].clone());
        let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::standardize(m[0].clone());
        // With two rows the result does not depend on the input but for its signs: finite differences see nothing but rounding.
        if rows > 2 {
            assert_same(&fast, &slow, &[matrix(rows, width, 2)], &[], "standardization");
            assert_derivative(&fast, &[matrix(rows, width, 2)], &[], 5e-3, "standardization");
        }
    }
}

#[test]
fn constant_columns_and_single_rows_are_zero_and_have_finite_gradients() {
    let device = common::device();
    for constant in [0.0, 0.1, -1234.567, 3e7] {
        let mut table = numbers(60 * 3, 4);
        table.iter_mut().skip(1).step_by(3).for_each(|value| *value = constant);
        let input = Tensor::<2>::from_data(TensorData::new(table, [60, 3]), &device).require_grad();
        for standardize in [ops::standardize, plain::standardize] {
            let output = standardize(input.clone());
            let gradients = (output.clone() * matrix(60, 3, 5)).sum().backward();
            let gradient = values(&input.grad(&gradients).unwrap());
            assert!(values(&output).iter().chain(&gradient).all(|value| value.is_finite()), "{constant}");
        }
        let found = values(&ops::standardize(input));
        assert!(found.iter().skip(1).step_by(3).all(|value| value.abs() < 1e-3), "{constant}: {found:?}");
    }
    let (found, gradients) =
        common::values_and_gradients(&|m, _| ops::standardize(m[0].clone()), &[matrix(1, 4, 6)], &[]);
    assert_eq!((found, &gradients[0]), (vec![0.0; 4], &vec![0.0; 4]));
}

#[test]
fn decorrelation_does_what_its_plain_version_does() {
    for (rows, width) in [(1, 1), (40, 7), (7, 40), (90, 64)] {
        let input = [matrix(rows, width, 7)];
        let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::decorrelation(m[0].clone());
        assert_same(&fast, &|m, _| plain::decorrelation(m[0].clone()), &input, &[], "decorrelation");
        assert_derivative(&fast, &input, &[], 5e-3, "decorrelation");
    }
    let orthogonal = Tensor::<2>::from_floats([[1.0, 1.0], [1.0, -1.0]], &common::device());
    assert_eq!(values(&ops::decorrelation(orthogonal)), [0.0]);
}

#[test]
fn decorrelation_across_matrices_does_what_its_plain_version_does() {
    for (rows, width) in [(1, 1), (40, 7), (7, 40), (90, 64)] {
        let inputs = [matrix(rows, width, 7), matrix(rows, width, 8)];
        let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::cross_decorrelation(m[0].clone(), m[1].clone());
        let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::cross_decorrelation(m[0].clone(), m[1].clone());
        assert_same(&fast, &slow, &inputs, &[], "decorrelation across matrices");
        assert_derivative(&fast, &inputs, &[], 5e-3, "decorrelation across matrices");
        // Across a matrix and itself it is decorrelation, its diagonal and the rest apart.
        let parts = values(&fast(&[inputs[0].clone(), inputs[0].clone()], &[]));
        assert_close(&[parts[0] + parts[1]], &values(&ops::decorrelation(inputs[0].clone())), 1e-6, "both parts");
    }
    let columns = Tensor::<2>::from_floats([[1.0, 2.0], [1.0, -2.0]], &common::device());
    // Correlations 1 and 4 on the diagonal, none elsewhere.
    assert_eq!(values(&ops::cross_decorrelation(columns.clone(), columns)), [9.0, 0.0]);
}

#[test]
fn a_mix_of_propagation_steps_does_what_its_plain_version_does() {
    let graph = common::weighted_graph(150, 300, 8);
    let symmetric = Operator::new(&graph, Normalization::Symmetric);
    let names: Vec<u32> = (0..150).map(|node| (node * 7 + 3) % 150).collect();
    // Neither is the mean over neighbors symmetric, nor a corruption the graph itself.
    let mean = Operator::new(&graph, Normalization::RowMean);
    for operator in [symmetric.relabelled(&names), symmetric, mean].map(Arc::new) {
        for (width, steps) in [(1, 1), (9, 2), (70, 5)] {
            let (matrices, vectors) = ([matrix(150, width, 9)], [vector(steps, 10)]);
            let fast = |m: &[Tensor<2>], v: &[Tensor<1>]| ops::propagate_mix(&operator, m[0].clone(), v[0].clone());
            let slow = |m: &[Tensor<2>], v: &[Tensor<1>]| plain::propagate_mix(&operator, m[0].clone(), v[0].clone());
            assert_same(&fast, &slow, &matrices, &vectors, "a mix of propagation steps");
            assert_derivative(&fast, &matrices, &vectors, 5e-3, "a mix of propagation steps");
        }
    }
}

/// The loss by its definition, number by number.
fn definition(views: [&[f32]; 2], rows: usize, width: usize, lambda: f64) -> f64 {
    let columns = |view: &[f32]| -> Vec<Vec<f64>> {
        let of = |column: usize| {
            let values: Vec<f64> = view.iter().skip(column).step_by(width).map(|&value| f64::from(value)).collect();
            let mean = values.iter().sum::<f64>() / rows as f64;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rows - 1) as f64;
            values.into_iter().map(|value| (value - mean) / (variance.sqrt() + 1e-5)).collect()
        };
        (0..width).map(of).collect()
    };
    let correlation = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / rows as f64;
    let views = views.map(columns);
    let mut loss = 0.0;
    for i in 0..width {
        loss -= correlation(&views[0][i], &views[1][i]);
        for j in 0..width {
            for view in &views {
                let expected = if i == j { 1.0 } else { 0.0 };
                loss += lambda * (expected - correlation(&view[i], &view[j])).powi(2);
            }
        }
    }
    loss
}

#[test]
fn the_loss_is_its_definition_and_has_its_derivative() {
    for (rows, width, lambda) in [(2, 3, 1e-3), (30, 5, 1e-3), (30, 5, 0.0), (9, 20, 0.5)] {
        let views = [matrix(rows, width, 11), matrix(rows, width, 12)];
        let loss = |m: &[Tensor<2>], _: &[Tensor<1>]| Cca { lambda }.loss([m[0].clone(), m[1].clone()]).unwrap();
        let found = f64::from(values(&loss(&views, &[]))[0]);
        let [one, other] = views.each_ref().map(values);
        let expected = definition([&one, &other], rows, width, lambda);
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found}, expected {expected}");
        if rows > 2 {
            assert_derivative(&loss, &views, &[], 1e-2, "the loss");
        }
    }
}

#[test]
fn equal_views_of_uncorrelated_columns_have_the_smallest_loss() {
    // Columns of a Hadamard matrix but the first: mean zero, uncorrelated.
    let (rows, width) = (16usize, 15);
    let sign =
        |row: usize, column: usize| if (row & (column + 1)).count_ones().is_multiple_of(2) { 1.0f32 } else { -1.0 };
    let table: Vec<f32> = (0..rows * width).map(|at| sign(at / width, at % width)).collect();
    let view = Tensor::<2>::from_data(TensorData::new(table, [rows, width]), &common::device());
    let terms = Cca::default().terms([view.clone(), view]).unwrap();
    let share = (rows - 1) as f32 / rows as f32;
    assert_close(&values(&terms.invariance), &[-(width as f32) * share], 1e-4, "invariance");
    // Each diagonal entry falls short of one by 1/n, in both views.
    assert_close(&values(&terms.decorrelation), &[2.0 * width as f32 * (1.0 - share).powi(2)], 1e-3, "decorrelation");
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let graph = common::graph(900, 3000, 13);
    let operator = Arc::new(Operator::new(&graph, Normalization::Symmetric));
    let run = || {
        let views = [matrix(900, 512, 14), matrix(900, 512, 15)];
        let gamma = vector(5, 16);
        let mixed = views.clone().map(|view| ops::propagate_mix(&operator, view, gamma.clone()));
        let loss = Cca::default().loss(mixed).unwrap();
        let gradients = loss.backward();
        let of = |view: &Tensor<2>| values(&view.grad(&gradients).unwrap());
        (values(&loss), of(&views[0]), of(&views[1]), values(&gamma.grad(&gradients).unwrap()))
    };
    assert!(common::on_threads(1, run) == common::on_threads(3, run));
}

#[test]
fn wrong_settings_and_views_are_refused() {
    for lambda in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Cca { lambda }.loss([matrix(3, 2, 1), matrix(3, 2, 2)]).unwrap_err().to_string();
        assert!(error.contains("lambda"), "{error}");
    }
    let error = Cca::default().loss([matrix(3, 2, 1), matrix(4, 2, 2)]).unwrap_err();
    assert_eq!(error.to_string(), "second view has 4; expected 3");
    assert!(Cca::default().loss([matrix(3, 2, 1), matrix(3, 4, 2)]).is_err());
}
