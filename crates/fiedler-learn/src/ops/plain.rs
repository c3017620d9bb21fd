//! The same operations out of the tensor library's own: what defines them, what tests compare with, and what other devices than the
//! CPU are served by.

use burn::Tensor;
use burn::tensor::activation::softplus;
use burn::tensor::{Device, IndexingUpdateOp, TensorData};

use super::batch_norm::{BatchNormOp, Statistics};
use super::pool::Pooling;
use super::propagate::ActivationOp;
use super::similarity::{SHORTEST, Similarity};
use super::standardize::STANDARDIZE_EPSILON;
use crate::device::{DeviceRows, indices};
use crate::feature_matrix::SparseMatrix;
use crate::{GraphOffsets, Operator};

/// See [`propagate`](super::propagate()).
pub fn propagate(
    operator: &Operator,
    input: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: &ActivationOp,
) -> Tensor<2> {
    let product = times(operator.on_device(&input.device()), operator.num_nodes(), input);
    let sum = match bias {
        Some(bias) => product + bias.unsqueeze::<2>(),
        None => product,
    };
    activate(sum, activation)
}

/// See [`propagate_weighted`](super::propagate_weighted()).
pub fn propagate_weighted(operator: &Operator, edge_weights: Tensor<1>, input: Tensor<2>) -> Tensor<2> {
    let device = input.device();
    let entries = operator.on_device(&device).for_inputs(&input);
    let last = edge_weights.dims()[0] as u32;
    // Entries on the diagonal have the weight one, which stands behind those of the edges.
    let places = operator.edge_places().iter().map(|&place| place.min(last)).collect();
    let weights = Tensor::cat(vec![edge_weights, Tensor::ones([1], &device)], 0);
    let weights = weights.select(0, indices(places, &device)).unsqueeze_dim::<2>(1);
    let product = Tensor::zeros(input.shape(), &device);
    let terms = input.select(0, entries.columns) * entries.values * weights;
    product.select_assign(0, entries.rows, terms, IndexingUpdateOp::Add)
}

/// See [`activate`](super::activate()).
pub fn activate(input: Tensor<2>, activation: &ActivationOp) -> Tensor<2> {
    match activation {
        ActivationOp::Identity => input,
        ActivationOp::Relu => input.clamp_min(0.0),
        ActivationOp::LeakyRelu(slope) => input.clone().clamp_min(0.0) + input.clamp_max(0.0) * *slope,
        ActivationOp::Prelu(slopes) => {
            input.clone().clamp_min(0.0) + input.clamp_max(0.0) * slopes.clone().unsqueeze::<2>()
        }
    }
}

/// See [`propagate_mix`](super::propagate_mix()).
pub fn propagate_mix(operator: &Operator, input: Tensor<2>, coefficients: Tensor<1>) -> Tensor<2> {
    let coefficient = |k: usize| coefficients.clone().narrow(0, k, 1).unsqueeze::<2>();
    let mut power = input.clone();
    let mut sum = input * coefficient(0);
    for k in 1..coefficients.dims()[0] {
        power = propagate(operator, power, None, &ActivationOp::Identity);
        sum = sum + power.clone() * coefficient(k);
    }
    sum
}

/// See [`permute`](super::permute()).
pub fn permute(input: Tensor<2>, order: &[u32]) -> Tensor<2> {
    let order = indices(order.to_vec(), &input.device());
    input.select(0, order)
}

/// See [`project`](super::project()).
pub fn project(features: &SparseMatrix, kept: Option<&[bool]>, weight: Tensor<2>) -> Tensor<2> {
    let weight = match kept {
        None => weight,
        Some(kept) => {
            let kept: Vec<f32> = kept.iter().map(|&kept| f32::from(kept)).collect();
            let kept = column(kept, &weight.device());
            weight * kept
        }
    };
    times(features.on_device(&weight.device()), features.rows(), weight)
}

