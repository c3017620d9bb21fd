//! Many graphs in one block_diagonal, and batches cut from it.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fingerprint::{self, Cached};
use crate::graph::Graph;

/// Many graphs held as one block-diagonal graph: node ids of graph `g` are `node_range(g)`.
///
/// One graph is a set of one. Per-node data has one row for each node of the block-diagonal graph, per-edge data one for each of its edges,
/// per-graph data one for each graph.
///
/// ```
/// use fiedler_graph::{Graph, GraphSet};
/// let (block_diagonal, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)])?;
/// let set = GraphSet::from_block_diagonal(block_diagonal, vec![2, 3])?;
/// assert_eq!(set.len(), 2);
/// assert_eq!(set.graph(1).neighbors(1), [0, 2]);
/// let batch = set.batch(&[1, 0]);
/// assert_eq!(batch.graph.neighbors(3), [4]);
/// assert_eq!(batch.node_rows, [2, 3, 4, 0, 1]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphSet {
    block_diagonal: Arc<Graph>,
    node_offsets: Vec<u32>,
    fingerprint: Cached,
}

/// Some graphs of a set as one block-diagonal graph, with the way back to the set's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The graphs, one block each. Shared with the set where these are all of its graphs.
    pub graph: Arc<Graph>,
    /// Where each graph's nodes start in the batch, and the end of the last.
    pub node_offsets: Vec<u32>,
    /// For each node of the batch its row in the set: what to hand to [`Features::gather`](crate::Features::gather).
    pub node_rows: Vec<u32>,
    /// The graphs' places in the set.
    pub graphs: Vec<usize>,
    /// Whether it has only some nodes of its one graph ([`Batch::block`]).
    pub is_block: bool,
}

impl Batch {
    /// The batch's ids of the nodes of its graph number `block`.
    pub fn node_range(&self, block: usize) -> Range<u32> {
        self.node_offsets[block]..self.node_offsets[block + 1]
    }
}

impl GraphSet {
    /// A set of one graph.
    pub fn single(graph: Graph) -> GraphSet {
        let nodes = graph.num_nodes() as u32;
        GraphSet { block_diagonal: Arc::new(graph), node_offsets: vec![0, nodes], fingerprint: Cached::default() }
    }

    /// Cuts a block-diagonal graph into graphs of the given numbers of nodes.
    ///
    /// # Errors
    /// When the sizes do not add up to the block-diagonal graph's nodes, or an edge joins two graphs.
    pub fn from_block_diagonal(block_diagonal: impl Into<Arc<Graph>>, sizes: Vec<u32>) -> Result<GraphSet> {
        let block_diagonal = block_diagonal.into();
        let mut node_offsets = Vec::with_capacity(sizes.len() + 1);
        let mut total = 0u64;
        node_offsets.push(0);
        for size in sizes {
            total += u64::from(size);
            node_offsets.push(total.min(u64::from(u32::MAX)) as u32);
        }
        if total != block_diagonal.num_nodes() as u64 {
            return Err(Error::setting(
                "sum of the graphs' sizes",
                total,
                format!("{}, the number of nodes", block_diagonal.num_nodes()),
            ));
        }
        let set = GraphSet { block_diagonal, node_offsets, fingerprint: Cached::default() };
        for graph in 0..set.len() {
            let range = set.node_range(graph);
            for node in range.clone() {
                let row = set.block_diagonal.neighbors(node);
                if let (Some(first), Some(last)) = (row.first(), row.last())
                    && (*first < range.start || *last >= range.end)
                {
                    return Err(Error::setting(
                        format!("edge of node {node} in graph {graph}"),
                        format!("{first} or {last}"),
                        format!("a neighbor in the same graph, {} to {}", range.start, range.end - 1),
                    ));
                }
            }
        }
        Ok(set)
    }

