//! The loss of Graphical Mutual Information against PyTorch (`tests/fixtures/make_gmi.py`), and the operations under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use burn::Tensor;
use fiedler_graph::random::stream;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::method::{Anchors, Gmi, Method, PairWeights, Phase, Step};
use fiedler_learn::ops::{self, plain};
use fiedler_learn::state_dict::StateDict;
use fiedler_learn::{Initializer, Normalization, Operator};
use rand::RngExt;
use serde::Deserialize;

use crate::common::{self, assert_close, assert_derivative, assert_same, matrix, numbers, values};
use crate::fixture::{Held, SEED, gradients_of, sample, step, task, weights};

#[derive(Deserialize)]
struct Fixture {
    nodes: usize,
    pairs: Vec<(u32, u32)>,
    features: Held,
    weights: BTreeMap<String, Held>,
    embedded: Held,
    of_features: Comparison,
    of_neighbors: Comparison,
    balanced_edges: f32,
    published_edges: f32,
}

#[derive(Deserialize)]
struct Comparison {
    positive: f32,
    negatives: Held,
}

impl Comparison {
    /// With the negatives that a step draws: for each of five, one other node for each node.
    fn loss(&self, nodes: usize, number: u64) -> f32 {
        let mut random = stream(SEED, "negatives", number);
        let mut sum = 0.0;
        for node in (0..5).flat_map(|_| 0..nodes) {
            let drawn = random.random_range(0..nodes - 1);
            let other = drawn + usize::from(drawn >= node);
            sum += self.negatives.values[other * nodes + node];
        }
        self.positive + sum / (5 * nodes) as f32
    }
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/gmi.json")).unwrap()
}

fn gmi(pair_weights: PairWeights, anchors: Anchors) -> Gmi {
    let gcn = GcnSettings { hidden_channels: 5, out_channels: Some(4), ..GcnSettings::default() };
    Gmi { encoder: EncoderSettings::Gcn(gcn), pair_weights, anchors, ..Gmi::default() }
}

/// Calls a function with a step on the fixture's graph.
fn with_step<T>(fixture: &Fixture, work: impl FnOnce(&Step<'_>) -> T) -> T {
    let task = task(fixture.nodes, fixture.features.shape[1], 0);
    let operators = [Normalization::Symmetric, Normalization::RowMean];
    let clean = sample(&fixture.pairs, &fixture.features, None, &operators);
    work(&step(&task, &Phase::default(), Some(&clean), std::slice::from_ref(&clean)))
}

#[test]
fn the_loss_is_that_of_pytorch() {
    let fixture = fixture();
    for (pair_weights, edges) in
        [(PairWeights::Balanced, fixture.balanced_edges), (PairWeights::Gmi, fixture.published_edges)]
    {
        with_step(&fixture, |step| {
            let gmi = gmi(pair_weights, Anchors::Auto);
            let mut initializer = Initializer::new(1, &common::device());
            let model = gmi.restore(step.task, &weights(&fixture.weights), &mut initializer).unwrap();
            let embedded = values(&gmi.embed(&model, step).unwrap());
            assert_close(&embedded, &fixture.embedded.values, 1e-5, "the embedding");
            let loss = gmi.loss(&model, &(), step).unwrap();
            let parts: BTreeMap<&str, f32> = loss.parts.into_iter().collect();
            let of_features = fixture.of_features.loss(fixture.nodes, 0);
            let of_neighbors = fixture.of_neighbors.loss(fixture.nodes, 1);
            assert_close(&[parts["features"]], &[of_features], 1e-5, "features");
            assert_close(&[parts["neighbors"]], &[of_neighbors], 1e-5, "neighbors");
            assert_close(&[parts["edges"]], &[edges], 1e-5, "edges");
            assert_close(&values(&loss.value), &[0.8 * of_features + of_neighbors + edges], 1e-5, "the loss");
        });
    }
}

#[test]
fn the_loss_has_its_derivative() {
    let fixture = fixture();
    for anchors in [Anchors::All, Anchors::Count(6)] {
        with_step(&fixture, |step| {
            let gmi = gmi(PairWeights::Balanced, anchors);
            let first = weights(&fixture.weights);
            let loss = |weights: &StateDict| {
                let mut initializer = Initializer::new(1, &common::device());
                let model = gmi.restore(step.task, weights, &mut initializer).unwrap();
                let loss = gmi.loss(&model, &(), step).unwrap().value;
                (f64::from(values(&loss)[0]), gradients_of(&model, &loss.backward()))
            };
            let (_, gradients) = loss(&first);
            assert_eq!(gradients.len(), fixture.weights.len(), "a gradient for every weight");
            for (at, (name, gradient)) in gradients.iter().enumerate() {
                let direction = numbers(gradient.len(), at as u64);
                let moved = |by: f32| {
                    let mut moved = StateDict::default();
                    for (other, shape, values) in first.iter() {
                        let along = |(value, direction): (&f32, &f32)| value + by * direction;
                        let values = match other == name {
                            true => values.iter().zip(&direction).map(along).collect(),
                            false => values.to_vec(),
                        };
                        moved.insert(other, shape.to_vec(), values).unwrap();
                    }
                    loss(&moved).0
                };
                let measured = (moved(2e-3) - moved(-2e-3)) / 4e-3;
                let claimed: f64 = gradient.iter().zip(&direction).map(|(&a, &b)| f64::from(a * b)).sum();
                assert!((measured - claimed).abs() < 2e-3, "{name}: {measured}, its gradient says {claimed}");
            }
        });
    }
}

#[test]
fn few_anchors_are_all_pairs_in_the_mean() {
    let fixture = fixture();
    let edges = |anchors: Anchors, step: &Step<'_>| {
        let gmi = gmi(PairWeights::Balanced, anchors);
        let mut initializer = Initializer::new(1, &common::device());
        let model = gmi.restore(step.task, &weights(&fixture.weights), &mut initializer).unwrap();
        gmi.loss(&model, &(), step).unwrap().parts[2].1
    };
    with_step(&fixture, |step| {
        let all = edges(Anchors::All, step);
        assert_eq!(edges(Anchors::Count(100), step), all, "more anchors than nodes");
        let mut sum = 0.0;
        for number in 0..400 {
            let clock = fiedler_learn::trainer::Clock { step: number, ..step.clock };
            let step = Step { clock, pass: Default::default(), ..*step };
            sum += edges(Anchors::Count(7), &step);
        }
        assert!((sum / 400.0 - all).abs() < 0.05 * all, "{} {all}", sum / 400.0);
    });
}

