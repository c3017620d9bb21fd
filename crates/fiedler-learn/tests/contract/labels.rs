//! Labels of every kind: the loss of a supervised method against a computation by hand.

use fiedler_graph::{Classes, Dataset, Labels, MultiLabel, Regression, Split};
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::method::Supervised;
use fiedler_learn::run::{Run, RunResult, Settings};
use fiedler_learn::{Embeddings, Error, Supervision};

use crate::common;

fn settings(epochs: usize) -> Settings {
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden_channels: 5, ..GcnSettings::default() });
    let mut training = common::training(epochs);
    training.batch_size = 100;
    training.patience = Some(5);
    Settings { method: Supervised { encoder, ..Supervised::default() }.into(), ..common::settings(training) }
}

/// The mean loss over what is known of some items.
fn by_hand(scores: &Embeddings, labels: &Labels, items: &[u32]) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for &item in items {
        let item = item as usize;
        let row: Vec<f64> = scores.row(item).iter().map(|&score| score.into()).collect();
        match labels {
            Labels::Classes(classes) => {
                let Some(class) = classes.of()[item] else { continue };
                let total: f64 = row.iter().map(|score| score.exp()).sum();
                sum -= (row[class as usize].exp() / total).ln();
                count += 1.0;
            }
            Labels::MultiLabel(tasks) => {
                for (score, label) in row.iter().zip(tasks.row(item)) {
                    let Some(label) = label else { continue };
                    let probability = 1.0 / (1.0 + (-score).exp());
                    sum -= if *label { probability } else { 1.0 - probability }.ln();
                    count += 1.0;
                }
            }
            Labels::Regression(values) => {
                for (score, value) in row.iter().zip(values.row(item)) {
                    let Some(value) = value else { continue };
                    sum += (score - f64::from(*value)).powi(2);
                    count += 1.0;
                }
            }
        }
    }
    sum / count
}

/// Labels of every kind for so many items, some of them missing.
fn all_labels(items: usize) -> [Labels; 3] {
    let names = |count: usize| (0..count).map(|name| name.to_string()).collect();
    let classes = (0..items as i64).map(|item| (item % 7 != 3).then_some(item % 3));
    let yes = (0..items * 2).map(|at| (at % 5 != 1).then_some(at % 3 == 0));
    let reals = (0..items * 2).map(|at| (at % 4 != 2).then_some((at as f32 * 0.9).cos() * 3.0));
    [
        Labels::Classes(Classes::from_integers(classes)),
        Labels::MultiLabel(MultiLabel::new(names(2), yes.collect()).unwrap()),
        Labels::Regression(Regression::new(names(2), reals.collect()).unwrap()),
    ]
}

fn fit(dataset: &Dataset, labels: &Labels, split: &Split, epochs: usize) -> Result<RunResult, Error> {
    let settings = settings(epochs);
    Run { supervision: Some(Supervision { labels, split }), ..Run::new(&settings, dataset) }.fit()
}

fn split(items: u32) -> Split {
    let part = |third: u32| (0..items).filter(|item| item % 3 == third).collect();
    Split { name: "thirds".into(), train: part(0), validation: part(1), test: part(2), stopping: Vec::new() }
}

#[test]
fn labels_of_every_kind_have_the_loss_that_they_should_and_missing_ones_none() {
    for (dataset, items) in [(common::graph(31, 4), 31), (common::rings(31, 4), 31)] {
        let split = split(items as u32);
        for labels in &all_labels(items) {
            // The embedding of a supervised method is its scores.
            let before = fit(&dataset, labels, &split, 0).unwrap();
            let after = fit(&dataset, labels, &split, 1).unwrap();
            let found = f64::from(after.history.losses[0]);
            let expected = by_hand(&before.embeddings, labels, &split.train);
            assert!((found - expected).abs() < 1e-5 * (1.0 + expected), "{labels:?}: {found}, expected {expected}");
            let (epoch, found) = after.history.best.unwrap();
            let expected = by_hand(&after.embeddings, labels, &split.validation);
            assert_eq!(epoch, 1);
            let apart = (f64::from(found) - expected).abs();
            assert!(apart < 1e-5 * (1.0 + expected), "validation of {labels:?}: {found}, expected {expected}");
        }
    }
}

#[test]
fn labels_of_the_test_set_are_never_looked_at() {
    for (dataset, items) in [(common::graph(31, 4), 31), (common::rings(31, 4), 31)] {
        let split = split(items as u32);
        for labels in &all_labels(items) {
            let hidden = labels.without(&split.test);
            assert_ne!(&hidden, labels);
            let [whole, blind] = [labels, &hidden].map(|labels| fit(&dataset, labels, &split, 3).unwrap());
            assert_eq!(whole.embeddings, blind.embeddings);
            assert_eq!(whole.history.best, blind.history.best);
            let other = labels.without(&split.train[..4]);
            assert_ne!(fit(&dataset, &other, &split, 3).unwrap().history.losses, whole.history.losses);
        }
    }
}

#[test]
fn labels_that_do_not_fit_are_refused() {
    let dataset = common::graph(31, 4);
    let [classes, ..] = all_labels(30);
    let error = fit(&dataset, &classes, &split(31), 1).unwrap_err().to_string();
    assert!(error.contains("list of labels has 30; expected 31"), "{error}");
    let one = Labels::Classes(Classes::from_integers((0..31).map(|_| Some(0))));
    let error = fit(&dataset, &one, &split(31), 1).unwrap_err().to_string();
    assert!(error.starts_with("classes is 1; expected at least 2"), "{error}");
    let [classes, ..] = all_labels(31);
    let nothing = classes.without(&split(31).train);
    let error = fit(&dataset, &nothing, &split(31), 1).unwrap_err().to_string();
    assert!(error.starts_with("labels to learn from is 0"), "{error}");
}
