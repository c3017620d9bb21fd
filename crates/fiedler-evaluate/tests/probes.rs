//! Probes against scikit-learn and PyTorch, whose answers `fixtures/make_sklearn.py` wrote down.
#![allow(clippy::unwrap_used)]

use fiedler_evaluate::probe::{
    AdamTrainer, Design, Linear, LinearSvmSettings, LogisticSettings, SvmSettings, fit_linear_svm, fit_logistic,
    fit_ridge, fit_svm,
};
use fiedler_evaluate::protocol::KFold;
use fiedler_evaluate::{EvaluationSettings, Matrix, Metric, Target, evaluate, metric};
use fiedler_graph::{Classes, Dense, Labels, MultiLabel, NoObserver, Regression};
use serde_json::Value;

fn fixture(name: &str) -> Value {
    let path = format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn classes(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|class| class as u32).collect()
}

fn size(value: &Value, name: &str) -> usize {
    value[name].as_u64().unwrap() as usize
}

/// The first and the second half of the rows; fixtures store values in 64ths.
fn halves(case: &Value) -> (Matrix, Matrix) {
    let (rows, columns) = (size(case, "rows"), size(case, "columns"));
    let values = numbers(&case["values"]);
    let half =
        |first: usize| Matrix::from_fn(rows, columns, |row, column| values[(first + row) * columns + column] / 64.0);
    (half(0), half(rows))
}

/// Columns of both to mean 0 and deviation 1 over the first.
fn standardized(train: &Matrix, test: &Matrix) -> (Matrix, Matrix) {
    let over = |value: &dyn Fn(&[f64]) -> f64| {
        (0..train.rows()).map(|row| value(train.row(row))).sum::<f64>() / train.rows() as f64
    };
    let moments = |column: usize| {
        let mean = over(&|row| row[column]);
        (mean, over(&|row| (row[column] - mean).powi(2)).sqrt())
    };
    let moments: Vec<(f64, f64)> = (0..train.columns()).map(moments).collect();
    let apply = |matrix: &Matrix| {
        Matrix::from_fn(matrix.rows(), matrix.columns(), |row, column| {
            (matrix.row(row)[column] - moments[column].0) / moments[column].1
        })
    };
    (apply(train), apply(test))
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|score| (score - largest).exp()).sum();
    row.iter().map(|score| (score - largest).exp() / sum).collect()
}

fn argmax(row: &[f64]) -> u32 {
    (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best }) as u32
}

#[test]
fn logistic_regression_is_scikit_learns() {
    for case in fixture("logistic.json").as_array().unwrap() {
        let (mut train, mut test) = halves(case);
        if case["standardize"].as_bool().unwrap() {
            (train, test) = standardized(&train, &test);
        }
        let labels = classes(&case["labels"]);
        let fits = case["fits"].as_array().unwrap();
        let cs: Vec<f64> = fits.iter().map(|fit| fit["strength"].as_f64().unwrap()).collect();
        let settings = LogisticSettings { cs, tolerance: 1e-10, max_iterations: 10_000 };
        let design = Design::new(train);
        let found = fit_logistic(&design, &labels[..size(case, "rows")], size(case, "classes"), &settings);
        for (fit, expected) in found.iter().zip(fits) {
            let place = format!("{} at C = {}", case["name"], expected["strength"]);
            let objective = expected["objective"].as_f64().unwrap();
            assert!((fit.objective - objective).abs() <= 1e-9 * objective, "{place}: {} {objective}", fit.objective);
            assert!(fit.converged && fit.iterations < 100, "{place}: {} steps", fit.iterations);
            let scores = fit.model.scores(&test);
            let predictions: Vec<u32> = (0..test.rows()).map(|row| argmax(scores.row(row))).collect();
            assert_eq!(predictions, classes(&expected["predictions"]), "{place}");
            for (row, probabilities) in expected["probabilities"].as_array().unwrap().iter().enumerate() {
                for (found, expected) in softmax(scores.row(row)).iter().zip(numbers(probabilities)) {
                    assert!((found - expected).abs() < 1e-6, "{place}: probability {found}, expected {expected}");
                }
            }
        }
    }
}

