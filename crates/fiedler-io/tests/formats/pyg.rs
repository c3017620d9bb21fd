//! `data.pt` of PyTorch Geometric, as `tests/fixtures/make_pyg.py` makes them.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use fiedler_graph::{Dataset, Labels};
use fiedler_io::read::{self, ReadOptions};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/pyg").join(name)
}

fn open(name: &str) -> Dataset {
    let dataset = read::read(fixture(name), &ReadOptions::default()).unwrap();
    assert_eq!(dataset.report.format, "pyg");
    dataset
}

fn edges(dataset: &Dataset) -> Vec<(u32, u32)> {
    dataset.graphs.block_diagonal().edge_pairs().collect()
}

#[test]
fn one_graph_in_every_way_of_saving_it() {
    for name in ["single.pt", "dictionary.pt", "saved.pt", "version1.pt"] {
        let dataset = open(name);
        assert_eq!(dataset.graphs.len(), 1, "{name}");
        assert_eq!(edges(&dataset), [(0, 1), (1, 2)], "{name}");
        let features = dataset.features.as_ref().unwrap().to_dense();
        assert_eq!(
            (features.columns(), features.values()),
            (2, &[0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 2.0, -1.0][..]),
            "{name}"
        );
        let classes = dataset.node_labels.as_ref().unwrap().classes().unwrap();
        assert_eq!(
            (classes.names(), classes.of()),
            (&["0".to_owned(), "2".to_owned()][..], &[Some(0), Some(1), Some(1), Some(0)][..])
        );
        let splits: Vec<_> =
            dataset.splits.iter().map(|split| (&*split.name, &split.train, &split.validation)).collect();
        assert_eq!(splits, [("split-1", &vec![0], &vec![1]), ("split-2", &vec![1], &vec![0])], "{name}");
        assert!(dataset.splits.iter().all(|split| split.test == [2, 3]));
        assert!(dataset.report.notes.is_empty(), "{name}: {:?}", dataset.report.notes);
    }
}

#[test]
fn weights_are_used_unless_told_otherwise() {
    assert_eq!(open("weighted.pt").graphs.block_diagonal().edge_weights(), Some(vec![0.5, 2.0]));
    let options = ReadOptions { unweighted: true, ..ReadOptions::default() };
    assert_eq!(read::read(fixture("weighted.pt"), &options).unwrap().graphs.block_diagonal().edge_weights(), None);
}

#[test]
fn a_set_in_every_way_of_saving_it() {
    for name in ["collated.pt", "tuple.pt", "list.pt"] {
        let dataset = open(name);
        assert_eq!(dataset.graphs.node_offsets(), [0, 2, 5], "{name}");
        assert_eq!(edges(&dataset), [(0, 1), (2, 4)], "{name}");
        assert_eq!(dataset.features.as_ref().unwrap().to_dense().values(), [1.0, 2.0, 3.0, 4.0, 5.0], "{name}");
        assert_eq!(dataset.edge_features.as_ref().unwrap().to_dense().values(), [5.0, 7.0], "{name}");
        assert_eq!(dataset.graph_labels.as_ref().unwrap().classes().unwrap().of(), [Some(1), Some(0)], "{name}");
        assert_eq!(dataset.report.notes, ["left out: pos"], "{name}");
        assert_eq!(dataset.graph_source.unwrap().names.unwrap(), ["a", "b"], "{name}");
    }
}

#[test]
fn graphs_without_features_keep_their_nodes_and_values() {
    let dataset = open("counted.pt");
    assert_eq!(dataset.graphs.node_offsets(), [0, 3, 5]);
    assert!(dataset.features.is_none());
    let Some(Labels::Regression(values)) = &dataset.graph_labels else { panic!("{:?}", dataset.graph_labels) };
    assert_eq!((values.row(0), values.row(1)), (&[Some(0.5), Some(1.0)][..], &[Some(1.5), None][..]));
}

#[test]
fn the_folder_of_a_dataset_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("processed")).unwrap();
    std::fs::copy(fixture("saved.pt"), folder.path().join("processed/data.pt")).unwrap();
    for path in [folder.path().to_owned(), folder.path().join("processed")] {
        assert_eq!(read::read(path, &ReadOptions::default()).unwrap().graphs.num_edges(), 2);
    }
}

#[test]
fn what_holds_no_graph_is_refused() {
    let error = read::read(fixture("model.pt"), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("model.pt, edge_index: no edge_index; expected two rows of nodes"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.pt");
    std::fs::write(&old, b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.").unwrap();
    let error = read::read(&old, &ReadOptions::default()).unwrap_err();
    assert!(error.hint().unwrap().contains("before PyTorch 1.6"), "{error}");
}
