//! Tables of transfer: encoders are trained once on other data, fine-tuned by every seed, and found again.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "molecules")]

use std::fs;
use std::path::Path;

use fiedler_experiment::ErrorKind;
use fiedler_experiment::tables::{Table, TableKind, TablePlan};
use fiedler_graph::NoObserver;
use tempfile::TempDir;

fn plan(kind: TableKind, folder: &Path, dataset: &str, pretraining: &str) -> TablePlan {
    TablePlan {
        kind,
        datasets: vec![dataset.to_owned()],
        methods: vec!["none".into(), "GraphCL".into()],
        seed: 0,
        seeds: 2,
        protocol: None,
        epochs: Some(2),
        recipes: None,
        assignments: Vec::new(),
        lean: true,
        quick: true,
        pretraining: Some(pretraining.to_owned()),
        out: folder.join("out"),
        command: "fiedler reproduce".into(),
    }
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn values(table: &Table, row: &str) -> Vec<f64> {
    table.entries.iter().find(|entry| entry.row == row).unwrap().values()
}

#[test]
fn molecules_are_fine_tuned_from_one_run_and_compared_with_none() {
    let folder = TempDir::new().unwrap();
    let bodies = ["c1ccccc1", "C1CCCCC1", "c1ccncc1", "CC(C)O", "C(=O)N", "CCS"];
    let smiles = |at: usize| format!("{}{}", "C".repeat(1 + at / 6), bodies[at % 6]);
    let pool: String = (0..48).map(|at| smiles(at) + "\n").collect();
    let pool = write(folder.path(), "pool.smi", &pool);
    let rows: String = (0..60).map(|at| format!("{},{}\n", smiles(at), at / 2 % 2)).collect();
    let drugs = write(folder.path(), "drugs.csv", &format!("smiles,active\n{rows}"));
    let data = format!("scaffold:{drugs}");
    let plan = plan(TableKind::Transfer, folder.path(), &data, &format!("without:{pool},of={data}"));
    let table = plan.run(&NoObserver).unwrap();
    assert_eq!(table.rows, ["none", "GraphCL"]);
    for row in ["none", "GraphCL"] {
        let entry = table.entries.iter().find(|entry| entry.row == row).unwrap();
        assert!(entry.failed.is_empty() && entry.values.len() == 2, "{row}: {:?}", entry.failed);
        let [low, high] = entry.interval.unwrap();
        assert!((0.0..=100.0).contains(&low) && low <= high && high <= 100.0, "{low} to {high}");
    }
    assert_ne!(values(&table, "none"), values(&table, "GraphCL"));
    assert_eq!(table.entries.iter().find(|entry| entry.row == "GraphCL").unwrap().against.as_deref(), Some("none"));
    assert!(table.notes.iter().any(|note| note.contains("of 48 molecules occur in")), "{:?}", table.notes);
    let text = table.results().to_text();
    assert!(text.contains("95 % interval over test items") && text.contains("less none"), "{text}");
    // One run before, whatever the seeds; everything is found again, and the list says so.
    let pretrained: Vec<_> = fs::read_dir(folder.path().join("out/runs"))
        .unwrap()
        .flat_map(|data| fs::read_dir(data.unwrap().path()).unwrap())
        .map(|run| run.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(pretrained.iter().filter(|name| name.starts_with("graphcl-")).count(), 1, "{pretrained:?}");
    assert!(pretrained.iter().any(|name| name.starts_with("supervised-from-graphcl-")), "{pretrained:?}");
    assert!(plan.runs(&NoObserver).unwrap().iter().all(|run| run.finished));
    let again = plan.run(&NoObserver).unwrap();
    assert_eq!(values(&again, "GraphCL"), values(&table, "GraphCL"));
}

#[test]
fn ego_nets_of_one_graph_serve_the_nodes_of_another() {
    let folder = TempDir::new().unwrap();
    let plan = plan(TableKind::OutOfDomain, folder.path(), "citation", "ego:karate,hops=1,cap=12,count=20,seed=0");
    let table = TablePlan { seeds: 1, ..plan.clone() }.run(&NoObserver).unwrap();
    for row in ["none", "GraphCL"] {
        let entry = table.entries.iter().find(|entry| entry.row == row).unwrap();
        assert!(entry.failed.is_empty() && entry.values.len() == 1, "{row}: {:?}", entry.failed);
        assert_eq!(entry.folds.len(), 10);
    }
    // What has no encoder that is trained before has neither a small size nor other data.
    let error = TablePlan { kind: TableKind::Node, ..plan }.run(&NoObserver).unwrap_err();
    assert!(error.kind() == ErrorKind::Usage && error.to_string().contains("--quick"), "{error}");
}
