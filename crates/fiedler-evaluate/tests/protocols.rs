//! Properties of divisions and of whole evaluations.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use fiedler_evaluate::probe::AdamSettings;
use fiedler_evaluate::protocol::{KFold, RandomSplits};
use fiedler_evaluate::{EvaluationSettings, Matrix, Metric, Probe, Protocol, Scaling, Score, Target, evaluate};
use fiedler_graph::{Classes, Dense, Event, Labels, MultiLabel, NoObserver, Regression, Split, generate};
use proptest::prelude::*;

/// Classes of which some are missing.
fn some_classes() -> impl Strategy<Value = Target> {
    prop::collection::vec(prop::option::weighted(0.9, 0..4i64), 40..200)
        .prop_map(|classes| Target::of_labels(Labels::Classes(Classes::from_integers(classes))))
}

fn labelled(target: &Target) -> BTreeSet<u32> {
    let classes = target.labels.classes().unwrap();
    (0..classes.of().len() as u32).filter(|&item| classes.of()[item as usize].is_some()).collect()
}

fn of_class(target: &Target, class: u32, items: &[u32]) -> usize {
    let classes = target.labels.classes().unwrap();
    items.iter().filter(|&&item| classes.of()[item as usize] == Some(class)).count()
}

fn parts(split: &Split) -> [&Vec<u32>; 3] {
    [&split.train, &split.validation, &split.test]
}

proptest! {
    #[test]
    fn random_splits_are_disjoint_and_cover(target in some_classes(), seed: u64, stratified: bool) {
        let protocol = Protocol::from(RandomSplits { splits: 3, train: 0.1, validation: 0.1, stratified });
        let splits = protocol.splits(&target, seed).unwrap();
        prop_assert_eq!(splits.len(), 3);
        for split in &splits {
            split.check(target.labels.len()).unwrap();
            let all: BTreeSet<u32> = parts(split).into_iter().flatten().copied().collect();
            prop_assert_eq!(all, labelled(&target));
            for (part, share) in parts(split).into_iter().zip([0.1, 0.1, 0.8]) {
                let items = labelled(&target).len() as f64;
                prop_assert!((part.len() as f64 - share * items).abs() < 2.0);
            }
        }
        prop_assert_ne!(&splits[0], &splits[1]);
        prop_assert_eq!(protocol.splits(&target, seed).unwrap(), splits);
    }

    #[test]
    fn stratified_splits_have_each_class_within_one(target in some_classes(), seed: u64) {
        let protocol = Protocol::from(RandomSplits { splits: 1, train: 0.3, validation: 0.25, stratified: true });
        let split = protocol.splits(&target, seed).unwrap().remove(0);
        let items: Vec<u32> = labelled(&target).into_iter().collect();
        for class in 0..target.labels.classes().unwrap().count() as u32 {
            let all = of_class(&target, class, &items) as f64;
            for (part, share) in parts(&split).into_iter().zip([0.3, 0.25, 0.45]) {
                prop_assert!((of_class(&target, class, part) as f64 - share * all).abs() <= 1.0);
            }
        }
    }

    #[test]
    fn test_folds_partition(target in some_classes(), seed: u64, folds in 2..10usize, stratified: bool) {
        let splits = Protocol::from(KFold { folds, stratified }).splits(&target, seed).unwrap();
        let tested: Vec<u32> = splits.iter().flat_map(|split| split.test.clone()).collect();
        prop_assert_eq!(tested.len(), labelled(&target).len());
        prop_assert_eq!(tested.iter().copied().collect::<BTreeSet<u32>>(), labelled(&target));
        for split in &splits {
            split.check(target.labels.len()).unwrap();
            prop_assert_eq!(split.train.len() + split.test.len(), tested.len());
            for class in (0..target.labels.classes().unwrap().count() as u32).filter(|_| stratified) {
                let share = of_class(&target, class, &tested) as f64 / folds as f64;
                prop_assert!((of_class(&target, class, &split.test) as f64 - share).abs() < 1.0);
            }
        }
    }
}

