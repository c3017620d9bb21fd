//! Sums and means over neighbors.

use fiedler_graph::Graph;

/// `A · x`, where `x` has `width` columns, row-major. Edges count alike, whatever they weigh.
pub(super) fn neighbor_sums(graph: &Graph, x: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; x.len()];
    for (node, sum) in sums.chunks_exact_mut(width.max(1)).enumerate() {
        for &other in graph.neighbors(node as u32) {
            let row = &x[other as usize * width..][..width];
            sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
        }
    }
    sums
}

/// `D⁻¹ A · x`: one step of a random walk. A node without neighbors has zeros.
pub(super) fn neighbor_means(graph: &Graph, x: &[f64], width: usize) -> Vec<f64> {
    let mut means = neighbor_sums(graph, x, width);
    for (node, mean) in means.chunks_exact_mut(width.max(1)).enumerate() {
        let share = 1.0 / graph.degree(node as u32).max(1) as f64;
        mean.iter_mut().for_each(|value| *value *= share);
    }
    means
}
