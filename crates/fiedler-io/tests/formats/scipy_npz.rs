//! Adjacency matrices saved by scipy.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

use fiedler_graph::{Classes, Dataset, Dense, Features, Graph, Labels};
use fiedler_io::Error;

use crate::common::{memory, published, read, read_path};

fn fixture(name: &str) -> PathBuf {
    format!("{}/tests/fixtures/python/{name}", env!("CARGO_MANIFEST_DIR")).into()
}

/// Fixtures under other names, read as the path of the first.
fn read_as(files: &[(&str, &str)]) -> Result<Dataset, Error> {
    let files: Vec<_> = files.iter().map(|(name, from)| (*name, std::fs::read(fixture(from)).unwrap())).collect();
    let borrowed: Vec<_> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
    read(&memory(&borrowed, Some(files[0].0)))
}

#[test]
fn every_format_of_scipy_gives_the_same_graph() {
    for form in ["csr", "csc", "coo", "bsr", "dia", "array", "blocks"] {
        let dataset = read_as(&[("a.npz", &format!("path_{form}.npz"))]).unwrap();
        assert_eq!((dataset.report.format, dataset.name.as_str()), ("scipy-npz", "a"));
        let graph = dataset.graph().unwrap();
        assert_eq!((graph.num_nodes(), graph.weights()), (4, None), "{form}");
        assert_eq!(graph.edge_pairs().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 3)], "{form}");
        assert_eq!((dataset.features, dataset.node_labels, dataset.splits.len()), (None, None, 0));
    }
}

#[test]
fn entries_other_than_one_are_weights() {
    let weighted = read_as(&[("a.npz", "weighted.npz")]).unwrap();
    assert_eq!(weighted.graph().unwrap().edge_weights(), Some(vec![0.5, 0.5, 0.5]));
    let summed = read_as(&[("a.npz", "duplicates.npz")]).unwrap();
    assert_eq!(summed.graph().unwrap().edge_weights(), Some(vec![2.0, 2.0]));
    let zeros = read_as(&[("a.npz", "zeros.npz")]).unwrap();
    assert_eq!(zeros.report.edges.pairs, 5);
    assert_eq!(zeros.graph().unwrap().num_edges(), 3);
}

#[test]
fn matrices_that_are_no_adjacency_are_refused() {
    let negative = read_as(&[("a.npz", "negative.npz")]).unwrap_err().to_string();
    assert!(negative.contains("-1 between node 0 and node 1; expected positive edge weights"), "{negative}");
    let oblong = read_as(&[("a.npz", "oblong.npz")]).unwrap_err().to_string();
    assert!(oblong.contains("4 rows and 3 columns; expected a square adjacency matrix"), "{oblong}");
}

#[test]
fn what_lies_beside_belongs_to_the_graph() {
    let json = br#"{"idx_train": [0], "idx_val": [1], "idx_test": [3, 2]}"#;
    let adjacency = std::fs::read(fixture("path_csr.npz")).unwrap();
    let features = std::fs::read(fixture("features.npz")).unwrap();
    let labels = std::fs::read(fixture("labels.npy")).unwrap();
    for (features_name, labels_name, split_name) in [
        ("tiny_meta_adj_0.1_features.npz", "tiny_meta_labels.npy", "tiny_prognn_splits.json"),
        ("tiny_features.npz", "tiny_labels.npy", "tiny_splits.json"),
        ("features.npz", "labels.npy", "splits.json"),
    ] {
        let files = [
            ("tiny_meta_adj_0.1.npz", &adjacency[..]),
            (features_name, &features),
            (labels_name, &labels),
            (split_name, json),
            ("other_labels.npy", b"not looked at"),
        ];
        let dataset = read(&memory(&files, Some("tiny_meta_adj_0.1.npz"))).unwrap();
        assert!(matches!(dataset.features, Some(Features::Sparse(_))));
        assert_eq!(dataset.features.unwrap().to_dense().row(3), [3.0, 4.5]);
        let classes = dataset.node_labels.unwrap();
        assert_eq!(classes.classes().unwrap().of(), [Some(2), Some(0), Some(2), Some(1)]);
        assert_eq!((dataset.splits[0].name.as_str(), &dataset.splits[0].test[..]), ("public", &[3, 2][..]));
        assert_eq!(dataset.report.notes.len(), 0);
    }
}

