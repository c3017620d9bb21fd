//! Presets, quick probe and evaluations against recorded values.
#![allow(clippy::unwrap_used)]

use fiedler_evaluate::probe::AdamSettings;
use fiedler_evaluate::protocol::RandomSplits;
use fiedler_evaluate::{
    EvaluationSettings, Metric, Probe, Protocol, ProtocolPreset, QuickProbe, Scaling, SupervisedScores, Target,
    evaluate,
};
use fiedler_graph::{Classes, Dense, Labels, MultiLabel, NoObserver, Regression, generate};
use serde_json::Value;

struct Data {
    embeddings: Dense,
    classes: Target,
}

impl Data {
    /// The first features of the built-in graph.
    fn new() -> Data {
        let dataset = generate::citation(0);
        let features = dataset.features.as_ref().unwrap().to_dense();
        let values = (0..features.rows()).flat_map(|row| features.row(row)[..30].to_vec()).collect();
        Data { embeddings: Dense::new(features.rows(), 30, values).unwrap(), classes: Target::of(&dataset).unwrap() }
    }

    fn class(&self, item: usize) -> u32 {
        self.classes.labels.classes().unwrap().of()[item].unwrap()
    }

    /// The labels of a case: the classes, or other labels made of them.
    fn target(&self, name: &str) -> Target {
        let items = 0..self.embeddings.rows();
        match name {
            "classes" => self.classes.clone(),
            "graphs" => {
                let classes = Classes::from_integers(items.map(|item| Some(self.class(item).into())));
                Target { graphs: true, ..Target::of_labels(Labels::Classes(classes)) }
            }
            "multi-label" => {
                let answers = items.flat_map(|item| {
                    let even = (item % 7 > 0).then(|| self.class(item).is_multiple_of(2));
                    [even, Some(self.class(item) == 1)]
                });
                let names = vec!["a".into(), "b".into()];
                Target::of_labels(Labels::MultiLabel(MultiLabel::new(names, answers.collect()).unwrap()))
            }
            _ => {
                let values = items.map(|item| Some(self.class(item) as f32)).collect();
                Target::of_labels(Labels::Regression(Regression::new(vec!["y".into()], values).unwrap()))
            }
        }
    }
}

