//! Data at the edge of what can be embedded, without a flag: an embedding with a row for each node, or an error that says what is missing.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fiedler_graph::{Dataset, Features, Graph, Sparse};
use serde_json::Value;
use tempfile::TempDir;

use super::{failure, fiedler, json_of};

/// A ring of so many nodes with a chord.
fn write_ring(folder: &Path, nodes: usize) {
    let mut text = String::from("source,target\n0,2\n");
    (0..nodes).for_each(|node| writeln!(text, "{node},{}", (node + 1) % nodes).unwrap());
    fs::write(folder.join("edges.csv"), text).unwrap();
}

fn write_features(folder: &Path, rows: usize, row: impl Fn(usize) -> Vec<f32>) {
    let columns = row(0).len();
    let names: Vec<String> = (0..columns).map(|column| format!("x{column}")).collect();
    let mut text = format!("node,{}\n", names.join(","));
    for node in 0..rows {
        let values: Vec<String> = row(node).iter().map(f32::to_string).collect();
        writeln!(text, "{node},{}", values.join(",")).unwrap();
    }
    fs::write(folder.join("features.csv"), text).unwrap();
}

/// Embeds with no flag that says how, and gives the summary with all embeddings, row after row.
fn embed(folder: &Path, data: &[&str]) -> (Value, Vec<Vec<f32>>) {
    let arguments = ["--no-report", "--embeddings", "csv", "--force", "--out", "run"];
    let summary = json_of(fiedler(folder).arg("embed").args(data).args(arguments));
    let table = fs::read_to_string(folder.join("run/embeddings.csv")).unwrap();
    let numbers = |line: &str| -> Vec<f32> { line.split(',').skip(1).map(|value| value.parse().unwrap()).collect() };
    let rows: Vec<Vec<f32>> = table.lines().skip(1).map(numbers).collect();
    assert_eq!(summary["result"]["rows"], rows.len());
    assert!(rows.iter().flatten().all(|value| value.is_finite()));
    (summary, rows)
}

const BOTH: [&str; 3] = ["edges.csv", "--features", "features.csv"];

#[test]
fn features_that_tell_nothing_leave_the_structure() {
    let folder = TempDir::new().unwrap();
    write_ring(folder.path(), 24);
    let (_, without) = embed(folder.path(), &["edges.csv"]);
    assert_eq!(without.len(), 24);
    for value in [0.0, 0.7] {
        write_features(folder.path(), 24, |_| vec![value; 3]);
        let (_, rows) = embed(folder.path(), &BOTH);
        // The ends of the chord are not like the others, whatever the features say.
        assert!(rows.len() == 24 && !rows[0].is_empty() && rows[0] != rows[12], "{value}");
    }
}

#[test]
fn few_columns_and_rows_that_are_alike() {
    let folder = TempDir::new().unwrap();
    write_ring(folder.path(), 30);
    write_features(folder.path(), 30, |node| vec![node as f32, 1.0 - node as f32 * 0.5]);
    let (_, rows) = embed(folder.path(), &BOTH);
    assert!(rows.len() == 30 && !rows[0].is_empty());
    // Every other node has the same features.
    write_features(folder.path(), 30, |node| vec![(node % 2) as f32, 1.0, ((node + 1) % 2) as f32]);
    let of_features = [&BOTH[..], &["--feature-sources", "given"]].concat();
    let (_, rows) = embed(folder.path(), &of_features);
    assert_eq!(rows.len(), 30);
    // Nodes far from the chord are alike in features and neighborhood, but for their place in the ring.
    let apart = rows[15].iter().zip(&rows[17]).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
    assert!(apart < 0.2, "{apart}");
}

#[test]
fn nodes_without_edges_and_a_node_by_itself() {
    let folder = TempDir::new().unwrap();
    write_ring(folder.path(), 12);
    write_features(folder.path(), 20, |node| (0..5).map(|column| ((node * 7 + column * 3) % 11) as f32).collect());
    let (_, rows) = embed(folder.path(), &BOTH);
    assert_eq!(rows.len(), 20);

    fs::write(folder.path().join("alone.gml"), "graph [ node [ id 0 label \"a\" ] ]").unwrap();
    let (summary, rows) = embed(folder.path(), &["alone.gml"]);
    assert_eq!((rows.len(), &summary["result"]["rows"]), (1, &1.into()));
}

#[test]
fn a_million_sparse_columns() {
    let folder = TempDir::new().unwrap();
    let nodes = 60u32;
    let (graph, _) =
        Graph::from_pairs(nodes as usize, (0..nodes).map(|node| (node, (node + 1) % nodes)).collect()).unwrap();
    let mut dataset = Dataset::single("wide", graph);
    let indices = (0..nodes).flat_map(|node| [node % 7, 1000 + node, 999_000 - node * 10 % 400]).collect();
    let indptr = (0..=nodes as usize).map(|row| 3 * row).collect();
    let features = Sparse::new(1_000_000, indptr, indices, vec![1.0; 3 * nodes as usize]).unwrap();
    dataset.features = Some(Features::Sparse(features));
    fiedler_io::write::write(&dataset, folder.path().join("wide.npz"), &Default::default()).unwrap();
    let (summary, rows) = embed(folder.path(), &["wide.npz", "--method", "hops"]);
    assert_eq!(rows.len(), 60);
    // Neither a row of a million values nor a weight for each column is ever made.
    let bytes = fs::metadata(folder.path().join("run/encoder.safetensors")).unwrap().len();
    assert!(bytes < 16 << 20, "{bytes} bytes; {summary}");
}

#[test]
fn a_set_of_one_graph() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("ONE");
    fs::create_dir(&data).unwrap();
    for (name, text) in [
        ("A", "1, 2\n2, 1\n2, 3\n3, 2\n"),
        ("graph_indicator", "1\n1\n1\n"),
        ("graph_labels", "1\n"),
        ("node_labels", "0\n1\n0\n"),
    ] {
        fs::write(data.join(format!("ONE_{name}.txt")), text).unwrap();
    }
    let (_, rows) = embed(folder.path(), &["ONE"]);
    assert_eq!(rows.len(), 3);
    let output = fiedler(folder.path()).args(["embed", "ONE", "--no-report", "--out", "told"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("its nodes are embedded"), "{told}");
    let message = failure(fiedler(folder.path()).args(["embed", "ONE", "--method", "graphcl", "--out", "other"]), 2);
    assert!(message.contains("graph") && !message.contains("panicked"), "{message}");
}