/// What a user gets who sets nothing.
#[test]
fn usual_settings_reach_scikit_learns_loss() {
    for case in fixture("logistic.json").as_array().unwrap() {
        let (mut train, mut test) = halves(case);
        if case["standardize"].as_bool().unwrap() {
            (train, test) = standardized(&train, &test);
        }
        let labels = &classes(&case["labels"])[..size(case, "rows")];
        let fits = case["fits"].as_array().unwrap();
        let cs: Vec<f64> = fits.iter().map(|fit| fit["strength"].as_f64().unwrap()).collect();
        let settings = LogisticSettings { cs, ..Default::default() };
        let found = fit_logistic(&Design::new(train), labels, size(case, "classes"), &settings);
        for (fit, expected) in found.iter().zip(fits) {
            let (place, objective) = (format!("{} at {}", case["name"], fit.iterations), &expected["objective"]);
            assert!(
                (fit.objective - objective.as_f64().unwrap()).abs() < 1e-6,
                "{place}: {objective} {}",
                fit.objective
            );
            let scores = fit.model.scores(&test);
            let predictions: Vec<u32> = (0..test.rows()).map(|row| argmax(scores.row(row))).collect();
            assert_eq!(predictions, classes(&expected["predictions"]), "{place}");
        }
    }
}

#[test]
fn tasks_with_gaps_are_scikit_learns_one_by_one_and_ogbs_together() {
    let case = fixture("tasks.json");
    let (train, test) = halves(&case);
    let answers = case["answers"].as_array().unwrap().iter().map(Value::as_bool).collect();
    let names = ["a", "b", "c", "constant"].map(String::from).to_vec();
    let labels = Labels::MultiLabel(MultiLabel::new(names, answers).unwrap());
    let rows = size(&case, "rows") as u32;
    let (train_items, test_items): (Vec<u32>, Vec<u32>) = ((0..rows).collect(), (rows..2 * rows).collect());
    let fits = case["fits"].as_array().unwrap();
    let cs: Vec<f64> = fits.iter().map(|fit| fit["strength"].as_f64().unwrap()).collect();
    let settings = LogisticSettings { cs, tolerance: 1e-10, max_iterations: 10_000 };
    for (model, expected) in settings.fit(&train, &labels, &train_items).unwrap().iter().zip(fits) {
        let scores = model.scores(&test);
        for (found, expected) in scores.values().iter().zip(numbers(&expected["scores"])) {
            assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found} {expected}");
        }
        let area = Metric::RocAuc.measure(&labels, &test_items, &scores).unwrap();
        assert!((area - expected["roc_auc"].as_f64().unwrap()).abs() < 1e-12, "{area} {}", expected["roc_auc"]);
    }
}

#[test]
fn ridge_regression_is_scikit_learns() {
    for case in fixture("ridge.json").as_array().unwrap() {
        let (train, test) = halves(case);
        let targets = numbers(&case["targets"]);
        let fits = case["fits"].as_array().unwrap();
        let alphas: Vec<f64> = fits.iter().map(|fit| fit["penalty"].as_f64().unwrap()).collect();
        let models = fit_ridge(&Design::new(train), &targets[..size(case, "rows")], &alphas);
        for (model, expected) in models.iter().zip(fits) {
            for (found, expected) in model.scores(&test).values().iter().zip(numbers(&expected["predictions"])) {
                assert!((found - expected).abs() < 1e-8 * expected.abs().max(1.0), "{found} {expected}");
            }
        }
    }
}