fn cases() -> Vec<Value> {
    let path = format!("{}/tests/fixtures/baseline.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn near(found: f64, expected: &Value, place: &str) {
    assert!((found - expected.as_f64().unwrap()).abs() < 1e-9, "{place}: {found}, expected {expected}");
}

#[test]
fn scores_are_what_they_were() {
    let data = Data::new();
    for case in cases() {
        let protocol: Protocol = serde_json::from_value(case["protocol"].clone()).unwrap();
        let metric: Metric = serde_json::from_value(case["metric"].clone()).unwrap();
        let place = format!("{} {} {metric}", case["target"], case["protocol"]);
        let adam = || AdamSettings { steps: 100, ..Default::default() }.into();
        let settings = EvaluationSettings {
            protocol: Some(protocol),
            probe: (protocol == Protocol::REFERENCE).then(adam),
            metric: Some(metric),
            seed: case["seed"].as_u64().unwrap(),
            ..Default::default()
        };
        let target = data.target(case["target"].as_str().unwrap());
        let score = evaluate(&data.embeddings, &target, &settings, &NoObserver).unwrap();
        near(score.mean, &case["mean"], &place);
        near(score.std, &case["std"], &place);
        let splits = case["splits"].as_array().unwrap();
        assert_eq!(score.splits.len(), splits.len(), "{place}");
        for (split, expected) in score.splits.iter().zip(splits) {
            near(split.value, &expected["value"], &place);
            near(split.validation, &expected["validation"], &place);
            let chosen: Vec<f64> = split.hyperparameters.values().copied().collect();
            assert_eq!(chosen, [expected["weight"].as_f64().unwrap()], "{place}");
            assert_eq!(split.scaling.name(), expected["scaling"], "{place}");
            assert_eq!(split.validation_items as u64, expected["validation_items"].as_u64().unwrap(), "{place}");
            assert_eq!((&split.name, &split.fingerprint), (&text(&expected["name"]), &text(&expected["fingerprint"])));
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().into()
}

/// The last two cases of the fixture are what the program's `run/score.rs` did.
#[test]
fn the_quick_probe_is_the_programs() {
    let data = Data::new();
    for case in &cases()[9..] {
        let target = data.target(case["target"].as_str().unwrap());
        let probe = QuickProbe::of_target(target, case["seed"].as_u64().unwrap()).unwrap();
        let score = probe.score("embedding", &data.embeddings, &NoObserver).unwrap();
        near(score.value, &case["mean"], &score.protocol);
        assert_eq!(probe.split().unwrap().fingerprint(), text(&case["splits"][0]["fingerprint"]));
        let (classes, split) = probe.supervision().unwrap();
        assert_eq!((classes.of().len(), split), (data.embeddings.rows(), probe.split().unwrap()));
    }
    assert!(QuickProbe::new(&generate::citation(0), 0).is_some());
    let reals = QuickProbe::of_target(data.target("regression"), 0).unwrap();
    assert!(reals.supervision().is_none() && reals.score_predictions("encoder", &data.embeddings).is_none());
}

/// Names, protocols, seeds and words of the presets.
#[test]
fn presets_are_what_tables_say() {
    let target = Data::new().classes;
    let random: Protocol = RandomSplits { splits: 20, train: 0.1, validation: 0.1, stratified: false }.into();
    let without_validation =
        |train: f64| -> Protocol { RandomSplits { splits: 20, train, validation: 0.0, stratified: false }.into() };
    let presets = [
        ("random", random, true, "20 random splits for each seed: 10 % train, 10 % validation, 80 % test; "),
        ("random-10-90", without_validation(0.1), true, "20 random splits for each seed: 10 % train, 90 % test; "),
        ("random-20-80", without_validation(0.2), true, "20 random splits for each seed: 20 % train, 80 % test; "),
        ("public", Protocol::PUBLIC, false, "the split that came with the data; "),
        (
            "reference",
            Protocol::REFERENCE,
            false,
            "the reference program's: one random split, 10 % train, 80 % validation, 10 % test; ",
        ),
        ("folds", Protocol::KFOLD, true, "10-fold cross-validation, stratified, folds of its own for each seed; "),
    ];
    // Those that have a probe or intervals of their own are looked at below.
    assert_eq!(ProtocolPreset::ALL.len(), presets.len() + 3);
    let svm = ProtocolPreset::KfoldSvm.evaluation(7, None);
    assert_eq!((svm.protocol, svm.probe, svm.seed), (Some(Protocol::KFOLD), Some("svm".parse().unwrap()), 7));
    let linear = ProtocolPreset::KfoldLinearSvm.evaluation(7, None);
    assert_eq!(linear.probe, Some("linear-svm".parse().unwrap()));
    assert!(ProtocolPreset::KfoldSvm.describe(&target).contains("support vector machine with a Gaussian kernel"));
    let scaffold = ProtocolPreset::Scaffold.evaluation(7, None);
    assert_eq!((scaffold.protocol, scaffold.bootstrap, scaffold.seed), (Some(Protocol::SCAFFOLD), 1000, 0));
    for (name, protocol, by_seed, words) in presets {
        let preset: ProtocolPreset = name.parse().unwrap();
        assert_eq!((preset.protocol(), preset.divides_by_seed()), (protocol, by_seed));
        let seed = if by_seed { 7 } else { 0 };
        let expected =
            EvaluationSettings { protocol: Some(protocol), metric: Some(Metric::MicroF1), seed, ..Default::default() };
        let expected = match preset {
            ProtocolPreset::Random1090 | ProtocolPreset::Random2080 => {
                let largest = if preset == ProtocolPreset::Random1090 { 512.0 } else { 1024.0 };
                let evaluation = preset.evaluation(7, Some(Metric::MicroF1));
                let Some(Probe::Logistic(logistic)) = &evaluation.probe else { panic!("{evaluation:?}") };
                let [first, .., last] = logistic.cs[..] else { panic!("{:?}", logistic.cs) };
                assert_eq!((first, last), (1.0 / 1024.0, largest));
                EvaluationSettings { probe: evaluation.probe.clone(), scaling: Some(vec![Scaling::L2Rows]), ..expected }
            }
            _ => expected,
        };
        assert_eq!(preset.evaluation(7, Some(Metric::MicroF1)), expected);
        let embeddings = match preset {
            ProtocolPreset::Reference => "embeddings of two drawn views, side by side",
            ProtocolPreset::Random1090 => "embeddings of the graph as it is; rows of length one, C from 2^-10 to 2^9",
            ProtocolPreset::Random2080 => "embeddings of the graph as it is; rows of length one, C from 2^-10 to 2^10",
            _ => "embeddings of the graph as it is",
        };
        assert_eq!(preset.describe(&target), format!("{words}{embeddings}"));
    }
}

/// Folds set every tenth training item aside.
#[test]
fn supervised_splits_have_a_validation_part() {
    let target = Data::new().classes;
    let plain = Protocol::KFOLD.splits(&target, 3).unwrap();
    let supervised = SupervisedScores::new(&target, Protocol::KFOLD, 3).unwrap();
    for (split, plain) in supervised.splits().iter().zip(&plain) {
        let aside: Vec<u32> = plain.train.iter().copied().skip(9).step_by(10).collect();
        assert_eq!((&split.validation, &split.test), (&aside, &plain.test));
        assert_eq!(split.train.len() + aside.len(), plain.train.len());
    }
    let public = SupervisedScores::new(&target, Protocol::PUBLIC, 0).unwrap();
    assert_eq!(public.splits(), target.splits);
}

/// A bound leaves splits out, and changes nothing of those that are evaluated.
#[test]
fn a_bound_of_training_items_keeps_the_first_splits() {
    let data = Data::new();
    let evaluated = |max_train_items: Option<usize>| {
        let settings = EvaluationSettings { protocol: Some(Protocol::RANDOM), max_train_items, ..Default::default() };
        evaluate(&data.embeddings, &data.classes, &settings, &NoObserver).unwrap()
    };
    let all = evaluated(None);
    let each = all.splits[0].train_items;
    let some = evaluated(Some(3 * each));
    assert_eq!((some.splits.as_slice(), all.splits.len()), (&all.splits[..3], 10));
    assert!(some.description.contains("the first 3 of 10"), "{}", some.description);
    assert_eq!(evaluated(Some(0)).splits.len(), 1, "at least one");
    assert_eq!(evaluated(Some(10 * each)), all);
}