/// See [`similarity`](super::similarity()).
pub fn similarity(nodes: Tensor<2>, graphs: Tensor<2>, offsets: &GraphOffsets, similarity: Similarity) -> Tensor<1> {
    let of_nodes = indices(offsets.of_rows(), &nodes.device());
    let graphs = graphs.select(0, of_nodes);
    let lengths = |matrix: &Tensor<2>| matrix.clone().square().sum_dim(1).sqrt().clamp_min(SHORTEST);
    let products = (nodes.clone() * graphs.clone()).sum_dim(1);
    match similarity {
        Similarity::Dot => products.squeeze_dim(1),
        Similarity::Cosine => (products / (lengths(&nodes) * lengths(&graphs))).squeeze_dim(1),
    }
}

/// See [`pool`](super::pool()).
pub fn pool(nodes: Tensor<2>, offsets: &GraphOffsets, pooling: Pooling) -> Tensor<2> {
    let device = nodes.device();
    let width = nodes.dims()[1];
    let of_rows = indices(offsets.of_rows(), &device);
    let sum = || {
        Tensor::zeros([offsets.len(), width], &device).select_assign(
            0,
            of_rows.clone(),
            nodes.clone(),
            IndexingUpdateOp::Add,
        )
    };
    match pooling {
        Pooling::Sum => sum(),
        Pooling::Mean => {
            let sizes = (0..offsets.len()).map(|segment| offsets.range(segment).len().max(1) as f32).collect();
            sum() / column(sizes, &device)
        }
        Pooling::Max => {
            let rows = (0..offsets.len()).map(|segment| match offsets.range(segment) {
                range if range.is_empty() => Tensor::zeros([1, width], &device),
                range => nodes.clone().slice([range, 0..width]).max_dim(0),
            });
            Tensor::cat(rows.collect(), 0)
        }
    }
}

/// See [`messages`](super::messages()).
pub fn messages(operator: &Operator, places: &[u32], nodes: Tensor<2>, edges: Tensor<2>, relu: bool) -> Tensor<2> {
    let device = nodes.device();
    let sums = Tensor::zeros(nodes.shape(), &device);
    let entries = operator.on_device(&device).for_inputs(&nodes);
    let neighbors = nodes.select(0, entries.columns);
    let edges = edges.select(0, indices(places.to_vec(), &device));
    let messages = neighbors + edges;
    let messages = if relu { messages.clamp_min(0.0) } else { messages };
    sums.select_assign(0, entries.rows, messages, IndexingUpdateOp::Add)
}

/// See [`weighted_messages`](super::weighted_messages()).
pub fn weighted_messages(
    operator: &Operator,
    weights: Tensor<1>,
    nodes: Tensor<2>,
    edges: Option<(&[u32], Tensor<2>)>,
    relu: bool,
) -> Tensor<2> {
    let device = nodes.device();
    let sums = Tensor::zeros(nodes.shape(), &device);
    let entries = operator.on_device(&device).for_inputs(&nodes);
    let neighbors = nodes.select(0, entries.columns);
    let messages = match edges {
        Some((places, edges)) => neighbors + edges.select(0, indices(places.to_vec(), &device)),
        None => neighbors,
    };
    let messages = if relu { messages.clamp_min(0.0) } else { messages };
    sums.select_assign(0, entries.rows, messages * weights.unsqueeze_dim::<2>(1), IndexingUpdateOp::Add)
}

/// See [`statistics`](super::statistics()).
pub fn statistics(input: Tensor<2>) -> Statistics {
    let mean = input.clone().mean_dim(0);
    let variance = (input - mean.clone()).square().mean_dim(0);
    Statistics { mean: mean.squeeze_dim(0), variance: variance.squeeze_dim(0) }
}

/// See [`standardize`](super::standardize()).
pub fn standardize(input: Tensor<2>) -> Tensor<2> {
    let degrees = input.dims()[0].saturating_sub(1).max(1) as f32;
    let centered = input.clone() - input.mean_dim(0);
    let variance = centered.clone().square().sum_dim(0) / degrees;
    // Kept from zero, where the root has no derivative.
    centered / (variance.clamp_min(f32::MIN_POSITIVE).sqrt() + STANDARDIZE_EPSILON)
}

