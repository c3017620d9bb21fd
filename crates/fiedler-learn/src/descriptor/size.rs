//! How large a graph is.

use fiedler_graph::Graph;

/// Columns of [`size_measures`].
pub const SIZE_MEASURES: usize = 4;

/// `ln(1 + n)`, `ln(1 + m)`, density and `m / n` of a graph of n nodes and m edges.
pub fn size_measures(graph: &Graph) -> [f32; SIZE_MEASURES] {
    let (nodes, edges) = (graph.num_nodes() as f64, graph.num_edges() as f64);
    let pairs = nodes * (nodes - 1.0) / 2.0;
    let density = if pairs > 0.0 { edges / pairs } else { 0.0 };
    [nodes.ln_1p(), edges.ln_1p(), density, edges / nodes.max(1.0)].map(|value| value as f32)
}
