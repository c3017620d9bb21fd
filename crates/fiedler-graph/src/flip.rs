//! A graph with some of its pairs flipped: edges become non-edges, non-edges become edges.

use crate::error::{Error, Result};
use crate::graph::Graph;

impl Graph {
    /// The graph in which every given pair is flipped. Cost is proportional to the edges and the flips. Added edges weigh 1.
    ///
    /// ```
    /// use fiedler_graph::Graph;
    /// let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
    /// let flipped = path.flipped(&[(0, 1), (2, 0)])?;
    /// assert_eq!(flipped.edge_pairs().collect::<Vec<_>>(), [(0, 2), (1, 2)]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When a pair names a node that does not exist, joins a node to itself, or is given twice.
    pub fn flipped(&self, flips: &[(u32, u32)]) -> Result<Graph> {
        let nodes = self.num_nodes();
        let mut starts = vec![0usize; nodes + 2];
        for &(a, b) in flips {
            if a == b || a.max(b) as usize >= nodes {
                return Err(Error::setting("flipped pair", format!("({a}, {b})"), format!("two nodes below {nodes}")));
            }
            starts[a as usize + 2] += 1;
            starts[b as usize + 2] += 1;
        }
        for node in 2..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut flipped = vec![0u32; 2 * flips.len()];
        for &(a, b) in flips {
            for (node, other) in [(a, b), (b, a)] {
                let slot = &mut starts[node as usize + 1];
                flipped[*slot] = other;
                *slot += 1;
            }
        }

        let mut rows = Rows::with_capacity(nodes, self.indices().len() + flipped.len(), self.weights().is_some());
        for node in 0..nodes {
            let changes = &mut flipped[starts[node]..starts[node + 1]];
            changes.sort_unstable();
            if let Some(twice) = changes.windows(2).find(|pair| pair[0] == pair[1]) {
                let pair = format!("({node}, {}) twice", twice[0]);
                return Err(Error::setting("flipped pair", pair, "each pair at most once"));
            }
            let row = self.neighbors(node as u32);
            let weights = self.neighbor_weights(node as u32).unwrap_or_default();
            let mut kept = 0;
            for &change in changes.iter() {
                let at = kept + row[kept..].partition_point(|&other| other < change);
                rows.extend(&row[kept..at], weights.get(kept..at));
                kept = at;
                if row.get(at) == Some(&change) {
                    kept += 1;
                } else {
                    rows.extend(&[change], Some(&[1.0]));
                }
            }
            rows.extend(&row[kept..], weights.get(kept..));
            rows.end_row();
        }
        let mut graph = Graph::from_rows_unchecked(rows.indptr, rows.indices, rows.weights);
        graph.share_names(self);
        Ok(graph)
    }
}

/// Rows as they grow.
struct Rows {
    indptr: Vec<usize>,
    indices: Vec<u32>,
    weights: Option<Vec<f32>>,
}

impl Rows {
    fn with_capacity(nodes: usize, entries: usize, weighted: bool) -> Rows {
        let mut indptr = Vec::with_capacity(nodes + 1);
        indptr.push(0);
        Rows { indptr, indices: Vec::with_capacity(entries), weights: weighted.then(|| Vec::with_capacity(entries)) }
    }

    fn extend(&mut self, neighbors: &[u32], weights: Option<&[f32]>) {
        self.indices.extend_from_slice(neighbors);
        if let (Some(all), Some(weights)) = (&mut self.weights, weights) {
            all.extend_from_slice(weights);
        }
    }

    fn end_row(&mut self) {
        self.indptr.push(self.indices.len());
    }
}
