//! Views as pipelines: which random numbers they depend on, what steps make of each other, and which settings are refused.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use fiedler_augment::centrality::Centrality;
use fiedler_augment::mask::{MaskFeatures, MaskNodes};
use fiedler_augment::pipeline::{
    Compose, ComputeSchemes, FeatureMasking, FitContext, FittedPipeline, MaskRates, OneOf, Pipeline, PruneEdges, Rate,
    SchemeView, short_form,
};
use fiedler_augment::scheme::{
    Augmentation, CentralityRemoval, Clustered, DiffusionSettings, Form, GraphCl, NodeDropping, Operation, Rates,
    Scheme, Spectral, Uniform,
};
use fiedler_augment::{Result, SchemeSettings, View, ViewKey};
use fiedler_graph::{Batch, Dense, Features, Graph, GraphSet, NoObserver};
use safetensors::SafeTensors;
use serde_json::{Value, json};

const COLUMNS: usize = 6;

/// Rings with chords, of 6, 9, 12 … nodes.
fn rings(count: u32) -> GraphSet {
    let (mut pairs, mut start) = (Vec::new(), 0);
    let sizes: Vec<u32> = (0..count).map(|graph| 6 + 3 * (graph % 5)).collect();
    for &size in &sizes {
        pairs.extend((0..size).map(|node| (start + node, start + (node + 1) % size)));
        pairs.extend((0..size / 2).map(|node| (start + node, start + (node + size / 2))));
        start += size;
    }
    GraphSet::from_block_diagonal(Graph::from_pairs(start as usize, pairs).unwrap().0, sizes).unwrap()
}

fn features(set: &GraphSet) -> Features {
    let values = (0..set.num_nodes() * COLUMNS).map(|value| 1.0 + value as f32).collect();
    Features::Dense(Dense::new(set.num_nodes(), COLUMNS, values).unwrap())
}

fn try_fit(pipeline: &Pipeline, set: &GraphSet) -> Result<FittedPipeline> {
    let (features, mut schemes) = (features(set), ComputeSchemes::new(set, &NoObserver));
    pipeline.fit(&mut FitContext { set, features: &features, schemes: &mut schemes })
}

fn fit(pipeline: &Pipeline, set: &GraphSet) -> FittedPipeline {
    try_fit(pipeline, set).unwrap()
}

fn draw(pipeline: &Pipeline, set: &GraphSet, key: ViewKey) -> View {
    fit(pipeline, set).draw(&set.whole(), key).unwrap()
}

fn drop_edges(rate: f64) -> Pipeline {
    Pipeline::DropEdges(Rate { rate })
}

fn add_edges(rate: f64) -> Pipeline {
    Pipeline::AddEdges(Rate { rate })
}

fn drop_nodes(rate: f64) -> Pipeline {
    Pipeline::DropNodes(Rate { rate })
}

fn mask_features(rate: f64) -> Pipeline {
    Pipeline::MaskFeatures(MaskFeatures { rate, ..Default::default() })
}

fn mask_graph_features(rate: f64) -> Pipeline {
    Pipeline::MaskFeatures(MaskFeatures { rate, each_graph: true, ..Default::default() })
}

fn mask_nodes(rate: f64) -> Pipeline {
    Pipeline::MaskNodes(MaskNodes { rate, ..MaskNodes::default() })
}

fn one_of(choices: Vec<Pipeline>, each_graph: bool) -> Pipeline {
    Pipeline::OneOf(OneOf { choices, weights: None, each_graph, joint: false })
}

fn opposite() -> SchemeSettings {
    SchemeSettings::Opposite(Spectral { steps: 5, ratio: 0.6, ..Default::default() })
}

/// One pipeline of every kind, all of which change something.
fn every_kind() -> Vec<Pipeline> {
    vec![
        Pipeline::Identity,
        Pipeline::compose(vec![drop_edges(0.3), add_edges(0.3), mask_features(0.4), mask_nodes(0.4)]),
        one_of(vec![drop_edges(0.5), drop_nodes(0.4), mask_features(0.5)], true),
        one_of(vec![drop_edges(0.5), one_of(vec![mask_nodes(0.5), mask_graph_features(0.5)], true)], false),
        Pipeline::scheme(opposite(), 1),
        Pipeline::Diffuse(DiffusionSettings { form: Form::Exact, ..Default::default() }),
        drop_edges(0.3),
        add_edges(0.7),
        drop_nodes(0.3),
        Pipeline::Subgraph(Rate { rate: 0.5 }),
        mask_features(0.5),
        Pipeline::MaskFeatures(MaskFeatures {
            rate: 0.5,
            centrality: Some(Centrality::Degree),
            each_graph: true,
            ..Default::default()
        }),
        mask_nodes(0.5),
        Pipeline::ShuffleFeatures,
    ]
}

