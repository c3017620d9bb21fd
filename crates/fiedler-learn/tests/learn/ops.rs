use std::sync::Arc;

use burn::Tensor;
use fiedler_learn::ops::{self, ActivationOp, BatchNormOp, Pooling, Similarity, plain};
use fiedler_learn::{GraphOffsets, Normalization, Operator, SparseMatrix};

use crate::common::{self, assert_derivative, assert_same, matrix, numbers, values, values_and_gradients, vector};

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
            for activation in [ActivationOp::Identity, ActivationOp::Relu, ActivationOp::LeakyRelu(0.3)] {
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
fn an_activation_by_itself_does_what_its_plain_version_does() {
    for (rows, width) in [(1, 1), (90, 17), (130, 64)] {
        for slopes in [1, width] {
            let (matrices, vectors) = ([matrix(rows, width, 1)], [vector(slopes, 2)]);
            let fast =
                |m: &[Tensor<2>], v: &[Tensor<1>]| ops::activate(m[0].clone(), &ActivationOp::Prelu(v[0].clone()));
            let slow =
                |m: &[Tensor<2>], v: &[Tensor<1>]| plain::activate(m[0].clone(), &ActivationOp::Prelu(v[0].clone()));
            assert_same(&fast, &slow, &matrices, &vectors, "an activation");
        }
    }
    let input = matrix(5, 3, 3);
    assert_eq!(values(&ops::activate(input.clone(), &ActivationOp::Identity)), values(&input));
    let cut: Vec<f32> = values(&input).iter().map(|value| value.max(0.0)).collect();
    assert_eq!(values(&ops::activate(input, &ActivationOp::Relu)), cut);
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
    for relu in [true, false] {
        let fast =
            |m: &[Tensor<2>], _: &[Tensor<1>]| ops::messages(&operator, &places, m[0].clone(), m[1].clone(), relu);
        assert_same(
            &fast,
            &|m, _| plain::messages(&operator, &places, m[0].clone(), m[1].clone(), relu),
            &matrices,
            &[],
            "messages",
        );
        assert_derivative(&fast, &matrices, &[], 2e-2, "messages");
    }
}

#[test]
fn messages_are_weighted_in_each_direction() {
    let graph = common::graph(60, 150, 11);
    let operator = Arc::new(Operator::new(&graph, Normalization::None));
    let places: Arc<[u32]> = graph.spread_to_entries(&(0..graph.num_edges() as u32).collect::<Vec<_>>()).into();
    let matrices = [matrix(60, 13, 12), matrix(graph.num_edges(), 13, 13)];
    let weights = [vector(operator.indices().len(), 18)];
    for relu in [true, false] {
        let fast = |m: &[Tensor<2>], v: &[Tensor<1>]| {
            let edges = Some((&places, m[1].clone()));
            ops::weighted_messages(&operator, v[0].clone(), m[0].clone(), edges, relu)
        };
        let plain = |m: &[Tensor<2>], v: &[Tensor<1>]| {
            let edges = Some((&*places, m[1].clone()));
            plain::weighted_messages(&operator, v[0].clone(), m[0].clone(), edges, relu)
        };
        assert_same(&fast, &plain, &matrices, &weights, "weighted messages");
        assert_derivative(&fast, &matrices, &weights, 2e-2, "weighted messages");
    }
    let fast =
        |m: &[Tensor<2>], v: &[Tensor<1>]| ops::weighted_messages(&operator, v[0].clone(), m[0].clone(), None, false);
    let plain =
        |m: &[Tensor<2>], v: &[Tensor<1>]| plain::weighted_messages(&operator, v[0].clone(), m[0].clone(), None, false);
    assert_same(&fast, &plain, &matrices[..1], &weights, "weighted sums");
    assert_derivative(&fast, &matrices[..1], &weights, 2e-2, "weighted sums");
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

#[test]
fn edges_may_have_weights_that_are_learned() {
    for normalization in [Normalization::Symmetric, Normalization::None, Normalization::RowMean] {
        for graph in [common::weighted_graph(60, 150, 30), common::graph(60, 100, 31)] {
            let operator = Arc::new(Operator::new(&graph, normalization));
            for width in [1, 7, 64] {
                let matrices = [matrix(60, width, 32)];
                let vectors = [vector(graph.num_edges(), 33)];
                let fast =
                    |m: &[Tensor<2>], v: &[Tensor<1>]| ops::propagate_weighted(&operator, v[0].clone(), m[0].clone());
                assert_same(
                    &fast,
                    &|m, v| plain::propagate_weighted(&operator, v[0].clone(), m[0].clone()),
                    &matrices,
                    &vectors,
                    "weighted propagation",
                );
                assert_derivative(&fast, &matrices, &vectors, 2e-3, "weighted propagation");
            }
        }
    }
}

#[test]
fn learned_weights_are_those_of_the_edges_in_their_order() {
    let graph = common::weighted_graph(30, 70, 34);
    let operator = Arc::new(Operator::new(&graph, Normalization::Symmetric));
    let (input, weights) = (matrix(30, 4, 35), vector(graph.num_edges(), 36));
    let (rows, of_edges) = (common::values(&input), common::values(&weights));
    let mut expected = vec![0.0; rows.len()];
    for node in 0..30 {
        let (columns, values) = operator.row(node);
        for (&other, &value) in columns.iter().zip(values) {
            let (low, high) = (other.min(node as u32), other.max(node as u32));
            let weight = match graph.edge_pairs().position(|pair| pair == (low, high)) {
                Some(edge) => of_edges[edge],
                None => 1.0,
            };
            for at in 0..4 {
                expected[node * 4 + at] += weight * value * rows[other as usize * 4 + at];
            }
        }
    }
    let found = common::values(&ops::propagate_weighted(&operator, weights, input.clone()));
    common::assert_close(&found, &expected, 1e-5, "edge by edge");
    // Weights of one change nothing.
    let ones = Tensor::ones([graph.num_edges()], &common::device());
    let unchanged = common::values(&ops::propagate_weighted(&operator, ones, input.clone()));
    let plain = common::values(&ops::propagate(&operator, input, None, &ActivationOp::Identity));
    common::assert_close(&unchanged, &plain, 1e-6, "weights of one");
}

/// A matrix written out as a tensor.
fn dense(operator: &Operator) -> Tensor<2> {
    let nodes = operator.num_nodes();
    let mut values = vec![0.0; nodes * nodes];
    for node in 0..nodes {
        let (columns, of_row) = operator.row(node);
        columns.iter().zip(of_row).for_each(|(&column, &value)| values[node * nodes + column as usize] = value);
    }
    Tensor::from_data(burn::tensor::TensorData::new(values, [nodes, nodes]), &common::device())
}

#[test]
fn the_mean_over_neighbors_goes_forward_and_back_as_its_dense_matrix() {
    for graph in [common::weighted_graph(50, 90, 40), common::graph(50, 60, 41)] {
        let operator = Operator::new(&graph, Normalization::RowMean);
        let names: Vec<u32> = (0..50).map(|node| (node * 7 + 3) % 50).collect();
        for operator in [operator.relabelled(&names), operator] {
            let (matrix_of, operator) = (dense(&operator), Arc::new(operator));
            let transposed = matrix_of.clone().transpose();
            assert_ne!(common::values(&matrix_of), common::values(&transposed), "it is symmetric");
            let (matrices, vectors) = ([matrix(50, 9, 42)], [vector(9, 43)]);
            let fast = |m: &[Tensor<2>], v: &[Tensor<1>]| {
                ops::propagate(&operator, m[0].clone(), Some(v[0].clone()), &ActivationOp::Relu)
            };
            let slow = |m: &[Tensor<2>], v: &[Tensor<1>]| {
                (matrix_of.clone().matmul(m[0].clone()) + v[0].clone().unsqueeze::<2>()).clamp_min(0.0)
            };
            assert_same(&fast, &slow, &matrices, &vectors, "the mean over neighbors");
            let library = |m: &[Tensor<2>], v: &[Tensor<1>]| {
                plain::propagate(&operator, m[0].clone(), Some(v[0].clone()), &ActivationOp::Relu)
            };
            assert_same(&library, &slow, &matrices, &vectors, "the mean over neighbors, plainly");
        }
    }
}
