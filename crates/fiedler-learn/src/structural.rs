//! Structural features: what the neighborhood of a node looks like, for graphs without features.

use fiedler_graph::measure::{core_numbers, page_rank, triangles};
use fiedler_graph::{Dense, Graph};
use rayon::prelude::*;

use crate::error::Result;

/// Columns of [`structural_features`].
pub const STRUCTURAL_COLUMNS: usize = 19;

/// Measures of a node by itself; the others are made of them.
const OWN: usize = 5;

/// Structural features, one row a node and [`STRUCTURAL_COLUMNS`] columns:
///
/// - `ln(1 + degree)`, `ln(1 + triangles)`, local clustering coefficient, `ln(1 + core number)`, `ln(n · PageRank)`;
/// - the means of these five over the neighbors, and the means of those means (two steps);
/// - `ln(1 + x)` of the neighbors' summed degrees, of their summed triangles, of the largest and of the smallest degree among them.
///
/// Edges count alike, whatever they weigh. A node without neighbors has zeros where neighbors are asked for.
///
/// ```
/// use fiedler_graph::Graph;
/// let (star, _) = Graph::from_pairs(4, vec![(0, 1), (0, 2), (0, 3)])?;
/// let features = fiedler_learn::structural_features(&star)?;
/// assert_eq!(features.row(0)[0], 4f32.ln());
/// // Leaves have one neighbor, the center, which has the mean degree.
/// assert_eq!(features.row(1)[5], 4f32.ln());
/// # Ok::<(), fiedler_learn::Error>(())
/// ```
///
/// # Errors
/// When a value is not finite, which a graph does not lead to.
pub fn structural_features(graph: &Graph) -> Result<Dense> {
    let nodes = graph.num_nodes();
    let triangles = triangles(graph);
    let (cores, ranks) = (core_numbers(graph), page_rank(graph));
    let degree = |node: u32| graph.degree(node) as f64;
    let own: Vec<[f64; OWN]> = (0..nodes as u32)
        .map(|node| {
            let at = node as usize;
            [
                degree(node).ln_1p(),
                (triangles.of()[at] as f64).ln_1p(),
                triangles.clustering(graph, node),
                f64::from(cores[at]).ln_1p(),
                (nodes as f64 * ranks[at]).ln(),
            ]
        })
        .collect();
    let near = neighbor_means(graph, &own);
    let far = neighbor_means(graph, &near);
    let sums = |node: u32| {
        let others = graph.neighbors(node);
        let degrees: f64 = others.iter().map(|&other| degree(other)).sum();
        let of_triangles: f64 = others.iter().map(|&other| triangles.of()[other as usize] as f64).sum();
        let most = others.iter().map(|&other| graph.degree(other)).max().unwrap_or(0);
        let least = others.iter().map(|&other| graph.degree(other)).min().unwrap_or(0);
        [degrees.ln_1p(), of_triangles.ln_1p(), (most as f64).ln_1p(), (least as f64).ln_1p()]
    };
    let mut values = Vec::with_capacity(nodes * STRUCTURAL_COLUMNS);
    for node in 0..nodes {
        let parts = own[node].iter().chain(&near[node]).chain(&far[node]).copied();
        values.extend(parts.chain(sums(node as u32)).map(|value| value as f32));
    }
    Ok(Dense::new(nodes, STRUCTURAL_COLUMNS, values)?)
}

/// The mean of the rows of a node's neighbors; zeros where it has none.
fn neighbor_means(graph: &Graph, rows: &[[f64; OWN]]) -> Vec<[f64; OWN]> {
    let mean = |node: u32| {
        let others = graph.neighbors(node);
        let mut sum = [0.0; OWN];
        for &other in others {
            sum.iter_mut().zip(&rows[other as usize]).for_each(|(sum, value)| *sum += value);
        }
        sum.map(|sum| sum / others.len().max(1) as f64)
    };
    (0..graph.num_nodes() as u32).into_par_iter().with_min_len(256).map(mean).collect()
}

/// Mean and scale of every column: what standardizes it. A column whose values are all alike has scale 0.
pub(crate) fn standardization(values: &[f32], columns: usize) -> (Vec<f32>, Vec<f32>) {
    let rows = (values.len() / columns.max(1)).max(1) as f64;
    let (mut sums, mut squares) = (vec![0.0f64; columns], vec![0.0f64; columns]);
    for row in values.chunks_exact(columns.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let means: Vec<f64> = sums.iter().map(|sum| sum / rows).collect();
    for row in values.chunks_exact(columns.max(1)) {
        for ((square, mean), &value) in squares.iter_mut().zip(&means).zip(row) {
            *square += (f64::from(value) - mean).powi(2);
        }
    }
    let scale = |(square, mean): (&f64, &f64)| {
        let deviation = (square / rows).sqrt();
        // Rounding must not be mistaken for a difference.
        if deviation > 1e-6 * mean.abs().max(1e-3) { deviation.recip() as f32 } else { 0.0 }
    };
    let scales = squares.iter().zip(&means).map(scale).collect();
    (means.into_iter().map(|mean| mean as f32).collect(), scales)
}

/// Standardizes columns and scales rows to length one.
pub(crate) fn standardize(values: &mut [f32], means: &[f32], scales: &[f32]) {
    let columns = means.len();
    for row in values.chunks_exact_mut(columns) {
        for ((value, mean), scale) in row.iter_mut().zip(means).zip(scales) {
            *value = (*value - mean) * scale;
        }
    }
    crate::pca::linear::unit_rows(values, columns);
}
