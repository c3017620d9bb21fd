//! Whether a graph has two sides.

use crate::graph::Graph;

/// Whether nodes can be put on two sides so that no edge joins nodes of one side, as buyers and goods are.
///
/// ```
/// use fiedler_graph::{Graph, measure};
/// let cycle = |nodes: u32| Graph::from_pairs(nodes as usize, (0..nodes).map(|node| (node, (node + 1) % nodes)).collect());
/// assert!(measure::is_bipartite(&cycle(6)?.0));
/// assert!(!measure::is_bipartite(&cycle(7)?.0));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn is_bipartite(graph: &Graph) -> bool {
    let mut side: Vec<Option<bool>> = vec![None; graph.num_nodes()];
    let mut waiting = Vec::new();
    for start in 0..graph.num_nodes() as u32 {
        if side[start as usize].is_some() {
            continue;
        }
        side[start as usize] = Some(false);
        waiting.push((start, false));
        while let Some((node, own)) = waiting.pop() {
            for &neighbor in graph.neighbors(node) {
                match side[neighbor as usize] {
                    Some(other) if other == own => return false,
                    Some(_) => {}
                    None => {
                        side[neighbor as usize] = Some(!own);
                        waiting.push((neighbor, !own));
                    }
                }
            }
        }
    }
    true
}