#[test]
fn what_does_not_fit_is_left_aside() {
    let adjacency = std::fs::read(fixture("path_csr.npz")).unwrap();
    let files = [
        ("a.npz", &adjacency[..]),
        ("features.npy", &std::fs::read(fixture("halves.npy")).unwrap()),
        ("labels.npy", &std::fs::read(fixture("bytes.npy")).unwrap()),
        ("splits.json", br#"{"idx_train": [0], "idx_test": [4]}"#),
    ];
    let error = read(&memory(&files, Some("a.npz"))).unwrap_err().to_string();
    assert!(error.contains("inf in row 6"), "{error}");
    let files = [files[0], files[2], files[3]];
    let dataset = read(&memory(&files, Some("a.npz"))).unwrap();
    assert_eq!((dataset.node_labels, dataset.splits.len()), (None, 0));
    assert_eq!(dataset.report.notes[0], "labels.npy has 2 rows for 4 nodes: left aside");
    assert!(dataset.report.notes[1].starts_with("splits.json does not fit the graph"), "{}", dataset.report.notes[1]);
}

#[test]
fn damaged_files_do_no_harm() {
    for name in ["path_blocks.npz", "path_dia.npz", "path_coo.npz", "path_csc.npz"] {
        let whole = std::fs::read(fixture(name)).unwrap();
        for at in (0..whole.len()).step_by(5) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x42;
            let _ = read(&memory(&[("a.npz", &bytes)], Some("a.npz")));
        }
    }
}

/// The largest component under new ids, in the order of the old ones, as the attacked matrices have it.
fn largest_component(graph: &Graph) -> BTreeSet<(u32, u32)> {
    let mut component = vec![usize::MAX; graph.num_nodes()];
    let mut sizes = Vec::new();
    for start in 0..graph.num_nodes() as u32 {
        if component[start as usize] != usize::MAX {
            continue;
        }
        let (mut size, mut queue) = (0, VecDeque::from([start]));
        component[start as usize] = sizes.len();
        while let Some(node) = queue.pop_front() {
            size += 1;
            for &other in graph.neighbors(node) {
                if component[other as usize] == usize::MAX {
                    component[other as usize] = sizes.len();
                    queue.push_back(other);
                }
            }
        }
        sizes.push(size);
    }
    let largest = (0..sizes.len()).max_by_key(|&at| sizes[at]).unwrap();
    let kept: Vec<u32> = (0..graph.num_nodes() as u32).filter(|&node| component[node as usize] == largest).collect();
    let id = |node: u32| kept.binary_search(&node).ok().map(|id| id as u32);
    graph.edge_pairs().filter_map(|(low, high)| Some((id(low)?, id(high)?))).collect()
}

#[test]
fn published_attacks_flip_as_many_edges_as_they_say() {
    let Some(clean) = published("attacks/nettack/cora.npz") else { return };
    let clean = largest_component(read_path(clean).graph().unwrap());
    assert_eq!(clean.len(), 5069);
    for (rate, flips) in [("0.05", 253), ("0.25", 1267)] {
        let Some(path) = published(&format!("attacks/pro-gnn/meta/cora_meta_adj_{rate}.npz")) else { continue };
        let dataset = read_path(path);
        let attacked: BTreeSet<_> = dataset.graph().unwrap().edge_pairs().collect();
        assert_eq!(dataset.graph().unwrap().num_nodes(), 2485);
        assert_eq!(clean.symmetric_difference(&attacked).count(), flips, "{rate}");
    }
}

