//! Many graphs laid side by side as one set, each graph's own node ids counted on.

use fiedler_graph::{Dataset, Features, Graph, GraphSet, MAX_NODES};

use crate::error::{Error, Result};

/// Graphs as they come out of a file: sizes, and pairs of nodes in the order they were read.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// Where the nodes of the graph begun last start in the arena, and where they end.
    start: u32,
    end: u32,
}

impl Assembly {
    /// Graphs whose pairs already count nodes over all graphs.
    pub(super) fn of(sizes: Vec<u32>, pairs: Vec<(u32, u32)>) -> Result<Assembly> {
        let end = sizes.iter().try_fold(0, |end, &size| grown(end, size))?;
        Ok(Assembly { sizes, pairs, start: end, end })
    }

    /// Begins the next graph. The pairs that follow are its own.
    pub(super) fn begin_graph(&mut self, nodes: u32) -> Result<()> {
        self.start = self.end;
        self.end = grown(self.end, nodes)?;
        self.sizes.push(nodes);
        Ok(())
    }

    /// Joins two nodes of the graph begun last, by their ids in that graph.
    pub(super) fn join(&mut self, a: u32, b: u32) -> Result<()> {
        let nodes = self.end - self.start;
        if a.max(b) >= nodes {
            return Err(Error::setting("node id", a.max(b), format!("an id below {nodes}, the nodes of its graph")));
        }
        self.pairs.push((self.start + a, self.start + b));
        Ok(())
    }

    /// Number of graphs so far.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Number of nodes of all graphs so far.
    pub(super) fn num_nodes(&self) -> usize {
        self.end as usize
    }

    /// Number of pairs so far.
    pub(super) fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Builds the set. `pair_features` has one row a pair; an edge given by several pairs keeps the row of the first.
    pub(super) fn into_dataset(self, name: impl Into<String>, pair_features: Option<Features>) -> Result<Dataset> {
        if let Some(features) = &pair_features
            && features.rows() != self.pairs.len()
        {
            let expected = format!("{}, the number of pairs", self.pairs.len());
            return Err(Error::setting("number of edge feature rows", features.rows(), expected));
        }
        let given = pair_features.map(|features| (features, self.pairs.clone()));
        let (arena, report) = Graph::from_pairs(self.end as usize, self.pairs)?;
        let edge_features = given.map(|(features, pairs)| features.gather(&first_pairs(&arena, &pairs)));
        let mut dataset = Dataset::set(name, GraphSet::from_block_diagonal(arena, self.sizes)?);
        dataset.edge_features = edge_features;
        dataset.report.edges = report;
        Ok(dataset)
    }
}

fn grown(nodes: u32, more: u32) -> Result<u32> {
    match nodes.checked_add(more) {
        Some(sum) if sum as usize <= MAX_NODES => Ok(sum),
        _ => Err(Error::setting(
            "number of nodes",
            u64::from(nodes) + u64::from(more),
            format!("at most {MAX_NODES} in all graphs"),
        )),
    }
}

/// For each edge, in the order of [`Graph::edge_pairs`], which pair gave it first.
fn first_pairs(graph: &Graph, pairs: &[(u32, u32)]) -> Vec<u32> {
    let places = graph.edge_lookup();
    let mut first = vec![u32::MAX; graph.num_edges()];
    for (pair, &(a, b)) in pairs.iter().enumerate() {
        if let Some(place) = places.get(a, b) {
            first[place] = first[place].min(pair as u32);
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use fiedler_graph::Dense;

    fn rows(values: &[f32]) -> Option<Features> {
        Some(Features::Dense(Dense::new(values.len(), 1, values.to_vec()).expect("finite")))
    }

    #[test]
    fn an_edge_keeps_the_features_of_the_first_pair_that_gave_it() -> Result<()> {
        let mut assembly = Assembly::default();
        assembly.begin_graph(3)?;
        for (a, b) in [(2, 1), (1, 1), (1, 2), (0, 1)] {
            assembly.join(a, b)?;
        }
        assembly.begin_graph(2)?;
        assembly.join(1, 0)?;
        assert_eq!((assembly.len(), assembly.num_nodes(), assembly.pairs()), (2, 5, 5));

        let dataset = assembly.into_dataset("two", rows(&[21.0, 11.0, 12.0, 1.0, 43.0]))?;
        assert_eq!(dataset.graphs.block_diagonal().edge_pairs().collect::<Vec<_>>(), [(0, 1), (1, 2), (3, 4)]);
        assert_eq!(dataset.edge_features, rows(&[1.0, 21.0, 43.0]));
        assert_eq!((dataset.report.edges.mirrored, dataset.report.edges.self_loops), (1, 1));
        Ok(())
    }

    #[test]
    fn what_does_not_fit_is_an_error() -> Result<()> {
        let mut assembly = Assembly::default();
        assembly.begin_graph(2)?;
        assert!(assembly.join(0, 2).is_err());
        assert!(assembly.join(u32::MAX, 0).is_err());
        assert!(assembly.begin_graph(u32::MAX).is_err());
        assert!(Assembly::of(vec![2, 2], vec![(1, 2)])?.into_dataset("joined", None).is_err());
        assert!(Assembly::of(vec![2], vec![(0, 1)])?.into_dataset("rows", rows(&[1.0, 2.0])).is_err());
        Ok(())
    }
}
