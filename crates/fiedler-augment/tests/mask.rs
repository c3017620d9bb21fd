//! Feature masking: what is hidden how often, and what that means for every kind of features.
#![allow(clippy::unwrap_used)]

use fiedler_augment::mask::{GraphColumns, Mask, MaskFeatures, neutral_code};
use fiedler_augment::pipeline::{
    ComputeSchemes, FeatureMasking, FitContext, FittedPipeline, MaskRates, Pipeline, short_form,
};
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_augment::{Result, SchemeSettings, ViewKey};
use fiedler_graph::{Batch, Categorical, Dense, Features, Graph, GraphSet, NoObserver, Sparse};

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

fn draw(epoch: u32, view: u32) -> ViewKey {
    ViewKey::new(11, epoch, view)
}

/// The masks of two views whose graphs are left as they are.
struct Masker(Vec<FittedPipeline>);

impl Masker {
    fn draw(&self, batch: &Batch, key: ViewKey) -> Mask {
        let view = self.0[key.view as usize].draw(batch, key).unwrap();
        assert_eq!(view.graph, *batch.graph);
        assert!(view.dropped.is_none() && view.feature_rows.is_none() && view.choices.is_empty());
        view.mask
    }
}

fn fit(pipeline: &Pipeline, set: &GraphSet, features: &Features) -> Result<FittedPipeline> {
    let mut schemes = ComputeSchemes::new(set, &NoObserver);
    pipeline.fit(&mut FitContext { set, features, schemes: &mut schemes })
}

fn prepare(masking: &FeatureMasking, set: &GraphSet, features: &Features) -> Result<Masker> {
    let unchanged = SchemeSettings::Uniform(Uniform { first: Rates::default(), second: Rates::default() });
    let views = short_form(&unchanged, masking);
    Ok(Masker(views.iter().map(|view| fit(view, set, features)).collect::<Result<_>>()?))
}

