//! Planetoid: `ind.NAME.*`.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{Dataset, Features};
use fiedler_io::{DataSource, Error};

use crate::common::{memory, published, read, read_path};

const PARTS: [&str; 8] = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];

/// The tiny network that `make_python.py` writes, each part under the given folder, some replaced.
fn tiny(folder: &str, protocol: u32, replaced: &[(&str, &[u8])]) -> Vec<(String, Vec<u8>)> {
    let fixtures = format!("{}/tests/fixtures/python/planetoid{protocol}", env!("CARGO_MANIFEST_DIR"));
    let bytes = |part: &str| match replaced.iter().find(|(name, _)| *name == part) {
        Some((_, bytes)) => bytes.to_vec(),
        None => std::fs::read(format!("{fixtures}/ind.tiny.{part}")).unwrap(),
    };
    PARTS.iter().map(|part| (format!("{folder}ind.tiny.{part}"), bytes(part))).collect()
}

fn read_replaced(replaced: &[(&str, &[u8])]) -> Result<Dataset, Error> {
    read(&DataSource::memory(tiny("", 2, replaced), None))
}

fn check_tiny(dataset: &Dataset) {
    assert_eq!((dataset.report.format, dataset.name.as_str()), ("planetoid", "tiny"));
    let graph = dataset.graph().unwrap();
    assert_eq!(graph.edge_pairs().collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 5), (3, 5)]);
    let edges = dataset.report.edges;
    assert_eq!((edges.pairs, edges.repeated, edges.mirrored, edges.self_loops), (9, 1, 3, 1));

    let features = dataset.features.as_ref().unwrap();
    assert!(matches!(features, Features::Sparse(_)));
    let dense = features.to_dense();
    assert_eq!(dense.row(5), [2.0, 0.0, 0.0]);
    assert_eq!(dense.row(3), [0.0, 3.0, 0.0]);
    assert_eq!(dense.row(4), [0.0, 0.0, 0.0]);

    let classes = dataset.node_labels.as_ref().unwrap().classes().unwrap();
    assert_eq!(classes.of(), [Some(0), Some(1), Some(0), Some(0), None, Some(1)]);
    let split = &dataset.splits[0];
    assert_eq!((split.name.as_str(), &split.train[..], &split.validation[..]), ("public", &[0, 1][..], &[2][..]));
    assert_eq!(split.test, [3, 5]);
    let note = "nodes with neither features nor a label, as they are missing from ind.tiny.test.index: 1";
    assert_eq!(dataset.report.notes, [note]);
}

#[test]
fn a_folder_its_raw_folder_or_any_file_names_the_dataset() {
    for protocol in 0..=2 {
        check_tiny(&read(&DataSource::memory(tiny("", protocol, &[]), None)).unwrap());
    }
    check_tiny(&read(&DataSource::memory(tiny("raw/", 2, &[]), None)).unwrap());
    for part in PARTS {
        check_tiny(&read(&DataSource::memory(tiny("", 2, &[]), Some(&format!("ind.tiny.{part}")))).unwrap());
    }
}

#[test]
fn a_missing_file_is_named() {
    let mut files = tiny("", 2, &[]);
    files.retain(|(name, _)| !name.ends_with(".ty"));
    let error = read(&DataSource::memory(files, None)).unwrap_err();
    assert!(matches!(&error, Error::MissingFile { file, .. } if file == "ind.tiny.ty"), "{error}");
}

#[test]
fn of_several_datasets_one_must_be_named() {
    let mut files = tiny("", 2, &[]);
    files.push(("ind.other.graph".into(), Vec::new()));
    let error = read(&DataSource::memory(files.clone(), None)).unwrap_err();
    assert!(error.to_string().contains("several datasets: other, tiny"), "{error}");
    check_tiny(&read(&DataSource::memory(files, Some("ind.tiny.graph"))).unwrap());
}

