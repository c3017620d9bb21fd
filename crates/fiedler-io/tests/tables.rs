//! Labels and embeddings that stand by themselves.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use fiedler_graph::Labels;
use fiedler_io::tables::{ItemKind, Items, read_embeddings, read_labels};
use tempfile::TempDir;

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn values(path: &Path, items: Items<'_>) -> (Vec<f32>, Vec<String>) {
    let (dense, notes) = read_embeddings(path, items).unwrap();
    (dense.values().to_vec(), notes)
}

fn refusal(path: &Path, items: Items<'_>) -> (String, String) {
    let error = read_embeddings(path, items).unwrap_err();
    (error.to_string(), error.hint().unwrap_or_default())
}

#[test]
fn labels_with_and_without_ids() {
    let folder = tempfile::tempdir().unwrap();
    let table = read_labels(file(&folder, "y.csv", "id,class\nann,red\nbob,blue\n")).unwrap();
    assert_eq!(table.ids, Some(vec!["ann".to_owned(), "bob".to_owned()]));
    assert_eq!(table.labels.classes().unwrap().names(), ["blue", "red"]);
    let table = read_labels(file(&folder, "z.csv", "1\n0\n1\n")).unwrap();
    assert!(table.ids.is_none() && matches!(&table.labels, Labels::Classes(classes) if classes.of().len() == 3));
    let error = read_labels(file(&folder, "twice.csv", "id,class\nann,red\nann,blue\n")).unwrap_err().to_string();
    assert!(error.ends_with("twice.csv, line 3: \"ann\" once more; expected one row for each id"), "{error}");
}

#[test]
fn rows_are_matched_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let labels = read_labels(file(&folder, "y.csv", "id,class\nann,red\nbob,blue\n")).unwrap();
    let x = file(&folder, "x.csv", "id,a\nbob,2\ncid,3\nann,1\n");
    let left_out = "1 rows belong to no labelled node and were left out".to_owned();
    assert_eq!(values(&x, labels.items()), (vec![1.0, 2.0], vec![left_out]));

    let (message, hint) = refusal(&file(&folder, "x.csv", "id,a\nbob,2\ncid,3\n"), labels.items());
    assert!(message.ends_with("x.csv: no row for node \"ann\"; expected a row for every node"), "{message}");
    assert_eq!(hint, "ids must be the names that the labels have; its own begin with \"bob\"");
    let (message, _) = refusal(&file(&folder, "x.csv", "id,a\ncid,2\ndan,3\n"), labels.items());
    assert!(message.contains("no row for 2 nodes, the first of them \"ann\""), "{message}");
    let (message, hint) = refusal(&file(&folder, "none.csv", "id,a\n"), labels.items());
    assert!(!message.is_empty() && !hint.is_empty(), "{message}");
}

#[test]
fn rows_without_ids_are_taken_in_order_or_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let x = file(&folder, "x.csv", "a\n1\n2\n3\n");
    let names = ["ann", "bob", "cid"].map(str::to_owned);
    let nodes = Items { count: 3, names: Some(&names), names_count_rows: false, kind: ItemKind::Node };
    let note = "rows have no ids and were taken in the order of the nodes".to_owned();
    assert_eq!(values(&x, nodes), (vec![1.0, 2.0, 3.0], vec![note]));
    assert_eq!(values(&x, Items { names: None, ..nodes }), (vec![1.0, 2.0, 3.0], vec![]));

    let numbers = ["2", "0"].map(str::to_owned);
    let labelled = Items { count: 2, names: Some(&numbers), names_count_rows: true, kind: ItemKind::Node };
    let left_out = "1 rows belong to no labelled node and were left out".to_owned();
    assert_eq!(values(&x, labelled), (vec![3.0, 1.0], vec![left_out]));
    let (message, hint) = refusal(&x, Items { names_count_rows: false, ..labelled });
    assert!(message.ends_with("3 rows; expected 2, one a node"), "{message}");
    assert_eq!(hint, "a first column `id` says which row is whose, where labels have names");
}

#[test]
fn graphs_are_called_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let x = file(&folder, "x.csv", "a\n1\n2\n3\n");
    let graphs = Items { count: 2, names: None, names_count_rows: false, kind: ItemKind::Graph };
    let (message, hint) = refusal(&x, graphs);
    assert!(message.ends_with("3 rows; expected 2, one a graph"), "{message}");
    assert_eq!(hint, "embeddings of nodes have to be pooled, graph by graph");
}
