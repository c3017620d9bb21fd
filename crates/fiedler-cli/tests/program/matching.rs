//! Embeddings of runs, in every format, are judged alike: by the ids of their rows and by nothing that is no embedding.

use std::fs;
use std::path::Path;

use fiedler_graph::{Labels, generate};
use serde_json::Value;
use tempfile::TempDir;

use super::{failure, fiedler, json_of, stdout, write_rings};

const EVERY_FORMAT: [&str; 4] = ["--embeddings", "npy,csv,parquet", "--method", "untrained"];

/// The same mean and splits from every format.
fn judged_alike(folder: &Path, run: &str, labels: &[&str]) -> Value {
    let judge = |format: &str| {
        let file = format!("{run}/embeddings.{format}");
        json_of(fiedler(folder).args(["evaluate", &file, "--labels"]).args(labels))
    };
    let [npy, csv, parquet] = ["npy", "csv", "parquet"].map(judge);
    for (other, format) in [(&csv, "csv"), (&parquet, "parquet")] {
        assert_eq!((&npy["splits"], &npy["columns"]), (&other["splits"], &other["columns"]), "{run}, {format}");
    }
    npy
}

/// The built-in graph with shuffled ids `n0`, `n1` …, as an edge list, features and labels; each in an order of its own.
fn write_named(folder: &Path) {
    let dataset = generate::citation(0);
    let graph = dataset.graph().unwrap();
    let nodes = graph.num_nodes();
    let name = |node: u32| format!("n{}", (node as usize * 7 + 3) % nodes);
    let edges: String = graph.edge_pairs().map(|(a, b)| format!("{},{}\n", name(a), name(b))).collect();
    let alone =
        (0..nodes as u32).filter(|node| graph.degree(*node) == 0).map(|node| format!("# node: {}\n", name(node)));
    fs::write(folder.join("edges.csv"), format!("source,target\n{}{edges}", alone.collect::<String>())).unwrap();
    let features = dataset.features.as_ref().unwrap().to_dense();
    let names: Vec<String> = (0..features.columns()).map(|column| format!("w{column}")).collect();
    let mut table = format!("id,{}\n", names.join(","));
    let Some(Labels::Classes(classes)) = &dataset.node_labels else { panic!("no classes") };
    let mut labels = "id,topic\n".to_owned();
    for node in (0..nodes).rev() {
        let cells: Vec<String> = features.row(node).iter().map(ToString::to_string).collect();
        table += &format!("{},{}\n", name(node as u32), cells.join(","));
        let node = (node * 11) % nodes;
        labels += &format!("{},{}\n", name(node as u32), classes.of()[node].unwrap());
    }
    fs::write(folder.join("features.csv"), table).unwrap();
    fs::write(folder.join("labels.csv"), labels).unwrap();
}

#[test]
fn embeddings_of_graphs_score_the_same_in_every_format() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    fiedler(folder.path()).args(["embed", "RINGS", "--out", "run"]).args(EVERY_FORMAT).assert().success();
    let report = judged_alike(folder.path(), "run", &["RINGS"]);
    assert_eq!(report["columns"], 32, "the number of the graph is no embedding");
    let text = stdout(fiedler(folder.path()).args(["evaluate", "run/embeddings.csv", "--labels", "RINGS"]));
    assert!(text.contains("40 rows of 32 columns, 0 … 31; id column `graph`"), "{text}");
}

#[test]
fn embeddings_of_named_nodes_are_matched_by_id_in_every_format() {
    let folder = TempDir::new().unwrap();
    write_named(folder.path());
    let data = ["embed", "edges.csv", "--features", "features.csv", "--out", "run"];
    fiedler(folder.path()).args(data).args(EVERY_FORMAT).assert().success();
    let by_id = judged_alike(folder.path(), "run", &["labels.csv"]);
    assert!(
        by_id["used"][0].as_str().unwrap().contains("ids of embeddings.ids.csv, column `node`"),
        "{}",
        by_id["used"]
    );
    let by_order = ["evaluate", "run/embeddings.npy", "--labels", "labels.csv", "--match", "order"];
    let by_order = json_of(fiedler(folder.path()).args(by_order));
    let mean = |report: &Value| report["mean"].as_f64().unwrap();
    assert!(mean(&by_id) > mean(&by_order) + 0.2, "{} {}", mean(&by_id), mean(&by_order));
    // Without the ids that lie beside it, an array is matched by nothing that nobody said.
    fs::copy(folder.path().join("run/embeddings.npy"), folder.path().join("alone.npy")).unwrap();
    let message = failure(fiedler(folder.path()).args(["evaluate", "alone.npy", "--labels", "labels.csv"]), 3);
    assert!(message.contains("rows without ids") && message.contains("--match order"), "{message}");
}

#[test]
fn embeddings_of_nodes_without_names_score_the_same_in_every_format() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["embed", "--out", "run"]).args(EVERY_FORMAT).assert().success();
    judged_alike(folder.path(), "run", &["citation"]);
    let encoder = ["embed", "citation:seed=7", "--encoder", "run/encoder.safetensors", "--out", "other"];
    fiedler(folder.path()).args(encoder).args(&EVERY_FORMAT[..2]).assert().success();
    judged_alike(folder.path(), "other", &["citation:seed=7"]);
}

#[test]
fn a_label_among_the_embeddings_is_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("y.csv"), "id,label\na,0\nb,1\nc,0\nd,1\n").unwrap();
    fs::write(folder.path().join("x.csv"), "id,x0,label\na,1,0\nb,5,1\nc,2,0\nd,3,1\n").unwrap();
    let message = failure(fiedler(folder.path()).args(["evaluate", "x.csv", "--labels", "y.csv"]), 3);
    assert!(message.contains("\"label\"") && message.contains("to be predicted"), "{message}");
}
