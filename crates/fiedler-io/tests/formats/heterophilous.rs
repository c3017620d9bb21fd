//! npz files of the heterophilous benchmark.

use fiedler_graph::Labels;

use crate::bad_input::files;
use crate::common::read;

#[test]
fn every_split_is_kept() {
    let dataset = read(&files::heterophilous().input()).expect("a dataset");
    assert_eq!(dataset.report.format, "heterophilous");
    assert_eq!(dataset.graph().expect("one graph").edge_pairs().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    assert_eq!(dataset.features.expect("features").to_dense().values(), [0.5, 1.0, 2.0]);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).expect("classes");
    assert_eq!(classes.of(), [Some(0), Some(1), Some(1)]);
    let parts: Vec<_> = dataset
        .splits
        .iter()
        .map(|split| (split.name.as_str(), &split.train[..], &split.validation[..], &split.test[..]))
        .collect();
    assert_eq!(parts, [("split-1", &[0][..], &[1][..], &[2][..]), ("split-2", &[1][..], &[2][..], &[0][..])]);
}

#[test]
fn faults_are_named_with_their_array() {
    let sound = files::heterophilous;
    for (files, expected) in [
        (
            sound().with_array(
                "toy.npz",
                "edges",
                files::npy("<i8", "(1, 2)", &[[0u8; 8], [9, 0, 0, 0, 0, 0, 0, 0]].concat()),
            ),
            "node 9 in row 0; expected nodes below 3",
        ),
        (sound().with_array("toy.npz", "edges", files::integers(&[0, 1])), "rows of 1; expected two nodes a row"),
        (sound().with_array("toy.npz", "node_labels", files::integers(&[0, 1])), "2 labels; expected 3, one a node"),
        (
            sound().with_array("toy.npz", "val_masks", files::npy("|b1", "(2, 2)", &[0; 4])),
            "rows of 2 marks; expected 3",
        ),
        (
            sound().with_array("toy.npz", "val_masks", files::npy("|b1", "(1, 3)", &[0; 3])),
            "2 train_masks, 1 val_masks, 2 test_masks",
        ),
        (sound().without_array("toy.npz", "test_masks"), "expected a member test_masks.npy"),
    ] {
        let error = read(&files.input()).expect_err("malformed").to_string();
        assert!(error.contains(expected), "{error}");
    }
}
