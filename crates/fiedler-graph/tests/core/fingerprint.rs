//! Fingerprints are what they always were: run folders, schemes and random streams are found by them.
//!
//! The expected values were computed by Python's `hashlib` from the same bytes.

use fiedler_graph::random::stream;
use fiedler_graph::{
    Categorical, Classes, Dense, Features, Graph, GraphSet, Labels, MultiLabel, Regression, Sparse, Split,
};
use rand::RngExt;

fn set(weights: Option<Vec<f32>>) -> GraphSet {
    let pairs = vec![(0, 1), (2, 3), (3, 4)];
    let (graph, _) = match weights {
        Some(weights) => Graph::from_weighted_pairs(5, pairs, weights).unwrap(),
        None => Graph::from_pairs(5, pairs).unwrap(),
    };
    GraphSet::from_block_diagonal(graph, vec![2, 3]).unwrap()
}

#[test]
fn of_graphs() {
    assert_eq!(set(None).fingerprint(), "c4276458b709ca4bdfe3f6210b374071");
    assert_eq!(set(Some(vec![0.5, 1.0, 2.0])).fingerprint(), "01274338dfd8c090089cff35d9e61cbd");
}

#[test]
fn of_features_labels_and_splits() {
    let dense = Features::Dense(Dense::new(2, 2, vec![1.0, 2.0, 3.0, -4.0]).unwrap());
    let sparse = Features::Sparse(Sparse::new(3, vec![0, 1, 3], vec![2, 0, 1], vec![1.0, 2.0, 3.0]).unwrap());
    let categorical = Features::Categorical(Categorical::new(vec![2, 3], vec![0, 1, 1, 2]).unwrap());
    assert_eq!(dense.fingerprint(), "2e327ed161d842df719aeee78bc84451");
    assert_eq!(sparse.fingerprint(), "e12185cc8457a0fc938e9b3cfd98a06c");
    assert_eq!(categorical.fingerprint(), "74de725f3b6473861b6e08ed422e42d7");

    let classes = Labels::Classes(Classes::from_integers([Some(3), None, Some(7)]));
    let names = vec!["a".to_owned(), "b".to_owned()];
    let answers = MultiLabel::new(names.clone(), vec![Some(true), None, Some(false), Some(true)]).unwrap();
    let values = Regression::new(names, vec![Some(1.5), None]).unwrap();
    assert_eq!(classes.fingerprint(), "92364ab3b6588520");
    assert_eq!(Labels::MultiLabel(answers).fingerprint(), "be7dc1775168566d");
    assert_eq!(Labels::Regression(values).fingerprint(), "e66e0c32b35c2235");

    let split = Split { train: vec![1, 0], test: vec![2], ..Split::default() };
    assert_eq!(split.fingerprint(), "be5bea456cc0c70b57586b2e554d2b76");
}

#[test]
fn what_is_remembered_is_no_part_of_the_value() {
    let (asked, silent) = (set(None), set(None));
    asked.fingerprint();
    assert_eq!(asked, silent);
    assert_eq!(asked.clone().fingerprint(), silent.fingerprint());
}

#[test]
fn what_is_remembered_of_features_is_forgotten_when_they_change() {
    let mut dense = Features::Dense(Dense::new(1, 2, vec![1.0, 3.0]).unwrap());
    let mut sparse = Features::Sparse(Sparse::new(2, vec![0, 2], vec![0, 1], vec![1.0, 3.0]).unwrap());
    for features in [&mut dense, &mut sparse] {
        let before = features.fingerprint();
        features.normalize_rows();
        assert_ne!(features.fingerprint(), before);
    }
    let scaled = Features::Dense(Dense::new(1, 2, vec![0.25, 0.75]).unwrap());
    assert_eq!((dense.fingerprint(), &dense), (scaled.fingerprint(), &scaled));
    assert_eq!(dense.gather(&[0, 0]).fingerprint(), scaled.gather(&[0, 0]).fingerprint());
    assert_ne!(dense.gather(&[0, 0]).fingerprint(), dense.fingerprint());
}

#[test]
fn random_streams_are_keyed_by_seed_index_and_purpose() {
    // The key's third number is FNV-1a of the purpose, 0x85944171f73967e8 for "foobar".
    use rand::SeedableRng;
    let mut key = [0; 32];
    key[..8].copy_from_slice(&7u64.to_le_bytes());
    key[8..16].copy_from_slice(&3u64.to_le_bytes());
    key[16..24].copy_from_slice(&0x8594_4171_f739_67e8_u64.to_le_bytes());
    let expected: u64 = rand_chacha::ChaCha8Rng::from_seed(key).random();
    assert_eq!(stream(7, "foobar", 3).random::<u64>(), expected);
}
