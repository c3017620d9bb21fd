//! `fiedler evaluate` as a user meets it.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use fiedler_graph::{Dense, Labels, generate};
use tempfile::TempDir;

use super::{failure, fiedler, json, stdout};

/// An npy file as numpy writes it.
fn npy(table: &Dense) -> Vec<u8> {
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", table.rows(), table.columns());
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(table.values().iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

/// The first columns of the built-in graph's features in `features.npy` and, in another order and with ids, in `features.csv`; its
/// labels with ids in `labels.csv`.
fn write_built_in(folder: &Path) {
    let dataset = generate::citation(0);
    let features = dataset.features.as_ref().unwrap().to_dense();
    let columns = 40.min(features.columns());
    let values = (0..features.rows()).flat_map(|row| features.row(row)[..columns].to_vec()).collect();
    let features = Dense::new(features.rows(), columns, values).unwrap();
    fs::write(folder.join("features.npy"), npy(&features)).unwrap();
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    let mut rows: Vec<String> = (0..features.rows())
        .map(|row| {
            let cells: Vec<String> = features.row(row).iter().map(ToString::to_string).collect();
            format!("{row},{}", cells.join(","))
        })
        .collect();
    rows.reverse();
    fs::write(folder.join("features.csv"), format!("id,{}\n{}\n", names.join(","), rows.join("\n"))).unwrap();
    let Some(Labels::Classes(classes)) = &dataset.node_labels else { panic!("no classes") };
    let labels: Vec<String> =
        classes.of().iter().enumerate().map(|(node, class)| format!("{node},{}", class.unwrap())).collect();
    fs::write(folder.join("labels.csv"), format!("id,label\n{}\n", labels.join("\n"))).unwrap();
}

#[test]
fn features_of_the_built_in_graph_are_judged() {
    let folder = TempDir::new().unwrap();
    write_built_in(folder.path());
    let run = |arguments: &[&str]| json(fiedler(folder.path()).arg("evaluate").args(arguments).arg("--json"));
    let by_order = run(&["features.npy", "--labels", "citation"]);
    assert_eq!(by_order["metric"], "accuracy");
    assert_eq!(by_order["protocol"], "public");
    let mean = by_order["mean"].as_f64().unwrap();
    assert!(mean > 0.2 && mean < 1.0, "{mean}");
    assert_eq!(by_order["std"], 0.0);
    let split = &by_order["splits"][0];
    assert_eq!(split["fingerprint"].as_str().map(str::len), Some(32));
    assert!([0.001, 0.01, 0.1, 1.0, 10.0, 100.0].contains(&split["hyperparameters"]["c"].as_f64().unwrap()), "{split}");
    assert!(by_order["description"].as_str().unwrap().contains("C from {0.001, 0.01, 0.1, 1, 10, 100}"));

    let by_id = run(&["features.csv", "--labels", "citation"]);
    assert_eq!(by_id["mean"], by_order["mean"], "rows are matched by id");
    let random = ["--protocol", "random", "--splits", "3"];
    let of_dataset = run(&[&["features.npy", "--labels", "citation"], random.as_slice()].concat());
    let of_table = run(&[&["features.csv", "--labels", "labels.csv"], random.as_slice()].concat());
    assert_eq!(of_dataset["splits"], of_table["splits"], "labels from a table and a dataset are the same");
    assert_eq!(of_dataset["splits"].as_array().unwrap().len(), 3);
    assert!(of_dataset["std"].as_f64().unwrap() > 0.0);
    let again = run(&[&["features.npy", "--labels", "citation", "--threads", "1"], random.as_slice()].concat());
    assert_eq!(again, of_dataset, "the number of threads changes nothing");
    let seeds = run(&[&["features.npy", "features.csv", "--labels", "citation"], random.as_slice()].concat());
    assert_eq!(seeds["splits"].as_array().unwrap().len(), 6);
}

#[test]
fn the_summary_tells_what_was_done() {
    let folder = TempDir::new().unwrap();
    write_built_in(folder.path());
    let text = stdout(fiedler(folder.path()).args(["evaluate", "features.npy", "--labels", "citation"]).args([
        "--protocol",
        "kfold",
        "--splits",
        "4",
        "--metric",
        "macro-f1",
    ]));
    for word in [
        "macro-f1",
        "±",
        "4-fold cross-validation, stratified",
        "standardized",
        "fold-3",
        "5-fold cross-validation inside",
    ] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

#[test]
fn one_split_has_no_deviation_and_help_names_every_protocol() {
    let folder = TempDir::new().unwrap();
    write_built_in(folder.path());
    let text = stdout(fiedler(folder.path()).args(["evaluate", "features.npy", "--labels", "citation"]));
    assert!(text.contains("one split") && !text.contains('±'), "{text}");
    let help = stdout(fiedler(folder.path()).args(["evaluate", "--help"]));
    for name in
        ["public", "random", "kfold", "scaffold", "reference", "accuracy", "macro-f1", "standardize", "Examples"]
    {
        assert!(help.contains(name), "no {name} in\n{help}");
    }
}

#[test]
fn faults_are_named() {
    let folder = TempDir::new().unwrap();
    write_built_in(folder.path());
    let fail = |arguments: &[&str], code| failure(fiedler(folder.path()).arg("evaluate").args(arguments), code);
    fs::write(folder.path().join("short.csv"), "1,2\n3,4\n").unwrap();
    let message = fail(&["short.csv", "--labels", "citation"], 3);
    assert!(message.contains("short.csv: 2 rows; expected 1000, one a node"), "{message}");
    let message = fail(&["features.csv", "--labels", "labels.csv", "--protocol", "public"], 3);
    assert!(
        message.contains("splits that came with the labels: none") && message.contains("protocol random"),
        "{message}"
    );
    let message = fail(&["features.npy", "--labels", "citation", "--metric", "rmse"], 2);
    assert!(message.contains("rmse") && message.contains("accuracy"), "{message}");
    let message = fail(&["features.npy", "--labels", "citation", "--splits", "3"], 2);
    assert!(message.contains("only random and kfold make splits"), "{message}");
    let message = fail(&["features.npy", "--labels", "citation", "--weights", "0"], 2);
    assert!(message.contains("a positive number"), "{message}");
    let message = fail(&["features.npy", "--labels", "citation", "--protocol", "publik"], 2);
    assert!(message.contains("public") && message.contains("reference"), "{message}");
    fail(&["none.npy", "--labels", "citation"], 4);
    fail(&["features.npy", "--labels", "none.csv"], 4);
}

/// Writes both tables and evaluates one by the other.
fn judge(folder: &Path, embeddings: &str, labels: &str) -> Command {
    fs::write(folder.join("x.csv"), embeddings).unwrap();
    fs::write(folder.join("y.csv"), labels).unwrap();
    let mut command = fiedler(folder);
    command.args(["evaluate", "x.csv", "--labels", "y.csv", "--protocol", "kfold", "--splits", "3"]);
    command
}

#[test]
fn faults_in_tables_are_named() {
    let folder = TempDir::new().unwrap();
    let fail = |embeddings: &str, labels: &str| failure(&mut judge(folder.path(), embeddings, labels), 3);
    let message = fail("id,x\nann,1\nbob,nan\n", "id,y\nann,0\nbob,1\n");
    assert!(message.contains("x.csv, line 3: \"nan\" in column \"x\"; expected a finite number"), "{message}");
    let message = fail("id,x\nann,1\nbob,2\n", "id,y\nann,0\nbob,1\ncid,1\n");
    assert!(message.contains("x.csv: no row for node \"cid\"; expected a row for every node"), "{message}");
    let message = fail("id,x\nANN,1\nBOB,2\n", "id,y\nann,0\nbob,1\n");
    assert!(message.contains("no row for 2 nodes, the first of them \"ann\""), "{message}");
    assert!(message.contains("its own begin with \"ANN\""), "{message}");
    let message = fail("id,x\nann,1\nann,2\n", "id,y\nann,0\nbob,1\n");
    assert!(message.contains("x.csv, line 3: \"ann\" once more; expected one row for each id"), "{message}");
    let message = fail("id,x\nann,1\nbob,2\n", "id,y\nann,no\nbob,no\n");
    assert!(message.contains("all 2 nodes are of class \"no\""), "{message}");
    let message = fail("id,x\nann,1\nbob,2\n", "id,y\nann,no\nbob,yes\n");
    assert!(message.contains("2 nodes with a label"), "{message}");
    let message = fail("id,x\na,1\nb,2\nc,3\nd,4\n", "id,y\na,no\nb,yes\nc,no\nd,yes\n");
    assert!(message.contains("at most 2 members a class") && message.contains("fewer folds"), "{message}");
    let message = fail("id\nann\nbob\n", "id,y\nann,no\nbob,yes\n");
    assert!(message.contains("x.csv"), "{message}");
}

#[test]
fn ids_of_labels_count_rows_that_have_none_where_that_is_said() {
    let folder = TempDir::new().unwrap();
    // Rows after the seventh are far from the others, and these are one class; labels are known of twelve of fifteen, in another order.
    let far = |row: usize| row + if row > 7 { 100 } else { 0 };
    let embeddings: String = (0..15).map(|row| format!("{},0.5\n", far(row))).collect();
    let labels: String = (2..14).rev().map(|row| format!("{row},{}\n", row > 7)).collect();
    let command = || judge(folder.path(), &embeddings, &format!("node,label\n{labels}"));
    let message = failure(&mut command(), 3);
    assert!(message.contains("rows without ids") && message.contains("--match number"), "{message}");
    let report = json(command().args(["--match", "number", "--json"]));
    assert_eq!((&report["mean"], &report["rows"]), (&1.0.into(), &12.into()), "{report}");
    assert_eq!(report["notes"][0], "3 rows belong to no labelled node and were left out");
}

#[test]
fn parquet_files_are_matched_by_id() {
    let folder = TempDir::new().unwrap();
    let fixture = |name: &str| format!("{}/tests/fixtures/{name}.parquet", env!("CARGO_MANIFEST_DIR"));
    let report = json(
        fiedler(folder.path())
            .args(["evaluate", &fixture("embeddings"), "--labels", &fixture("classes"), "--json"])
            .args(["--protocol", "kfold", "--stratified", "true", "--metric", "roc-auc", "--splits", "4"]),
    );
    assert_eq!((&report["metric"], &report["mean"], &report["std"]), (&"roc-auc".into(), &1.0.into(), &0.0.into()));
    assert_eq!(report["settings"]["protocol"]["stratified"], true);
    assert!(report["description"].as_str().unwrap().contains("stratified"), "{report}");
}

#[test]
fn the_reference_protocol_is_told_apart() {
    let folder = TempDir::new().unwrap();
    write_built_in(folder.path());
    let run = |more: &[&str]| {
        let mut command = fiedler(folder.path());
        json(
            command
                .args(["evaluate", "features.npy", "--labels", "citation", "--protocol", "reference", "--json"])
                .args(more),
        )
    };
    let report = run(&[]);
    let split = &report["splits"][0];
    let items = ["train_items", "validation_items", "test_items"].map(|part| split[part].as_u64().unwrap());
    assert_eq!((items, &report["protocol"]), ([100, 800, 100], &"reference".into()));
    assert_eq!(run(&["--threads", "1"]), report);
}