/// All that a view says of one graph of its batch, by the graph's own numbers of nodes.
#[derive(Debug, PartialEq)]
struct Part {
    edges: Vec<(u32, u32)>,
    weights: Vec<Vec<f32>>,
    dropped: Vec<bool>,
    self_loops: Option<Vec<f32>>,
    hidden: Vec<Vec<bool>>,
    rows: Vec<u32>,
}

fn part(view: &View, batch: &Batch, block: usize) -> Part {
    let nodes = batch.node_range(block);
    let range = nodes.start as usize..nodes.end as usize;
    let higher =
        |node: u32| view.graph.higher(node).iter().map(move |&other| (node - nodes.start, other - nodes.start));
    let dropped = |node: u32| view.dropped.as_ref().is_some_and(|dropped| dropped[node as usize]);
    let row = |node: u32| view.feature_rows.as_ref().map_or(node, |rows| rows[node as usize]);
    let hidden = |node: u32| (0..COLUMNS).map(|column| view.mask.hides(node as usize, column)).collect();
    let weights = |node: u32| view.graph.neighbor_weights(node).unwrap_or_default().to_vec();
    Part {
        edges: nodes.clone().flat_map(higher).collect(),
        weights: nodes.clone().map(weights).collect(),
        dropped: nodes.clone().map(dropped).collect(),
        self_loops: view.self_loop_weights.as_ref().map(|all| all[range].to_vec()),
        hidden: nodes.clone().map(hidden).collect(),
        rows: nodes.clone().map(|node| row(node) - nodes.start).collect(),
    }
}

fn parts(view: &View, batch: &Batch) -> Vec<Part> {
    (0..batch.graphs.len()).map(|block| part(view, batch, block)).collect()
}

#[test]
fn every_view_of_every_epoch_is_another() {
    let set = rings(5);
    for pipeline in every_kind() {
        let same = pipeline.is_identity() || matches!(pipeline, Pipeline::Diffuse(_));
        let fitted = fit(&pipeline, &set);
        let views = |key: fn(u32) -> ViewKey| {
            (0..8).map(|number| fitted.draw(&set.whole(), key(number)).unwrap()).collect::<Vec<_>>()
        };
        let ways: [fn(u32) -> ViewKey; 7] = [
            |number| ViewKey::new(3, number, 0),
            |number| ViewKey::new(3, number, 1),
            |number| ViewKey::new(3, number, 2),
            |number| ViewKey::new(3, number, 3),
            |number| ViewKey::new(4, number, 0),
            |number| ViewKey { step: 1, ..ViewKey::new(3, number, 0) },
            |number| ViewKey { phase: 1, ..ViewKey::new(3, number, 0) },
        ];
        for (at, &way) in ways.iter().enumerate() {
            assert_eq!(views(way), views(way));
            assert!(same || views(way).windows(2).any(|pair| pair[0] != pair[1]), "{pipeline:?}");
            for &other in &ways[..at] {
                assert_eq!(views(way) == views(other), same, "{pipeline:?}, way {at}");
            }
        }
    }
}

#[test]
fn a_graph_has_the_same_view_in_whatever_batch() {
    let set = rings(6);
    for pipeline in every_kind() {
        let fitted = fit(&pipeline, &set);
        for (epoch, view) in (0..6).flat_map(|epoch| (0..3).map(move |view| (epoch, view))) {
            let key = ViewKey::new(1, epoch, view);
            let whole = fitted.draw(&set.whole(), key).unwrap();
            for graphs in [&[4, 0, 2][..], &[3], &[5, 1]] {
                let batch = set.batch(graphs);
                let drawn = fitted.draw(&batch, key).unwrap();
                for (block, &graph) in graphs.iter().enumerate() {
                    assert_eq!(part(&drawn, &batch, block), part(&whole, &set.whole(), graph), "{pipeline:?}");
                }
            }
        }
    }
}

