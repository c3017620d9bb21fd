//! GraphSAINT's folders.
#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write};

use fiedler_graph::Labels;
use fiedler_io::{DataSource, Error};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::common;

/// An array as numpy saves it.
fn npy(of: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{of}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

fn bytes_of(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// An adjacency matrix as scipy saves it.
fn matrix(offsets: &[i32], indices: &[i32]) -> Vec<u8> {
    let (nodes, entries) = (offsets.len() as i64 - 1, indices.len());
    let arrays = [
        ("indices", npy("<i4", &format!("({entries},)"), &bytes_of(indices))),
        ("indptr", npy("<i4", &format!("({},)", offsets.len()), &bytes_of(offsets))),
        ("format", npy("|S3", "()", b"csr")),
        ("shape", npy("<i8", "(2,)", &[nodes, nodes].map(i64::to_le_bytes).concat())),
        ("data", npy("|b1", &format!("({entries},)"), &vec![1; entries])),
    ];
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A path of four nodes, the third joined to itself.
fn adjacency() -> Vec<u8> {
    matrix(&[0, 1, 3, 6, 7], &[1, 0, 2, 1, 2, 3, 2])
}

/// The files of a folder: four nodes with two features each.
pub fn files(labels: &str, roles: &str) -> [(&'static str, Vec<u8>); 4] {
    let features: Vec<u8> = (0..8).flat_map(|value| f64::from(value).to_le_bytes()).collect();
    [
        ("adj_full.npz", adjacency()),
        ("feats.npy", npy("<f8", "(4, 2)", &features)),
        ("class_map.json", labels.into()),
        ("role.json", roles.into()),
    ]
}

fn folder(labels: &str, roles: &str) -> DataSource {
    DataSource::memory(files(labels, roles).map(|(name, bytes)| (name.to_owned(), bytes)), None)
}

pub const ROLES: &str = r#"{"tr": [0, 1], "va": [2], "te": [3]}"#;

fn error(labels: &str, roles: &str) -> String {
    match common::read(&folder(labels, roles)) {
        Err(error @ Error::Malformed(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_answers_for_each_node() {
    let dataset = common::read(&folder(r#"{"1": [0, 1, 1], "0": [1, 0, 0], "3": [0, 0, 0.0]}"#, ROLES)).unwrap();
    assert_eq!(dataset.report.format, "graph-saint");
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.num_edges(), dataset.report.edges.self_loops), (4, 3, 1));
    assert_eq!(dataset.features.as_ref().unwrap().to_dense().row(3), [6.0, 7.0]);
    let Some(Labels::MultiLabel(tasks)) = &dataset.node_labels else { panic!("{:?}", dataset.node_labels) };
    assert_eq!(tasks.row(1), [Some(false), Some(true), Some(true)]);
    assert_eq!(tasks.row(2), [None; 3]);
    let split = &dataset.splits[0];
    assert_eq!(
        (split.name.as_str(), &split.train[..], &split.validation[..], &split.test[..]),
        ("public", &[0, 1][..], &[2][..], &[3][..])
    );
}

#[test]
fn one_class_for_each_node() {
    let dataset = common::read(&folder(r#"{"0": 5, "1": 2, "2": 5, "3": -1}"#, ROLES)).unwrap();
    let classes = dataset.node_labels.as_ref().unwrap().classes().unwrap();
    assert_eq!(classes.names(), ["-1", "2", "5"]);
    assert_eq!(classes.of(), [Some(2), Some(1), Some(2), Some(0)]);
}

#[test]
fn the_adjacency_alone_is_enough_with_a_split() {
    let input = common::memory(&[("raw/adj_full.npz", &adjacency()), ("raw/role.json", ROLES.as_bytes())], None);
    let dataset = common::read(&input).unwrap();
    assert_eq!(dataset.graphs.num_nodes(), 4);
    assert!(dataset.features.is_none() && dataset.node_labels.is_none());
}

#[test]
fn mistakes_are_named() {
    assert!(
        error(r#"{"0": 1, "4": 1}"#, ROLES).contains("class_map.json: a label of node 4; expected node ids below 4")
    );
    assert!(error(r#"{"0": 1, "x": 1}"#, ROLES).contains("\"x\" is no node id"));
    assert!(
        error("{\"0\": [1],\n\"1\": [2]}", ROLES).contains("class_map.json, line 2: the answer 2 is neither 0 nor 1")
    );
    assert!(error(r#"{"0": [1, 0], "1": [1]}"#, ROLES).contains("1 answers for node 1; expected 2"));
    assert!(error(r#"{"0": [1, 0], "1": 1}"#, ROLES).contains("another kind of label for node 1"));
    assert!(error(r#"{"0": 18446744073709551615}"#, ROLES).contains("too large"));
    assert!(error(r#"{"0": []}"#, ROLES).contains("a list of no answers"));
    assert!(error(r#"{"0": 1}"#, r#"{"te": []}"#).contains("role.json, line 1: missing field `tr`"));
    assert!(common::read(&folder(r#"{"0": 1}"#, r#"{"tr": [9], "te": []}"#)).is_err());
}

#[test]
fn a_long_list_for_one_of_many_nodes_cannot_ask_for_much_memory() {
    let labels = format!(r#"{{"0": [{}]}}"#, vec!["1"; 1 << 16].join(","));
    let adjacency = matrix(&vec![0; 100_001], &[]);
    let files: [(&str, &[u8]); 3] =
        [("adj_full.npz", &adjacency), ("class_map.json", labels.as_bytes()), ("role.json", ROLES.as_bytes())];
    let error = common::read(&common::memory(&files, None)).unwrap_err().to_string();
    assert!(error.contains("class_map.json: 6553600000 answers claimed"), "{error}");
}
