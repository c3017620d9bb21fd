//! Blocks: some nodes of a graph with all edges between them, cut out at a cost that grows with the block and not with the graph.

use std::sync::Arc;

use crate::graph::Graph;
use crate::set::Batch;

/// A growing set of nodes, with memory as long as the graph has nodes, to be used for one block after the other.
///
/// ```
/// use fiedler_graph::NodeMarks;
/// let mut marks = NodeMarks::new(10);
/// assert!(marks.insert(7) && marks.insert(3) && !marks.insert(7));
/// assert_eq!(marks.in_order(), [7, 3]);
/// assert_eq!(marks.take(), [3, 7]);
/// assert!(marks.insert(7));
/// ```
#[derive(Debug, Clone)]
pub struct NodeMarks {
    /// The place of each node in the block at hand; `ABSENT` elsewhere.
    place: Vec<u32>,
    nodes: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl NodeMarks {
    /// No nodes yet, of a graph of so many.
    pub fn new(num_nodes: usize) -> NodeMarks {
        NodeMarks { place: vec![ABSENT; num_nodes], nodes: Vec::new() }
    }

    /// Takes in a node, and tells whether it is new.
    ///
    /// # Panics
    /// When the graph has no such node.
    pub fn insert(&mut self, node: u32) -> bool {
        let place = &mut self.place[node as usize];
        if *place != ABSENT {
            return false;
        }
        *place = self.nodes.len() as u32;
        self.nodes.push(node);
        true
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The nodes in the order they came in.
    pub fn in_order(&self) -> &[u32] {
        &self.nodes
    }

    /// The nodes in ascending order; none are left.
    pub fn take(&mut self) -> Vec<u32> {
        let mut nodes = std::mem::take(&mut self.nodes);
        self.forget(&nodes);
        nodes.sort_unstable();
        nodes
    }

    fn forget(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&node| self.place[node as usize] = ABSENT);
    }
}

impl Graph {
    /// The subgraph that nodes induce: all edges between them, with their weights. Node `i` of it is `nodes[i]`, which must ascend.
    ///
    /// ```
    /// use fiedler_graph::{Graph, NodeMarks};
    /// let (path, _) = Graph::from_pairs(5, vec![(0, 1), (1, 2), (2, 3), (3, 4)])?;
    /// let part = path.induced(&[1, 2, 4], &mut NodeMarks::new(5));
    /// assert_eq!(part.edge_pairs().collect::<Vec<_>>(), [(0, 1)]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Panics
    /// When a node does not exist or is named twice.
    pub fn induced(&self, nodes: &[u32], marks: &mut NodeMarks) -> Graph {
        debug_assert!(nodes.is_sorted_by(|one, other| one < other) && marks.is_empty());
        for (place, &node) in nodes.iter().enumerate() {
            marks.place[node as usize] = place as u32;
        }
        let mut indptr = Vec::with_capacity(nodes.len() + 1);
        indptr.push(0);
        let mut indices = Vec::new();
        let mut weights = self.weights().map(|_| Vec::new());
        for &node in nodes {
            let (row, own) = (self.neighbors(node), self.neighbor_weights(node));
            for (at, &other) in row.iter().enumerate() {
                let place = marks.place[other as usize];
                if place != ABSENT {
                    // Places ascend as the nodes do, so rows stay sorted.
                    indices.push(place);
                    if let (Some(weights), Some(own)) = (&mut weights, own) {
                        weights.push(own[at]);
                    }
                }
            }
            indptr.push(indices.len());
        }
        marks.forget(nodes);
        Graph::from_rows_unchecked(indptr, indices, weights)
    }
}

impl Batch {
    /// Some nodes of a single graph, which must ascend, with all edges between them.
    ///
    /// # Panics
    /// As [`Graph::induced`].
    pub fn block(graph: &Graph, nodes: Vec<u32>, marks: &mut NodeMarks) -> Batch {
        let block = graph.induced(&nodes, marks);
        Batch {
            graph: Arc::new(block),
            node_offsets: vec![0, nodes.len() as u32],
            graphs: vec![0],
            is_block: nodes.len() < graph.num_nodes(),
            node_rows: nodes,
        }
    }
}
