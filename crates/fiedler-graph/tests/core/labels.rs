//! Labels, splits and whether a dataset's parts fit together.

use std::collections::BTreeSet;

use fiedler_graph::{Classes, Dataset, Dense, Features, Graph, GraphSet, Labels, MultiLabel, Regression, Split};
use proptest::prelude::*;

proptest! {
    #[test]
    fn classes_keep_the_order_of_whole_numbers(labels in proptest::collection::vec(proptest::option::of(-20..20i64), 0..30)) {
        let classes = Classes::from_integers(labels.iter().copied());
        let distinct: BTreeSet<i64> = labels.iter().flatten().copied().collect();
        let names: Vec<String> = distinct.iter().map(i64::to_string).collect();
        prop_assert_eq!(classes.names(), names);
        for (label, class) in labels.iter().zip(classes.of()) {
            prop_assert_eq!(label.map(|label| label.to_string()), class.map(|class| classes.names()[class as usize].clone()));
        }
        prop_assert_eq!(Labels::Classes(classes).missing(), labels.iter().filter(|label| label.is_none()).count());
    }
}

#[test]
fn classes_by_other_names_are_alphabetical() {
    let classes = Classes::from_labels([Some("red"), None, Some("10"), Some("9"), Some("red")]);
    assert_eq!(classes.names(), ["10", "9", "red"]);
    assert_eq!(classes.of(), [Some(2), None, Some(0), Some(1), Some(2)]);
    assert_eq!(Classes::from_labels::<&str>([]).count(), 0);
    // Numbers that are spelt in two ways are two classes.
    assert_eq!(Classes::from_labels([Some("01"), Some("1")]).count(), 2);
}

#[test]
fn tasks_and_values_come_in_rows() {
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let tasks = MultiLabel::new(names(), vec![Some(true), None, None, Some(false)]).unwrap();
    assert_eq!(tasks.row(1), [None, Some(false)]);
    let tasks = Labels::MultiLabel(tasks);
    assert_eq!((tasks.len(), tasks.missing(), tasks.is_empty()), (2, 2, false));
    let values = Regression::new(names(), vec![Some(1.5), None]).unwrap();
    assert_eq!(values.row(0), [Some(1.5), None]);
    assert!(MultiLabel::new(names(), vec![None; 3]).is_err());
    assert!(MultiLabel::new(vec![], vec![]).is_err());
    assert!(Regression::new(names(), vec![Some(f32::NAN), None]).is_err());
}

#[test]
fn splits_name_what_is_wrong() {
    let split = |train: &[u32], validation: &[u32], test: &[u32]| Split {
        name: "own".into(),
        train: train.into(),
        validation: validation.into(),
        test: test.into(),
        stopping: vec![0],
    };
    assert!(split(&[0, 2], &[], &[1]).check(3).is_ok());
    let message = |split: Split| split.check(3).unwrap_err().to_string();
    assert_eq!(message(split(&[0], &[3], &[])), "validation id of split own is 3; expected an id below 3");
    assert_eq!(
        message(split(&[0], &[], &[0])),
        "test id of split own is 0; expected an id that is not in train already"
    );
    assert!(message(split(&[1, 1], &[], &[])).contains("not in train already"));
    assert!(split(&[], &[], &[]).check(0).is_err(), "a stopping id needs a node");
}

#[test]
fn parts_of_a_dataset_must_fit() {
    let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)]).unwrap();
    let dense = |rows| Some(Features::Dense(Dense::new(rows, 1, vec![1.0; rows]).unwrap()));
    let classes = |count| Some(Labels::Classes(Classes::from_integers(vec![Some(1); count])));
    let set = || Dataset::set("pair", GraphSet::from_block_diagonal(path.clone(), vec![3, 0]).unwrap());
    let fits = Dataset {
        features: dense(3),
        edge_features: dense(2),
        node_labels: classes(3),
        graph_labels: classes(2),
        splits: vec![Split { name: "own".into(), test: vec![1], ..Default::default() }],
        ..set()
    };
    fits.check().unwrap();
    assert_eq!(fits.labels().map(Labels::len), Some(2));
    let message = |dataset: Dataset| dataset.check().unwrap_err().to_string();
    assert_eq!(
        message(Dataset { features: dense(2), ..set() }),
        "number of feature rows is 2; expected 3, the number of nodes"
    );
    assert!(message(Dataset { edge_features: dense(3), ..set() }).contains("number of edges"));
    assert!(message(Dataset { node_labels: classes(2), ..set() }).contains("node labels"));
    assert!(message(Dataset { graph_labels: classes(3), ..set() }).contains("graph labels"));
    let of_graphs = Split { name: "own".into(), test: vec![2], ..Default::default() };
    assert!(message(Dataset { splits: vec![of_graphs.clone()], ..set() }).contains("below 2"));
    Dataset { splits: vec![of_graphs], ..Dataset::single("path", path.clone()) }.check().unwrap();
}
