//! BGRL against PyTorch (`fixtures/make_peers.py`), its schedules step by step, and the same bits however it is run.
#![allow(clippy::unwrap_used)]

mod peers;

use burn::Tensor;
use burn::tensor::TensorData;
use fiedler_graph::{NoObserver, generate};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::loss::{bootstrap, mean_cosine};
use fiedler_learn::method::{Bgrl, Method};
use fiedler_learn::run::{Run, RunResult, Settings};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::trainer::{Clock, Optimizer, Schedule, ScheduleUnit, TrainingSettings};
use fiedler_learn::{SavedEncoder, cosine_momentum};
use peers::{Fixture, Memory, assert_close, task, values};

fn bgrl(hidden_channels: usize, out_channels: usize) -> Bgrl {
    let EncoderSettings::Gcn(gcn) = Bgrl::default().encoder else { unreachable!() };
    let gcn = GcnSettings { hidden_channels, out_channels: Some(out_channels), ..gcn };
    Bgrl { encoder: EncoderSettings::Gcn(gcn), predictor_channels: 7, ..Bgrl::default() }
}

#[test]
fn steps_and_embeddings_are_those_of_pytorch() {
    let fixture = Fixture::read(include_str!("fixtures/bgrl.json"));
    let method = Bgrl { momentum: 0.9, ..bgrl(8, 5) };
    let (task, views) = (fixture.task(), fixture.views());
    let model = fixture.model(&method);
    let found = &peers::losses(&method, &model, &task, None, &views)[0];
    // The fixture has gradients of the online network and the predictor alone.
    peers::assert_expected(found, &fixture.expected());
    assert!(found.1.keys().all(|name| !name.starts_with("target")) && !found.1.is_empty());
    let training = TrainingSettings {
        epochs: 4,
        optimizer: Optimizer::AdamW,
        learning_rate: 0.02,
        weight_decay: 1e-2,
        schedule: Schedule::Cosine { warmup: 1, from_zero: true, unit: ScheduleUnit::Step },
        ..TrainingSettings::default()
    };
    let model = peers::train(&method, model, &training, &task, None, &views);
    fixture.assert_trained(&model);
    fixture.assert_embeds(&method, model);
}

fn rows(sign: f32) -> Tensor<2> {
    let table: Vec<f32> = (0..24).map(|at| sign * (1.0 + peers::wave(at, 2))).collect();
    Tensor::from_data(TensorData::new(table, [8, 3]), &peers::device()).require_grad()
}

#[test]
fn the_loss_is_zero_where_all_is_foreseen_and_four_where_it_is_reversed() {
    let loss = |sign| bootstrap([rows(sign), rows(sign) * 2.0], [rows(1.0), rows(1.0)]).unwrap();
    assert_close(&values(&loss(1.0)), &[0.0], 1e-6, "foreseen");
    assert_close(&values(&loss(-1.0)), &[4.0], 1e-6, "reversed");
    // Half of the rows reversed.
    let half = Tensor::cat(vec![rows(1.0).narrow(0, 0, 4), rows(-1.0).narrow(0, 4, 4)], 0);
    assert_close(&values(&mean_cosine(half, rows(1.0)).unwrap()), &[0.0], 1e-6, "half reversed");
    // A row of zeros has no direction, and gives a finite gradient.
    let zeros = Tensor::<2>::zeros([8, 3], &peers::device()).require_grad();
    let gradients = mean_cosine(zeros.clone(), rows(1.0)).unwrap().backward();
    assert!(values(&zeros.grad(&gradients).unwrap()).iter().all(|value| value.is_finite()));
    let (predicted, wanted) = (rows(-1.0), rows(1.0));
    let gradients = mean_cosine(predicted.clone() + 0.5, wanted.clone()).unwrap().backward();
    assert!(predicted.grad(&gradients).is_some() && wanted.grad(&gradients).is_none());
    assert!(mean_cosine(rows(1.0), rows(1.0).narrow(0, 0, 7)).is_err());
}

#[test]
fn schedules_are_those_of_the_publication_whatever_the_number_of_steps() {
    for total in [1000u64, 10_000] {
        let training = Bgrl::default().default_training().unwrap();
        let clock = |step| Clock { step, total_steps: total, ..Clock::default() };
        let rate = |step| training.schedule.factor(&clock(step));
        assert_eq!((rate(0), rate(total / 10)), (0.0, 1.0));
        assert!((rate(total / 20) - 0.5).abs() < 1e-12 && rate(total).abs() < 1e-12);
        assert!((rate(total / 10 + total * 9 / 20) - 0.5).abs() < 1e-12);
        let momentum = |step| cosine_momentum(0.99, &clock(step));
        assert_eq!((momentum(0), momentum(total)), (0.99, 1.0));
        assert!((momentum(total / 4) - (1.0 - 0.005 * (1.0 + 0.5f64.sqrt()))).abs() < 1e-12);
    }
}

