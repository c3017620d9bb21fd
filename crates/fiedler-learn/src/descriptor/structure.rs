//! Structural measures of nodes, as the descriptor takes them.

use fiedler_graph::Graph;
use fiedler_graph::measure::{core_numbers, page_rank, triangles};

/// Columns of [`structure_measures`].
pub const STRUCTURE_MEASURES: usize = 5;

/// `ln(1 + degree)`, `ln(1 + triangles)`, `ln(1 + core number)`, local clustering coefficient and `ln(n · PageRank)`, a row for each node.
/// Edges count alike, whatever they weigh.
pub fn structure_measures(graph: &Graph) -> Vec<[f64; STRUCTURE_MEASURES]> {
    let (triangles, cores, ranks) = (triangles(graph), core_numbers(graph), page_rank(graph));
    let nodes = graph.num_nodes();
    let measures = |node: usize| {
        [
            (graph.degree(node as u32) as f64).ln_1p(),
            (triangles.of()[node] as f64).ln_1p(),
            f64::from(cores[node]).ln_1p(),
            triangles.clustering(graph, node as u32),
            (nodes as f64 * ranks[node]).ln(),
        ]
    };
    (0..nodes).map(measures).collect()
}