#[test]
fn steps_of_one_kind_draw_from_streams_of_their_own() {
    let set = rings(5);
    let key = |epoch| ViewKey::new(9, epoch, 0);
    let share = |pipeline: &Pipeline, count: fn(&View) -> usize| {
        let fitted = fit(pipeline, &set);
        (0..400).map(|epoch| count(&fitted.draw(&set.whole(), key(epoch)).unwrap())).sum::<usize>() as f64 / 400.0
    };
    let edges: fn(&View) -> usize = |view| view.graph.num_edges();
    let (all, pairs) = (set.num_edges() as f64, vec![drop_edges(0.5), drop_edges(0.5)]);
    // From the same stream the second step would not be independent of the first.
    assert!((share(&Pipeline::compose(pairs.clone()), edges) / all - 0.25).abs() < 0.01);
    let nested = Pipeline::compose(vec![Pipeline::compose(pairs), Pipeline::Identity, drop_edges(0.5)]);
    assert!((share(&nested, edges) / all - 0.125).abs() < 0.01);

    let columns: fn(&View) -> usize = |view| (0..COLUMNS).filter(|&column| view.mask.hides(0, column)).count();
    for step in [mask_features(0.5), mask_graph_features(0.5)] {
        let twice = Pipeline::compose(vec![step.clone(), step]);
        assert!((share(&twice, columns) / COLUMNS as f64 - 0.75).abs() < 0.05);
    }
    let nodes: fn(&View) -> usize = |view| view.mask.nodes.as_ref().unwrap().iter().filter(|hidden| **hidden).count();
    let (one, two) = (mask_nodes(0.5), Pipeline::compose(vec![mask_nodes(0.5), mask_nodes(0.5)]));
    assert!(share(&two, nodes) > 1.3 * share(&one, nodes));

    let rows = |pipeline: &Pipeline| draw(pipeline, &set, key(0)).feature_rows.unwrap();
    let once = rows(&Pipeline::ShuffleFeatures);
    let squared: Vec<u32> = once.iter().map(|&row| once[row as usize]).collect();
    assert_ne!(rows(&Pipeline::compose(vec![Pipeline::ShuffleFeatures; 2])), squared);
}

#[test]
fn steps_in_and_around_choices_draw_from_streams_of_their_own() {
    let set = rings(5);
    let left = |pipeline: &Pipeline| {
        let fitted = fit(pipeline, &set);
        let edges = |epoch| fitted.draw(&set.whole(), ViewKey::new(2, epoch, 0)).unwrap().graph.num_edges();
        (0..400).map(edges).sum::<usize>() as f64 / 400.0 / set.num_edges() as f64
    };
    let chosen = one_of(vec![drop_edges(0.5), drop_edges(0.5)], true);
    for (steps, expected) in [
        (vec![drop_edges(0.5), chosen.clone()], 0.25),
        (vec![chosen.clone(), drop_edges(0.5)], 0.25),
        (vec![chosen.clone(), chosen.clone(), drop_edges(0.5)], 0.125),
        (vec![one_of(vec![chosen.clone()], true), drop_edges(0.5)], 0.25),
    ] {
        let pipeline = Pipeline::compose(steps);
        assert!((left(&pipeline) - expected).abs() < 0.01, "{pipeline:?}");
    }
    // A choice within a choice is not settled by the outer one: a quarter, a quarter, a half.
    let within = one_of(vec![drop_edges(1.0), drop_nodes(0.0)], false);
    let fitted = fit(&one_of(vec![within, mask_nodes(0.5)], false), &set);
    let mut counts = [0u32; 3];
    for epoch in 0..2000 {
        let view = fitted.draw(&set.whole(), ViewKey::new(2, epoch, 0)).unwrap();
        let kind = if view.graph.num_edges() == 0 { 0 } else { usize::from(view.mask.nodes.is_some()) + 1 };
        counts[kind] += 1;
    }
    for (count, expected) in counts.into_iter().zip([500, 500, 1000]) {
        assert!(count.abs_diff(expected) < 90, "{counts:?}");
    }
}

#[test]
fn the_short_form_is_a_scheme_and_masks() {
    let set = rings(3);
    let masking = FeatureMasking {
        first: MaskRates { rate: 0.3, nodes: 0.2 },
        second: MaskRates { rate: 0.6, nodes: 0.0 },
        centrality: Some(Centrality::Degree),
        cutoff: 0.8,
    };
    let mask = |rate| {
        Pipeline::MaskFeatures(MaskFeatures {
            rate,
            centrality: Some(Centrality::Degree),
            cutoff: 0.8,
            each_graph: false,
        })
    };
    let composed = [
        Pipeline::compose(vec![Pipeline::scheme(opposite(), 0), mask(0.3), mask_nodes(0.2)]),
        Pipeline::compose(vec![Pipeline::scheme(opposite(), 1), mask(0.6)]),
    ];
    let short = short_form(&opposite(), &masking);
    assert_eq!(short, composed);

    let scheme = opposite().compute(&set, &NoObserver).unwrap();
    for (view, pipeline) in short.iter().enumerate() {
        let (short, masks) = (fit(pipeline, &set), fit(&Pipeline::compose(steps(pipeline)[1..].to_vec()), &set));
        for epoch in 0..10 {
            let key = ViewKey::new(6, epoch, view as u32);
            let drawn = short.draw(&set.whole(), key).unwrap();
            assert_eq!(drawn.graph, scheme.draw(&set.whole(), key).unwrap().graph);
            assert_eq!(drawn.mask, masks.draw(&set.whole(), key).unwrap().mask);
        }
    }
    let nothing = FeatureMasking { first: MaskRates::default(), second: MaskRates::default(), ..masking };
    assert_eq!(short_form(&opposite(), &nothing)[0], Pipeline::scheme(opposite(), 0));
}

