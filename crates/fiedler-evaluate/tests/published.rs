//! Protocols on published datasets, and on files in their formats where the data cannot be had.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use fiedler_evaluate::{EvaluationSettings, Protocol, Scaling, Score, Target, evaluate};
use fiedler_graph::{Dataset, Dense, NoObserver, Split, generate};
use fiedler_io::{ReadOptions, catalogue};
use serde_json::Value;

fn published(name: &str) -> Option<Dataset> {
    if std::env::var_os("FIEDLER_DATA").is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: {name} (FIEDLER_DATA is not set)");
        return None;
    }
    Some(catalogue::open(name, &ReadOptions::default()).unwrap())
}

/// For each graph the sums of its nodes' features, and its number of nodes.
fn pooled(dataset: &Dataset) -> Dense {
    let features = dataset.features.as_ref().unwrap().to_dense();
    let mut values = Vec::new();
    for graph in 0..dataset.graphs.len() {
        let nodes = dataset.graphs.node_range(graph);
        let sum = |column: usize| nodes.clone().map(|node| features.row(node as usize)[column]).sum::<f32>();
        values.extend((0..features.columns()).map(sum));
        values.push(nodes.len() as f32);
    }
    Dense::new(dataset.graphs.len(), features.columns() + 1, values).unwrap()
}

fn judge(embeddings: &Dense, dataset: &Dataset, protocol: Option<Protocol>) -> Score {
    let settings = EvaluationSettings { protocol, scaling: Some(vec![Scaling::Standardize]), ..Default::default() };
    evaluate(embeddings, &Target::of(dataset).unwrap(), &settings, &NoObserver).unwrap()
}

#[test]
fn words_of_cora_on_its_public_split() {
    let Some(cora) = published("cora") else { return };
    let score = judge(&cora.features.as_ref().unwrap().to_dense(), &cora, None);
    let split = &score.splits[0];
    assert_eq!((score.splits.len(), score.protocol.as_str()), (1, "public"));
    assert_eq!((split.train_items, split.validation_items, split.test_items), (140, 500, 1000));
    // Raw features reach 47 to 60 % in the literature, depending on the classifier.
    assert!(score.mean > 0.45 && score.mean < 0.65, "{}", score.mean);
}

#[test]
fn atoms_of_mutag_by_ten_folds() {
    let Some(mutag) = published("mutag") else { return };
    let score = judge(&pooled(&mutag), &mutag, None);
    assert_eq!((score.splits.len(), score.protocol.as_str()), (10, "kfold"));
    assert_eq!(score.splits.iter().map(|split| split.test_items).sum::<usize>(), 188);
    assert!(score.mean > 0.75 && score.std > 0.0, "{}", score.mean);
}

/// The whole of it: features in, standardized, fitted to, penalty chosen, tested.
#[test]
fn molecules_by_scaffold_are_judged_as_by_scikit_learn() {
    let path = format!("{}/tests/fixtures/published.json", env!("CARGO_MANIFEST_DIR"));
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let Some(dataset) = published(name) else { continue };
        let score = judge(&pooled(&dataset), &dataset, Some(Protocol::SCAFFOLD));
        let split = &score.splits[0];
        assert_eq!(split.name, "scaffold", "{name}");
        let penalty: Vec<f64> = split.hyperparameters.values().copied().collect();
        assert_eq!(penalty, [case["weight"].as_f64().unwrap()], "{name}");
        for (found, expected) in [(split.validation, &case["valid"]), (split.value, &case["test"])] {
            assert!((found - expected.as_f64().unwrap()).abs() < 1e-5, "{name}: {found}, expected {expected}");
        }
    }
}

/// Wiki-CS has twenty splits of training, validation and stopping nodes and one test part.
#[test]
fn every_split_that_came_with_the_data_counts() {
    let mut dataset = generate::citation(0);
    let split = |index: u32| {
        let part = |from: u32, to: u32| {
            (0..1000).filter(|node| (from..to).contains(&((node * 7 + index * 50) % 800))).collect()
        };
        let name = format!("split-{}", index + 1);
        let test: Vec<u32> = (800..1000).collect();
        let mut split = Split { name, train: part(0, 40), validation: part(40, 200), test, stopping: part(200, 360) };
        for part in [&mut split.train, &mut split.validation, &mut split.stopping] {
            part.retain(|node| *node < 800);
        }
        split
    };
    dataset.splits = (0..20).map(split).collect();
    let features = dataset.features.as_ref().unwrap().to_dense();
    let score = judge(&features, &dataset, None);
    assert_eq!((score.splits.len(), score.protocol.as_str()), (20, "public"));
    assert!(score.description.starts_with("the 20 splits that came with the data"), "{}", score.description);
    let fingerprints: std::collections::BTreeSet<&str> =
        score.splits.iter().map(|split| split.fingerprint.as_str()).collect();
    assert_eq!(fingerprints.len(), 16, "after sixteen turns of fifty out of eight hundred they come again");
    assert!(score.splits.iter().all(|split| split.test_items == 200) && score.std > 0.0);
}
