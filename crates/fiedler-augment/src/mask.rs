//! Hiding features: columns from all nodes, or everything from some nodes.
//!
//! [`MaskFeatures`] and [`MaskNodes`] are steps of a view's [`pipeline`](crate::pipeline); what they draw is a [`Mask`], and
//! [`Mask::apply`] defines what a mask means.
//!
//! ```
//! use fiedler_augment::pipeline::{ComputeSchemes, FitContext, Pipeline};
//! use fiedler_augment::{ViewKey, mask::MaskFeatures};
//! use fiedler_graph::{Features, NoObserver, generate};
//!
//! let karate = generate::karate_club();
//! let features = Features::degrees(karate.graphs.block_diagonal(), 10);
//! let mut schemes = ComputeSchemes::new(&karate.graphs, &NoObserver);
//! let mut context = FitContext { set: &karate.graphs, features: &features, schemes: &mut schemes };
//! let pipeline = Pipeline::MaskFeatures(MaskFeatures { rate: 0.5, ..Default::default() }).fit(&mut context)?;
//! let view = pipeline.draw(&karate.graphs.whole(), ViewKey::new(1, 0, 0))?;
//! assert!(view.mask.apply(&features)?.density() < features.density());
//! # Ok::<(), fiedler_augment::Error>(())
//! ```

use fiedler_graph::{Batch, Categorical, Dense, Features, GraphSet, Sparse};
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::centrality::{Centrality, fading};
use crate::error::{Error, Result, check_share};
pub use crate::mask_fill::{Fill, MaskFill};
use crate::sample::choose;
use crate::scheme::ViewKey;

/// Feature masking: columns are hidden from all nodes, anew in every epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaskFeatures {
    /// Probability of hiding a column.
    pub rate: f64,
    /// Hides columns that belong to central nodes less often, as GCA does. Without it all columns are alike, as in GRACE.
    pub centrality: Option<Centrality>,
    /// The most probable hiding of a column, where columns are not alike.
    pub cutoff: f64,
    /// Whether every graph of a set has a mask of its own; otherwise all graphs of an epoch share one.
    pub each_graph: bool,
}

impl Default for MaskFeatures {
    fn default() -> Self {
        MaskFeatures { rate: 0.3, centrality: None, cutoff: 0.7, each_graph: false }
    }
}

/// Node masking: some nodes lose all features. The attribute masking of GraphCL and GraphMAE.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaskNodes {
    /// Share of each graph's nodes: of `n` nodes, `⌊n · rate⌋`.
    pub rate: f64,
    /// What takes the place of their features, where these are numbers.
    #[serde(skip_serializing_if = "MaskFill::is_zero")]
    pub fill: MaskFill,
}

/// The probability of hiding each column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnMasker {
    probabilities: Vec<f64>,
    each_graph: bool,
}

/// What is hidden. Where something is `None`, nothing of the kind is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    /// For each column whether it is hidden from all nodes.
    pub columns: Option<Vec<bool>>,
    /// The same for each graph of the batch by itself.
    pub graph_columns: Option<GraphColumns>,
    /// For each node of the batch whether all its features are hidden.
    pub nodes: Option<Vec<bool>>,
    /// For each node of the batch what takes the place of its features, if they are all hidden and are numbers; without it, zeros.
    pub fills: Option<Vec<Fill>>,
}

/// Columns that are hidden from the nodes of one graph, for each graph of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GraphColumns {
    /// For each node the place of its graph in the batch.
    pub graph_of: Vec<u32>,
    /// For each graph of the batch whether each column is hidden.
    pub hidden: Vec<Vec<bool>>,
}

impl MaskFeatures {
    pub(crate) fn check(&self) -> Result<()> {
        check_share("feature masking rate", self.rate)?;
        check_share("cutoff", self.cutoff)
    }

    /// Finds the probability of every column.
    pub(crate) fn fit(&self, set: &GraphSet, features: &Features) -> Result<ColumnMasker> {
        self.check()?;
        if features.rows() != set.num_nodes() {
            let expected = format!("one for each of {} nodes", set.num_nodes());
            return Err(Error::setting("number of feature rows", features.rows(), expected));
        }
        let probabilities = match self.centrality {
            Some(centrality) => fading(&column_importance(set, features, centrality), self.rate, self.cutoff),
            None => vec![self.rate; features.columns()],
        };
        Ok(ColumnMasker { probabilities, each_graph: self.each_graph })
    }
}

