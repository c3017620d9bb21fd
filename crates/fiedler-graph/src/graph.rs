//! The one graph type: undirected, simple, compressed sparse rows.

use std::sync::Arc;

use rayon::prelude::*;

use crate::build::{self, Chunk, PairChunk, Rows};
use crate::csr;
use crate::error::{Error, Result};
use crate::names::Names;

/// The most nodes a graph can have. Ids are `u32`; the builder keeps one bit for itself.
pub const MAX_NODES: usize = (u32::MAX >> 1) as usize;

/// An undirected simple graph in compressed sparse rows.
///
/// Every edge is stored from both of its ends, the neighbors of a node are sorted, and there are neither self-loops nor
/// repeated edges. Isolated nodes and several components are normal. Clones share the node names.
///
/// ```
/// use fiedler_graph::Graph;
///
/// let (graph, report) = Graph::from_pairs(4, vec![(0, 1), (1, 0), (1, 2), (2, 2)])?;
/// assert_eq!(graph.neighbors(1), [0, 2]);
/// assert_eq!(graph.num_edges(), 2);
/// assert_eq!((report.mirrored, report.self_loops), (1, 1));
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    weights: Option<Vec<f32>>,
    names: Option<Arc<Names>>,
}

/// What building a simple undirected graph made of the pairs it was given.
///
/// `pairs = edges + mirrored + repeated + self_loops`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct BuildReport {
    /// Pairs given.
    pub pairs: u64,
    /// Edges kept.
    pub edges: u64,
    /// Edges given in both directions, (a, b) and (b, a): merged into one.
    pub mirrored: u64,
    /// Pairs given again in the same direction: merged.
    pub repeated: u64,
    /// Pairs of a node with itself: dropped.
    pub self_loops: u64,
    /// Of the pairs that were merged, those with another weight than the one before: the largest is kept.
    pub reweighted: u64,
}

impl BuildReport {
    /// The two reports added up, as for a set of graphs.
    pub fn plus(self, other: BuildReport) -> BuildReport {
        BuildReport {
            pairs: self.pairs + other.pairs,
            edges: self.edges + other.edges,
            mirrored: self.mirrored + other.mirrored,
            repeated: self.repeated + other.repeated,
            self_loops: self.self_loops + other.self_loops,
            reweighted: self.reweighted + other.reweighted,
        }
    }
}

impl Graph {
    /// A graph of `nodes` nodes and no edges.
    pub fn empty(nodes: usize) -> Graph {
        Graph { indptr: vec![0; nodes + 1], indices: Vec::new(), weights: None, names: None }
    }

    /// Builds the graph from pairs of node ids in any order and direction.
    ///
    /// Pairs are made undirected, duplicates merged, self-loops dropped; the report counts each.
    ///
    /// # Errors
    /// When an id is not below `nodes`, or `nodes` exceeds [`MAX_NODES`].
    pub fn from_pairs(nodes: usize, pairs: Vec<(u32, u32)>) -> Result<(Graph, BuildReport)> {
        check_ids(nodes, &pairs)?;
        Ok(Graph::from_built(build::rows(nodes, pairs.len(), build::chunks(&pairs, None))))
    }

    /// Builds a weighted graph; `weights[k]` belongs to `pairs[k]`. Of merged duplicates the largest weight stays.
    ///
    /// # Errors
    /// As [`Graph::from_pairs`], and when a weight is not a positive finite number or their count is not that of the pairs.
    pub fn from_weighted_pairs(
        nodes: usize,
        pairs: Vec<(u32, u32)>,
        weights: Vec<f32>,
    ) -> Result<(Graph, BuildReport)> {
        check_ids(nodes, &pairs)?;
        check_weights(&weights, pairs.len(), "pairs")?;
        let chunks = build::chunks(&pairs, Some(&weights));
        Ok(Graph::from_built(build::weighted_rows(nodes, pairs.len(), chunks)))
    }

