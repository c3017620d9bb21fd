//! The part of a dataset that hangs together.

use crate::dataset::Dataset;
use crate::graph::Graph;
use crate::measure::components;
use crate::set::GraphSet;
use crate::split::Split;

impl Dataset {
    /// The largest connected component of a single graph with all that is known of its nodes; of equal ones that with the lowest node.
    ///
    /// Splits keep the nodes that are left. A set of graphs, and a graph that is connected, stay as they are.
    ///
    /// ```
    /// use fiedler_graph::{Dataset, Graph, Split};
    /// let (graph, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)])?;
    /// let mut dataset = Dataset::single("two parts", graph);
    /// dataset.splits = vec![Split { train: vec![0, 3], test: vec![4], ..Split::default() }];
    /// let largest = dataset.largest_component();
    /// assert_eq!(largest.graph().map(|graph| (graph.num_nodes(), graph.num_edges())), Some((3, 2)));
    /// assert_eq!((&largest.splits[0].train[..], &largest.splits[0].test[..]), (&[1][..], &[2][..]));
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    pub fn largest_component(&self) -> Dataset {
        let Some(graph) = self.graph() else { return self.clone() };
        let (component, count) = components(graph);
        let mut sizes = vec![0usize; count];
        component.iter().for_each(|&part| sizes[part as usize] += 1);
        // The last of the largest, counted from the end, is the first.
        let Some(largest) = (0..count).rev().max_by_key(|&part| sizes[part]).filter(|_| count > 1) else {
            return self.clone();
        };
        let kept: Vec<u32> =
            (0..).zip(&component).filter(|(_, part)| **part == largest as u32).map(|(id, _)| id).collect();
        self.induced(graph, &kept)
    }

    /// Some nodes of the single graph, ascending, with the edges among them.
    fn induced(&self, graph: &Graph, kept: &[u32]) -> Dataset {
        let mut place = vec![None; graph.num_nodes()];
        (0..).zip(kept).for_each(|(at, &node)| place[node as usize] = Some(at));
        let (mut indptr, mut indices) = (vec![0], Vec::new());
        let mut weights = graph.weights().map(|_| Vec::new());
        let mut edges: Vec<u32> = Vec::new();
        let lookup = graph.edge_lookup();
        for &node in kept {
            let row = graph.neighbors(node);
            let of_row = graph.neighbor_weights(node).unwrap_or_default();
            for (slot, &other) in row.iter().enumerate() {
                let Some(other_place) = place[other as usize] else { continue };
                indices.push(other_place);
                weights.iter_mut().for_each(|weights: &mut Vec<f32>| weights.push(of_row[slot]));
                if node < other {
                    edges.extend(lookup.get(node, other).map(|edge| edge as u32));
                }
            }
            indptr.push(indices.len());
        }
        let induced = Graph::from_rows_unchecked(indptr, indices, weights);
        let induced = match graph.names() {
            Some(names) => induced.with_names(names.gather(kept)).expect("one name for each node that is kept"),
            None => induced,
        };
        let ids = |part: &[u32]| part.iter().filter_map(|&node| place[node as usize]).collect();
        let split = |split: &Split| Split {
            name: split.name.clone(),
            train: ids(&split.train),
            validation: ids(&split.validation),
            test: ids(&split.test),
            stopping: ids(&split.stopping),
        };
        Dataset {
            name: self.name.clone(),
            graphs: GraphSet::single(induced),
            features: self.features.as_ref().map(|features| features.gather(kept)),
            stored_features: None,
            feature_names: self.feature_names.clone(),
            edge_features: self.edge_features.as_ref().map(|features| features.gather(&edges)),
            node_labels: self.node_labels.as_ref().map(|labels| labels.gather(kept)),
            graph_labels: self.graph_labels.clone(),
            splits: self.splits.iter().map(split).collect(),
            graph_source: self.graph_source.clone(),
            report: self.report.clone(),
        }
    }
}
