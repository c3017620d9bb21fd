//! Connected components.

use crate::graph::Graph;

/// The connected component of each node, numbered from zero in the order of their first nodes, and how many there are.
///
/// ```
/// use fiedler_graph::{Graph, measure};
/// let (graph, _) = Graph::from_pairs(4, vec![(0, 2), (1, 3)])?;
/// assert_eq!(measure::components(&graph), (vec![0, 1, 0, 1], 2));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn components(graph: &Graph) -> (Vec<u32>, usize) {
    const UNSEEN: u32 = u32::MAX;
    let mut component = vec![UNSEEN; graph.num_nodes()];
    let mut count = 0;
    let mut open = Vec::new();
    for start in 0..graph.num_nodes() as u32 {
        if component[start as usize] != UNSEEN {
            continue;
        }
        component[start as usize] = count;
        open.push(start);
        while let Some(node) = open.pop() {
            for &other in graph.neighbors(node) {
                if component[other as usize] == UNSEEN {
                    component[other as usize] = count;
                    open.push(other);
                }
            }
        }
        count += 1;
    }
    (component, count as usize)
}