fn steps(pipeline: &Pipeline) -> &[Pipeline] {
    match pipeline {
        Pipeline::Compose(compose) => &compose.steps,
        _ => std::slice::from_ref(pipeline),
    }
}

#[test]
fn masks_of_each_graph_differ_and_stay_in_any_batch() {
    let set = rings(8);
    let fitted = fit(&mask_graph_features(0.5), &set);
    let mut counts = vec![0u32; COLUMNS];
    for epoch in 0..500 {
        let key = ViewKey::new(8, epoch, 0);
        let mask = fitted.draw(&set.whole(), key).unwrap().mask;
        assert!(mask.columns.is_none() && mask.nodes.is_none());
        let columns = mask.graph_columns.unwrap();
        assert!(columns.hidden.iter().any(|hidden| *hidden != columns.hidden[0]));
        let some = fitted.draw(&set.batch(&[6, 2]), key).unwrap().mask.graph_columns.unwrap();
        assert_eq!(some.hidden, [columns.hidden[6].clone(), columns.hidden[2].clone()]);
        for hidden in &columns.hidden {
            hidden.iter().zip(&mut counts).for_each(|(hidden, count)| *count += u32::from(*hidden));
        }
    }
    assert!(counts.iter().all(|count| count.abs_diff(2000) < 130), "{counts:?}");
    // One mask for all graphs is the same in all of them.
    let shared = draw(&mask_features(0.5), &set, ViewKey::new(8, 0, 0)).mask;
    assert!(shared.columns.is_some() && shared.graph_columns.is_none());
}

