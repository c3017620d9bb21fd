//! One graph of a dataset by itself, some of its graphs, and several datasets as one.

use crate::dataset::{Dataset, GraphSource};
use crate::error::{Error, Result};
use crate::features::{Dense, Features, Sparse};
use crate::graph::Graph;
use crate::labels::{Classes, Labels, MultiLabel, Regression};
use crate::set::GraphSet;

impl Dataset {
    /// One graph of a set by itself, with what is known of it and of its nodes and edges; splits of the set mean nothing to it.
    ///
    /// ```
    /// use fiedler_graph::{Dataset, Graph, GraphSet};
    /// let (arena, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)])?;
    /// let set = Dataset::set("two", GraphSet::from_block_diagonal(arena, vec![2, 3])?);
    /// let second = set.alone(1)?;
    /// assert_eq!((second.name.as_str(), second.graphs.num_nodes(), second.graphs.num_edges()), ("two, graph 1", 3, 2));
    /// assert!(set.alone(2).is_err());
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such graph.
    pub fn alone(&self, graph: usize) -> Result<Dataset> {
        if graph >= self.graphs.len() {
            return Err(Error::setting(
                "graph",
                graph,
                format!("a number below {}, the number of graphs", self.graphs.len()),
            ));
        }
        if self.graphs.len() == 1 {
            return Ok(self.clone());
        }
        let nodes: Vec<u32> = self.graphs.node_range(graph).collect();
        let before: usize = (0..graph).map(|graph| self.graphs.graph_edges(graph)).sum();
        let edges: Vec<u32> = (before..before + self.graphs.graph_edges(graph)).map(|edge| edge as u32).collect();
        Ok(Dataset {
            features: self.features.as_ref().map(|features| features.gather(&nodes)),
            feature_names: self.feature_names.clone(),
            edge_features: self.edge_features.as_ref().map(|features| features.gather(&edges)),
            node_labels: self.node_labels.as_ref().map(|labels| labels.gather(&nodes)),
            graph_labels: self.graph_labels.as_ref().map(|labels| labels.gather(&[graph as u32])),
            ..Dataset::single(format!("{}, graph {graph}", self.name), self.graphs.graph(graph))
        })
    }

    /// Some graphs of a set, in the order given, with all that is known of them. What is not chosen is freed part by part, so that no
    /// two copies of the whole are in memory.
    ///
    /// ```
    /// use fiedler_graph::{Dataset, Graph, GraphSet};
    /// let (arena, _) = Graph::from_pairs(5, vec![(0, 1), (2, 3), (3, 4)])?;
    /// let set = Dataset::set("two", GraphSet::from_block_diagonal(arena, vec![2, 3])?);
    /// let second = set.select(&[1])?;
    /// assert_eq!((second.graphs.len(), second.graphs.num_nodes(), second.graphs.num_edges()), (1, 3, 2));
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When one of them does not exist, or is named twice.
    pub fn select(mut self, graphs: &[u32]) -> Result<Dataset> {
        let of = self.graphs.len();
        let mut chosen = vec![false; of];
        for &graph in graphs {
            match chosen.get_mut(graph as usize) {
                Some(slot @ false) => *slot = true,
                Some(true) => return Err(Error::setting("graph", graph, "each graph at most once")),
                None => {
                    return Err(Error::setting("graph", graph, format!("a number below {of}, the number of graphs")));
                }
            }
        }
        drop(chosen);
        let mut firsts = Vec::with_capacity(of + 1);
        firsts.push(0u32);
        firsts.extend((0..of).scan(0u32, |end, graph| {
            *end += self.graphs.graph_edges(graph) as u32;
            Some(*end)
        }));
        let places: Vec<usize> = graphs.iter().map(|&graph| graph as usize).collect();
        let edges: Vec<u32> = places.iter().flat_map(|&graph| firsts[graph]..firsts[graph + 1]).collect();
        self.edge_features = self.edge_features.map(|features| features.gather(&edges));
        drop((firsts, edges));
        let batch = self.graphs.batch(&places);
        self.features = self.features.map(|features| features.gather(&batch.node_rows));
        self.node_labels = self.node_labels.map(|labels| labels.gather(&batch.node_rows));
        self.graph_labels = self.graph_labels.map(|labels| labels.gather(graphs));
        // Splits are of graphs in a set, and of nodes in a single graph.
        let parted = of > 1 && graphs.len() > 1;
        self.splits = self.splits.iter().filter(|_| parted).map(|split| split.select(graphs)).collect();
        self.graph_source = self.graph_source.map(|source| GraphSource {
            lines: places.iter().map(|&graph| source.lines[graph]).collect(),
            names: source.names.map(|names| places.iter().map(|&graph| names[graph].clone()).collect()),
        });
        let sizes = batch.node_offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
        self.graphs = GraphSet::from_block_diagonal(batch.graph, sizes)?;
        Ok(self)
    }

