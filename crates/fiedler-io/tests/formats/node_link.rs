#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fiedler_graph::{Dataset, Features, Names};
use fiedler_io::Error;

use crate::common::{self, memory};

fn fixture(name: &str) -> Dataset {
    common::read_path(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name))
}

fn parse(text: &str) -> Result<Dataset, Error> {
    common::read(&memory(&[("graph.json", text.as_bytes())], Some("graph.json")))
}

#[test]
fn what_networkx_writes_is_read() {
    for name in ["karate-links.json", "karate-edges.json"] {
        let dataset = fixture(name);
        let graph = dataset.graph().unwrap();
        assert_eq!((graph.num_nodes(), graph.num_edges(), graph.names()), (34, 78, None), "{name}");
        assert_eq!(graph.edge_weights().unwrap().iter().sum::<f32>(), 231.0);
        let features = dataset.features.as_ref().map(Features::to_dense).unwrap();
        assert_eq!((features.row(0), features.row(1)), ([16.0, 1.0].as_slice(), [9.0, 0.0].as_slice()));
        let labels = dataset.node_labels.as_ref().and_then(|labels| labels.classes()).unwrap();
        assert_eq!(labels.names(), ["Mr. Hi", "Officer"]);
    }
}

#[test]
fn directed_multigraphs_with_odd_ids_become_simple() {
    let dataset = fixture("multiple.json");
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges()), (4, 2));
    assert_eq!((graph.name(2).as_str(), graph.name(3).as_str()), ("c \"d\"", "[tuple, 1]"));
    assert_eq!(graph.edge_weights(), Some(vec![3.0, 1.0]));
    assert_eq!(
        dataset.report.notes,
        ["the graph is directed; its edges were made undirected", "3 of 4 nodes have no label"]
    );
    assert_eq!(dataset.node_labels.unwrap().missing(), 3);
}

#[test]
fn ids_are_of_any_kind() {
    let dataset = parse(r#"{"nodes": [{"id": 9}, {"id": -3}], "links": [{"source": -3, "target": 9}]}"#).unwrap();
    assert_eq!(dataset.graph().unwrap().names(), Some(&Names::Integers(vec![9, -3])));
    let mixed = r#"{"nodes": [{"id": 1.5}, {"id": true}, {"id": "x"}], "edges": [{"source": 1.5, "target": true}]}"#;
    let dataset = parse(mixed).unwrap();
    let names: Vec<_> = (0..3).map(|node| dataset.graph().unwrap().name(node)).collect();
    assert_eq!(names, ["1.5", "true", "x"]);
}

#[test]
fn old_files_count_through_the_list() {
    let text = r#"{"nodes": [{"name": "Myriel", "group": 1}, {"name": "Napoleon", "group": 1}, {"name": "Cosette", "group": 2}],
                   "links": [{"source": 1, "target": 0, "value": 1}]}"#;
    let dataset = parse(text).unwrap();
    assert!(dataset.graph().unwrap().has_edge(0, 1));
    assert_eq!(dataset.graph().unwrap().name(0), "Myriel");
    assert_eq!(dataset.features.unwrap().columns(), 1);
}

#[test]
fn lists_of_numbers_are_features() {
    let text = r#"{"nodes": [{"id": 0, "x": [1, 2.5], "y": 3}, {"id": 1, "x": [0, 4], "y": 5}], "links": []}"#;
    let dataset = parse(text).unwrap();
    assert_eq!(dataset.features.unwrap().to_dense().values(), [1.0, 2.5, 0.0, 4.0]);
    let uneven = r#"{"nodes": [{"id": 0, "f": [1, 2], "g": 1}, {"id": 1, "f": [3], "g": 2}], "links": []}"#;
    assert_eq!(parse(uneven).unwrap().features.unwrap().columns(), 1);
    let words = r#"{"nodes": [{"id": 0, "f": [1, "x", {"y": []}]}, {"id": 1}], "links": []}"#;
    assert_eq!(parse(words).unwrap().features, None);
    assert_eq!(dataset.node_labels.unwrap().classes().unwrap().names(), ["3", "5"]);
}

#[test]
fn faults_are_named() {
    for (text, found) in [
        (r#"{"nodes": [{"id": 0}], "links": [{"source": 0}]}"#, "missing field `target`"),
        (
            r#"{"nodes": [{"id": 0}], "links": [{"source": 0, "target": 1}]}"#,
            "links[0]: node 1, which is not in the list",
        ),
        (r#"{"nodes": [{"id": 0}, {"id": 0}], "links": []}"#, "nodes[1]: the id \"0\" once more"),
        (r#"{"nodes": [{"x": 0}], "links": []}"#, "nodes[0]: no id"),
        (r#"{"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "weight": -1}]}"#, "the weight -1"),
        ("{\"nodes\": [],\n \"links\": [}", "line 2"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains(found), "{text}: {error}");
    }
}
