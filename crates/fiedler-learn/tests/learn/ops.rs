use std::sync::Arc;

use burn::Tensor;
use fiedler_learn::ops::{self, ActivationOp, BatchNormOp, Pooling, Similarity, plain};
use fiedler_learn::{Operator, GraphOffsets, SparseMatrix, Normalization};

use crate::common::{self, assert_derivative, assert_same, matrix, numbers, values_and_gradients, vector};

const NODES: u32 = 150;

fn operator(normalization: Normalization) -> Arc<Operator> {
    Arc::new(Operator::new(&common::weighted_graph(NODES, 300, 5), normalization))
}

fn slopes(values: Vec<f32>) -> Tensor<1> {
    let length = values.len();
    Tensor::from_data(burn::tensor::TensorData::new(values, [length]), &common::device()).require_grad()
}

#[test]
fn propagation_does_what_its_plain_version_does() {
    for normalization in [Normalization::Symmetric, Normalization::None] {
        let operator = operator(normalization);
        for width in [1, 5, 8, 70, 200] {
            let matrices = [matrix(NODES as usize, width, 1)];
            for activation in [ActivationOp::Identity, ActivationOp::Relu] {
                let with_bias = [vector(width, 2)];
                assert_same(
                    &|m, v| ops::propagate(&operator, m[0].clone(), Some(v[0].clone()), &activation),
                    &|m, v| plain::propagate(&operator, m[0].clone(), Some(v[0].clone()), &activation),
                    &matrices,
                    &with_bias,
                    "propagation with bias",
                );
                assert_same(
                    &|m, _| ops::propagate(&operator, m[0].clone(), None, &activation),
                    &|m, _| plain::propagate(&operator, m[0].clone(), None, &activation),
                    &matrices,
                    &[],
                    "propagation without bias",
                );
            }
        }
    }
}

#[test]
fn learned_slopes_of_any_sign_get_their_gradient() {
    let operator = operator(Normalization::Symmetric);
    let width = 12;
    let matrices = [matrix(NODES as usize, width, 3)];
    let choices = [
        vec![0.25],
        vec![0.0],
        vec![-0.5],
        vec![1e-5],
        numbers(width, 8),
        (1..=width).map(|k| k as f32 / 20.0).collect(),
    ];
    for choice in choices {
        let vectors = [vector(width, 4), slopes(choice.clone())];
        let fast = |m: &[Tensor<2>], v: &[Tensor<1>]| {
            ops::propagate(&operator, m[0].clone(), Some(v[0].clone()), &ActivationOp::Prelu(v[1].clone()))
        };
        assert_same(
            &fast,
            &|m, v| plain::propagate(&operator, m[0].clone(), Some(v[0].clone()), &ActivationOp::Prelu(v[1].clone())),
            &matrices,
            &vectors,
            &format!("slopes {choice:?}"),
        );
        assert_derivative(&fast, &matrices, &vectors, 2e-2, &format!("slopes {choice:?}"));
    }
}

#[test]
fn sparse_features_are_multiplied_without_the_columns_left_out() {
    let features = Arc::new(SparseMatrix::from(&common::sparse(80, 60, 6)));
    let kept: Arc<[bool]> = (0..60).map(|column| column % 3 != 0).collect();
    for kept in [None, Some(&kept)] {
        for width in [1, 9, 64, 130] {
            let weight = [matrix(60, width, 7)];
            assert_same(
                &|m, _| ops::project(&features, kept, m[0].clone()),
                &|m, _| plain::project(&features, kept.map(AsRef::as_ref), m[0].clone()),
                &weight,
                &[],
                "first product",
            );
        }
    }
}

#[test]
fn nodes_are_compared_with_their_graphs() {
    for offsets in [GraphOffsets::single(NODES as usize), GraphOffsets::new(vec![0, 0, 70, 71, 150, 150])] {
        for similarity in [Similarity::Cosine, Similarity::Dot] {
            let matrices = [matrix(NODES as usize, 21, 8), matrix(offsets.len(), 21, 9)];
            let fast =
                |m: &[Tensor<2>], _: &[Tensor<1>]| ops::similarity(m[0].clone(), m[1].clone(), &offsets, similarity);
            assert_same(
                &fast,
                &|m, _| plain::similarity(m[0].clone(), m[1].clone(), &offsets, similarity),
                &matrices,
                &[],
                "similarity",
            );
            assert_derivative(&fast, &matrices, &[], 1e-3, "similarity");
        }
    }
}

