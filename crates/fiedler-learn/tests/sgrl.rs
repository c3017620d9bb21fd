//! SGRL against PyTorch (`fixtures/make_peers.py`), its two phases, and the same bits however it is run.
#![allow(clippy::unwrap_used)]

mod peers;

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings, GinSettings};
use fiedler_learn::loss::scattering;
use fiedler_learn::method::{Method, Sgrl};
use fiedler_learn::trainer::TrainingSettings;
use peers::{Expected, Fixture, assert_close, sample, task, values};

fn sgrl(hidden_channels: usize) -> Sgrl {
    let gcn = GcnSettings { hidden_channels, num_layers: 1, ..GcnSettings::default() };
    Sgrl { encoder: EncoderSettings::Gcn(gcn), predictor_channels: 7, ..Sgrl::default() }
}

#[test]
fn steps_and_embeddings_are_those_of_pytorch() {
    let fixture = Fixture::read(include_str!("fixtures/sgrl.json"));
    let method = Sgrl { extra_propagation: 2, momentum: 0.9, target_learning_rate: Some(0.005), ..sgrl(6) };
    let (task, clean) = (fixture.task(), sample(&fixture.clean()));
    let model = fixture.model(&method);
    let found = peers::losses(&method, &model, &task, Some(&clean), &[]);
    peers::assert_expected(&found[0], &fixture.get::<Expected>("scattering"));
    assert!(found[0].1.keys().all(|name| name.starts_with("target")) && !found[0].1.is_empty());
    // The second loss of the fixture is that of the target network after its first step.
    let other = &found[1].1;
    assert!(
        other.keys().all(|name| !name.starts_with("target")) && !other.is_empty(),
        "no gradient reaches the target"
    );
    let training =
        TrainingSettings { epochs: 4, learning_rate: 0.02, weight_decay: 0.0, ..TrainingSettings::default() };
    let model = peers::train(&method, model, &training, &task, Some(&clean), &[]);
    fixture.assert_trained(&model);
    fixture.assert_embeds(&method, model);
}

#[test]
fn rows_are_scattered_where_their_mean_is_zero() {
    let rows = |values: Vec<f32>| {
        let count = values.len() / 2;
        Tensor::<2>::from_data(TensorData::new(values, [count, 2]), &peers::device()).require_grad()
    };
    assert_close(
        &values(&scattering(rows(vec![1.0, 0.0, -5.0, 0.0, 0.0, 2.0, 0.0, -1.0]))),
        &[-1.0],
        1e-6,
        "scattered",
    );
    assert_close(&values(&scattering(rows(vec![1.0, 1.0, 3.0, 3.0, 0.1, 0.1]))), &[0.0], 1e-6, "all alike");
    // As the publication has it: minus the mean square distance from the mean, of rows of length one.
    let some = vec![1.0, 0.0, 0.6, 0.8, -0.8, 0.6, 0.0, -1.0];
    let mean = |at: usize| some.iter().skip(at).step_by(2).sum::<f32>() / 4.0;
    let expected =
        -some.chunks(2).map(|row| (row[0] - mean(0)).powi(2) + (row[1] - mean(1)).powi(2)).sum::<f32>() / 4.0;
    assert_close(&values(&scattering(rows(some))), &[expected], 1e-6, "the definition");
    let zero = rows(vec![0.0, 0.0, 1.0, 2.0]);
    let gradient = values(&zero.grad(&scattering(zero.clone()).backward()).unwrap());
    assert!(gradient.iter().all(|value| value.is_finite()), "{gradient:?}");
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let result = peers::assert_same_bits(&peers::settings(sgrl(64), 8));
    assert_eq!(result.embeddings.columns(), 64);
    // Early on the target scatters faster than the online network follows: losses need not fall yet.
    assert!(result.history.losses.iter().all(|loss| (-1.0..=1.0).contains(loss)), "{:?}", result.history.losses);
}

#[test]
fn graphs_with_little_in_them_are_learned_or_refused_by_name() {
    peers::assert_robust(&peers::settings(sgrl(6), 10));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |method: Sgrl| method.check(&task(5, 4, 0)).unwrap_err().to_string();
    assert!(sgrl(4).check(&task(2, 4, 0)).is_ok());
    assert!(refused(Sgrl { momentum: -0.1, ..sgrl(4) }).contains("momentum is -0.1"));
    let gin = EncoderSettings::Gin(GinSettings::default());
    assert!(refused(Sgrl { encoder: gin, ..sgrl(4) }).contains("extra_propagation is 1"));
    let rate = Sgrl { target_learning_rate: Some(-1.0), ..sgrl(4) };
    let dataset = peers::graph(5, &[(0, 1)], 4, peers::wave);
    let error = fiedler_learn::run::Run::new(&peers::settings(rate, 3), &dataset).check().err().unwrap().to_string();
    assert!(error.contains("learning_rate of the phase scattering is -1"), "{error}");
}
