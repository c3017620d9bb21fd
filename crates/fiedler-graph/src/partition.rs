//! Partitions: the nodes of a graph in parts of about the same size that few edges cross.
//!
//! Restreaming linear deterministic greedy (Nishimura and Ugander 2013): nodes come one after the other, first in the order of a
//! breadth-first search, and go to the part that has most of their neighbors, which counts the less the fuller the part is. Each further pass
//! starts from what the one before has found. Time grows with edges and passes, memory with nodes and parts.

use std::collections::VecDeque;

use crate::graph::Graph;

/// Passes over all nodes.
const PASSES: usize = 6;
/// How much larger than the mean a part may be.
const SLACK: f64 = 1.05;
const NONE: u32 = u32::MAX;

/// The part of each node, from 0 to `parts - 1`. `goes_on` hears of every pass, done and in all, and may end the search; what is found until then is a
/// partition all the same.
///
/// ```
/// use fiedler_graph::{Graph, partition};
/// let two = |first: u32| [(first, first + 1), (first, first + 2), (first + 1, first + 2)];
/// let (graph, _) = Graph::from_pairs(6, two(0).into_iter().chain(two(3)).chain([(2, 3)]).collect())?;
/// let parts = partition(&graph, 2, &mut |_, _| true);
/// assert!(parts[0] == parts[1] && parts[1] == parts[2] && parts[2] != parts[3] && parts[3] == parts[5]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
pub fn partition(graph: &Graph, parts: usize, goes_on: &mut dyn FnMut(usize, usize) -> bool) -> Vec<u32> {
    let nodes = graph.num_nodes();
    let parts = parts.clamp(1, nodes.max(1));
    if parts == 1 {
        return vec![0; nodes];
    }
    let order = breadth_first(graph);
    let capacity = ((nodes as f64 / parts as f64) * SLACK).ceil();
    let mut part_of = vec![NONE; nodes];
    let mut sizes = vec![0u32; parts];
    let mut shared = vec![0u32; parts];
    let mut touched: Vec<u32> = Vec::new();
    for pass in 0..PASSES {
        // What does not belong anywhere fills the first part that has room.
        let mut open = 0;
        for &node in &order {
            let own = std::mem::replace(&mut part_of[node as usize], NONE);
            if own != NONE {
                sizes[own as usize] -= 1;
                open = open.min(own as usize);
            }
            for &other in graph.neighbors(node) {
                let part = part_of[other as usize];
                if part != NONE {
                    if shared[part as usize] == 0 {
                        touched.push(part);
                    }
                    shared[part as usize] += 1;
                }
            }
            let mut best: Option<(f64, u32)> = None;
            for &part in &touched {
                let room = 1.0 - f64::from(sizes[part as usize]) / capacity;
                let worth = f64::from(shared[part as usize]) * room;
                // Of parts that are worth the same, the one it was in, or else the lowest, so that the order of neighbors does not matter.
                let better = |(most, least): (f64, u32)| {
                    worth > most || (worth == most && least != own && (part == own || part < least))
                };
                if room > 0.0 && best.is_none_or(better) {
                    best = Some((worth, part));
                }
                shared[part as usize] = 0;
            }
            touched.clear();
            let part = match best {
                Some((_, part)) => part as usize,
                None => {
                    while f64::from(sizes[open]) >= capacity {
                        open += 1;
                    }
                    open
                }
            };
            part_of[node as usize] = part as u32;
            sizes[part] += 1;
        }
        if !goes_on(pass + 1, PASSES) {
            break;
        }
    }
    part_of
}

/// All nodes, component after component, each from its first node on.
fn breadth_first(graph: &Graph) -> Vec<u32> {
    let nodes = graph.num_nodes();
    let mut seen = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    let mut queue = VecDeque::new();
    for start in 0..nodes as u32 {
        if seen[start as usize] {
            continue;
        }
        seen[start as usize] = true;
        queue.push_back(start);
        while let Some(node) = queue.pop_front() {
            order.push(node);
            for &other in graph.neighbors(node) {
                if !seen[other as usize] {
                    seen[other as usize] = true;
                    queue.push_back(other);
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::partition;
    use crate::generate;

    #[test]
    fn parts_are_balanced_and_few_edges_cross_them() {
        let text = "sbm:nodes=4000,classes=20,degree=12,homophily=0.9";
        let dataset = generate::from_spec(text, 3).expect("a generator");
        let graph = dataset.graph().expect("one graph");
        let parts = partition(graph, 20, &mut |_, _| true);
        let mut sizes = [0usize; 20];
        parts.iter().for_each(|&part| sizes[part as usize] += 1);
        assert!(sizes.iter().all(|&size| (1..=211).contains(&size)), "{sizes:?}");
        let crossing = graph.edge_pairs().filter(|&(a, b)| parts[a as usize] != parts[b as usize]).count();
        // At random 95 % would cross.
        assert!(crossing * 100 < graph.num_edges() * 60, "{crossing} of {}", graph.num_edges());
        assert_eq!(parts, partition(graph, 20, &mut |_, _| true));
    }

    #[test]
    fn any_graph_has_partitions() {
        for nodes in [0, 1, 5] {
            let graph = crate::Graph::empty(nodes);
            for parts in [0, 1, 2, 9] {
                let found = partition(&graph, parts, &mut |_, _| true);
                assert!(found.len() == nodes && found.iter().all(|&part| (part as usize) < parts.max(1)));
            }
        }
    }
}
