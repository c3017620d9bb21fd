//! Gradients against those of automatic differentiation, and against differences of the whole training.
#![allow(clippy::unwrap_used)]

use fiedler_graph::{Dense, Features, Graph};
use fiedler_spectral::{Normalized, Operator};
use serde_json::Value;

use super::scan::best_pairs;
use super::training::{InnerTraining, Weights};
use super::{Depth, Objective, Surrogate};
use crate::expected_graph::ExpectedGraph;
use crate::feature_rows::FeatureRows;
use crate::flips::PoisonedGraph;
use crate::knowledge::TrainingLabels;
use crate::matrix::Matrix;
use crate::surrogate::loss::AttackLoss;

struct Fixture {
    values: Value,
    graph: Graph,
    surrogate: Surrogate,
    start: Weights,
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|value| value as u32).collect()
}

fn matrix(value: &Value) -> Matrix {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Matrix::from_values(rows.len(), rows[0].len(), rows.concat())
}

fn fixture(text: &str) -> Fixture {
    let values: Value = serde_json::from_str(text).unwrap();
    let nodes = values["n"].as_u64().unwrap() as usize;
    let pairs = values["edges"].as_array().unwrap().iter().map(|pair| (ids(pair)[0], ids(pair)[1])).collect();
    let graph = Graph::from_pairs(nodes, pairs).unwrap().0;
    // Single precision would cut the features' digits: they are put in as they are.
    let features = match &values["features"] {
        Value::String(_) => FeatureRows::new(None, nodes),
        rows => FeatureRows::from_dense(&matrix(rows)),
    };
    let labels = ids(&values["labels"]);
    let train = ids(&values["train"]);
    let classes = train.iter().map(|&node| labels[node as usize]).collect();
    let count = values["classes"].as_u64().unwrap() as usize;
    let mut guessed = ids(&values["self_training_labels"]);
    train.iter().for_each(|&node| guessed[node as usize] = labels[node as usize]);
    let known = TrainingLabels { nodes: train, classes, count };
    let mut surrogate = Surrogate::with_guesses(features, known, guessed);
    surrogate.training.steps = values["inner_steps"].as_u64().unwrap() as usize;
    let start = Weights { first: matrix(&values["initial_w1"]), second: matrix(&values["initial_w2"]) };
    Fixture { values, graph, surrogate, start }
}

fn karate() -> Fixture {
    fixture(include_str!("../../tests/fixtures/karate_mettack.json"))
}

fn twenty() -> Fixture {
    fixture(include_str!("../../tests/fixtures/twenty_mettack.json"))
}

impl Fixture {
    fn gradient(&self, graph: &Graph, tables: bool) -> Vec<f64> {
        let map = Normalized::of(graph, Operator::Propagation);
        let gradient = self.surrogate.differentiate(&map, std::slice::from_ref(&self.start), tables);
        all_pairs(graph.num_nodes()).map(|(i, j)| gradient.pairs.at(i as usize, j as usize)).collect()
    }

    fn best(&self, graph: &Graph, poisoned: &PoisonedGraph<'_>) -> (u32, u32) {
        let map = Normalized::of(graph, Operator::Propagation);
        let gradient = self.surrogate.differentiate(&map, std::slice::from_ref(&self.start), true);
        let best = best_pairs(&gradient.pairs, graph, poisoned, 1)[0];
        (best.low, best.high)
    }

    /// The gradient and the best pair are those of the file.
    fn agrees(&self, name: &str) {
        let expected = &self.values["expected"][name];
        for tables in [true, false] {
            assert_close(&self.gradient(&self.graph, tables), &numbers(&expected["pair_gradient"]), name);
        }
        if let Some(pair) = expected.get("best_pair").map(ids) {
            let best = self.best(&self.graph, &PoisonedGraph::new(&self.graph, 1.0, false));
            assert_eq!(best, (pair[0], pair[1]), "{name}");
        }
    }
}

fn all_pairs(nodes: usize) -> impl Iterator<Item = (u32, u32)> {
    (0..nodes as u32).flat_map(move |low| (low + 1..nodes as u32).map(move |high| (low, high)))
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < 1e-12, "{what}: {found} and not {expected} at {place}");
    }
}

