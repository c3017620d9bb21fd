//! Graph Barlow Twins against PyTorch (`fixtures/make_peers.py`), the same bits however it is run, and on graphs with little in them.
#![allow(clippy::unwrap_used)]

mod peers;

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::loss::BarlowTwins;
use fiedler_learn::method::{Gbt, Method};
use fiedler_learn::ops;
use fiedler_learn::run::Settings;
use fiedler_learn::trainer::{Optimizer, Schedule, ScheduleUnit, TrainingSettings};
use peers::{Fixture, assert_close, task, values};

fn gbt(hidden_channels: usize, out_channels: usize) -> Gbt {
    let EncoderSettings::Gcn(gcn) = Gbt::default().encoder else { unreachable!() };
    let gcn = GcnSettings { hidden_channels, out_channels: Some(out_channels), ..gcn };
    Gbt { encoder: EncoderSettings::Gcn(gcn), ..Gbt::default() }
}

#[test]
fn steps_and_embeddings_are_those_of_pytorch() {
    let fixture = Fixture::read(include_str!("fixtures/gbt.json"));
    let method = gbt(8, 5);
    let (task, views) = (fixture.task(), fixture.views());
    let model = fixture.model(&method);
    peers::assert_expected(&peers::losses(&method, &model, &task, None, &views)[0], &fixture.expected());
    let training = TrainingSettings {
        epochs: 4,
        optimizer: Optimizer::AdamW,
        learning_rate: 0.02,
        weight_decay: 1e-2,
        schedule: Schedule::Cosine { warmup: 25, from_zero: true, unit: ScheduleUnit::Percent },
        ..TrainingSettings::default()
    };
    // The losses above have moved the statistics of normalizations, which training does not look at.
    let model = peers::train(&method, model, &training, &task, None, &views);
    fixture.assert_trained(&model);
    fixture.assert_embeds(&method, model);
}

#[test]
fn equal_views_of_uncorrelated_columns_fall_short_of_one_by_one_row() {
    // Columns of a Hadamard matrix but the first: mean zero, uncorrelated.
    let (rows, width) = (16usize, 15);
    let sign = |row: usize, at: usize| if (row & (at + 1)).count_ones().is_multiple_of(2) { 1.0f32 } else { -1.0 };
    let table: Vec<f32> = (0..rows * width).map(|at| sign(at / width, at % width)).collect();
    let view = Tensor::<2>::from_data(TensorData::new(table, [rows, width]), &peers::device());
    let terms = BarlowTwins::default().terms([view.clone(), view.clone()]).unwrap();
    // C_ii = (n - 1) / n.
    assert_close(&values(&terms.invariance), &[width as f32 / (rows * rows) as f32], 1e-4, "invariance");
    assert_close(&values(&terms.redundancy), &[0.0], 1e-6, "redundancy");
    let opposite = BarlowTwins::default().terms([view.clone(), view.neg()]).unwrap();
    let expected = width as f32 * (1.0 + (rows - 1) as f32 / rows as f32).powi(2);
    assert_close(&values(&opposite.invariance), &[expected], 1e-4, "opposite views");
}

#[test]
fn lambda_is_one_over_the_width_unless_it_is_given() {
    let matrix = |seed: usize| {
        let table: Vec<f32> = (0..60).map(|at| peers::wave(at + seed, seed)).collect();
        Tensor::<2>::from_data(TensorData::new(table, [12, 5]), &peers::device())
    };
    let loss = |lambda| values(&BarlowTwins { lambda }.loss([matrix(1), matrix(9)]).unwrap());
    assert_eq!(loss(None), loss(Some(0.2)));
    let terms = values(&ops::cross_decorrelation(ops::standardize(matrix(1)), ops::standardize(matrix(9))));
    assert_close(&loss(Some(3.0)), &[terms[0] + 3.0 * terms[1]], 1e-5, "another weight");
    // A column that is constant in one view is correlated with nothing, and has a finite gradient.
    let constant = matrix(3).slice_assign([0..12, 0..1], Tensor::full([12, 1], 0.1, &peers::device())).require_grad();
    let loss = BarlowTwins::default().loss([constant.clone(), matrix(1)]).unwrap();
    let gradient = values(&constant.grad(&loss.backward()).unwrap());
    assert!(gradient.iter().all(|value| value.is_finite()), "{gradient:?}");
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let result = peers::assert_same_bits(&peers::settings(gbt(64, 32), 8));
    assert_eq!(result.embeddings.columns(), 32);
    // Views differ more from each other than eight steps change.
    assert!(result.history.losses.iter().all(|&loss| loss > 0.0), "{:?}", result.history.losses);
}

#[test]
fn graphs_with_little_in_them_are_learned_or_refused_by_name() {
    peers::assert_robust(&peers::settings(gbt(8, 6), 10));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |method: Gbt, views| method.check(&task(5, 4, views)).unwrap_err().to_string();
    assert!(gbt(8, 4).check(&task(2, 4, 2)).is_ok());
    assert!(refused(gbt(8, 0), 2).contains("out_channels is 0"));
    assert!(refused(gbt(8, 4), 1).contains("number of views is 1; expected 2, which is what gbt compares"));
    assert!(refused(Gbt { lambda: Some(-1.0), ..gbt(8, 4) }, 2).contains("lambda is -1"));
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    let short = read(r#"{"method": {"name": "gbt"}, "training": {"epochs": 7}}"#).unwrap();
    assert_eq!((short.training.epochs, short.training.optimizer), (7, Optimizer::AdamW));
    assert_eq!(read(&serde_json::to_string(&short).unwrap()).unwrap(), short);
}
