//! Core numbers.

use crate::graph::Graph;

/// Core number of each node: the largest `k` such that the node belongs to a subgraph in which every node has at least `k` neighbors.
///
/// Nodes are removed in ascending order of the neighbors that they have left (Batagelj and Zaveršnik), in time linear in the edges.
///
/// ```
/// use fiedler_graph::{Graph, measure::core_numbers};
/// // A triangle with a tail, and a node without edges.
/// let (graph, _) = Graph::from_pairs(5, vec![(0, 1), (1, 2), (2, 0), (2, 3)])?;
/// assert_eq!(core_numbers(&graph), [2, 2, 2, 1, 0]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn core_numbers(graph: &Graph) -> Vec<u32> {
    let nodes = graph.num_nodes();
    let mut left: Vec<u32> = (0..nodes as u32).map(|node| graph.degree(node) as u32).collect();
    let most = left.iter().max().map_or(0, |&most| most as usize);
    // Nodes sorted by the neighbors they have left: where each number starts, the nodes in order, and the place of each.
    let mut starts = vec![0usize; most + 2];
    left.iter().for_each(|&degree| starts[degree as usize + 1] += 1);
    (1..starts.len()).for_each(|degree| starts[degree] += starts[degree - 1]);
    let mut order = vec![0u32; nodes];
    let mut place = vec![0usize; nodes];
    let mut next = starts.clone();
    for node in 0..nodes {
        let slot = &mut next[left[node] as usize];
        order[*slot] = node as u32;
        place[node] = *slot;
        *slot += 1;
    }
    for at in 0..nodes {
        let node = order[at];
        let own = left[node as usize];
        for &other in graph.neighbors(node) {
            let degree = left[other as usize];
            if degree <= own {
                continue;
            }
            // The other moves to the front of its number, which then starts one place later.
            let front = starts[degree as usize].max(at + 1);
            let (from, first) = (place[other as usize], order[front]);
            order.swap(from, front);
            place[other as usize] = front;
            place[first as usize] = from;
            starts[degree as usize] = front + 1;
            left[other as usize] = degree - 1;
        }
    }
    left
}
