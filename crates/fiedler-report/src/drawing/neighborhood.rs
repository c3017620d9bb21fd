//! The part of a large graph that lies around a node.

use fiedler_graph::{Error, Graph, Result};

/// The subgraph that some nodes induce.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighborhood {
    /// The nodes by their ids in the large graph, nearest first: the centre is the first.
    pub nodes: Vec<u32>,
    /// What joins them; node `i` is `nodes[i]`.
    pub graph: Graph,
}

/// Takes in the nodes around a centre, hop after hop, until there are `most` of them.
///
/// Of the hop that would exceed that, those come first whose edge to a node that is in already is likeliest to flip, as
/// `likelihood` tells; then those of lower id.
///
/// ```
/// use fiedler_graph::Graph;
/// use fiedler_report::drawing::neighborhood::around;
/// let (star, _) = Graph::from_pairs(5, vec![(0, 1), (0, 2), (0, 3), (3, 4)])?;
/// let part = around(&star, 0, 3, |_, node| if node == 3 { 0.5 } else { 0.1 })?;
/// assert_eq!(part.nodes, [0, 3, 1]);
/// assert_eq!(part.graph.num_edges(), 2);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
///
/// # Errors
/// When there is no such node.
pub fn around(graph: &Graph, centre: u32, most: usize, likelihood: impl Fn(u32, u32) -> f64) -> Result<Neighborhood> {
    if centre as usize >= graph.num_nodes() {
        return Err(Error::setting("centre of the drawing", centre, format!("a node below {}", graph.num_nodes())));
    }
    let nodes = nearest(graph, centre, most.max(1), likelihood);
    let mut local: Vec<(u32, u32)> = nodes.iter().enumerate().map(|(at, &node)| (node, at as u32)).collect();
    local.sort_unstable();
    let place = |node: u32| local.binary_search_by_key(&node, |&(node, _)| node).ok().map(|found| local[found].1);
    let edges_of = |(at, &node): (usize, &u32)| {
        let inside = graph.neighbors(node).iter().filter_map(|&other| place(other));
        inside.map(|other| (at as u32, other)).filter(|(a, b)| a < b).collect::<Vec<_>>()
    };
    let pairs = nodes.iter().enumerate().flat_map(edges_of).collect();
    let (induced, _) = Graph::from_pairs(nodes.len(), pairs)?;
    Ok(Neighborhood { nodes, graph: induced })
}

fn nearest(graph: &Graph, centre: u32, most: usize, likelihood: impl Fn(u32, u32) -> f64) -> Vec<u32> {
    let mut seen = vec![false; graph.num_nodes()];
    seen[centre as usize] = true;
    let mut nodes = vec![centre];
    let mut hop = 0..1;
    while nodes.len() < most && !hop.is_empty() {
        // The likeliest flip to each node of the next hop; a node may be met from several of this one.
        let mut met: Vec<(u32, f64)> = Vec::new();
        for &node in &nodes[hop.clone()] {
            let new = graph.neighbors(node).iter().filter(|other| !seen[**other as usize]);
            met.extend(new.map(|&other| (other, likelihood(node, other))));
        }
        met.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hop = nodes.len()..nodes.len();
        for (node, _) in met {
            if nodes.len() < most && !seen[node as usize] {
                seen[node as usize] = true;
                nodes.push(node);
            }
        }
        hop.end = nodes.len();
    }
    nodes
}
