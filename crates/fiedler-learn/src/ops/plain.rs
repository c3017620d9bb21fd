//! The same operations out of the tensor library's own: what defines them, what tests compare with, and what other devices than the
//! CPU are served by.

use burn::Tensor;
use burn::tensor::{Device, IndexingUpdateOp, Int, TensorData};

use super::kernel::SparseRows;
use super::normalize::{Normalization, Statistics};
use super::pool::Pooling;
use super::propagate::Activation;
use super::similarity::{SHORTEST, Similarity};
use crate::features::SparseFeatures;
use crate::{Adjacency, Segments};

/// See [`propagate`](super::propagate()).
pub fn propagate(
    adjacency: &Adjacency,
    input: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: &Activation,
) -> Tensor<2> {
    let rows = SparseRows { offsets: adjacency.indptr(), columns: adjacency.columns(), values: adjacency.values() };
    let product = times(rows, input);
    let sum = match bias {
        Some(bias) => product + bias.unsqueeze::<2>(),
        None => product,
    };
    activate(sum, activation)
}

/// `max(x, 0) + slope · min(x, 0)`.
pub fn activate(input: Tensor<2>, activation: &Activation) -> Tensor<2> {
    match activation {
        Activation::Identity => input,
        Activation::Relu => input.clamp_min(0.0),
        Activation::Prelu(slopes) => {
            input.clone().clamp_min(0.0) + input.clamp_max(0.0) * slopes.clone().unsqueeze::<2>()
        }
    }
}

/// See [`project`](super::project()).
pub fn project(features: &SparseFeatures, kept: Option<&[bool]>, weight: Tensor<2>) -> Tensor<2> {
    let weight = match kept {
        None => weight,
        Some(kept) => {
            let kept: Vec<f32> = kept.iter().map(|&kept| f32::from(kept)).collect();
            let kept = column(kept, &weight.device());
            weight * kept
        }
    };
    times(features.rows_of_entries(), weight)
}

/// See [`similarity`](super::similarity()).
pub fn similarity(nodes: Tensor<2>, graphs: Tensor<2>, segments: &Segments, similarity: Similarity) -> Tensor<1> {
    let of_nodes = indices(segments.of_rows(), &nodes.device());
    let graphs = graphs.select(0, of_nodes);
    let lengths = |matrix: &Tensor<2>| matrix.clone().square().sum_dim(1).sqrt().clamp_min(SHORTEST);
    let products = (nodes.clone() * graphs.clone()).sum_dim(1);
    match similarity {
        Similarity::Dot => products.squeeze_dim(1),
        Similarity::Cosine => (products / (lengths(&nodes) * lengths(&graphs))).squeeze_dim(1),
    }
}

/// See [`pool`](super::pool()).
pub fn pool(nodes: Tensor<2>, segments: &Segments, pooling: Pooling) -> Tensor<2> {
    let device = nodes.device();
    let width = nodes.dims()[1];
    let of_rows = indices(segments.of_rows(), &device);
    let sum = || {
        Tensor::zeros([segments.len(), width], &device).select_assign(
            0,
            of_rows.clone(),
            nodes.clone(),
            IndexingUpdateOp::Add,
        )
    };
    match pooling {
        Pooling::Sum => sum(),
        Pooling::Mean => {
            let sizes = (0..segments.len()).map(|segment| segments.range(segment).len().max(1) as f32).collect();
            sum() / column(sizes, &device)
        }
        Pooling::Max => {
            let rows = (0..segments.len()).map(|segment| match segments.range(segment) {
                range if range.is_empty() => Tensor::zeros([1, width], &device),
                range => nodes.clone().slice([range, 0..width]).max_dim(0),
            });
            Tensor::cat(rows.collect(), 0)
        }
    }
}

/// See [`messages`](super::messages()).
pub fn messages(adjacency: &Adjacency, places: &[u32], nodes: Tensor<2>, edges: Tensor<2>) -> Tensor<2> {
    let device = nodes.device();
    let sums = Tensor::zeros(nodes.shape(), &device);
    let neighbors = nodes.select(0, indices(adjacency.columns().to_vec(), &device));
    let edges = edges.select(0, indices(places.to_vec(), &device));
    let targets = indices(row_of_entries(adjacency.indptr()), &device);
    sums.select_assign(0, targets, (neighbors + edges).clamp_min(0.0), IndexingUpdateOp::Add)
}

/// See [`statistics`](super::statistics()).
pub fn statistics(input: Tensor<2>) -> Statistics {
    let mean = input.clone().mean_dim(0);
    let variance = (input - mean.clone()).square().mean_dim(0);
    Statistics { mean: mean.squeeze_dim(0), variance: variance.squeeze_dim(0) }
}

/// See [`normalize`](super::normalize()).
pub fn normalize(
    input: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    collected: &Statistics,
    how: Normalization,
) -> Tensor<2> {
    let Statistics { mean, variance } = if how.of_input { statistics(input.clone()) } else { collected.clone() };
    let deviation = (variance.unsqueeze::<2>() + how.epsilon).sqrt();
    let normalized = (input - mean.unsqueeze::<2>()) / deviation * scale.unsqueeze::<2>() + shift.unsqueeze::<2>();
    if how.relu { normalized.clamp_min(0.0) } else { normalized }
}

fn times(rows: SparseRows, dense: Tensor<2>) -> Tensor<2> {
    let device = dense.device();
    let product = Tensor::zeros([rows.offsets.len() - 1, dense.dims()[1]], &device);
    let targets = indices(row_of_entries(rows.offsets), &device);
    let values = column(rows.values.to_vec(), &device);
    let terms = dense.select(0, indices(rows.columns.to_vec(), &device)) * values;
    product.select_assign(0, targets, terms, IndexingUpdateOp::Add)
}

fn row_of_entries(offsets: &[usize]) -> Vec<u32> {
    offsets.windows(2).enumerate().flat_map(|(row, bounds)| (bounds[0]..bounds[1]).map(move |_| row as u32)).collect()
}

fn indices(values: Vec<u32>, device: &Device) -> Tensor<1, Int> {
    let values: Vec<i32> = values.into_iter().map(|value| value as i32).collect();
    let length = values.len();
    Tensor::from_data(TensorData::new(values, [length]), device)
}

fn column(values: Vec<f32>, device: &Device) -> Tensor<2> {
    let rows = values.len();
    Tensor::from_data(TensorData::new(values, [rows, 1]), device)
}