#[test]
fn published_attacks_are_simple_graphs() {
    for folder in ["attacks/pro-gnn/meta", "attacks/pro-gnn/nettack"] {
        let Some(folder) = published(folder) else { continue };
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|extension| extension != "npz") {
                continue;
            }
            let dataset = read_path(&path);
            let (graph, edges) = (dataset.graph().unwrap(), dataset.report.edges);
            assert_eq!(dataset.report.format, "scipy-npz");
            assert!(graph.weights().is_none(), "{}", path.display());
            assert_eq!((edges.mirrored, edges.repeated), (edges.edges, 0), "{}", path.display());
            let nodes = match dataset.name.split("_meta").next().and_then(|name| name.split("_nettack").next()) {
                Some("cora") => 2485,
                Some("citeseer") => 2110,
                Some("cora_ml") => 2810,
                Some("polblogs") => 1222,
                Some("pubmed") => 19717,
                other => panic!("{other:?}"),
            };
            assert_eq!(graph.num_nodes(), nodes, "{}", path.display());
        }
    }
}

#[test]
fn published_splits_fit() {
    let Some(attacks) = published("attacks/pro-gnn") else { return };
    let folder = tempfile::tempdir().unwrap();
    for (from, to) in [
        ("meta/cora_ml_meta_adj_0.1.npz", "cora_ml_meta_adj_0.1.npz"),
        ("splits/cora_ml_prognn_splits.json", "cora_ml_prognn_splits.json"),
        ("splits/cora_prognn_splits.json", "cora_prognn_splits.json"),
    ] {
        std::fs::copy(attacks.join(from), folder.path().join(to)).unwrap();
    }
    let dataset = read_path(folder.path().join("cora_ml_meta_adj_0.1.npz"));
    let split = &dataset.splits[0];
    assert_eq!((split.train.len(), split.validation.len(), split.test.len()), (280, 282, 2248));
}

#[test]
fn the_clean_graph_lends_its_features_and_labels() {
    let folder = tempfile::tempdir().unwrap();
    let place = |path: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    // Nodes 0 and 1 are not of the largest component, so that ids move by two.
    let graph = Graph::from_pairs(6, vec![(0, 1), (2, 3), (3, 4), (4, 5)]).unwrap().0;
    let mut clean = Dataset::single("toy", graph);
    clean.features = Some(Features::Dense(Dense::new(6, 2, (0..12u8).map(f32::from).collect()).unwrap()));
    clean.node_labels = Some(Labels::Classes(Classes::from_integers([1, 0, 1, 0, 0, 1].map(Some))));
    fiedler_io::write::write(&clean, place("nettack/toy.npz"), &Default::default()).unwrap();
    let poisoned = clean.largest_component().graph().unwrap().flipped(&[(0, 3)]).unwrap();
    let path = place("pro-gnn/meta/toy_meta_adj_0.3.npz");
    fiedler_io::write::scipy_npz(std::fs::File::create(&path).unwrap(), &poisoned).unwrap();
    std::fs::write(
        place("pro-gnn/splits/toy_prognn_splits.json"),
        r#"{"idx_train": [0], "idx_val": [1], "idx_test": [2, 3]}"#,
    )
    .unwrap();
    let dataset = read_path(&path);
    assert_eq!(dataset.graph(), Some(&poisoned));
    assert_eq!(dataset.features.as_ref().unwrap().to_dense().row(0), [4.0, 5.0]);
    assert_eq!(dataset.node_labels.unwrap().classes().unwrap().of(), [1, 0, 0, 1].map(Some));
    assert_eq!((&dataset.splits[0].train[..], &dataset.splits[0].test[..]), (&[0][..], &[2, 3][..]));
    assert!(dataset.report.notes[0].contains("largest component"), "{:?}", dataset.report.notes);
}

#[test]
fn published_attacks_come_with_all_that_is_known() {
    for (name, classes, features, train) in [
        ("cora", 7, Some(1433), 247),
        ("citeseer", 6, Some(3703), 210),
        ("polblogs", 2, None, 121),
        ("cora_ml", 7, Some(2879), 280),
    ] {
        let Some(path) = published(&format!("attacks/pro-gnn/meta/{name}_meta_adj_0.05.npz")) else { continue };
        let dataset = read_path(&path);
        assert_eq!(dataset.node_labels.as_ref().unwrap().classes().unwrap().count(), classes, "{name}");
        assert_eq!(dataset.features.as_ref().map(Features::columns), features, "{name}");
        assert_eq!(dataset.splits[0].train.len(), train, "{name}");
    }
}