#[test]
fn the_target_starts_by_itself_and_follows_by_the_momentum_of_each_step() {
    let dataset = generate::from_spec("citation:nodes=120", 3).unwrap();
    let mut settings = peers::settings(Bgrl { momentum: 0.6, ..bgrl(8, 6) }, 5);
    settings.training.checkpoint_every = 1;
    settings.training.learning_rate = 0.05;
    let store = Memory::default();
    peers::fit(&Run::new(&settings, &dataset), &store, &NoObserver).unwrap();
    let start = Run::new(
        &Settings { training: TrainingSettings { epochs: 0, ..settings.training.clone() }, ..settings },
        &dataset,
    )
    .fit()
    .unwrap();
    let first = StateDict::from_bytes(&start.encoder.to_bytes().unwrap()).unwrap();
    let name = |name: &str| format!("model.{name}");
    let mut before = StateDict::default();
    first.iter().for_each(|(at, shape, values)| before.insert(name(at), shape.to_vec(), values.to_vec()).unwrap());
    let weight = |weights: &StateDict, at: &str| weights.get(at).unwrap().to_vec();
    let [online, target] = ["online", "target"].map(|net| weight(&before, &format!("model.{net}.Gcn.layers.0.weight")));
    assert_ne!(online, target, "random weights of its own");
    assert_eq!(store.all().len(), 5);
    for (at, after) in store.all().into_iter().enumerate() {
        let momentum = 1.0 - 0.4 * (1.0 + (std::f64::consts::PI * at as f64 / 5.0).cos()) / 2.0;
        let names: Vec<String> = after.iter().map(|(name, ..)| name.to_owned()).collect();
        for target in names.iter().filter(|name| name.starts_with("model.target")) {
            let (old, new) = (weight(&before, target), weight(&after, target));
            if target.contains("running_") {
                assert_ne!(old, new, "{target}: statistics of its own batches");
                continue;
            }
            let online = weight(&after, &target.replace("target", "online"));
            let mixed = |(&old, &online): (&f32, &f32)| {
                (momentum * f64::from(old) + (1.0 - momentum) * f64::from(online)) as f32
            };
            let expected: Vec<f32> = old.iter().zip(&online).map(mixed).collect();
            assert_close(&new, &expected, 1e-6, target);
        }
        // In the first step the learning rate is zero.
        let moved =
            weight(&before, "model.online.Gcn.layers.0.weight") != weight(&after, "model.online.Gcn.layers.0.weight");
        assert_eq!(moved, at > 0, "step {at}");
        assert!(names.iter().all(|name| !name.starts_with("optimizer0.target")), "{names:?}");
        before = after;
    }
}

#[test]
fn embeddings_are_normalized_by_the_clean_graph_also_in_a_stored_encoder() {
    let dataset = generate::from_spec("citation:nodes=120", 3).unwrap();
    let settings = peers::settings(bgrl(8, 6), 6);
    let result = Run::new(&settings, &dataset).fit().unwrap();
    // Before the last PReLU, columns of the clean graph have the mean `shift` and the deviation `scale`; undoing the PReLU shows them.
    let weights = StateDict::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap();
    let get = |name: &str| weights.get(&format!("online.Gcn.{name}")).unwrap().to_vec();
    let slope = get("activations.1.slope")[0];
    let (scale, shift) = (get("layers.1.norm.scale"), get("layers.1.norm.shift"));
    let (rows, columns) = (result.embeddings.rows(), result.embeddings.columns());
    for column in 0..columns {
        let undo = |value: f32| f64::from(if value > 0.0 { value } else { value / slope });
        let found: Vec<f64> = (0..rows).map(|row| undo(result.embeddings.row(row)[column])).collect();
        let mean = found.iter().sum::<f64>() / rows as f64;
        let deviation = (found.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (rows - 1) as f64).sqrt();
        // But for what is added to the variance, and for `n - 1` in place of `n`.
        assert!((mean - f64::from(shift[column])).abs() < 1e-2, "{mean}, expected {}", shift[column]);
        assert!((deviation - f64::from(scale[column].abs())).abs() < 1e-2, "{deviation}, expected {}", scale[column]);
    }
    // Another graph is embedded by the statistics of the one that was trained on: alone or among others, a component is the same.
    let other = peers::graph(3, &[(0, 1), (1, 2)], columns_of(&result), peers::wave);
    let saved = SavedEncoder::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap();
    let alone = saved.embed(&other).unwrap();
    let pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (3, 5)];
    let both = saved.embed(&peers::graph(6, &pairs, columns_of(&result), peers::wave)).unwrap();
    for row in 0..3 {
        assert_close(both.row(row), alone.row(row), 1e-5, "a component");
    }
}

/// Columns of the features that a model was trained on.
fn columns_of(result: &RunResult) -> usize {
    let weights = StateDict::from_bytes(&result.encoder.to_bytes().unwrap()).unwrap();
    weights.shape("online.Gcn.layers.0.weight").unwrap()[0]
}

#[test]
fn one_thread_or_two_stopped_or_not_the_bits_are_the_same() {
    let result = peers::assert_same_bits(&peers::settings(bgrl(64, 32), 8));
    assert_eq!(result.embeddings.columns(), 32);
    assert!(result.history.losses.iter().all(|loss| (0.0..=4.0).contains(loss)), "{:?}", result.history.losses);
    assert!(result.history.losses.last() < result.history.losses.first(), "{:?}", result.history.losses);
}

#[test]
fn graphs_with_little_in_them_are_learned_or_refused_by_name() {
    peers::assert_robust(&peers::settings(bgrl(8, 6), 10));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |method: Bgrl, views| method.check(&task(5, 4, views)).unwrap_err().to_string();
    assert!(bgrl(8, 4).check(&task(2, 4, 2)).is_ok());
    assert!(refused(bgrl(8, 4), 3).contains("number of views is 3"));
    assert!(refused(Bgrl { momentum: 1.5, ..bgrl(8, 4) }, 2).contains("momentum is 1.5"));
    assert!(refused(Bgrl { predictor_channels: 0, ..bgrl(8, 4) }, 2).contains("predictor_channels is 0"));
    let read = |text: &str| serde_json::from_str::<Settings>(text);
    let mut settings = read(r#"{"method": {"name": "bgrl"}}"#).unwrap();
    assert_eq!(settings, Settings::of_method(Bgrl::default()));
    settings.training.schedule = Schedule::Cosine { warmup: 101, from_zero: true, unit: ScheduleUnit::Percent };
    let error = settings.training.check().unwrap_err().to_string();
    assert_eq!(error, "warmup is 101; expected at most 100, in percent");
}