/// How much of each column central nodes have: `Σ_i φ_i |x_ij|`, where a sparse feature is there or not.
fn column_importance(set: &GraphSet, features: &Features, centrality: Centrality) -> Vec<f64> {
    let of_graph = |graph| centrality.of_nodes(&set.graph(graph));
    let central: Vec<f64> = (0..set.len()).flat_map(of_graph).collect();
    let mut importance = vec![0.0; features.columns()];
    for (row, &central) in central.iter().enumerate() {
        match features {
            Features::Dense(dense) => {
                importance.iter_mut().zip(dense.row(row)).for_each(|(sum, x)| *sum += central * f64::from(x.abs()));
            }
            Features::Sparse(sparse) => {
                sparse.row(row).0.iter().for_each(|&column| importance[column as usize] += central);
            }
            // Every node has a category in every column.
            Features::Categorical(_) => importance.iter_mut().for_each(|sum| *sum += central),
        }
    }
    importance
}

impl ColumnMasker {
    /// Draws which columns are hidden. They depend on the key alone, so that they are the same for all graphs; or on the key and the
    /// graph, so that those of a graph are the same in whatever batch.
    pub(crate) fn draw(&self, batch: &Batch, key: ViewKey, mask: &mut Mask) {
        let draw = |mut random: rand_chacha::ChaCha8Rng| -> Vec<bool> {
            self.probabilities.iter().map(|&probability| random.random::<f64>() < probability).collect()
        };
        if !self.each_graph {
            let drawn = draw(key.stream("mask of columns", u64::from(key.epoch)));
            mask.columns = Some(either(mask.columns.take(), drawn));
            return;
        }
        let drawn = batch.graphs.iter().map(|&graph| draw(key.stream("mask of columns of a graph", key.index(graph))));
        mask.graph_columns =
            GraphColumns::either(mask.graph_columns.take(), Some(GraphColumns::new(batch, drawn.collect())));
    }
}

impl GraphColumns {
    /// What is hidden from each graph of a batch.
    pub(crate) fn new(batch: &Batch, hidden: Vec<Vec<bool>>) -> GraphColumns {
        let of_block = |block: usize| batch.node_range(block).map(move |_| block as u32);
        GraphColumns { graph_of: (0..batch.graphs.len()).flat_map(of_block).collect(), hidden }
    }

    /// What either of two hides from the graphs of the same batch.
    pub(crate) fn either(one: Option<GraphColumns>, other: Option<GraphColumns>) -> Option<GraphColumns> {
        let (Some(one), Some(other)) = (&one, &other) else { return one.or(other) };
        let hidden = one.hidden.iter().zip(&other.hidden).map(|(one, other)| either(Some(one.clone()), other.clone()));
        Some(GraphColumns { graph_of: one.graph_of.clone(), hidden: hidden.collect() })
    }
}

impl MaskNodes {
    pub(crate) fn check(&self) -> Result<()> {
        check_share("node masking rate", self.rate)
    }

    /// Draws which nodes are hidden; those of a graph are the same in whatever batch.
    pub(crate) fn draw(&self, batch: &Batch, key: ViewKey, mask: &mut Mask) {
        let of_graph = |(block, &graph): (usize, &usize)| {
            let nodes = batch.node_range(block).len();
            let mut random = key.stream("mask of nodes", key.index(graph));
            // A share such as 0.29 of 100 must not lose a node to rounding.
            choose(nodes, (self.rate * nodes as f64 + 1e-9) as usize, &mut random)
        };
        let drawn: Vec<bool> = batch.graphs.iter().enumerate().flat_map(of_graph).collect();
        if self.fill != MaskFill::Zero {
            let mut fills = Vec::with_capacity(drawn.len());
            for (block, &graph) in batch.graphs.iter().enumerate() {
                let nodes = batch.node_range(block);
                let mut random = key.stream("seeds of noise", key.index(graph));
                fills.extend(nodes.clone().map(|node| match self.fill {
                    _ if !drawn[node as usize] => Fill::Zero,
                    MaskFill::Noise => Fill::Noise(random.random()),
                    _ => Fill::Mean(nodes.start, nodes.end),
                }));
            }
            mask.fills = Fill::later(mask.fills.take(), Some(fills));
        }
        mask.nodes = Some(either(mask.nodes.take(), drawn));
    }
}

/// What either of two masks hides.
fn either(one: Option<Vec<bool>>, mut other: Vec<bool>) -> Vec<bool> {
    other.iter_mut().zip(one.into_iter().flatten()).for_each(|(other, one)| *other |= one);
    other
}

