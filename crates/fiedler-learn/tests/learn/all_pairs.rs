//! Losses of all pairs of rows, computed in tiles, against what they are where the answer is known, plain versions and finite differences.

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_learn::ops::{self, plain};

use crate::common::{self, assert_close, assert_derivative, assert_same, matrix, numbers, values};

/// A matrix whose rows have length one.
fn unit_rows(rows: usize, width: usize, seed: u64) -> Tensor<2> {
    let mut table = numbers(rows * width, seed);
    for row in table.chunks_exact_mut(width) {
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        row.iter_mut().for_each(|value| *value /= length);
    }
    Tensor::from_data(TensorData::new(table, [rows, width]), &common::device()).require_grad()
}

fn tensor(rows: usize, values: Vec<f32>) -> Tensor<2> {
    let width = values.len() / rows;
    Tensor::from_data(TensorData::new(values, [rows, width]), &common::device()).require_grad()
}

#[test]
fn info_nce_does_what_its_plain_version_does() {
    // One block; blocks of different sizes; temperatures for which sums need their own largest similarity; rows that are not of length one.
    for (rows, width, temperature) in
        [(2, 3, 0.5), (50, 16, 0.4), (150, 7, 0.05), (400, 33, 0.9), (700, 24, 0.4), (300, 8, 0.01), (300, 8, 0.001)]
    {
        let views = [unit_rows(rows, width, 1), unit_rows(rows, width, 2)];
        let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::info_nce(m[0].clone(), m[1].clone(), temperature);
        let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::info_nce(m[0].clone(), m[1].clone(), temperature);
        let what = format!("{rows} rows, temperature {temperature}");
        assert_close(&values(&fast(&views, &[])), &values(&slow(&views, &[])), 1e-6, &what);
        assert_same(&fast, &slow, &views, &[], &what);
        if temperature >= 0.05 {
            assert_derivative(&fast, &views, &[], 1e-2, &what);
        }
    }
    let long = [matrix(300, 40, 3) * 20.0, matrix(300, 40, 4) * 20.0].map(|view| tensor(300, values(&view)));
    let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::info_nce(m[0].clone(), m[1].clone(), 1.0);
    let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::info_nce(m[0].clone(), m[1].clone(), 1.0);
    assert_same(&fast, &slow, &long, &[], "rows of any length");
}

#[test]
fn info_nce_is_what_it_must_be_where_that_is_known() {
    for temperature in [0.05, 0.4, 1.0] {
        // All rows alike: each of the other 2n - 1 is as good as the partner.
        for rows in [2, 40, 300] {
            let alike = tensor(rows, [0.6, -0.8].repeat(rows));
            let found = values(&ops::info_nce(alike.clone(), alike, temperature));
            assert_close(&found, &[((2 * rows - 1) as f32).ln()], 1e-6, "rows that are all alike");
        }
        let orthonormal = tensor(2, vec![1.0, 0.0, 0.0, 1.0]);
        let found = values(&ops::info_nce(orthonormal.clone(), orthonormal, temperature));
        let expected = (2.0 * (-1.0 / temperature).exp()).ln_1p() as f32;
        assert!((found[0] - expected).abs() <= 1e-6 * (1.0 + expected), "{} {expected}", found[0]);
    }
}

#[test]
fn a_gradient_is_computed_for_the_view_that_wants_one() {
    let (one, other) = (unit_rows(300, 6, 5), unit_rows(300, 6, 6));
    let fixed = other.clone().detach();
    let both = ops::info_nce(one.clone(), other, 0.4).backward();
    let alone = ops::info_nce(one.clone(), fixed, 0.4).backward();
    assert_eq!(values(&one.grad(&both).unwrap()), values(&one.grad(&alone).unwrap()));
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let run = || {
        let views = [unit_rows(1500, 20, 7), unit_rows(1500, 20, 8)];
        [0.4, 0.01].map(|temperature| {
            let loss = ops::info_nce(views[0].clone(), views[1].clone(), temperature);
            let gradients = loss.backward();
            let of = |view: &Tensor<2>| values(&view.grad(&gradients).unwrap());
            (values(&loss), of(&views[0]), of(&views[1]))
        })
    };
    let one = common::on_threads(1, run);
    assert!(one == common::on_threads(2, run) && one == common::on_threads(3, run));
}