/// The built-in graph's first features, small enough for tests without optimization.
fn built_in() -> (Dense, Target) {
    let dataset = generate::citation(0);
    let features = dataset.features.as_ref().unwrap().to_dense();
    let values = (0..features.rows()).flat_map(|row| features.row(row)[..30].to_vec()).collect();
    (Dense::new(features.rows(), 30, values).unwrap(), Target::of(&dataset).unwrap())
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

#[test]
fn scores_do_not_depend_on_the_number_of_threads() {
    let (features, target) = built_in();
    for protocol in [Protocol::PUBLIC, Protocol::RANDOM, Protocol::KFOLD] {
        let settings = EvaluationSettings { protocol: Some(protocol), ..Default::default() };
        let bytes = |threads| {
            let score = with_threads(threads, || evaluate(&features, &target, &settings, &NoObserver)).unwrap();
            serde_json::to_vec(&score).unwrap()
        };
        assert_eq!(bytes(1), bytes(2), "{protocol}");
    }
}

#[test]
fn the_reference_protocol_divides_ten_eighty_ten() {
    let (features, target) = built_in();
    let probe = Some(AdamSettings { steps: 200, ..Default::default() }.into());
    let settings = EvaluationSettings { protocol: Some(Protocol::REFERENCE), probe, ..Default::default() };
    let score = evaluate(&features, &target, &settings, &NoObserver).unwrap();
    let split = &score.splits[0];
    assert_eq!((split.train_items, split.validation_items, split.test_items), (100, 800, 100));
    let decay = split.hyperparameters["weight_decay"];
    assert!([0.0, 0.001, 0.005, 0.01, 0.1].contains(&decay) && split.scaling == Scaling::None, "{split:?}");
    assert!(score.mean > 0.15, "{}", score.mean);
    assert!(score.description.contains("Adam at 0.001"), "{}", score.description);
}

/// What is known of the test part is spoilt; only the score may notice. That models do not either is tested beside the code.
#[test]
fn the_test_part_takes_no_part_in_the_choice() {
    let (features, target) = built_in();
    let settings = EvaluationSettings { protocol: Some(Protocol::PUBLIC), ..Default::default() };
    let honest = evaluate(&features, &target, &settings, &NoObserver).unwrap();
    let mut spoilt = target.clone();
    let classes = target.labels.classes().unwrap();
    let mut of: Vec<Option<i64>> = classes.of().iter().map(|class| class.map(i64::from)).collect();
    for &item in &target.splits[0].test {
        of[item as usize] = Some((of[item as usize].unwrap() + 1) % classes.count() as i64);
    }
    spoilt.labels = Labels::Classes(Classes::from_integers(of));
    let found = evaluate(&features, &spoilt, &settings, &NoObserver).unwrap();
    let choice = |score: &Score| (score.splits[0].hyperparameters.clone(), score.splits[0].validation);
    assert_eq!(choice(&found), choice(&honest));
    assert_ne!(found.mean, honest.mean);
}

#[test]
fn tasks_with_gaps_are_judged_by_the_tasks_that_can_be() {
    let rows = 120;
    let sign = |row: usize| if row.is_multiple_of(3) { 1.0 } else { -1.0 };
    let noise = |row: usize, column: usize| ((row * 37 + column * 11) % 17) as f32 / 17.0 - 0.5;
    let values = (0..rows).flat_map(|row| (0..4).map(move |column| sign(row) * column as f32 + noise(row, column)));
    let embeddings = Dense::new(rows, 4, values.collect()).unwrap();
    // The first task can be read off, with gaps; the second is known of nobody; the third has one answer only.
    let answers = (0..rows).flat_map(|row| [(row % 5 > 0).then(|| row.is_multiple_of(3)), None, Some(true)]);
    let names = ["told", "unknown", "constant"].map(String::from).to_vec();
    let target = Target::of_labels(Labels::MultiLabel(MultiLabel::new(names, answers.collect()).unwrap()));
    let score = evaluate(&embeddings, &target, &EvaluationSettings::default(), &NoObserver).unwrap();
    assert_eq!((score.metric, score.mean, score.std), (Metric::RocAuc, 1.0, 0.0));
    assert_eq!(score.splits.len(), 10);
}

#[test]
fn values_are_judged_by_ridge_regression() {
    let rows = 200;
    let x = |row: usize| (row % 23) as f32 / 5.0;
    let embeddings = Dense::new(rows, 2, (0..rows).flat_map(|row| [x(row), (row % 7) as f32]).collect()).unwrap();
    let values = (0..rows).map(|row| Some(2.0 * x(row) - (row % 7) as f32 + 1.0)).collect();
    let target = Target::of_labels(Labels::Regression(Regression::new(vec!["y".into()], values).unwrap()));
    let settings = EvaluationSettings {
        protocol: Some(Protocol::KFOLD),
        scaling: Some(vec![Scaling::None]),
        ..Default::default()
    };
    let score = evaluate(&embeddings, &target, &settings, &NoObserver).unwrap();
    assert!(score.metric == Metric::Rmse && score.mean < 1e-3, "{}", score.mean);
    assert!(
        score.splits.iter().all(|split| split.hyperparameters["alpha"] == 1e-5),
        "the weakest penalty fits a line best"
    );
}

#[test]
fn metrics_by_hand() {
    let scores = Matrix::from_fn(4, 2, |row, column| [[0.5, -1.0], [-0.5, 1.0], [1.0, 2.0], [-2.0, -1.0]][row][column]);
    let answers = [Some(true), Some(false), Some(true), None, Some(true), Some(false), Some(false), Some(true)];
    let tasks = Labels::MultiLabel(MultiLabel::new(vec!["a".into(), "b".into()], answers.to_vec()).unwrap());
    let measure = |metric: Metric| metric.measure(&tasks, &[0, 1, 2, 3], &scores).unwrap();
    // Task a: yes 0.5, -0.5, 1.0 and no -2.0: area 1. Task b: yes -1 and no -1, 2: of two pairs one tie: area 1/4.
    assert_eq!(measure(Metric::RocAuc), 0.625);
    // a: yes, no (wrong), yes, no: 3 of 4. b: no, (unknown), yes (wrong), no (wrong): 1 of 3.
    assert_eq!(measure(Metric::Accuracy), 4.0 / 7.0);
    // a: 2 right, 1 wrongly no; b: 0 right, 1 wrongly yes, 1 wrongly no.
    assert_eq!(measure(Metric::MicroF1), 4.0 / 7.0);
    assert_eq!(measure(Metric::MacroF1), 0.4);
    let values =
        Labels::Regression(Regression::new(vec!["y".into()], vec![Some(1.5), Some(-0.5), None, Some(-4.0)]).unwrap());
    // Errors -1, 0, 2 of three known values.
    assert!((Metric::Rmse.measure(&values, &[0, 1, 2, 3], &scores).unwrap() - (5f64 / 3.0).sqrt()).abs() < 1e-12);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (features, target) = built_in();
    let fail = |embeddings: &Dense, target: &Target, settings: &EvaluationSettings| {
        evaluate(embeddings, target, settings, &NoObserver).unwrap_err().to_string()
    };
    let short = Dense::new(2, 1, vec![0.0, 1.0]).unwrap();
    assert_eq!(
        fail(&short, &target, &EvaluationSettings::default()),
        "embeddings: 2 rows; expected 1000, one for each node"
    );
    let settings = EvaluationSettings { protocol: Some(Protocol::SCAFFOLD), ..Default::default() };
    assert_eq!(
        fail(&features, &target, &settings),
        "splits that came with the labels: public; expected one called scaffold"
    );
    let settings = EvaluationSettings {
        protocol: Some(Protocol::from(KFold { folds: 1, stratified: true })),
        ..Default::default()
    };
    assert_eq!(fail(&features, &target, &settings), "number of folds is 1; expected at least 2");
    let settings = EvaluationSettings { probe: Some(Probe::Ridge(Default::default())), ..Default::default() };
    let expected = "probe is ridge; expected logistic or adam or svm or linear-svm, since labels are classes";
    assert_eq!(fail(&features, &target, &settings), expected);
    let probe = Some(Probe::Adam(Default::default()));
    let settings = EvaluationSettings { protocol: Some(Protocol::KFOLD), probe, ..Default::default() };
    let expected = "split fold-0: no validation items; expected some, since the probe adam chooses on them";
    assert_eq!(fail(&features, &target, &settings), expected);
    let settings = EvaluationSettings { scaling: Some(Vec::new()), ..Default::default() };
    let expected = "scaling is empty; expected at least one of standardize, l2-rows, none";
    assert_eq!(fail(&features, &target, &settings), expected);
}

#[test]
fn an_observer_hears_of_every_split_and_can_stop() {
    let (features, target) = built_in();
    let settings =
        EvaluationSettings { protocol: Some(Protocol::RANDOM.with_splits(3).unwrap()), ..Default::default() };
    let told = Mutex::new(Vec::new());
    let watch = |event: &Event<'_>| {
        told.lock().unwrap().push(match event {
            Event::Begin { stage, total } => format!("{stage} {total:?}"),
            Event::Progress { done, total, .. } => format!("{done} {total:?}"),
            _ => "end".into(),
        });
        ControlFlow::Continue(())
    };
    with_threads(1, || evaluate(&features, &target, &settings, &watch)).unwrap();
    let expected = ["evaluation Some(3)", "0 Some(3)", "1 Some(3)", "2 Some(3)", "3 Some(3)", "end"];
    assert_eq!(told.into_inner().unwrap(), expected);
    let stop = |_: &Event<'_>| ControlFlow::Break(());
    let stopped = evaluate(&features, &target, &settings, &stop).unwrap_err();
    assert_eq!(stopped.to_string(), "stopped before the evaluation was finished");
}