#[test]
fn meta_gradients_of_karate_are_those_of_automatic_differentiation() {
    let mut karate = karate();
    karate.agrees("meta_self");
    karate.surrogate.objective = Objective::MetaTrain;
    karate.agrees("meta_train");
    karate.surrogate.objective = Objective::Both;
    karate.agrees("meta_both");
    karate.surrogate.objective = Objective::MetaSelf;
    karate.surrogate.training.steps = 100;
    karate.agrees("meta_self_100_steps");
}

#[test]
fn meta_gradients_with_more_training_nodes_than_features() {
    let mut twenty = twenty();
    twenty.agrees("meta_self");
    twenty.surrogate.objective = Objective::MetaTrain;
    twenty.agrees("meta_train");
    twenty.surrogate.objective = Objective::Both;
    twenty.agrees("meta_both");
}

#[test]
fn truncated_and_approximate_gradients() {
    let mut karate = karate();
    karate.surrogate.depth = Depth::Last(0);
    karate.agrees("truncated_0");
    karate.surrogate.depth = Depth::Last(3);
    karate.agrees("truncated_3");
    karate.surrogate.depth = Depth::Approximate;
    let expected = numbers(&karate.values["expected"]["a_meta_self_adam"]["pair_gradient_sum"]);
    assert_close(&karate.gradient(&karate.graph, false), &expected, "a-meta");
}

#[test]
fn training_goes_the_recorded_way() {
    let Fixture { values, graph, surrogate, start } = karate();
    let expected = &values["expected"];
    let map = Normalized::of(&graph, Operator::Propagation);
    let trained = surrogate.rows(&map).train(&start, surrogate.training, 0);
    assert_close(&trained.losses, &numbers(&expected["training_loss_before_each_step"]), "losses");
    assert_close(trained.weights.first.values(), matrix(&expected["final_w1"]).values(), "first layer");
    assert_close(trained.weights.second.values(), matrix(&expected["final_w2"]).values(), "second layer");
    let loss = surrogate.loss(&map, &start);
    assert!((loss - expected["self_training_loss_after"].as_f64().unwrap()).abs() < 1e-13, "{loss}");
}

#[test]
fn five_greedy_flips_are_the_recorded_ones() {
    let karate = karate();
    let recorded = &karate.values["expected"]["greedy_flips_same_initial_weights"]["flips_i_j_added"];
    let mut poisoned = PoisonedGraph::new(&karate.graph, 1.0, false);
    for flip in recorded.as_array().unwrap() {
        let flip = ids(flip);
        let graph = poisoned.graph().unwrap();
        let (low, high) = karate.best(&graph, &poisoned);
        let added = u32::from(!poisoned.has_edge(low, high));
        assert_eq!(vec![low, high, added], flip);
        assert!(poisoned.flip(low, high, None) && !poisoned.allows(low, high));
    }
}

#[test]
fn the_gradient_after_a_flip() {
    let karate = karate();
    let expected = &karate.values["expected"]["second_outer_step"];
    let flip = ids(&expected["after_flip"]);
    let graph = karate.graph.flipped(&[(flip[0], flip[1])]).unwrap();
    let (mut found, expected) = (karate.gradient(&graph, true), numbers(&expected["pair_gradient"]));
    // The published program cannot flip the pair back, and has no gradient there.
    let frozen = all_pairs(34).position(|pair| pair == (flip[0], flip[1])).unwrap();
    assert_eq!(expected[frozen], 0.0);
    found[frozen] = 0.0;
    assert_close(&found, &expected, "second step");
}