    /// Number of graphs.
    pub fn len(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Whether the set holds no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All graphs as one block-diagonal graph.
    pub fn block_diagonal(&self) -> &Graph {
        &self.block_diagonal
    }

    /// Number of nodes of all graphs.
    pub fn num_nodes(&self) -> usize {
        self.block_diagonal.num_nodes()
    }

    /// Number of edges of all graphs.
    pub fn num_edges(&self) -> usize {
        self.block_diagonal.num_edges()
    }

    /// The block_diagonal's ids of a graph's nodes.
    pub fn node_range(&self, graph: usize) -> Range<u32> {
        self.node_offsets[graph]..self.node_offsets[graph + 1]
    }

    /// Where each graph's nodes start in the block-diagonal graph, and the end of the last: PyTorch Geometric's `ptr`.
    pub fn node_offsets(&self) -> &[u32] {
        &self.node_offsets
    }

    /// The graph that a node of the block-diagonal graph belongs to.
    pub fn graph_of(&self, node: u32) -> usize {
        self.node_offsets.partition_point(|&first| first <= node) - 1
    }

    /// Number of undirected edges of a graph.
    pub fn graph_edges(&self, graph: usize) -> usize {
        self.entry_range(graph).len() / 2
    }

    /// One graph by itself, ids from zero.
    pub fn graph(&self, graph: usize) -> Graph {
        if self.len() == 1 {
            return Graph::clone(&self.block_diagonal);
        }
        Arc::unwrap_or_clone(self.batch(&[graph]).graph)
    }

    /// The chosen graphs as one block-diagonal graph, in the order given.
    pub fn batch(&self, graphs: &[usize]) -> Batch {
        let (node_offsets, node_rows) = (Vec::new(), Vec::new());
        let mut batch =
            Batch { graph: Arc::new(Graph::empty(0)), node_offsets, node_rows, graphs: Vec::new(), is_block: false };
        self.batch_into(graphs, &mut batch);
        batch
    }

    /// All graphs, in their order. Their edges are not copied.
    pub fn whole(&self) -> Batch {
        Batch {
            graph: Arc::clone(&self.block_diagonal),
            node_offsets: self.node_offsets.clone(),
            node_rows: (0..self.num_nodes() as u32).collect(),
            graphs: (0..self.len()).collect(),
            is_block: false,
        }
    }

    /// A hash of every edge, weight and size: equal for equal sets, different for any two sets one will ever meet.
    /// Computed once, however often it is asked for.
    pub fn fingerprint(&self) -> String {
        self.fingerprint.get(|| fingerprint::of_graphs(self))
    }

    /// As [`GraphSet::batch`], reusing the memory of an earlier batch.
    pub fn batch_into(&self, graphs: &[usize], batch: &mut Batch) {
        let before = std::mem::replace(&mut batch.graph, Arc::new(Graph::empty(0)));
        // What somebody else still looks at is left to them.
        let (mut indptr, mut indices, weights) = Arc::into_inner(before).map(Graph::into_csr).unwrap_or_default();
        let mut weights = self.block_diagonal.weights().map(|_| weights.unwrap_or_default());
        indptr.clear();
        indices.clear();
        weights.iter_mut().for_each(Vec::clear);
        batch.node_offsets.clear();
        batch.node_rows.clear();
        batch.graphs.clear();
        batch.is_block = false;
        batch.graphs.extend_from_slice(graphs);
        batch.node_offsets.push(0);
        indptr.push(0);

        for &graph in graphs {
            let nodes = self.node_range(graph);
            let entries = self.entry_range(graph);
            // Wrapping: the block may move to lower ids as well as to higher ones.
            let shift = (batch.node_rows.len() as u32).wrapping_sub(nodes.start);
            let entry_shift = indices.len().wrapping_sub(entries.start);
            let starts = &self.block_diagonal.indptr()[nodes.start as usize + 1..=nodes.end as usize];
            indptr.extend(starts.iter().map(|start| start.wrapping_add(entry_shift)));
            indices.extend(self.block_diagonal.indices()[entries.clone()].iter().map(|id| id.wrapping_add(shift)));
            if let (Some(batched), Some(all)) = (&mut weights, self.block_diagonal.weights()) {
                batched.extend_from_slice(&all[entries]);
            }
            batch.node_rows.extend(nodes);
            batch.node_offsets.push(batch.node_rows.len() as u32);
        }
        batch.graph = Arc::new(Graph::from_rows_unchecked(indptr, indices, weights));
    }

    fn entry_range(&self, graph: usize) -> Range<usize> {
        let nodes = self.node_range(graph);
        self.block_diagonal.indptr()[nodes.start as usize]..self.block_diagonal.indptr()[nodes.end as usize]
    }
}