    /// As [`Graph::from_pairs`], of pairs in several chunks, each of which is freed as soon as it is used.
    ///
    /// A parser that works in parallel hands over what each thread found, and at no time are all pairs and the graph in memory.
    /// `weighted` says whether the chunks' weights count.
    ///
    /// # Errors
    /// As [`Graph::from_pairs`] and, when it is weighted, [`Graph::from_weighted_pairs`].
    ///
    /// ```
    /// use fiedler_graph::{Graph, PairChunk};
    /// let chunk = |pairs: &[(u32, u32)]| PairChunk { pairs: pairs.to_vec(), weights: Vec::new() };
    /// let (graph, _) = Graph::from_chunks(3, false, vec![chunk(&[(1, 0)]), chunk(&[(1, 2)])])?;
    /// assert_eq!(graph.neighbors(1), [0, 2]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn from_chunks(nodes: usize, weighted: bool, chunks: Vec<PairChunk>) -> Result<(Graph, BuildReport)> {
        check_nodes(nodes)?;
        chunks.par_iter().try_for_each(|chunk| {
            check_pairs(nodes, &chunk.pairs)?;
            if weighted { check_weights(&chunk.weights, chunk.pairs.len(), "pairs") } else { Ok(()) }
        })?;
        let pairs = chunks.iter().map(|chunk| chunk.pairs.len()).sum();
        let chunks = chunks.into_par_iter().map(Chunk::from);
        Ok(Graph::from_built(match weighted {
            true => build::weighted_rows(nodes, pairs, chunks),
            false => build::rows(nodes, pairs, chunks),
        }))
    }

    /// Takes over compressed sparse rows that already are those of a simple undirected graph, and checks that they are.
    ///
    /// The neighbors of node `v` are `indices[indptr[v]..indptr[v + 1]]`; weights stand beside the indices.
    ///
    /// # Errors
    /// When the arrays do not fit together, a row is not sorted or repeats a neighbor, an id is out of range, there is a self-loop, an
    /// edge is there in one direction only or has two weights, or a weight is not a positive finite number.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// let path = Graph::from_csr(vec![0, 1, 3, 4], vec![1, 0, 2, 1], None)?;
    /// assert_eq!(path, Graph::from_pairs(3, vec![(0, 1), (1, 2)])?.0);
    /// assert!(Graph::from_csr(vec![0, 1, 1], vec![1], None).is_err(), "one direction only");
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn from_csr(indptr: Vec<usize>, indices: Vec<u32>, weights: Option<Vec<f32>>) -> Result<Graph> {
        csr::check(&indptr, &indices, weights.as_deref())?;
        Ok(Graph { indptr, indices, weights, names: None })
    }

    fn from_built(rows: Rows) -> (Graph, BuildReport) {
        let Rows { indptr, indices, weights, report } = rows;
        (Graph { indptr, indices, weights, names: None }, report)
    }

    /// Takes over rows that already are what a graph must be: sorted, symmetric, without loops and duplicates.
    pub(crate) fn from_rows_unchecked(indptr: Vec<usize>, indices: Vec<u32>, weights: Option<Vec<f32>>) -> Graph {
        debug_assert_eq!(indptr.last(), Some(&indices.len()));
        Graph { indptr, indices, weights, names: None }
    }

    /// Takes the node names of another graph on the same nodes.
    pub(crate) fn share_names(&mut self, other: &Graph) {
        self.names.clone_from(&other.names);
    }

    /// Gives up the arrays of [`Graph::from_csr`]: `indptr`, `indices` and weights, none of them copied.
    pub fn into_csr(self) -> (Vec<usize>, Vec<u32>, Option<Vec<f32>>) {
        (self.indptr, self.indices, self.weights)
    }

    /// The same graph, its nodes bearing the user's own names.
    ///
    /// # Errors
    /// When there is not one name for each node.
    pub fn with_names(mut self, names: Names) -> Result<Graph> {
        if names.len() != self.num_nodes() {
            return Err(Error::setting(
                "number of node names",
                names.len(),
                format!("one for each of {} nodes", self.num_nodes()),
            ));
        }
        self.names = Some(Arc::new(names));
        Ok(self)
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of undirected edges.
    pub fn num_edges(&self) -> usize {
        self.indices.len() / 2
    }

    /// Number of neighbors of a node.
    pub fn degree(&self, node: u32) -> usize {
        self.row(node).len()
    }

    /// The neighbors of a node, sorted.
    pub fn neighbors(&self, node: u32) -> &[u32] {
        &self.indices[self.row(node)]
    }

    /// The weights of a node's edges, beside [`Graph::neighbors`]; `None` when the graph is unweighted.
    pub fn neighbor_weights(&self, node: u32) -> Option<&[f32]> {
        self.weights.as_ref().map(|weights| &weights[self.row(node)])
    }

    /// Where each node's row starts in [`Graph::indices`], and the end of the last: `nodes + 1` numbers.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// All rows one after the other: every edge from both of its ends.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    /// The weights beside [`Graph::indices`].
    pub fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// The user's own node names, when they are not just 0, 1, 2 ….
    pub fn names(&self) -> Option<&Names> {
        self.names.as_deref()
    }

    /// The name of a node as the user knows it.
    pub fn name(&self, node: u32) -> String {
        match &self.names {
            Some(names) => names.get(node as usize).to_string(),
            None => node.to_string(),
        }
    }

    /// Whether two nodes are joined.
    pub fn has_edge(&self, a: u32, b: u32) -> bool {
        self.neighbors(a).binary_search(&b).is_ok()
    }

    /// Every undirected edge once, as `(low, high)`, in ascending order. This is the order of all per-edge data.
    pub fn edge_pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.num_nodes() as u32).flat_map(move |node| self.higher(node).iter().map(move |&other| (node, other)))
    }

    /// The neighbors of a node with a higher id.
    pub fn higher(&self, node: u32) -> &[u32] {
        let row = self.neighbors(node);
        &row[row.partition_point(|&other| other < node)..]
    }

    /// Edge index: sources and targets of all edges, each edge in both directions, in the order of [`Graph::indices`].
    ///
    /// This is PyTorch Geometric's `edge_index`, an array of 2 × 2E; [`Graph::edge_lookup`] finds the place of an edge.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
    /// assert_eq!(path.edge_index(), [vec![0, 1, 1, 2], vec![1, 0, 2, 1]]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn edge_index(&self) -> [Vec<u32>; 2] {
        let mut sources = Vec::with_capacity(self.indices.len());
        for node in 0..self.num_nodes() as u32 {
            sources.resize(sources.len() + self.degree(node), node);
        }
        [sources, self.indices.clone()]
    }

    /// Looks up edges' places in the order of [`Graph::edge_pairs`].
    pub fn edge_lookup(&self) -> EdgeLookup<'_> {
        let mut first = Vec::with_capacity(self.num_nodes());
        let mut total = 0;
        for node in 0..self.num_nodes() as u32 {
            first.push(total);
            total += self.higher(node).len();
        }
        EdgeLookup { graph: self, first }
    }

    /// For each of [`Graph::indices`] its place among those of another graph on the same nodes; `None` where the other graph does not
    /// have that edge. Tells which edges of a graph a view of it has kept.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
    /// let view = path.flipped(&[(0, 1), (0, 2)])?;
    /// assert_eq!(view.edge_index(), [vec![0, 1, 2, 2], vec![2, 2, 0, 1]]);
    /// assert_eq!(view.places_in(&path), [None, Some(2), None, Some(3)]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn places_in(&self, other: &Graph) -> Vec<Option<usize>> {
        let mut places = Vec::with_capacity(self.indices.len());
        for node in 0..self.num_nodes() as u32 {
            let row = if (node as usize) < other.num_nodes() { other.row(node) } else { 0..0 };
            let mut at = row.start;
            for &neighbor in self.neighbors(node) {
                while at < row.end && other.indices[at] < neighbor {
                    at += 1;
                }
                places.push((at < row.end && other.indices[at] == neighbor).then_some(at));
            }
        }
        places
    }

    /// Copies one value an edge, in the order of [`Graph::edge_pairs`], to both entries of that edge.
    pub fn spread_to_entries<T: Copy + Default>(&self, of_edges: &[T]) -> Vec<T> {
        let mut spread = vec![T::default(); self.indices.len()];
        let mut next = self.indptr.clone();
        for ((low, high), &value) in self.edge_pairs().zip(of_edges) {
            for end in [low, high] {
                spread[next[end as usize]] = value;
                next[end as usize] += 1;
            }
        }
        spread
    }

    /// One weight an edge, in the order of [`Graph::edge_pairs`]; `None` when the graph is unweighted.
    pub fn edge_weights(&self) -> Option<Vec<f32>> {
        let weights = self.weights.as_ref()?;
        let mut of_edges = Vec::with_capacity(self.num_edges());
        for node in 0..self.num_nodes() as u32 {
            let row = self.row(node);
            of_edges.extend_from_slice(&weights[row.end - self.higher(node).len()..row.end]);
        }
        Some(of_edges)
    }

    fn row(&self, node: u32) -> std::ops::Range<usize> {
        self.indptr[node as usize]..self.indptr[node as usize + 1]
    }
}