#[test]
fn uniform_columns_are_hidden_as_often_as_they_should() {
    let first = MaskRates { rate: 0.3, nodes: 0.0 };
    let masking = FeatureMasking { first, second: MaskRates { rate: 0.8, nodes: 0.0 }, ..Default::default() };
    let masker = prepare(&masking, &stars(), &dense()).unwrap();
    for (view, probability) in [(0, 0.3f64), (1, 0.8)] {
        let mut counts = [0u32; 4];
        let mut pairs = 0u32;
        for epoch in 0..10_000 {
            let mask = masker.draw(&stars().whole(), draw(epoch, view));
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
fn a_share_of_each_graphs_nodes_is_hidden() {
    let rates = MaskRates { rate: 0.0, nodes: 0.5 };
    let masking = FeatureMasking { first: rates, second: rates, ..Default::default() };
    let masker = prepare(&masking, &stars(), &dense()).unwrap();
    let mut counts = [0u32; 7];
    for epoch in 0..6000 {
        let together = masker.draw(&stars().batch(&[1, 0]), draw(epoch, 0));
        assert!(together.columns.is_none());
        let nodes = together.nodes.unwrap();
        let hidden = |nodes: &[bool]| nodes.iter().filter(|hidden| **hidden).count();
        assert_eq!((hidden(&nodes[..3]), hidden(&nodes[3..])), (1, 2));
        let alone = masker.draw(&stars().batch(&[0]), draw(epoch, 0)).nodes.unwrap();
        assert_eq!(alone, nodes[3..]);
        nodes.iter().zip(&mut counts).for_each(|(hidden, count)| *count += u32::from(*hidden));
    }
    assert!(counts[..3].iter().all(|&count| count.abs_diff(2000) < 150), "{counts:?}");
    assert!(counts[3..].iter().all(|&count| count.abs_diff(3000) < 160), "{counts:?}");
}

#[test]
fn a_mask_depends_on_seed_epoch_and_view_alone() {
    let rates = MaskRates { rate: 0.5, nodes: 0.5 };
    let masking = FeatureMasking { first: rates, second: rates, ..Default::default() };
    let masker = prepare(&masking, &stars(), &dense()).unwrap();
    let masks = |seed, view| -> Vec<Mask> {
        (0..20).map(|epoch| masker.draw(&stars().whole(), ViewKey::new(seed, epoch, view))).collect()
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
    let mask = Mask { columns: columns(&[false, true, false, false]), nodes: nodes.clone(), ..Mask::default() };
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
    let mask = Mask { columns: columns(&[true, false]), nodes, ..Mask::default() };
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
    assert!(prepare(&FeatureMasking::default(), &stars(), &few).is_err());
    let wrong = MaskRates { rate: 1.2, nodes: 0.0 };
    let masking = FeatureMasking { first: wrong, ..Default::default() };
    assert!(masking.check().unwrap_err().to_string().contains("first"));
    assert!(prepare(&masking, &stars(), &dense()).is_err());
    let masking = FeatureMasking { second: MaskRates { rate: 0.1, nodes: f64::NAN }, ..Default::default() };
    assert!(masking.check().unwrap_err().to_string().contains("second"));
    assert!(Mask { columns: Some(vec![true]), ..Mask::default() }.apply(&dense()).is_err());
    assert!(Mask { nodes: Some(vec![true]), ..Mask::default() }.apply(&dense()).is_err());
    let right = GraphColumns { graph_of: vec![0, 0, 0, 0, 1, 1, 1], hidden: vec![vec![true; 4], vec![false; 4]] };
    let of_graphs = |columns: GraphColumns| Mask { graph_columns: Some(columns), ..Mask::default() }.apply(&dense());
    assert!(of_graphs(right.clone()).is_ok());
    assert!(of_graphs(GraphColumns { graph_of: vec![0; 6], ..right.clone() }).is_err());
    assert!(of_graphs(GraphColumns { graph_of: vec![2; 7], ..right.clone() }).is_err());
    assert!(of_graphs(GraphColumns { hidden: vec![vec![true; 3]; 2], ..right }).is_err());
}

#[test]
fn columns_may_be_hidden_from_one_graph_only() {
    let hidden = vec![vec![true, false, false, true], vec![false, true, false, false]];
    let columns = GraphColumns { graph_of: vec![0, 0, 0, 0, 1, 1, 1], hidden: hidden.clone() };
    let mask = Mask { graph_columns: Some(columns), ..Mask::default() };
    for features in [dense(), sparse()] {
        let (before, after) = (features.to_dense(), mask.apply(&features).unwrap().to_dense());
        for (row, column) in (0..7).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let is_hidden = hidden[usize::from(row >= 4)][column];
            assert_eq!(mask.hides(row, column), is_hidden);
            assert_eq!(after.row(row)[column], if is_hidden { 0.0 } else { before.row(row)[column] });
        }
    }
}

#[test]
fn a_pipeline_of_masks_has_as_many_views_as_one_likes() {
    let pipeline = Pipeline::MaskFeatures(MaskFeatures { rate: 0.5, ..Default::default() });
    let fitted = fit(&pipeline, &stars(), &dense()).unwrap();
    let masks =
        |view| (0..20).map(|epoch| fitted.draw(&stars().whole(), draw(epoch, view)).unwrap().mask).collect::<Vec<_>>();
    for (one, other) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
        assert_ne!(masks(one), masks(other));
    }
}

#[test]
fn everything_or_nothing_may_be_hidden() {
    for (columns, nodes) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
        let rates = MaskRates { rate: columns, nodes };
        let masking = FeatureMasking { first: rates, second: rates, ..Default::default() };
        let mask = prepare(&masking, &stars(), &dense()).unwrap().draw(&stars().whole(), draw(3, 1));
        let values = mask.apply(&dense()).unwrap().to_dense();
        assert_eq!(values.values().iter().all(|value| *value == 0.0), columns + nodes > 0.0);
        if columns + nodes == 0.0 {
            assert_eq!(mask, Mask::default());
        }
    }
}
