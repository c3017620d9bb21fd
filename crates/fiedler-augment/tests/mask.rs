//! Feature masking: what is hidden how often, and what that means for every kind of features.
#![allow(clippy::unwrap_used)]

use fiedler_augment::centrality::Centrality;
use fiedler_augment::mask::{Mask, MaskRates, FeatureMasking, neutral_code};
use fiedler_augment::scheme::ViewKey;
use fiedler_graph::{Categorical, Dense, Features, Graph, GraphSet, Sparse};

/// Two stars of four and three nodes.
fn stars() -> GraphSet {
    let (arena, _) = Graph::from_pairs(7, vec![(0, 1), (0, 2), (0, 3), (4, 5), (4, 6)]).unwrap();
    GraphSet::from_block_diagonal(arena, vec![4, 3]).unwrap()
}

fn dense() -> Features {
    Features::Dense(Dense::new(7, 4, (1..=28).map(|value| value as f32 - 14.5).collect()).unwrap())
}

/// Column 0 belongs to the hubs, 1 to all, 2 to one leaf, 3 to nobody.
fn sparse() -> Features {
    let offsets = vec![0, 2, 3, 4, 6, 8, 9, 10];
    let indices = vec![0, 1, 1, 1, 1, 2, 0, 1, 1, 1];
    let values = (1..=10).map(|value| value as f32).collect();
    Features::Sparse(Sparse::new(4, offsets, indices, values).unwrap())
}

fn categorical() -> Features {
    Features::Categorical(Categorical::new(vec![3, 2], vec![0, 1, 1, 0, 2, 1, 0, 0, 1, 1, 2, 0, 0, 1]).unwrap())
}

fn draw(epoch: u32, view: usize) -> ViewKey {
    ViewKey { seed: 11, epoch, view }
}

#[test]
fn uniform_columns_are_hidden_as_often_as_they_should() {
    let first = MaskRates { columns: 0.3, nodes: 0.0 };
    let masking = FeatureMasking { first, second: MaskRates { columns: 0.8, nodes: 0.0 }, ..Default::default() };
    let masker = masking.prepare(&stars(), &dense()).unwrap();
    for (view, probability) in [(0, 0.3f64), (1, 0.8)] {
        let mut counts = [0u32; 4];
        let mut pairs = 0u32;
        for epoch in 0..10_000 {
            let mask = masker.draw(&stars().whole(), draw(epoch, view)).unwrap();
            assert!(mask.nodes.is_none());
            let columns = mask.columns.unwrap();
            pairs += u32::from(columns[0] && columns[1]);
            columns.iter().zip(&mut counts).for_each(|(hidden, count)| *count += u32::from(*hidden));
        }
        let deviation = |count: u32, p: f64| (f64::from(count) - 1e4 * p).abs() / (1e4 * p * (1.0 - p)).sqrt();
        assert!(counts.iter().all(|&count| deviation(count, probability) < 4.0), "{counts:?}");
        assert!(deviation(pairs, probability * probability) < 4.0, "{pairs}");
    }
}