#[test]
fn a_test_index_that_does_not_fit_is_refused() {
    for (index, complaint) in [
        ("5\n4294967295\n", "line 2: \"4294967295\"; expected a node id from 3, where allx ends, below 10"),
        ("5\n2\n", "line 2: \"2\""),
        ("5\n5\n", "line 2: \"5\""),
        ("5\nthree\n", "line 2: \"three\""),
        ("5\n-3\n", "line 2: \"-3\""),
        ("5\n", "1 ids; expected 2"),
    ] {
        let error = read_replaced(&[("test.index", index.as_bytes())]).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_graph_that_does_not_fit_is_refused() {
    for (graph, complaint) in [
        (&b"}(K\x00](K\x09eu."[..], "9 as a node; expected a node id below 6"),
        (b"}(K\x09](K\x00eu.", "9 as a node"),
        (b"}(J\xff\xff\xff\xff](K\x00eu.", "-1 as a node"),
        (b"}(K\x00K\x01u.", "1 for node 0; expected a list of neighbors"),
        (b"].", "a list of 0; expected a dictionary"),
        (b"}(K\x00", "only 0 bytes after byte 4"),
    ] {
        let error = read_replaced(&[("graph", graph)]).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }
    // One list of neighbors, shared by a hundred thousand nodes.
    let mut shared = b"}(K\x00](".to_vec();
    shared.extend(b"K\x01".repeat(100_000));
    shared.extend(b"eq\x00");
    shared.extend(b"K\x01h\x00".repeat(100_000));
    shared.extend(b"u.");
    let error = read_replaced(&[("graph", &shared)]).unwrap_err().to_string();
    assert!(error.contains("more neighbors than bytes"), "{error}");
}

#[test]
fn parts_of_different_datasets_are_refused() {
    let part = |name: &str| tiny("", 2, &[]).into_iter().find(|(file, _)| file.ends_with(name)).unwrap().1;
    assert!(read_replaced(&[("ally", &part(".ty"))]).is_err());
    assert!(read_replaced(&[("ty", &part(".ally"))]).is_err());
    assert!(read_replaced(&[("allx", &part(".graph"))]).is_err());
    assert!(read_replaced(&[("ally", &part(".allx"))]).is_err());
}

#[test]
fn other_files_are_not_claimed() {
    for name in ["ind.graph", "ind..x", "indices.graph", "kind.cora.x"] {
        assert!(matches!(read(&memory(&[(name, b"x")], None)), Err(Error::UnknownFormat { .. })), "{name}");
    }
}

#[test]
fn published_citation_networks_have_their_counts() {
    for (name, nodes, edges, columns, classes, isolated, undescribed, train) in [
        ("cora", 2708, 5278, 1433, 7, 0, 0, 140),
        ("citeseer", 3327, 4552, 3703, 6, 48, 15, 120),
        ("pubmed", 19717, 44324, 500, 3, 0, 0, 60),
    ] {
        let Some(path) = published(name) else { continue };
        let dataset = read_path(path);
        let graph = dataset.graph().unwrap();
        assert_eq!((graph.num_nodes(), graph.num_edges()), (nodes, edges), "{name}");
        let alone = (0..nodes as u32).filter(|&node| graph.degree(node) == 0).count();
        assert_eq!(alone, isolated, "{name}");
        assert_eq!(dataset.features.as_ref().unwrap().columns(), columns, "{name}");
        let labels = dataset.node_labels.as_ref().unwrap();
        assert_eq!(labels.classes().unwrap().count(), classes, "{name}");
        assert_eq!(labels.missing(), undescribed, "{name}");
        assert_eq!(dataset.report.notes.len(), usize::from(undescribed > 0), "{name}");
        let split = &dataset.splits[0];
        assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (train, 500, 1000), "{name}");
        let per_class = train / classes;
        for class in 0..classes as u32 {
            let of = labels.classes().unwrap().of();
            let drawn = split.train.iter().filter(|&&node| of[node as usize] == Some(class)).count();
            assert_eq!(drawn, per_class, "{name}");
        }
    }
}