/// Finds an edge's place in the order of [`Graph::edge_pairs`].
#[derive(Debug)]
pub struct EdgeLookup<'a> {
    graph: &'a Graph,
    first: Vec<usize>,
}

impl EdgeLookup<'_> {
    /// The place of the edge between two nodes, given in either order; `None` when there is no such edge.
    pub fn get(&self, a: u32, b: u32) -> Option<usize> {
        let (low, high) = (a.min(b), a.max(b));
        let position = self.graph.higher(low).binary_search(&high).ok()?;
        Some(self.first[low as usize] + position)
    }
}

pub(crate) fn check_nodes(nodes: usize) -> Result<()> {
    if nodes > MAX_NODES {
        return Err(Error::setting("number of nodes", nodes, format!("at most {MAX_NODES}")));
    }
    Ok(())
}

fn check_ids(nodes: usize, pairs: &[(u32, u32)]) -> Result<()> {
    check_nodes(nodes)?;
    match pairs.par_iter().map(|&(a, b)| a.max(b)).max() {
        Some(id) if id as usize >= nodes => Err(bad_id(nodes, id)),
        _ => Ok(()),
    }
}

/// As [`check_ids`], on the thread that asks.
fn check_pairs(nodes: usize, pairs: &[(u32, u32)]) -> Result<()> {
    match pairs.iter().map(|&(a, b)| a.max(b)).max() {
        Some(id) if id as usize >= nodes => Err(bad_id(nodes, id)),
        _ => Ok(()),
    }
}

pub(crate) fn bad_id(nodes: usize, id: u32) -> Error {
    Error::setting("node id", id, format!("an id below {nodes}, the number of nodes"))
}

pub(crate) fn check_weights(weights: &[f32], count: usize, of: &str) -> Result<()> {
    if weights.len() != count {
        return Err(Error::setting("number of weights", weights.len(), format!("one for each of {count} {of}")));
    }
    match weights.iter().find(|weight| !(weight.is_finite() && **weight > 0.0)) {
        Some(bad) => Err(Error::setting("edge weight", bad, "a positive finite number")),
        None => Ok(()),
    }
}