#[test]
fn columns_of_central_nodes_are_hidden_less() {
    let rates = MaskRates { columns: 0.4, nodes: 0.0 };
    let masking = FeatureMasking { first: rates, second: rates, centrality: Some(Centrality::Degree), cutoff: 0.7 };
    let masker = masking.prepare(&stars(), &sparse()).unwrap();
    let found = masker.column_probabilities(0).unwrap();
    // Degrees 3, 1, 1, 1 and 2, 1, 1.
    let importance = [5f64, 10.0, 1.0];
    let mean = importance.iter().map(|value| value.ln()).sum::<f64>() / 3.0;
    for (found, importance) in found.iter().zip(importance) {
        let expected = (0.4 * (10f64.ln() - importance.ln()) / (10f64.ln() - mean)).min(0.7);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    assert_eq!(found[3], 0.7);

    let by_value = masking.prepare(&stars(), &dense()).unwrap();
    let central = [3.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0];
    let rows = dense().to_dense();
    let sums: Vec<f64> =
        (0..4).map(|column| (0..7).map(|row| central[row] * f64::from(rows.row(row)[column].abs())).sum()).collect();
    let logarithms: Vec<f64> = sums.iter().map(|sum: &f64| sum.ln()).collect();
    let highest = logarithms.iter().copied().fold(f64::MIN, f64::max);
    let mean = logarithms.iter().sum::<f64>() / 4.0;
    for (found, s) in by_value.column_probabilities(1).unwrap().iter().zip(logarithms) {
        assert!((found - (0.4 * (highest - s) / (highest - mean)).min(0.7)).abs() < 1e-12);
    }
    // All nodes have a category in every column, so that columns are alike.
    let alike = masking.prepare(&stars(), &categorical()).unwrap();
    assert!(alike.column_probabilities(0).unwrap().iter().all(|value| (value - 0.4).abs() < 1e-12));
}

#[test]
fn without_central_nodes_columns_are_alike() {
    let rates = MaskRates { columns: 0.4, nodes: 0.0 };
    let masking = FeatureMasking { first: rates, second: rates, centrality: Some(Centrality::Degree), cutoff: 0.7 };
    let masker = masking.prepare(&GraphSet::single(Graph::empty(7)), &sparse()).unwrap();
    assert_eq!(masker.column_probabilities(0).unwrap(), [0.4; 4]);
}

#[test]
fn a_share_of_each_graphs_nodes_is_hidden() {
    let rates = MaskRates { columns: 0.0, nodes: 0.5 };
    let masker = FeatureMasking { first: rates, second: rates, ..Default::default() }.prepare(&stars(), &dense()).unwrap();
    let mut counts = [0u32; 7];
    for epoch in 0..6000 {
        let together = masker.draw(&stars().batch(&[1, 0]), draw(epoch, 0)).unwrap();
        assert!(together.columns.is_none());
        let nodes = together.nodes.unwrap();
        let hidden = |nodes: &[bool]| nodes.iter().filter(|hidden| **hidden).count();
        assert_eq!((hidden(&nodes[..3]), hidden(&nodes[3..])), (1, 2));
        let alone = masker.draw(&stars().batch(&[0]), draw(epoch, 0)).unwrap().nodes.unwrap();
        assert_eq!(alone, nodes[3..]);
        nodes.iter().zip(&mut counts).for_each(|(hidden, count)| *count += u32::from(*hidden));
    }
    assert!(counts[..3].iter().all(|&count| count.abs_diff(2000) < 150), "{counts:?}");
    assert!(counts[3..].iter().all(|&count| count.abs_diff(3000) < 160), "{counts:?}");
}

#[test]
fn a_mask_depends_on_seed_epoch_and_view_alone() {
    let rates = MaskRates { columns: 0.5, nodes: 0.5 };
    let masker = FeatureMasking { first: rates, second: rates, ..Default::default() }.prepare(&stars(), &dense()).unwrap();
    let masks = |seed, view| -> Vec<Mask> {
        (0..20).map(|epoch| masker.draw(&stars().whole(), ViewKey { seed, epoch, view }).unwrap()).collect()
    };
    assert_eq!(masks(1, 0), masks(1, 0));
    assert_ne!(masks(1, 0), masks(1, 1));
    assert_ne!(masks(1, 0), masks(2, 0));
    assert!(masks(1, 0).windows(2).any(|pair| pair[0] != pair[1]));
}

#[test]
fn hidden_numbers_are_zero_and_hidden_categories_a_code_of_their_own() {
    let columns = |hidden: &[bool]| Some(hidden.to_vec());
    let nodes = Some(vec![false, true, false, false, false, false, true]);
    let mask = Mask { columns: columns(&[false, true, false, false]), nodes: nodes.clone() };
    for features in [dense(), sparse()] {
        let (before, after) = (features.to_dense(), mask.apply(&features).unwrap());
        assert_eq!(std::mem::discriminant(&features), std::mem::discriminant(&after));
        for row in 0..7 {
            for column in 0..4 {
                let expected = if mask.hides(row, column) { 0.0 } else { before.row(row)[column] };
                assert_eq!(after.to_dense().row(row)[column], expected);
            }
        }
    }
    let mask = Mask { columns: columns(&[true, false]), nodes };
    let Features::Categorical(after) = mask.apply(&categorical()).unwrap() else {
        panic!("categories stay categories")
    };
    assert_eq!(after.cardinalities(), [4, 3]);
    assert_eq!((after.row(0), after.row(1), after.row(2)), (&[3, 1][..], &[3, 2][..], &[3, 1][..]));
    let Features::Categorical(whole) = Mask::default().apply(&categorical()).unwrap() else { panic!() };
    assert_eq!(whole.cardinalities(), [4, 3]);
    assert_eq!(neutral_code(255).unwrap(), 255);
    assert!(neutral_code(256).unwrap_err().hint().is_some());
}

#[test]
fn what_does_not_fit_is_refused() {
    let few = Features::Dense(Dense::new(2, 1, vec![1.0, 2.0]).unwrap());
    assert!(FeatureMasking::default().prepare(&stars(), &few).is_err());
    let rates = MaskRates { columns: 1.2, nodes: 0.0 };
    assert!(FeatureMasking { first: rates, ..Default::default() }.prepare(&stars(), &dense()).is_err());
    assert!(Mask { columns: Some(vec![true]), nodes: None }.apply(&dense()).is_err());
    assert!(Mask { columns: None, nodes: Some(vec![true]) }.apply(&dense()).is_err());
    let masker = FeatureMasking::default().prepare(&stars(), &dense()).unwrap();
    assert!(masker.draw(&stars().whole(), draw(0, 2)).is_err());
}

#[test]
fn everything_or_nothing_may_be_hidden() {
    for (columns, nodes) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
        let rates = MaskRates { columns, nodes };
        let masking = FeatureMasking { first: rates, second: rates, ..Default::default() };
        let mask = masking.prepare(&stars(), &dense()).unwrap().draw(&stars().whole(), draw(3, 1)).unwrap();
        let values = mask.apply(&dense()).unwrap().to_dense();
        assert_eq!(values.values().iter().all(|value| *value == 0.0), columns + nodes > 0.0);
        if columns + nodes == 0.0 {
            assert_eq!(mask, Mask::default());
        }
    }
}