#[test]
fn each_graph_has_its_choice_and_is_as_if_drawn_by_it_alone() {
    let set = rings(40);
    let choices = vec![
        Pipeline::Identity,
        drop_edges(0.4),
        Pipeline::compose(vec![drop_nodes(0.4), mask_features(0.5)]),
        mask_nodes(0.5),
        Pipeline::ShuffleFeatures,
        Pipeline::compose(vec![mask_features(0.3), mask_graph_features(0.3)]),
    ];
    let weights = vec![1.0, 2.0, 3.0, 0.0, 4.0, 6.0];
    let settings = OneOf { choices: choices.clone(), weights: Some(weights.clone()), each_graph: true, joint: false };
    let fitted = fit(&Pipeline::OneOf(settings.clone()), &set);
    let alone: Vec<FittedPipeline> = choices.iter().map(|choice| fit(choice, &set)).collect();
    let mut counts = vec![0u32; choices.len()];
    for epoch in 0..100 {
        let key = ViewKey::new(21, epoch, 1);
        let (batch, drawn) = (set.whole(), fitted.draw(&set.whole(), key).unwrap());
        let [chosen] = &drawn.choices[..] else { panic!("one choice") };
        assert_eq!(chosen.len(), set.len());
        let single: Vec<View> = alone.iter().map(|choice| choice.draw(&batch, key).unwrap()).collect();
        for (block, &choice) in chosen.iter().enumerate() {
            counts[choice as usize] += 1;
            assert_eq!(part(&drawn, &batch, block), part(&single[choice as usize], &batch, block), "{choice}");
        }
        let few = fitted.draw(&set.batch(&[30, 7]), key).unwrap();
        assert_eq!(few.choices, [vec![chosen[30], chosen[7]]]);
    }
    let total: f64 = weights.iter().sum();
    for (count, weight) in counts.iter().zip(weights) {
        let (p, draws) = (weight / total, 4000.0);
        assert!((f64::from(*count) - draws * p).abs() <= 4.0 * (draws * p * (1.0 - p)).sqrt(), "{counts:?}");
    }

    let all_alike = fit(&Pipeline::OneOf(OneOf { each_graph: false, ..settings }), &set);
    let mut seen = HashMap::new();
    for epoch in 0..200 {
        let drawn = all_alike.draw(&set.batch(&[1, 2, 3]), ViewKey::new(21, epoch, 0)).unwrap();
        assert!(drawn.choices[0].iter().all(|choice| *choice == drawn.choices[0][0]));
        *seen.entry(drawn.choices[0][0]).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
}

#[test]
fn a_choice_keeps_what_came_before() {
    let set = rings(12);
    let batch = set.whole();
    let before =
        vec![drop_nodes(0.3), mask_features(0.3), mask_graph_features(0.3), mask_nodes(0.2), Pipeline::ShuffleFeatures];
    let inner = vec![add_edges(2.0), mask_graph_features(0.6), mask_nodes(0.5), Pipeline::ShuffleFeatures];
    let choice = one_of(inner, true);
    let (first, whole) = (
        fit(&Pipeline::compose(before.clone()), &set),
        fit(&Pipeline::compose([before, vec![choice.clone(), choice]].concat()), &set),
    );
    for epoch in 0..20 {
        let key = ViewKey::new(5, epoch, 0);
        let (first, drawn) = (first.draw(&batch, key).unwrap(), whole.draw(&batch, key).unwrap());
        assert_eq!(drawn.choices.len(), 2);
        assert_ne!(drawn.choices[0], drawn.choices[1]);
        assert_eq!(drawn.dropped, first.dropped);
        for (node, _) in first.dropped.as_ref().unwrap().iter().enumerate().filter(|(_, dropped)| **dropped) {
            assert!(drawn.graph.neighbors(node as u32).is_empty(), "a dropped node has edges");
        }
        for (first, drawn) in parts(&first, &batch).iter().zip(parts(&drawn, &batch)) {
            let pairs = first.hidden.iter().flatten().zip(drawn.hidden.iter().flatten());
            assert!(pairs.into_iter().all(|(first, drawn)| *drawn || !first), "something hidden came back");
        }
        // Whoever chose no shuffle twice has the features as before.
        for block in 0..set.len() {
            let shuffled = drawn.choices.iter().any(|choice| choice[block] == 3);
            assert_eq!(part(&first, &batch, block).rows != part(&drawn, &batch, block).rows, shuffled);
        }
    }
}

#[test]
fn features_are_shuffled_within_graphs_only() {
    let set = rings(5);
    let fitted = fit(&Pipeline::ShuffleFeatures, &set);
    let mut moved = 0;
    for epoch in 0..50 {
        let batch = set.batch(&[3, 0, 4]);
        let view = fitted.draw(&batch, ViewKey::new(1, epoch, 0)).unwrap();
        assert_eq!(view.graph, *batch.graph);
        assert!(view.mask.is_empty());
        let rows = view.feature_rows.unwrap();
        for block in 0..3 {
            let nodes = batch.node_range(block);
            let mut own = rows[nodes.start as usize..nodes.end as usize].to_vec();
            moved += own.iter().zip(nodes.clone()).filter(|(row, node)| **row != *node).count();
            own.sort_unstable();
            assert_eq!(own, nodes.collect::<Vec<_>>());
        }
    }
    // A random permutation has one fixed point in expectation.
    let nodes = 50 * set.batch(&[3, 0, 4]).node_rows.len();
    assert!(moved.abs_diff(nodes - 150) < 60, "{moved} of {nodes}");
}

#[test]
fn edges_between_unlike_nodes_are_pruned_whatever_came_before() {
    let set = rings(3);
    // Nodes with even and with odd ids have no feature in common.
    let cells = (0..set.num_nodes()).flat_map(|node| [(node % 2) as f32, ((node + 1) % 2) as f32]);
    let of_parity = Features::Dense(Dense::new(set.num_nodes(), 2, cells.collect()).unwrap());
    let pruning = Pipeline::PruneEdges(PruneEdges { threshold: 0.5 });
    let like = |(a, b): &(u32, u32)| (a + b) % 2 == 0;
    let mut schemes = ComputeSchemes::new(&set, &NoObserver);
    let mut context = FitContext { set: &set, features: &of_parity, schemes: &mut schemes };
    let kept: Vec<(u32, u32)> = set.block_diagonal().edge_pairs().filter(like).collect();
    let fitted = pruning.fit(&mut context).unwrap();
    let view = fitted.draw(&set.whole(), ViewKey::new(0, 0, 0)).unwrap();
    assert!(!kept.is_empty() && kept.len() < set.num_edges());
    assert_eq!(view.graph.edge_pairs().collect::<Vec<_>>(), kept);
    // A batch in another order prunes the same edges.
    let batch = set.batch(&[2, 0]);
    let of_batch = fitted.draw(&batch, ViewKey::new(0, 0, 0)).unwrap();
    let row = |node: u32| batch.node_rows[node as usize];
    assert!(of_batch.graph.num_edges() > 0);
    assert!(of_batch.graph.edge_pairs().all(|(a, b)| like(&(row(a), row(b)))));
    let composed = Pipeline::compose(vec![drop_edges(0.5), pruning.clone()]).fit(&mut context).unwrap();
    let fewer = composed.draw(&set.whole(), ViewKey::new(0, 0, 0)).unwrap();
    assert!(fewer.graph.num_edges() < kept.len() && fewer.graph.edge_pairs().all(|pair| like(&pair)));
    assert!(Pipeline::PruneEdges(PruneEdges { threshold: 2.0 }).check(&set).is_err());
}

#[test]
fn dropped_nodes_add_up_and_stay_without_edges() {
    let set = rings(5);
    let dropped = |view: &View| view.dropped.clone().unwrap();
    let count = |view: &View| dropped(view).iter().filter(|dropped| **dropped).count();
    let (nodes, twice) = (fit(&drop_nodes(0.4), &set), fit(&Pipeline::compose(vec![drop_nodes(0.4); 2]), &set));
    let both = fit(&Pipeline::compose(vec![drop_nodes(0.4), drop_edges(0.5)]), &set);
    let reversed = fit(&Pipeline::compose(vec![drop_edges(0.5), drop_nodes(0.4)]), &set);
    let scheme = Pipeline::scheme(SchemeSettings::GraphCl(GraphCl { ratio: 0.4, ..Default::default() }), 1);
    let then_scheme = fit(&Pipeline::compose(vec![drop_nodes(0.4), scheme]), &set);
    let regrown = fit(&Pipeline::compose(vec![drop_nodes(0.4), mask_features(0.5), add_edges(3.0)]), &set);
    for epoch in 0..20 {
        let key = ViewKey::new(2, epoch, 0);
        let draw = |pipeline: &FittedPipeline| pipeline.draw(&set.whole(), key).unwrap();
        let first = draw(&nodes);
        assert_eq!(dropped(&draw(&both)), dropped(&first));
        assert!(draw(&both).graph.num_edges() < first.graph.num_edges());
        assert_eq!(dropped(&draw(&regrown)), dropped(&first));
        assert!(draw(&regrown).graph.num_edges() > first.graph.num_edges());
        for more in [&twice, &then_scheme] {
            let union = draw(more);
            assert!(dropped(&first).iter().zip(dropped(&union)).all(|(first, union)| union || !first));
            assert!(count(&union) > count(&first));
        }
        for pipeline in [&nodes, &twice, &both, &reversed, &then_scheme, &regrown] {
            let view = draw(pipeline);
            for (node, _) in dropped(&view).iter().enumerate().filter(|(_, dropped)| **dropped) {
                assert!(view.graph.neighbors(node as u32).is_empty());
            }
        }
    }
}

#[test]
fn pipelines_are_the_same_after_writing_and_reading() {
    for pipeline in every_kind() {
        let value = serde_json::to_value(&pipeline).unwrap();
        let name = value["name"].as_str().unwrap().to_owned();
        assert!(!name.contains('_'), "{name}");
        assert_eq!(serde_json::from_value::<Pipeline>(value.clone()).unwrap(), pipeline);
        let text = serde_json::to_string(&pipeline).unwrap();
        assert_eq!(serde_json::from_str::<Pipeline>(&text).unwrap(), pipeline);
        for key in ["unheard", "rates", "Name"] {
            let mut more = value.clone();
            more[key] = json!(0.5);
            let error = serde_json::from_value::<Pipeline>(more).expect_err(&name).to_string();
            assert!(error.contains(key), "{error}");
        }
    }
    for wrong in [
        json!({"name": "unheard"}),
        json!({"rate": 0.5}),
        json!({"name": "drop-edges", "rate": "half"}),
        json!({"name": "compose", "steps": [{"name": "drop-edges", "ratio": 0.5}]}),
        json!({"name": "scheme", "scheme": {"name": "opposite", "eigenvalues": 5}}),
        json!({"name": "scheme", "scheme": {"name": "opposite"}, "view": -1}),
    ] {
        assert!(serde_json::from_value::<Pipeline>(wrong.clone()).is_err(), "{wrong}");
    }
    let short: Pipeline = serde_json::from_value(json!({"name": "scheme"})).unwrap();
    assert_eq!(short, Pipeline::scheme(SchemeSettings::default(), 0));
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_computed() {
    let set = rings(2);
    let diffuse = || Pipeline::Diffuse(DiffusionSettings::default());
    let weights = |weights: &[f64]| {
        let choices = vec![drop_edges(0.1), drop_nodes(0.1)];
        Pipeline::OneOf(OneOf { choices, weights: Some(weights.to_vec()), each_graph: true, joint: false })
    };
    let mut refused = vec![
        add_edges(f64::INFINITY),
        Pipeline::MaskFeatures(MaskFeatures { cutoff: 1.5, ..Default::default() }),
        one_of(Vec::new(), true),
        one_of(vec![drop_edges(0.1); 257], false),
        weights(&[1.0]),
        weights(&[1.0, 2.0, 3.0]),
        weights(&[0.0, 0.0]),
        weights(&[-1.0, 2.0]),
        weights(&[f64::NAN, 1.0]),
        weights(&[f64::MAX, f64::MAX]),
        one_of(vec![drop_edges(0.1), diffuse()], true),
        Pipeline::compose(vec![diffuse(), drop_edges(0.1)]),
        Pipeline::compose(vec![diffuse(), mask_features(0.1), drop_nodes(0.1)]),
        Pipeline::compose(vec![diffuse(), diffuse()]),
        Pipeline::compose(vec![Pipeline::compose(vec![diffuse(), mask_nodes(0.1)]), add_edges(0.1)]),
        Pipeline::compose(vec![diffuse(), one_of(vec![Pipeline::Identity, drop_edges(0.1)], false)]),
        // What came before would be lost.
        Pipeline::compose(vec![drop_edges(0.1), diffuse()]),
        Pipeline::scheme(SchemeSettings::default(), 2),
        Pipeline::scheme(SchemeSettings::Opposite(Spectral { ratio: f64::NAN, ..Default::default() }), 0),
        Pipeline::Diffuse(DiffusionSettings { neighbors: 0, ..Default::default() }),
    ];
    for rate in [1.5, -0.1, f64::NAN] {
        let added = if rate > 0.0 { f64::NAN } else { rate };
        refused.extend([drop_edges(rate), add_edges(added), drop_nodes(rate), Pipeline::Subgraph(Rate { rate })]);
        refused.extend([mask_features(rate), mask_graph_features(rate), mask_nodes(rate)]);
    }
    for pipeline in refused {
        let within = [
            pipeline.clone(),
            Pipeline::Compose(Compose { steps: vec![Pipeline::Identity, pipeline.clone()] }),
            one_of(vec![mask_nodes(0.1), pipeline], false),
        ];
        for pipeline in within {
            let error = pipeline.check(&set).expect_err(&format!("{pipeline:?}")).to_string();
            assert!(error.contains("expected"), "{error}");
            assert!(try_fit(&pipeline, &set).is_err());
        }
    }
    for fine in every_kind().into_iter().chain([
        Pipeline::compose(vec![mask_features(0.1), diffuse(), mask_nodes(0.1), Pipeline::ShuffleFeatures]),
        add_edges(1.5),
        weights(&[0.0, 2.0]),
    ]) {
        fine.check(&set).unwrap();
    }
}

#[test]
fn masks_around_a_diffusion_leave_it_as_it_is() {
    let set = rings(3);
    let diffuse = Pipeline::Diffuse(DiffusionSettings { form: Form::Exact, ..Default::default() });
    let key = ViewKey::new(1, 0, 0);
    let alone = draw(&diffuse, &set, key);
    let masked = draw(&Pipeline::compose(vec![mask_features(0.5), diffuse, mask_nodes(0.5)]), &set, key);
    assert_eq!((&masked.graph, &masked.self_loop_weights), (&alone.graph, &alone.self_loop_weights));
    assert!(alone.self_loop_weights.is_some());
    assert!(masked.mask.columns.is_some() && masked.mask.nodes.is_some());
}

#[test]
fn a_scheme_put_together_by_a_caller_can_be_a_step() {
    let set = rings(3);
    let views = vec![Augmentation::Unchanged, Augmentation::Unchanged, Augmentation::Uniform(Rates::removing(0.5))];
    let custom = Arc::new(Scheme::custom("three", &set, views));
    let (features, key) = (features(&set), ViewKey::new(1, 0, 2));
    let pipeline = |view| Pipeline::Scheme(SchemeView { scheme: custom.settings().clone(), view });
    let fit = |view| {
        let mut schemes = ComputeSchemes::new(&set, &NoObserver).with(Arc::clone(&custom))?;
        pipeline(view).fit(&mut FitContext { set: &set, features: &features, schemes: &mut schemes })
    };
    let drawn = fit(2).unwrap().draw(&set.whole(), key).unwrap();
    assert_eq!(drawn, custom.draw(&set.whole(), key).unwrap());
    assert!(drawn.graph.num_edges() < set.num_edges());
    assert!(fit(3).is_err(), "a view that it does not have");
    assert!(try_fit(&pipeline(0), &set).is_err(), "nobody knows the scheme");
    assert!(ComputeSchemes::new(&rings(2), &NoObserver).with(custom).is_err());
}

/// Schemes with every kind of view.
fn schemes(set: &GraphSet) -> Vec<Scheme> {
    let settings = [
        opposite(),
        SchemeSettings::Single(Spectral { steps: 3, k: Some(2), ..Default::default() }),
        SchemeSettings::NodeDropping(NodeDropping { steps: 3, k: Some(2), ..Default::default() }),
        SchemeSettings::Uniform(Uniform { first: Rates::perturbing(0.2), second: Rates::removing(0.4) }),
        SchemeSettings::Clustered(Clustered::default()),
        SchemeSettings::Centrality(CentralityRemoval::default()),
        SchemeSettings::Diffusion(DiffusionSettings { form: Form::Exact, ..Default::default() }),
        SchemeSettings::GraphCl(GraphCl { second: Operation::Subgraph, ..Default::default() }),
    ];
    let computed = settings.iter().map(|settings| settings.compute(set, &NoObserver).unwrap());
    let custom = Scheme::custom("own", set, vec![Augmentation::Uniform(Rates::flipping(0.3)); 3]);
    computed.chain([custom]).collect()
}

/// The header of a scheme's file, and the tensors after it.
fn header(bytes: &[u8]) -> (Value, Value, &[u8]) {
    let length = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let outer: Value = serde_json::from_slice(&bytes[8..length]).unwrap();
    let inner = serde_json::from_str(outer["__metadata__"]["fiedler"].as_str().unwrap()).unwrap();
    (outer, inner, &bytes[length..])
}

fn with_header(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let (mut outer, mut inner, tensors) = header(bytes);
    change(&mut inner);
    outer["__metadata__"]["fiedler"] = json!(inner.to_string());
    let mut outer = outer.to_string();
    outer.push_str(&" ".repeat(outer.len().next_multiple_of(8) - outer.len()));
    let bytes = [&(outer.len() as u64).to_le_bytes(), outer.as_bytes(), tensors].concat();
    SafeTensors::deserialize(&bytes).unwrap();
    bytes
}

/// The header as version 1 wrote it.
fn to_version_1(header: &mut Value) {
    header["version"] = json!(1);
    // It came with version 3.
    header.as_object_mut().unwrap().remove("checksum");
    let settings = header["settings"].as_object_mut().unwrap();
    let renamed = std::mem::take(settings).into_iter().map(|(key, mut value)| {
        let key = match key.as_str() {
            "name" => "scheme".to_owned(),
            "k" => "eigenvalues".to_owned(),
            key => key.replace('_', "-"),
        };
        if key.starts_with("step-size") {
            value = json!({ value["name"].as_str().unwrap(): value["value"] });
        } else if key == "kernel" {
            let mut inner = value.as_object().unwrap().clone();
            let Some(Value::String(name)) = inner.remove("name") else { panic!("a kernel has a name") };
            value = json!({ name: inner });
        }
        (key, value)
    });
    *settings = renamed.collect();
    for view in header["views"].as_array_mut().unwrap() {
        if *view == json!("static") {
            *view = json!("fixed");
        } else if let Some(kept) = view.get("drop-nodes").cloned() {
            *view = json!({ "kept": kept });
        }
    }
}

#[test]
fn files_of_version_1_are_read() {
    let set = rings(2);
    let mut old_names = 0;
    for scheme in schemes(&set) {
        let bytes = scheme.to_bytes().unwrap();
        let old = with_header(&bytes, to_version_1);
        let (_, inner, _) = header(&old);
        let text = inner.to_string();
        old_names += ["\"eigenvalues\"", "\"step-size\"", "\"fixed\"", "\"kept\"", "\"kernel\":{\""]
            .iter()
            .filter(|name| text.contains(**name))
            .count();
        assert!(!text.contains("step_size") && inner["settings"].get("name").is_none(), "{text}");
        let read = Scheme::from_bytes(&old, &set).unwrap();
        assert_eq!(read.settings(), scheme.settings());
        assert_eq!(read.report().notes, scheme.report().notes);
        for view in 0..scheme.views().len() as u32 {
            let key = ViewKey::new(3, 1, view);
            assert_eq!(read.draw(&set.whole(), key).unwrap(), scheme.draw(&set.whole(), key).unwrap());
        }
        // It is written again as today's.
        assert!(read.to_bytes().unwrap() == bytes);

        for wrong in [json!(0), json!(4), json!("1"), json!(-1), Value::Null] {
            let other = with_header(&bytes, |header| header["version"] = wrong.clone());
            let error = Scheme::from_bytes(&other, &set).unwrap_err();
            assert!(error.to_string().contains("version"), "{error}");
        }
        // The old names are not those of version 2.
        let mixed = with_header(&old, |header| header["version"] = json!(2));
        assert!(Scheme::from_bytes(&mixed, &set).is_err());
    }
    assert!(old_names >= 9, "{old_names}");
}

#[test]
fn damaged_bytes_are_refused_or_drawn_from_and_never_panic() {
    let set = rings(2);
    for scheme in schemes(&set) {
        let whole = scheme.to_bytes().unwrap();
        for length in 0..whole.len() {
            if length < 200 || length % 7 == 0 || length + 20 > whole.len() {
                assert!(Scheme::from_bytes(&whole[..length], &set).is_err(), "{length} of {} bytes", whole.len());
            }
        }
        assert!(Scheme::from_bytes(&[&whole[..], &[0]].concat(), &set).is_err());
        let mut refused = 0;
        for at in (0..whole.len()).filter(|at| at % 3 == 0 || *at < 16) {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at / 3 % 8);
            // What is still a scheme can be drawn from.
            match Scheme::from_bytes(&damaged, &set) {
                Ok(scheme) => (0..scheme.views().len() as u32).for_each(|view| {
                    let _ = scheme.draw(&set.whole(), ViewKey::new(0, 0, view));
                }),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0);
    }
}