/// The probe is an axis of its own: any that serves the labels goes with any protocol that has the parts it needs.
#[test]
fn probes_and_protocols_combine() {
    let (features, target) = built_in();
    let score = |protocol: Protocol, probe: Probe| {
        let settings = EvaluationSettings { protocol: Some(protocol), probe: Some(probe), ..Default::default() };
        evaluate(&features, &target, &settings, &NoObserver).unwrap()
    };
    let by_logistic = score(Protocol::REFERENCE, Probe::Logistic(Default::default()));
    assert_eq!((by_logistic.protocol.as_str(), by_logistic.probe.as_str()), ("reference", "logistic"));
    assert!(by_logistic.splits[0].hyperparameters.contains_key("c"), "{by_logistic:?}");
    let adam = AdamSettings { steps: 100, weight_decays: Some(vec![0.01]), ..Default::default() };
    let by_adam = score(Protocol::PUBLIC, adam.into());
    assert_eq!(by_adam.splits[0].hyperparameters["weight_decay"], 0.01);
}

#[test]
fn too_few_of_a_class_are_told() {
    let judge = |classes: &[i64], protocol: Protocol| {
        let values = (0..classes.len()).map(|row| (row % 5) as f32).collect();
        let labels = Labels::Classes(Classes::from_integers(classes.iter().map(|class| Some(*class))));
        let settings = EvaluationSettings { protocol: Some(protocol), ..Default::default() };
        evaluate(&Dense::new(classes.len(), 1, values).unwrap(), &Target::of_labels(labels), &settings, &NoObserver)
    };
    let fail = |classes: &[i64], protocol| judge(classes, protocol).unwrap_err().to_string();
    assert_eq!(
        fail(&[7; 30], Protocol::RANDOM),
        "labels: all 30 nodes are of class \"7\"; expected at least two classes"
    );
    let expected = "split random-0: 1 train, 0 validation and 3 test items; expected some of each";
    assert_eq!(fail(&[0, 1, 0, 1], Protocol::RANDOM), expected);
    assert_eq!(
        fail(&[0, 1, 2, 3], Protocol::from(KFold { folds: 5, stratified: false })),
        "labels: 4 nodes with a label; expected at least 5, one for each fold"
    );
    assert_eq!(
        fail(&[0, 1, 2, 0, 1, 2, 0, 1, 2, 0], Protocol::KFOLD),
        "labels: at most 4 members a class; expected a class with a member for each of 10 folds"
    );
    let mut rare = vec![0; 40];
    rare[0] = 1;
    let message = fail(&rare, Protocol::RANDOM);
    assert!(message.contains("items, all of class \"0\"; expected at least two classes"), "{message}");
    let mut classes: Vec<i64> = (0..60).map(|row| row % 2).collect();
    classes[0] = 2;
    let score = judge(&classes, Protocol::KFOLD).unwrap();
    assert_eq!(score.notes.len(), 2, "{:?}", score.notes);
    assert!(score.notes[0].starts_with("in 1 of 10 splits some class has no training item"), "{:?}", score.notes);
}
