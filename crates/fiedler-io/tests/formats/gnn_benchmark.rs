//! gnn-benchmark npz and its relatives.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fiedler_graph::{Dataset, Name};
use fiedler_io::{DataSource, Error};

use crate::common::{memory, published, read, read_path};

fn fixture(name: &str) -> PathBuf {
    format!("{}/tests/fixtures/python/{name}", env!("CARGO_MANIFEST_DIR")).into()
}

fn class_names(dataset: &Dataset) -> Vec<String> {
    dataset.node_labels.as_ref().unwrap().classes().unwrap().names().to_vec()
}

#[test]
fn every_variant_gives_the_same_dataset() {
    for name in ["benchmark", "benchmark_dense", "benchmark_nettack", "benchmark_pickled", "benchmark_bare"] {
        let dataset = read_path(fixture(&format!("{name}.npz")));
        assert_eq!((dataset.report.format, dataset.name.as_str()), ("gnn-benchmark", name));
        let graph = dataset.graph().unwrap();
        assert_eq!(graph.edge_pairs().collect::<Vec<_>>(), [(0, 1), (1, 2)], "{name}");
        assert_eq!(graph.weights(), None, "{name}");
        let edges = dataset.report.edges;
        assert_eq!((edges.self_loops, edges.mirrored), (1, 1), "{name}");
        assert_eq!(
            dataset.node_labels.as_ref().unwrap().classes().unwrap().of(),
            [Some(1), Some(0), Some(1)],
            "{name}"
        );
        match &dataset.features {
            Some(features) => assert_eq!(features.to_dense().values(), [1.0, 0.0, 0.0, 0.0, 0.0, 2.0], "{name}"),
            None => assert_eq!(name, "benchmark_bare"),
        }
    }
}

#[test]
fn names_of_nodes_and_classes_are_kept() {
    for name in ["benchmark.npz", "benchmark_nettack.npz"] {
        let dataset = read_path(fixture(name));
        assert_eq!(class_names(&dataset), ["second", "first"]);
        assert_eq!(dataset.graph().unwrap().name(2), "z");
    }
    assert_eq!(class_names(&read_path(fixture("benchmark_pickled.npz"))), ["second", "first"]);
    let dense = read_path(fixture("benchmark_dense.npz"));
    assert_eq!(class_names(&dense), ["0", "1"]);
    assert_eq!(dense.graph().unwrap().names().unwrap().get(1), Name::Integer(20));
    assert_eq!(read_path(fixture("benchmark_bare.npz")).graph().unwrap().names(), None);
}

#[test]
fn the_only_npz_of_a_folder_is_read() {
    let bytes = std::fs::read(fixture("benchmark.npz")).unwrap();
    let dataset = read(&memory(&[("raw/benchmark.npz", &bytes), ("readme.md", b"")], None)).unwrap();
    assert_eq!(dataset.graph().unwrap().num_edges(), 2);
    let two = memory(&[("a.npz", &bytes), ("b.npz", &bytes)], None);
    assert!(matches!(read(&two), Err(Error::UnknownFormat { .. })));
}

#[test]
fn damaged_files_are_refused() {
    let whole = std::fs::read(fixture("benchmark_pickled.npz")).unwrap();
    let error = read(&memory(&[("cut.npz", &whole[..whole.len() / 2])], Some("cut.npz"))).unwrap_err();
    assert!(error.to_string().contains("damaged zip data"), "{error}");
    assert!(error.hint().unwrap().contains("download it again"));
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x11;
        let _ = read(&memory(&[("bad.npz", &bytes)], Some("bad.npz")));
    }
}

fn counts(dataset: &Dataset) -> (usize, usize, usize, usize) {
    let graph = dataset.graph().unwrap();
    let columns = dataset.features.as_ref().map_or(0, |features| features.columns());
    (graph.num_nodes(), graph.num_edges(), columns, class_names(dataset).len())
}

#[test]
fn published_files_have_their_counts() {
    for (path, expected, self_loops) in [
        ("amazon-photo/amazon_electronics_photo.npz", (7650, 119081, 745, 8), 1),
        ("coauthor-cs/ms_academic_cs.npz", (18333, 81894, 6805, 15), 0),
        ("gnn-benchmark-npz/cora.npz", (2708, 5278, 1433, 7), 0),
        ("gnn-benchmark-npz/citeseer.npz", (3312, 4536, 3703, 6), 124),
        ("attacks/nettack/cora.npz", (2708, 5278, 1433, 7), 0),
        ("attacks/nettack/citeseer.npz", (3312, 4536, 3703, 6), 124),
        ("attacks/nettack/polblogs.npz", (1490, 16715, 0, 2), 3),
    ] {
        let Some(path) = published(path) else { continue };
        let dataset = read_path(&path);
        assert_eq!(counts(&dataset), expected, "{}", path.display());
        assert_eq!(dataset.report.edges.self_loops, self_loops, "{}", path.display());
        assert_eq!(dataset.report.format, "gnn-benchmark");
        assert!(dataset.graph().unwrap().weights().is_none(), "{}", path.display());
        assert_eq!(dataset.report.notes.len(), usize::from(path.ends_with("polblogs.npz")), "{}", path.display());
    }
}

#[test]
fn published_variants_agree() {
    for (flat, pickled) in [
        ("amazon-photo/amazon_electronics_photo.npz", "amazon-photo/amazon_photo.npz"),
        ("coauthor-cs/ms_academic_cs.npz", "coauthor-cs/coauthor_cs.npz"),
    ] {
        let (Some(flat), Some(pickled)) = (published(flat), published(pickled)) else { continue };
        let (flat, pickled) = (read_path(flat), read_path(pickled));
        assert!(flat.graph() == pickled.graph(), "{}", pickled.name);
        assert!(flat.features == pickled.features, "{}", pickled.name);
        let classes = |dataset: &Dataset| dataset.node_labels.as_ref().unwrap().classes().unwrap().of().to_vec();
        assert!(classes(&flat) == classes(&pickled), "{}", pickled.name);
        assert_eq!(flat.report.edges, pickled.report.edges);
    }
    let Some(photo) = published("amazon-photo/amazon_photo.npz") else { return };
    assert_eq!(class_names(&read_path(photo))[0], "Film Photography");
}

#[test]
fn published_names_agree() {
    let (Some(benchmark), Some(nettack)) =
        (published("gnn-benchmark-npz/cora.npz"), published("attacks/nettack/cora.npz"))
    else {
        return;
    };
    let (benchmark, nettack) = (read_path(benchmark), read_path(nettack));
    assert!(benchmark.graph() == nettack.graph());
    assert_eq!(class_names(&benchmark), class_names(&nettack));
    assert_eq!(benchmark.graph().unwrap().name(0), "1000012");
}

#[test]
fn a_missing_array_is_named() {
    let input = DataSource::open(fixture("path_csr.npz")).unwrap();
    let options = fiedler_io::read::ReadOptions { format: Some("gnn-benchmark".into()), ..Default::default() };
    let error = fiedler_io::read::read_source(&input, &options).unwrap_err();
    assert!(error.to_string().contains("a member adj_matrix.npy"), "{error}");
}
