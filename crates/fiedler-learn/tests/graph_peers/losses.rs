//! Losses against values computed by hand.

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_learn::loss::{JensenShannon, LocalGlobalSide, Negatives, NtXent, ScaledCosine};
use fiedler_learn::{GraphOffsets, perturbed_copy};
use fiedler_learn::{Initializer, layer::Linear, state_dict::StateDict};

use crate::peers::{assert_close, device, values};

fn rows<const N: usize, const M: usize>(rows: [[f32; M]; N]) -> Tensor<2> {
    Tensor::from_data(TensorData::new(rows.concat(), [N, M]), &device())
}

#[test]
fn nt_xent_leaves_the_positive_out_unless_it_is_asked_for() {
    let one = rows([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]);
    let other = rows([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]);
    let half = std::f64::consts::FRAC_1_SQRT_2;
    // Cosines, row by row; a row of zeros has none.
    let cosines = [[1.0, half, 0.0], [0.0, half, 0.0], [half, 1.0, 0.0]];
    let temperature = 0.5;
    let by_hand = |with_positive: bool, columns: bool| -> f64 {
        let at = |i: usize, j: usize| if columns { cosines[j][i] } else { cosines[i][j] };
        let of_row = |i: usize| {
            let sum: f64 = (0..3).filter(|&j| with_positive || j != i).map(|j| f64::exp(at(i, j) / temperature)).sum();
            sum.ln() - at(i, i) / temperature
        };
        (0..3).map(of_row).sum::<f64>() / 3.0
    };
    for (positive_in_sum, symmetric) in [(false, false), (true, false), (false, true), (true, true)] {
        let loss = NtXent { temperature, positive_in_sum, symmetric }.loss([one.clone(), other.clone()]).unwrap();
        let expected = match symmetric {
            true => (by_hand(positive_in_sum, false) + by_hand(positive_in_sum, true)) / 2.0,
            false => by_hand(positive_in_sum, false),
        };
        assert_close(&values(&loss), &[expected as f32], 1e-6, "NT-Xent");
    }
    // Without the positive, views that agree with nothing else have a negative loss.
    let loss = NtXent::default().loss([rows([[1.0, 0.0], [0.0, 1.0]]), rows([[1.0, 0.0], [0.0, 1.0]])]).unwrap();
    assert_close(&values(&loss), &[-5.0], 1e-6, "perfect views");
    let alone = NtXent::default().loss([rows([[1.0]]), rows([[1.0]])]).unwrap_err().to_string();
    assert!(alone.contains("number of graphs in a step is 1"), "{alone}");
    assert!(NtXent { temperature: 0.0, ..NtXent::default() }.check().is_err());
}

#[test]
fn gradients_of_rows_of_zeros_are_finite() {
    let zero = rows([[0.0, 0.0], [1.0, 2.0]]).require_grad();
    let loss = NtXent::default().loss([zero.clone(), rows([[1.0, 0.0], [0.0, 1.0]])]).unwrap();
    let gradient = values(&zero.grad(&loss.backward()).unwrap());
    assert!(gradient.iter().all(|value| value.is_finite()), "{gradient:?}");
    let zero = rows([[0.0, 0.0], [1.0, 2.0]]).require_grad();
    let loss = ScaledCosine { gamma: 2.0 }.loss(rows([[1.0, 0.0], [1.0, 2.0]]), zero.clone()).unwrap();
    let gradient = values(&zero.grad(&loss.backward()).unwrap());
    assert!(gradient.iter().all(|value| value.is_finite()), "{gradient:?}");
}

#[test]
fn the_bound_of_nodes_and_graphs_is_that_of_the_formula() {
    let (nodes, graphs) = (rows([[1.0, 0.5], [-1.0, 2.0], [0.3, 0.7]]), rows([[1.0, 1.0], [2.0, -1.0]]));
    let offsets = GraphOffsets::new(vec![0, 2, 3]);
    let side = LocalGlobalSide { nodes, graphs, negatives: Negatives::InBatch };
    let loss = JensenShannon::default().loss_of_side(&side, &offsets).unwrap();
    let softplus = |x: f64| (1.0 + x.exp()).ln();
    let ln2 = std::f64::consts::LN_2;
    // Dot products with both graphs: 1.5, 1.5; 1, -4; 1, -0.1.
    let negatives = [1.5, -4.0, 1.0].map(|s| softplus(s) - ln2).iter().sum::<f64>() / 3.0;
    let positives = [1.5, 1.0, -0.1].map(|s| ln2 - softplus(-s)).iter().sum::<f64>() / 3.0;
    assert_close(&values(&loss), &[(negatives - positives) as f32], 1e-6, "Jensen–Shannon");
}

#[test]
fn the_scaled_cosine_error_is_that_of_the_formula() {
    let (hidden, rebuilt) = (rows([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), rows([[0.0, 2.0], [1.0, 0.0], [1.0, 0.0]]));
    let errors = [1.0, 1.0 - std::f64::consts::FRAC_1_SQRT_2, 1.0];
    for gamma in [1.0, 2.0, 3.0] {
        let loss = ScaledCosine { gamma }.loss(hidden.clone(), rebuilt.clone()).unwrap();
        let expected = errors.iter().map(|error| error.powf(gamma)).sum::<f64>() / 3.0;
        assert_close(&values(&loss), &[expected as f32], 1e-5, "scaled cosine");
    }
    assert!(ScaledCosine { gamma: 0.5 }.check().is_err());
}

#[test]
fn noise_is_as_large_as_it_says_and_leaves_the_model_alone() {
    let mut initializer = Initializer::new(3, &device());
    let model = Linear::new(80, 50, &mut initializer);
    let single = Linear::new(1, 1, &mut initializer);
    let before = StateDict::of(&model);
    let deviation = |values: &[f32]| {
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        (values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / (values.len() - 1) as f32).sqrt()
    };
    let weight = before.get("weight").unwrap().to_vec();
    for scale in [0.1, 1.0] {
        let noisy = StateDict::of(&perturbed_copy(&model, scale, 5, 2));
        let noise: Vec<f32> = noisy.get("weight").unwrap().iter().zip(&weight).map(|(new, old)| new - old).collect();
        let found = deviation(&noise) / deviation(&weight);
        assert!((f64::from(found) / scale - 1.0).abs() < 0.05, "{found} for {scale}");
        assert_eq!(noisy, StateDict::of(&perturbed_copy(&model, scale, 5, 2)));
        assert_ne!(noisy, StateDict::of(&perturbed_copy(&model, scale, 5, 3)));
    }
    assert_eq!(before, StateDict::of(&model));
    // One value has no deviation.
    assert_eq!(StateDict::of(&single), StateDict::of(&perturbed_copy(&single, 10.0, 5, 2)));
}