    /// The graphs of several datasets as one set, with what all of them have: features, labels of nodes and of graphs.
    ///
    /// ```
    /// use fiedler_graph::{Dataset, generate};
    /// let karate = generate::karate_club();
    /// let two = Dataset::gather("two", &[&karate, &karate])?;
    /// assert_eq!((two.graphs.len(), two.graphs.num_edges()), (2, 156));
    /// assert_eq!(two.alone(1)?.graphs.fingerprint(), karate.graphs.fingerprint());
    /// assert_eq!(two.node_labels.map(|labels| labels.len()), Some(68));
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Errors
    /// When some have features, edge features or labels and others not, or of another kind.
    pub fn gather(name: impl Into<String>, datasets: &[&Dataset]) -> Result<Dataset> {
        let mut gathered = Dataset::set(name, gather_graphs(datasets)?);
        let parts = of_all(datasets, "features", |dataset| dataset.features.as_ref())?;
        gathered.features = parts.map(|parts| gather_features(&parts)).transpose()?;
        if let Some(first) = datasets.first() {
            let same = datasets.iter().all(|dataset| dataset.feature_names == first.feature_names);
            gathered.feature_names = first.feature_names.clone().filter(|_| same);
        }
        let parts = of_all(datasets, "features of edges", |dataset| dataset.edge_features.as_ref())?;
        gathered.edge_features = parts.map(|parts| gather_features(&parts)).transpose()?;
        let parts = of_all(datasets, "labels of nodes", |dataset| dataset.node_labels.as_ref())?;
        gathered.node_labels = parts.map(|parts| gather_labels(&parts)).transpose()?;
        let parts = of_all(datasets, "labels of graphs", |dataset| dataset.graph_labels.as_ref())?;
        gathered.graph_labels = parts.map(|parts| gather_labels(&parts)).transpose()?;
        gathered.check()?;
        Ok(gathered)
    }
}

/// A part that either all datasets have or none.
fn of_all<'a, T>(
    datasets: &[&'a Dataset],
    what: &str,
    part: impl Fn(&'a Dataset) -> Option<&'a T>,
) -> Result<Option<Vec<&'a T>>> {
    let parts: Vec<&T> = datasets.iter().filter_map(|dataset| part(dataset)).collect();
    match parts.len() {
        0 => Ok(None),
        some if some == datasets.len() => Ok(Some(parts)),
        some => {
            Err(Error::setting(format!("datasets that have {what}"), some, format!("all {} or none", datasets.len())))
        }
    }
}

fn gather_graphs(datasets: &[&Dataset]) -> Result<GraphSet> {
    let (mut indptr, mut indices, mut sizes) = (vec![0], Vec::new(), Vec::new());
    let weighted = datasets.iter().any(|dataset| dataset.graphs.block_diagonal().weights().is_some());
    let mut weights = weighted.then(Vec::new);
    for dataset in datasets {
        let graph = dataset.graphs.block_diagonal();
        let (nodes, entries) = ((indptr.len() - 1) as u32, indices.len());
        indptr.extend(graph.indptr()[1..].iter().map(|end| end + entries));
        indices.extend(graph.indices().iter().map(|id| id.wrapping_add(nodes)));
        sizes.extend((0..dataset.graphs.len()).map(|graph| dataset.graphs.node_range(graph).len() as u32));
        if let Some(weights) = &mut weights {
            match graph.weights() {
                Some(own) => weights.extend_from_slice(own),
                None => weights.resize(indices.len(), 1.0),
            }
        }
    }
    GraphSet::from_block_diagonal(Graph::from_csr(indptr, indices, weights)?, sizes)
}

fn gather_features(parts: &[&Features]) -> Result<Features> {
    let columns = parts.first().map_or(0, |features| features.columns());
    if let Some(other) = parts.iter().find(|features| features.columns() != columns) {
        return Err(Error::setting("feature columns", other.columns(), format!("{columns}, as in the first dataset")));
    }
    let sparse: Option<Vec<&Sparse>> =
        parts.iter().map(|part| if let Features::Sparse(sparse) = part { Some(sparse) } else { None }).collect();
    let Some(sparse) = sparse else {
        let rows = parts.iter().map(|part| part.rows()).sum();
        let values = parts.iter().flat_map(|part| part.to_dense().values().to_vec()).collect();
        return Ok(Features::Dense(Dense::new(rows, columns, values)?));
    };
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for part in sparse {
        let before = indices.len();
        indptr.extend(part.indptr()[1..].iter().map(|end| end + before));
        indices.extend_from_slice(part.indices());
        values.extend_from_slice(part.values());
    }
    Ok(Features::Sparse(Sparse::new(columns, indptr, indices, values)?))
}

fn gather_labels(parts: &[&Labels]) -> Result<Labels> {
    let other = || {
        Error::setting("labels", "of several kinds", "classes, answers or values in all datasets, under the same names")
    };
    match parts.first() {
        Some(Labels::Classes(_)) => {
            let mut all = Vec::new();
            for part in parts {
                let classes = part.classes().ok_or_else(other)?;
                all.extend(classes.of().iter().map(|class| class.map(|class| &classes.names()[class as usize])));
            }
            Ok(Labels::Classes(Classes::from_labels(all)))
        }
        Some(Labels::MultiLabel(first)) => {
            let mut all = Vec::new();
            for part in parts {
                let Labels::MultiLabel(own) = part else { return Err(other()) };
                let rows = (0..part.len()).flat_map(|row| own.row(row));
                all.extend(rows.copied());
            }
            Ok(Labels::MultiLabel(MultiLabel::new(first.names().to_vec(), all)?))
        }
        Some(Labels::Regression(first)) => {
            let mut all = Vec::new();
            for part in parts {
                let Labels::Regression(own) = part else { return Err(other()) };
                all.extend((0..part.len()).flat_map(|row| own.row(row)).copied());
            }
            Ok(Labels::Regression(Regression::new(first.names().to_vec(), all)?))
        }
        None => Err(other()),
    }
}