#[test]
fn training_by_adam_is_torchs() {
    let case = fixture("adam.json");
    let values: Vec<f32> = numbers(&case["values"]).into_iter().map(|value| value as f32 / 64.0).collect();
    let rows = Dense::new(size(&case, "rows"), size(&case, "columns"), values).unwrap();
    let start = Linear { weights: numbers(&case["start"]), intercepts: numbers(&case["start_intercepts"]) };
    for run in case["runs"].as_array().unwrap() {
        let decay = run["decay"].as_f64().unwrap() as f32;
        let mut adam = AdamTrainer::new(rows.clone(), classes(&case["labels"]), &start, 1e-3, decay);
        (0..size(&case, "steps")).for_each(|_| adam.step());
        let model = adam.model();
        let expected = numbers(&run["weights"]).into_iter().chain(numbers(&run["intercepts"]));
        for (found, expected) in model.weights.iter().chain(&model.intercepts).zip(expected) {
            assert!((found - expected).abs() < 2e-5, "{found} {expected} with decay {decay}");
        }
    }
}

#[test]
fn metrics_are_scikit_learns() {
    let case = fixture("metrics.json");
    let (truth, predicted) = (classes(&case["truth"]), classes(&case["predicted"]));
    let near = |found: Option<f64>, name: &str| {
        let expected = case[name].as_f64().unwrap();
        assert!((found.unwrap() - expected).abs() < 1e-12, "{name}: {found:?}, expected {expected}");
    };
    near(metric::f1(&predicted, &truth, metric::Average::Micro), "micro_f1");
    near(metric::f1(&predicted, &truth, metric::Average::Macro), "macro_f1");
    let answers: Vec<bool> =
        case["answers"].as_array().unwrap().iter().map(|answer| answer.as_bool().unwrap()).collect();
    near(metric::roc_auc(&numbers(&case["scores"]), &answers), "roc_auc");
    let probabilities: Vec<Vec<f64>> = case["probabilities"].as_array().unwrap().iter().map(numbers).collect();
    let logits = Matrix::from_fn(probabilities.len(), 4, |row, class| probabilities[row][class].ln());
    let labels = Classes::from_integers(truth.iter().map(|&class| Some(class.into())));
    let rows: Vec<u32> = (0..truth.len() as u32).collect();
    near(Metric::RocAuc.measure(&Labels::Classes(labels), &rows, &logits), "roc_auc_of_classes");
}

/// Rows, classes and what scikit-learn says of them for each C.
fn svm_cases(kind: &str) -> Vec<Value> {
    fixture("svm.json")[kind].as_array().unwrap().clone()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
    }
}

#[test]
fn support_vector_machines_are_those_of_libsvm() {
    for case in svm_cases("rbf") {
        let ((train, test), count) = (halves(&case), size(&case, "classes"));
        let labels = classes(&case["labels"]);
        let fits = case["fits"].as_array().unwrap();
        let cs: Vec<f64> = fits.iter().map(|fit| fit["c"].as_f64().unwrap()).collect();
        let exact = SvmSettings { cs: cs.clone(), tolerance: 1e-9, max_iterations: 5_000_000, ..Default::default() };
        let models = fit_svm(&train, &labels[..train.rows()], count, &exact);
        let usual = fit_svm(&train, &labels[..train.rows()], count, &SvmSettings { cs, ..Default::default() });
        for ((model, usual), fit) in models.iter().zip(&usual).zip(fits) {
            let what = format!("{count} classes, C = {}", fit["c"]);
            // The kernel is held in 32 bits.
            assert_near(model.decisions(&test).values(), &numbers(&fit["decisions"]), 2e-4, &what);
            let scores = usual.scores(&test);
            let predicted: Vec<u32> = (0..test.rows()).map(|row| argmax(scores.row(row))).collect();
            let expected = classes(&fit["usual"]);
            let differ = predicted.iter().zip(&expected).filter(|(one, other)| one != other).count();
            assert!(differ <= 1, "{what}: {differ} of {} rows are predicted otherwise", test.rows());
        }
    }
}