impl Mask {
    /// Whether nothing is hidden.
    pub fn is_empty(&self) -> bool {
        self.columns.is_none() && self.graph_columns.is_none() && self.nodes.is_none()
    }

    /// Whether a node's feature is hidden.
    pub fn hides(&self, node: usize, column: usize) -> bool {
        let hidden = |marks: &Option<Vec<bool>>, at: usize| marks.as_ref().is_some_and(|marks| marks[at]);
        let of_graph = || {
            let columns = self.graph_columns.as_ref();
            columns.is_some_and(|columns| columns.hidden[columns.graph_of[node] as usize][column])
        };
        hidden(&self.columns, column) || hidden(&self.nodes, node) || of_graph()
    }

    /// The features of a batch's nodes with what is hidden taken away.
    ///
    /// Numbers become zero. A category becomes one that no node has by itself, the code after the last, and every column's
    /// number of categories grows by that one, whether anything is hidden or not: an encoder learns what a hidden category
    /// means, as it does in the pre-training of molecules, and its tables have the same size for every view.
    ///
    /// # Errors
    /// When the mask is not one for these features, or a column of categories has no code left.
    pub fn apply(&self, features: &Features) -> Result<Features> {
        check_length("columns", &self.columns, features.columns())?;
        check_length("nodes", &self.nodes, features.rows())?;
        if let Some(fills) = &self.fills
            && fills.len() != features.rows()
        {
            let expected = format!("{}, as the features have", features.rows());
            return Err(Error::setting("number of fills in a mask", fills.len(), expected));
        }
        if let Some(columns) = &self.graph_columns {
            let (found, expected) = (columns.graph_of.len(), features.rows());
            let graphs = columns.hidden.len();
            let unknown = columns.graph_of.iter().any(|&graph| graph as usize >= graphs);
            let narrow = columns.hidden.iter().any(|hidden| hidden.len() != features.columns());
            if found != expected || unknown || narrow {
                let name = "size of the mask of each graph";
                let found = format!("{found} nodes and {graphs} graphs");
                let expected = format!("{expected} nodes of known graphs and {} columns each", features.columns());
                return Err(Error::setting(name, found, expected));
            }
        }
        let masked = match features {
            Features::Dense(dense) => {
                let mut values = dense.values().to_vec();
                for (at, value) in values.iter_mut().enumerate() {
                    if self.hides(at / features.columns(), at % features.columns()) {
                        *value = 0.0;
                    }
                }
                for (row, fill) in self.filled() {
                    if let Some(of_row) = fill.row(features) {
                        values[row * of_row.len()..(row + 1) * of_row.len()].copy_from_slice(&of_row);
                    }
                }
                Features::Dense(Dense::new(features.rows(), features.columns(), values)?)
            }
            Features::Sparse(sparse) => Features::Sparse(self.apply_to_sparse(sparse, features)?),
            Features::Categorical(categorical) => Features::Categorical(self.apply_to_categories(categorical)?),
        };
        Ok(masked)
    }

    /// The nodes whose features are hidden and have something in their place.
    fn filled(&self) -> impl Iterator<Item = (usize, Fill)> + '_ {
        let fills = self.fills.iter().flatten().copied().enumerate();
        fills.filter(|&(row, fill)| fill != Fill::Zero && self.nodes.as_ref().is_some_and(|nodes| nodes[row]))
    }

    fn apply_to_sparse(&self, sparse: &Sparse, features: &Features) -> Result<Sparse> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut filled = self.filled().peekable();
        for row in 0..sparse.rows() {
            if let Some(of_row) = filled.next_if(|(at, _)| *at == row).and_then(|(_, fill)| fill.row(features)) {
                for (column, value) in of_row.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                    indices.push(column as u32);
                    values.push(value);
                }
            }
            let (of_row, row_values) = sparse.row(row);
            for (&column, &value) in of_row.iter().zip(row_values) {
                if !self.hides(row, column as usize) {
                    indices.push(column);
                    values.push(value);
                }
            }
            offsets.push(indices.len());
        }
        Ok(Sparse::new(features.columns(), offsets, indices, values)?)
    }

    fn apply_to_categories(&self, categorical: &Categorical) -> Result<Categorical> {
        let cardinalities = categorical.cardinalities();
        let neutral: Vec<u8> = cardinalities.iter().map(|&count| neutral_code(count)).collect::<Result<_>>()?;
        let columns = cardinalities.len();
        let code = |(at, &code): (usize, &u8)| {
            if self.hides(at / columns, at % columns) { neutral[at % columns] } else { code }
        };
        let codes = categorical.codes().iter().enumerate().map(code).collect();
        Ok(Categorical::new(cardinalities.iter().map(|count| count + 1).collect(), codes)?)
    }
}