#[test]
fn the_gradient_is_the_slope_of_the_whole_training() {
    for mut fixture in [karate(), twenty()] {
        for loss in [AttackLoss::CrossEntropy, AttackLoss::TanhMargin, AttackLoss::MaskedCrossEntropy] {
            fixture.surrogate.loss = loss;
            fixture.surrogate.objective = Objective::Both;
            fixture.surrogate.training = InnerTraining { steps: 25, learning_rate: 0.1, momentum: 0.9 };
            // An edge and a pair that is none, flipped in part: weights can then move both ways.
            for pair in [(0, 1), (3, 17)] {
                let edge = fixture.graph.has_edge(pair.0, pair.1);
                let at = |part: f64| ExpectedGraph::new(&fixture.graph, &[(pair.0, pair.1, part)]);
                let value = |part: f64| fixture.surrogate.loss(&at(part).propagation().unwrap(), &fixture.start);
                let step = 1e-5;
                let slope = (value(0.3 + step) - value(0.3 - step)) / (2.0 * step);
                let expected = at(0.3);
                let map = expected.propagation().unwrap();
                let gradient = fixture.surrogate.differentiate(&map, std::slice::from_ref(&fixture.start), false);
                let found = gradient.pairs.at(pair.0 as usize, pair.1 as usize) * if edge { -1.0 } else { 1.0 };
                assert!((found - slope).abs() < 1e-8, "{loss:?} {pair:?}: {found} and not {slope}");
            }
        }
    }
}

#[test]
fn the_scan_finds_what_looking_at_every_pair_finds() {
    // Several tiles in both directions, whose borders are not those of the graph.
    let nodes = 333usize;
    let pairs = (0..nodes as u32).flat_map(|node| [(node, (node * 7 + 1) % 333), (node, (node * 31 + 5) % 333)]);
    let graph = Graph::from_pairs(nodes, pairs.collect()).unwrap().0;
    let cells = (0..nodes * 9).map(|at| ((at * at + 3 * at) % 11) as f32 / 7.0).collect();
    let features = Features::Dense(Dense::new(nodes, 9, cells).unwrap());
    let train: Vec<u32> = (0..nodes as u32).step_by(13).collect();
    let guessed: Vec<u32> = (0..nodes as u32).map(|node| node * node % 4).collect();
    let classes = train.iter().map(|&node| guessed[node as usize]).collect();
    let labels = TrainingLabels { nodes: train, classes, count: 4 };
    let surrogate = Surrogate::with_guesses(FeatureRows::new(Some(&features), nodes), labels, guessed);
    let start = [super::StartWeights::Fresh.draw(3, (0, 0), [9, 16, 4])];
    let map = Normalized::of(&graph, Operator::Propagation);
    let gradient = surrogate.differentiate(&map, &start, true).pairs;
    let slow = surrogate.differentiate(&map, &start, false).pairs;
    let poisoned = PoisonedGraph::new(&graph, 1.0, false);
    let mut all: Vec<(f64, (u32, u32))> = all_pairs(nodes)
        .filter(|&(low, high)| poisoned.allows(low, high))
        .map(|(low, high)| {
            let slope = slow.at(low as usize, high as usize);
            (if graph.has_edge(low, high) { -slope } else { slope }, (low, high))
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let threads = |count| rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
    let found = [1, 2].map(|count| threads(count).install(|| best_pairs(&gradient, &graph, &poisoned, 20)));
    assert_eq!(found[0], found[1]);
    for (found, (score, pair)) in found[0].iter().zip(&all) {
        assert!((found.score - score).abs() < 1e-12, "{found:?} and not {score} at {pair:?}");
        assert_eq!((found.low, found.high), *pair);
    }
}

#[test]
fn the_gradient_of_several_starts_is_their_mean() {
    let mut fixture = karate();
    let other = super::StartWeights::Fresh.draw(3, (0, 1), [34, 16, 2]);
    let map = Normalized::of(&fixture.graph, Operator::Propagation);
    for depth in [Depth::Last(usize::MAX), Depth::Last(0), Depth::Approximate] {
        fixture.surrogate.depth = depth;
        let both = [fixture.start.clone(), other.clone()];
        let of = |starts: &[Weights]| fixture.surrogate.differentiate(&map, starts, true);
        let (mean, first, second) = (of(&both), of(&both[..1]), of(&both[1..]));
        assert!((mean.loss - (first.loss + second.loss) / 2.0).abs() < 1e-12);
        for (i, j) in all_pairs(34).map(|(i, j)| (i as usize, j as usize)) {
            let expected = (first.pairs.at(i, j) + second.pairs.at(i, j)) / 2.0;
            assert!((mean.pairs.at(i, j) - expected).abs() < 1e-12, "{depth:?} {i} {j}");
        }
    }
}
