//! Random graphs and matrices, and how two ways of computing the same thing are compared.

use burn::Tensor;
use burn::tensor::{Device, TensorData};
use fiedler_graph::random::stream;
use fiedler_graph::{Graph, Sparse};
use rand::RngExt;

/// The device that records what gradients need.
pub fn device() -> Device {
    Device::flex().autodiff()
}

/// Numbers between -1 and 1.
pub fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut random = stream(seed, "test numbers", 0);
    (0..count).map(|_| random.random::<f32>() * 2.0 - 1.0).collect()
}

/// A matrix of numbers between -1 and 1, of which gradients are wanted.
pub fn matrix(rows: usize, columns: usize, seed: u64) -> Tensor<2> {
    Tensor::from_data(TensorData::new(numbers(rows * columns, seed), [rows, columns]), &device()).require_grad()
}

/// A vector of numbers between -1 and 1, of which gradients are wanted.
pub fn vector(length: usize, seed: u64) -> Tensor<1> {
    Tensor::from_data(TensorData::new(numbers(length, seed), [length]), &device()).require_grad()
}

/// The values of a tensor.
pub fn values<const D: usize>(tensor: &Tensor<D>) -> Vec<f32> {
    tensor.to_data().try_to_vec().expect("numbers of 32 bits")
}

/// A random graph, some nodes of which have no edge.
pub fn graph(nodes: u32, edges: usize, seed: u64) -> Graph {
    let mut random = stream(seed, "test graph", 0);
    let pairs = (0..edges).map(|_| (random.random_range(0..nodes), random.random_range(0..nodes))).collect();
    Graph::from_pairs(nodes as usize, pairs).expect("ids in range").0
}

/// The same with weights.
pub fn weighted_graph(nodes: u32, edges: usize, seed: u64) -> Graph {
    let mut random = stream(seed, "test graph", 0);
    let pairs = (0..edges).map(|_| (random.random_range(0..nodes), random.random_range(0..nodes))).collect();
    let weights = (0..edges).map(|_| random.random::<f32>() + 0.1).collect();
    Graph::from_weighted_pairs(nodes as usize, pairs, weights).expect("ids in range").0
}

/// Random sparse features; some rows and columns are empty.
pub fn sparse(rows: usize, columns: usize, seed: u64) -> Sparse {
    let mut random = stream(seed, "test features", 0);
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..rows {
        for column in 0..columns {
            if random.random_bool(0.1) {
                indices.push(column as u32);
                values.push(random.random::<f32>() + 0.5);
            }
        }
        offsets.push(indices.len());
    }
    Sparse::new(columns, offsets, indices, values).expect("a sparse matrix")
}

/// Checks that two lists of numbers agree.
pub fn assert_close(found: &[f32], expected: &[f32], tolerance: f32, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}: number of values");
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance * (1.0 + expected.abs());
        assert!((found - expected).abs() <= allowed, "{what}, value {at}: {found}, expected {expected}");
    }
}

/// A function of some matrices and some vectors.
pub type Function<'a, const D: usize> = dyn Fn(&[Tensor<2>], &[Tensor<1>]) -> Tensor<D> + 'a;

/// The values of a function, and the gradients of a weighted sum of them.
pub fn values_and_gradients<const D: usize>(
    function: &Function<D>,
    matrices: &[Tensor<2>],
    vectors: &[Tensor<1>],
) -> (Vec<f32>, Vec<Vec<f32>>) {
    let result = function(matrices, vectors);
    let found = values(&result);
    let weights = TensorData::new(numbers(found.len(), 99), result.shape());
    let gradients = (result * Tensor::from_data(weights, &device())).sum().backward();
    let of_matrices = matrices.iter().map(|matrix| matrix.grad(&gradients).map(|gradient| values(&gradient)));
    let of_vectors = vectors.iter().map(|vector| vector.grad(&gradients).map(|gradient| values(&gradient)));
    let all = of_matrices.chain(of_vectors).map(|gradient| gradient.expect("a gradient for every input"));
    (found, all.collect())
}

/// Checks values and gradients of two functions against each other.
pub fn assert_same<const D: usize>(
    fast: &Function<D>,
    plain: &Function<D>,
    matrices: &[Tensor<2>],
    vectors: &[Tensor<1>],
    what: &str,
) {
    let (found, gradients) = values_and_gradients(fast, matrices, vectors);
    let (expected, expected_gradients) = values_and_gradients(plain, matrices, vectors);
    assert_close(&found, &expected, 1e-5, what);
    for (at, (found, expected)) in gradients.iter().zip(&expected_gradients).enumerate() {
        assert_close(found, expected, 2e-5, &format!("{what}, gradient of input {at}"));
    }
}

/// Checks the gradients of a function against finite differences, along random directions.
pub fn assert_derivative<const D: usize>(
    function: &Function<D>,
    matrices: &[Tensor<2>],
    vectors: &[Tensor<1>],
    tolerance: f64,
    what: &str,
) {
    const STEP: f32 = 2e-3;
    let (_, gradients) = values_and_gradients(function, matrices, vectors);
    let weighted_sum = |matrices: &[Tensor<2>], vectors: &[Tensor<1>]| -> f64 {
        let found = values(&function(matrices, vectors));
        let weights = numbers(found.len(), 99);
        found.iter().zip(weights).map(|(&value, weight)| f64::from(value) * f64::from(weight)).sum()
    };
    for (at, gradient) in gradients.iter().enumerate() {
        let direction = numbers(gradient.len(), 1234 + at as u64);
        let moved = |step: f32| -> f64 {
            let (mut matrices, mut vectors) = (matrices.to_vec(), vectors.to_vec());
            if at < matrices.len() {
                matrices[at] = shift(&matrices[at], &direction, step);
            } else {
                let at = at - matrices.len();
                vectors[at] = shift(&vectors[at], &direction, step);
            }
            weighted_sum(&matrices, &vectors)
        };
        let measured = (moved(STEP) - moved(-STEP)) / (2.0 * f64::from(STEP));
        let claimed: f64 = gradient.iter().zip(&direction).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
        let scale: f64 = gradient.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
        assert!(
            (measured - claimed).abs() <= tolerance * (scale + 1e-2),
            "{what}, input {at}: moving it changes the result by {measured}, its gradient says {claimed}"
        );
    }
}

fn shift<const D: usize>(tensor: &Tensor<D>, direction: &[f32], step: f32) -> Tensor<D> {
    let moved: Vec<f32> =
        values(tensor).iter().zip(direction).map(|(value, direction)| value + step * direction).collect();
    Tensor::from_data(TensorData::new(moved, tensor.shape()), &device()).require_grad()
}

/// Runs something on a given number of threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads").install(work)
}