/// The code of a hidden category, in a column that has so many.
///
/// # Errors
/// When all codes are taken.
pub fn neutral_code(categories: u16) -> Result<u8> {
    u8::try_from(categories).map_err(|_| {
        Error::setting("number of categories in a column", categories, "at most 255, where categories are hidden")
            .advise("merge rare categories, or turn feature masking off")
    })
}

fn check_length(what: &str, marks: &Option<Vec<bool>>, expected: usize) -> Result<()> {
    match marks {
        Some(marks) if marks.len() != expected => {
            let name = format!("number of {what} in a mask");
            Err(Error::setting(name, marks.len(), format!("{expected}, as the features have")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use fiedler_graph::Graph;

    use super::*;

    /// Two stars of four and three nodes.
    fn stars() -> GraphSet {
        let (arena, _) = Graph::from_pairs(7, vec![(0, 1), (0, 2), (0, 3), (4, 5), (4, 6)]).unwrap();
        GraphSet::from_block_diagonal(arena, vec![4, 3]).unwrap()
    }

    /// Column 0 belongs to the hubs, 1 to all, 2 to one leaf, 3 to nobody.
    fn sparse() -> Features {
        let indices = vec![0, 1, 1, 1, 1, 2, 0, 1, 1, 1];
        let values = (1..=10).map(|value| value as f32).collect();
        Features::Sparse(Sparse::new(4, vec![0, 2, 3, 4, 6, 8, 9, 10], indices, values).unwrap())
    }

    fn central() -> MaskFeatures {
        MaskFeatures { rate: 0.4, centrality: Some(Centrality::Degree), cutoff: 0.7, each_graph: false }
    }

    #[test]
    fn columns_of_central_nodes_are_hidden_less() {
        let found = central().fit(&stars(), &sparse()).unwrap().probabilities;
        // Degrees 3, 1, 1, 1 and 2, 1, 1.
        let importance = [5f64, 10.0, 1.0];
        let mean = importance.iter().map(|value| value.ln()).sum::<f64>() / 3.0;
        for (found, importance) in found.iter().zip(importance) {
            let expected = (0.4 * (10f64.ln() - importance.ln()) / (10f64.ln() - mean)).min(0.7);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(found[3], 0.7);
    }

    #[test]
    fn numbers_count_by_their_size() {
        let values: Vec<f32> = (1..=28).map(|value| value as f32 - 14.5).collect();
        let rows = Dense::new(7, 4, values).unwrap();
        let found = central().fit(&stars(), &Features::Dense(rows.clone())).unwrap().probabilities;
        let central = [3.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0];
        let sum = |column: usize| (0..7).map(|row| central[row] * f64::from(rows.row(row)[column].abs())).sum::<f64>();
        let logarithms: Vec<f64> = (0..4).map(|column| sum(column).ln()).collect();
        let highest = logarithms.iter().copied().fold(f64::MIN, f64::max);
        let mean = logarithms.iter().sum::<f64>() / 4.0;
        assert_eq!(found.len(), 4);
        for (found, s) in found.iter().zip(logarithms) {
            assert!((found - (0.4 * (highest - s) / (highest - mean)).min(0.7)).abs() < 1e-12);
        }
    }

    #[test]
    fn columns_are_alike_where_every_node_has_them_or_no_node_is_central() {
        // All nodes have a category in every column.
        let codes = vec![0, 1, 1, 0, 2, 1, 0, 0, 1, 1, 2, 0, 0, 1];
        let categories = Features::Categorical(Categorical::new(vec![3, 2], codes).unwrap());
        let alike = central().fit(&stars(), &categories).unwrap().probabilities;
        assert!(alike.len() == 2 && alike.iter().all(|value| (value - 0.4).abs() < 1e-12));
        let alone = GraphSet::single(Graph::empty(7));
        assert_eq!(central().fit(&alone, &sparse()).unwrap().probabilities, [0.4; 4]);
        let uniform = MaskFeatures { rate: 0.3, ..Default::default() };
        assert_eq!(uniform.fit(&stars(), &sparse()).unwrap().probabilities, [0.3; 4]);
    }
}
