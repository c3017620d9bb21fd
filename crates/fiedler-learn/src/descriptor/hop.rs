//! Hop-pool: propagated features, pooled over the nodes of a graph.

use fiedler_graph::Graph;

use super::signed_log;
use super::walk::{neighbor_means, neighbor_sums};

/// Mean, standard deviation, maximum and logarithm of the sum.
const POOLS: usize = 4;

/// Columns of [`hop_pool`] for so many columns of features.
pub fn hop_columns(width: usize, depth: usize) -> usize {
    width * (2 * depth + 1) * POOLS
}

/// Pools `Pᵏ x` for k = 0 … depth and `slog(Aᵏ x)` for k = 1 … depth, where `P = D⁻¹ A` and `slog(x) = sign(x) ln(1 + |x|)`: of each
/// column the mean over the nodes, the standard deviation, the maximum and the `slog` of the sum. `x` has a row for each node and `width`
/// columns.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_learn::descriptor::hop_pool;
/// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
/// let pooled = hop_pool(&path, &[1.0, 0.0, 0.0], 1, 1);
/// // x: mean 1/3, maximum 1, sum 1; P x = (0, 1/2, 0).
/// assert!((pooled[0] - 1.0 / 3.0).abs() < 1e-6 && pooled[2] == 1.0 && pooled[3] == 2f32.ln());
/// assert_eq!(pooled[6], 0.5);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn hop_pool(graph: &Graph, x: &[f64], width: usize, depth: usize) -> Vec<f32> {
    let mut pooled = Vec::with_capacity(hop_columns(width, depth));
    pool(x, width, |value| value, &mut pooled);
    let (mut mean, mut sum) = (None::<Vec<f64>>, None::<Vec<f64>>);
    for _ in 0..depth {
        let next = neighbor_means(graph, mean.as_deref().unwrap_or(x), width);
        pool(&next, width, |value| value, &mut pooled);
        mean = Some(next);
        let next = neighbor_sums(graph, sum.as_deref().unwrap_or(x), width);
        pool(&next, width, signed_log, &mut pooled);
        sum = Some(next);
    }
    pooled
}

/// Adds the four pools of every column, all columns of a pool together.
fn pool(x: &[f64], width: usize, of: impl Fn(f64) -> f64, pooled: &mut Vec<f32>) {
    if width == 0 {
        return;
    }
    let rows = (x.len() / width).max(1) as f64;
    let mut sums = vec![0.0; width];
    let mut most = vec![f64::NEG_INFINITY; width];
    let values: Vec<f64> = x.iter().map(|&value| of(value)).collect();
    for row in values.chunks_exact(width) {
        for ((sum, most), &value) in sums.iter_mut().zip(&mut most).zip(row) {
            *sum += value;
            *most = most.max(value);
        }
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / rows).collect();
    let mut squares = vec![0.0; width];
    for row in values.chunks_exact(width) {
        for ((square, mean), value) in squares.iter_mut().zip(&means).zip(row) {
            *square += (value - mean) * (value - mean);
        }
    }
    // A graph without nodes has no maximum.
    most.iter_mut().filter(|most| !most.is_finite()).for_each(|most| *most = 0.0);
    pooled.extend(means.iter().map(|&mean| mean as f32));
    pooled.extend(squares.iter().map(|square| (square / rows).sqrt() as f32));
    pooled.extend(most.iter().map(|&most| most as f32));
    pooled.extend(sums.iter().map(|&sum| signed_log(sum) as f32));
}