#[test]
fn a_vector_of_zeros_is_similar_to_nothing() {
    let offsets = GraphOffsets::single(3);
    let nodes = Tensor::zeros([3, 4], &common::device()).require_grad();
    let (found, gradients) = values_and_gradients(
        &|m, _| ops::similarity(m[0].clone(), m[1].clone(), &offsets, Similarity::Cosine),
        &[nodes, matrix(1, 4, 2)],
        &[],
    );
    assert_eq!(found, [0.0; 3]);
    assert!(gradients.iter().flatten().all(|value| value.is_finite()));
}

#[test]
fn nodes_are_pooled_to_graphs() {
    for offsets in [GraphOffsets::single(NODES as usize), GraphOffsets::new(vec![0, 0, 70, 71, 150])] {
        for pooling in [Pooling::Sum, Pooling::Mean, Pooling::Max] {
            let nodes = [matrix(NODES as usize, 19, 10)];
            let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::pool(m[0].clone(), &offsets, pooling);
            assert_same(&fast, &|m, _| plain::pool(m[0].clone(), &offsets, pooling), &nodes, &[], "pooling");
        }
    }
}

#[test]
fn messages_differ_by_edge() {
    let graph = common::graph(60, 150, 11);
    let operator = Arc::new(Operator::new(&graph, Normalization::None));
    let places: Arc<[u32]> = graph.spread_to_entries(&(0..graph.num_edges() as u32).collect::<Vec<_>>()).into();
    let matrices = [matrix(60, 13, 12), matrix(graph.num_edges(), 13, 13)];
    let fast = |m: &[Tensor<2>], _: &[Tensor<1>]| ops::messages(&operator, &places, m[0].clone(), m[1].clone());
    assert_same(
        &fast,
        &|m, _| plain::messages(&operator, &places, m[0].clone(), m[1].clone()),
        &matrices,
        &[],
        "messages",
    );
    assert_derivative(&fast, &matrices, &[], 2e-2, "messages");
}

#[test]
fn columns_are_normalized() {
    for (of_input, relu) in [(true, false), (true, true), (false, false), (false, true)] {
        let how = BatchNormOp { epsilon: 1e-5, of_input, relu };
        let matrices = [matrix(130, 17, 14)];
        let vectors = [vector(17, 15), vector(17, 16)];
        let collected = ops::statistics(&matrix(40, 17, 17));
        let fast = |m: &[Tensor<2>], v: &[Tensor<1>]| {
            let statistics = if of_input { ops::statistics(&m[0]) } else { collected.clone() };
            ops::normalize(m[0].clone(), v[0].clone(), v[1].clone(), &statistics, how)
        };
        assert_same(
            &fast,
            &|m, v| plain::normalize(m[0].clone(), v[0].clone(), v[1].clone(), &collected, how),
            &matrices,
            &vectors,
            "normalization",
        );
        assert_derivative(&fast, &matrices, &vectors, 2e-2, "normalization");
    }
}

/// Everything an encoder does, dense product included.
fn layers() -> Vec<Vec<f32>> {
    let graph = common::weighted_graph(700, 2000, 20);
    let operator = Arc::new(Operator::new(&graph, Normalization::Symmetric));
    let features = Arc::new(SparseMatrix::from(&common::sparse(700, 300, 21)));
    let offsets = GraphOffsets::new(vec![0, 100, 700]);
    let matrices = [matrix(300, 256, 22), matrix(256, 256, 23)];
    let vectors = [vector(256, 24), slopes(vec![0.2])];
    let (found, mut gradients) = values_and_gradients(
        &|m, v| {
            let first = ops::project(&features, None, m[0].clone());
            let prelu = ActivationOp::Prelu(v[1].clone());
            let hidden = ops::propagate(&operator, first, Some(v[0].clone()), &prelu);
            let hidden = ops::propagate(&operator, hidden.matmul(m[1].clone()), None, &prelu);
            let graphs = ops::pool(hidden.clone(), &offsets, Pooling::Mean);
            ops::similarity(hidden, graphs, &offsets, Similarity::Cosine)
        },
        &matrices,
        &vectors,
    );
    gradients.push(found);
    gradients
}

#[test]
fn results_are_the_same_bits_on_any_number_of_threads() {
    let on_one = common::on_threads(1, layers);
    for threads in [2, 3, 7] {
        let on_many = common::on_threads(threads, layers);
        for (one, many) in on_one.iter().zip(&on_many) {
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(one), bits(many), "{threads} threads");
        }
    }
}