/// See [`decorrelation`](super::decorrelation()).
pub fn decorrelation(input: Tensor<2>) -> Tensor<1> {
    let [rows, width] = input.dims();
    let identity = Tensor::eye(width, &input.device());
    (input.clone().transpose().matmul(input) / rows.max(1) as f32 - identity).square().sum()
}

/// See [`cross_decorrelation`](super::cross_decorrelation()).
pub fn cross_decorrelation(one: Tensor<2>, other: Tensor<2>) -> Tensor<1> {
    let [rows, width] = one.dims();
    let identity = Tensor::eye(width, &one.device());
    let squares = (one.transpose().matmul(other) / rows.max(1) as f32 - identity.clone()).square();
    let diagonal = (squares.clone() * identity.clone()).sum();
    Tensor::cat(vec![diagonal, (squares * (identity.neg() + 1.0)).sum()], 0)
}

/// See [`info_nce`](super::info_nce()).
pub fn info_nce(one: Tensor<2>, other: Tensor<2>, temperature: f64) -> Tensor<1> {
    let rows = one.dims()[0];
    let positives = (one.clone() * other.clone()).sum_dim(1) / temperature;
    let all = Tensor::cat(vec![one, other], 0);
    let similarities = all.clone().matmul(all.transpose()) / temperature;
    // A row is not among those that it is told apart from.
    let itself = Tensor::<2>::eye(2 * rows, &similarities.device()).greater_elem(0.5);
    let similarities = similarities.mask_fill(itself, f32::MIN / 2.0);
    let largest = similarities.clone().detach().max_dim(1);
    let logarithms = (similarities - largest.clone()).exp().sum_dim(1).log() + largest;
    logarithms.mean() - positives.mean()
}

/// See [`pair_softplus`](super::pair_softplus()).
pub fn pair_softplus(rows: Tensor<2>) -> Tensor<1> {
    softplus(rows.clone().matmul(rows.transpose()), 1.0).sum()
}

/// See [`edge_products`](super::edge_products()).
pub fn edge_products(operator: &Operator, rows: Tensor<2>) -> Tensor<1> {
    let device = rows.device();
    let (mut lower, mut higher) = (Vec::new(), Vec::new());
    for node in 0..operator.num_nodes() {
        for &other in operator.row(node).0.iter().filter(|&&other| other as usize > node) {
            lower.push(node as u32);
            higher.push(other);
        }
    }
    let ends = [lower, higher].map(|ends| rows.clone().select(0, indices(ends, &device)));
    let [lower, higher] = ends;
    (lower * higher).sum_dim(1).squeeze_dim(1)
}

/// See [`normalize`](super::normalize()).
pub fn normalize(
    input: Tensor<2>,
    scale: Tensor<1>,
    shift: Tensor<1>,
    collected: &Statistics,
    how: BatchNormOp,
) -> Tensor<2> {
    let Statistics { mean, variance } = if how.of_input { statistics(input.clone()) } else { collected.clone() };
    let deviation = (variance.unsqueeze::<2>() + how.epsilon).sqrt();
    let normalized = (input - mean.unsqueeze::<2>()) / deviation * scale.unsqueeze::<2>() + shift.unsqueeze::<2>();
    if how.relu { normalized.clamp_min(0.0) } else { normalized }
}

fn times(matrix: DeviceRows, rows: usize, dense: Tensor<2>) -> Tensor<2> {
    let DeviceRows { rows: targets, columns, values, .. } = matrix.for_inputs(&dense);
    let product = Tensor::zeros([rows, dense.dims()[1]], &dense.device());
    product.select_assign(0, targets, dense.select(0, columns) * values, IndexingUpdateOp::Add)
}

fn column(values: Vec<f32>, device: &Device) -> Tensor<2> {
    let rows = values.len();
    Tensor::from_data(TensorData::new(values, [rows, 1]), device)
}