#[test]
fn training_starts_where_small_discriminators_start() {
    // Scores near zero: both comparisons are softplus(-1/2) + softplus(1/2).
    let fixture = fixture();
    with_step(&fixture, |step| {
        let gmi = Gmi::default();
        let model = gmi.build(step.task, &mut Initializer::new(3, &common::device())).unwrap();
        let parts = gmi.loss(&model, &(), step).unwrap().parts;
        assert!((parts[0].1 - 1.448).abs() < 2e-3 && (parts[1].1 - 1.448).abs() < 2e-3, "{parts:?}");
    });
}

#[test]
fn products_of_all_pairs_and_of_edges_are_those_of_plain_versions() {
    for (rows, width) in [(1, 1), (40, 5), (257, 9), (600, 33)] {
        let input = [matrix(rows, width, 3)];
        let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::pair_softplus(m[0].clone()) / rows as f32;
        let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::pair_softplus(m[0].clone()) / rows as f32;
        assert_same(&fast, &slow, &input, &[], "all pairs");
        assert_derivative(&fast, &input, &[], 1e-2, "all pairs");
    }
    for normalization in [Normalization::Symmetric, Normalization::RowMean, Normalization::None] {
        let operator = Arc::new(Operator::new(&common::graph(70, 150, 4), normalization));
        for width in [1, 20, 130] {
            let input = [matrix(70, width, 5)];
            let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::edge_products(&operator, m[0].clone());
            let slow = |m: &[Tensor<2>], _: &[Tensor<1>]| plain::edge_products(&operator, m[0].clone());
            assert_same(&fast, &slow, &input, &[], "edges");
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_number_of_threads() {
    let run = || {
        let input = matrix(1500, 20, 6);
        let sum = ops::pair_softplus(input.clone());
        let gradients = sum.backward();
        (values(&sum), values(&input.grad(&gradients).unwrap()))
    };
    let one = common::on_threads(1, run);
    assert!(one == common::on_threads(2, run) && one == common::on_threads(3, run));
}