#[test]
fn linear_support_vector_machines_are_those_of_liblinear() {
    for case in svm_cases("linear") {
        let ((train, test), count) = (halves(&case), size(&case, "classes"));
        let labels = classes(&case["labels"]);
        let fits = case["fits"].as_array().unwrap();
        let cs: Vec<f64> = fits.iter().map(|fit| fit["c"].as_f64().unwrap()).collect();
        let settings = LinearSvmSettings { cs, tolerance: 1e-12, ..Default::default() };
        for (model, fit) in fit_linear_svm(&train, &labels[..train.rows()], count, &settings).iter().zip(fits) {
            let scores = model.scores(&test);
            // Two classes have one machine, which speaks for the second.
            let found: Vec<f64> = match count {
                2 => (0..test.rows()).map(|row| scores.row(row)[1]).collect(),
                _ => scores.values().to_vec(),
            };
            assert_near(&found, &numbers(&fit["decisions"]), 1e-5, &format!("{count} classes, C = {}", fit["c"]));
        }
    }
}

#[test]
fn machines_survive_classes_that_no_row_has_and_rows_that_are_alike() {
    let rows = Matrix::from_fn(6, 2, |row, column| (row / 2 * (column + 1)) as f64);
    for targets in [[0, 0, 2, 2, 0, 2], [3, 3, 3, 3, 3, 3]] {
        for model in fit_svm(&rows, &targets, 4, &SvmSettings::default()) {
            let scores = model.scores(&rows);
            assert!((0..6).all(|row| targets.contains(&argmax(scores.row(row)))), "{scores:?}");
        }
        for model in fit_linear_svm(&rows, &targets, 4, &LinearSvmSettings::default()) {
            let scores = model.scores(&rows);
            assert!((0..6).all(|row| targets.contains(&argmax(scores.row(row)))), "{scores:?}");
        }
    }
    let same = Matrix::from_fn(4, 3, |_, _| 2.0);
    for model in fit_svm(&same, &[0, 1, 0, 1], 2, &SvmSettings::default()) {
        assert!(model.scores(&same).values().iter().all(|score| score.is_finite()));
    }
}

#[test]
fn a_machine_that_takes_all_its_steps_says_so() {
    let values: Vec<f32> = (0..120).map(|at| ((at * at) as f32 * 0.37).sin()).collect();
    let embeddings = Dense::new(40, 3, values).unwrap();
    let classes = Classes::from_integers((0..40).map(|row| Some(i64::from(row % 3 == 0))));
    let target = Target::of_labels(Labels::Classes(classes));
    let score = |max_iterations: usize| {
        let probe = SvmSettings { cs: vec![10.0], max_iterations, ..SvmSettings::default() };
        let protocol = KFold { folds: 4, ..KFold::default() };
        let settings =
            EvaluationSettings { probe: Some(probe.into()), protocol: Some(protocol.into()), ..Default::default() };
        evaluate(&embeddings, &target, &settings, &NoObserver).unwrap()
    };
    let stopped = score(2);
    let note = stopped.notes.iter().find(|note| note.contains("has not converged"));
    assert!(note.is_some_and(|note| note.starts_with("in 4 of 4 splits the probe svm")), "{:?}", stopped.notes);
    let whole = score(SvmSettings::default().max_iterations);
    assert!(whole.notes.iter().all(|note| !note.contains("converged")), "{:?}", whole.notes);
}

#[test]
fn ridge_has_penalties_for_more_columns_than_rows() {
    // One column tells a little, ninety tell nothing.
    let (rows, columns) = (60, 91);
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let values: Vec<f32> = (0..rows * columns).map(|_| noise()).collect();
    let wanted = (0..rows).map(|row| Some(values[row * columns] + 3.0 * noise())).collect();
    let embeddings = Dense::new(rows, columns, values).unwrap();
    let labels = Labels::Regression(Regression::new(vec!["y".into()], wanted).unwrap());
    let target = Target::of_labels(labels);
    let protocol = KFold { folds: 5, ..KFold::default() };
    let settings = EvaluationSettings { protocol: Some(protocol.into()), ..Default::default() };
    let score = evaluate(&embeddings, &target, &settings, &NoObserver).unwrap();
    assert_eq!(score.probe, "ridge");
    assert!(score.splits.iter().any(|split| split.hyperparameters["alpha"] > 100.0), "{:?}", score.splits);
}
