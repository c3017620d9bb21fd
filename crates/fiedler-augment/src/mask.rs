//! Hiding features: columns from all nodes, or everything from some nodes.
//!
//! [`Masking`] says how much is hidden from each view, [`Masking::prepare`] turns that into probabilities for a dataset, and
//! [`Masker::draw`] draws a [`Mask`]. [`Mask::apply`] defines what a mask means.
//!
//! ```
//! use fiedler_augment::mask::{MaskRates, Masking};
//! use fiedler_augment::scheme::Draw;
//! use fiedler_graph::{Features, generate};
//!
//! let karate = generate::karate_club();
//! let features = Features::degrees(karate.graphs.block_diagonal(), 10);
//! let masking = Masking { first: MaskRates { columns: 0.5, nodes: 0.0 }, ..Default::default() };
//! let masker = masking.prepare(&karate.graphs, &features)?;
//! let mask = masker.draw(&karate.graphs.whole(), Draw { seed: 1, epoch: 0, view: 0 })?;
//! let masked = mask.apply(&features)?;
//! assert!(masked.density() < features.density());
//! # Ok::<(), fiedler_augment::Error>(())
//! ```

use fiedler_graph::random::stream;
use fiedler_graph::{Batch, Categorical, Dense, Features, GraphSet, Sparse};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::centrality::{Centrality, fading};
use crate::error::{Error, Result, check_share};
use crate::sample::choose;
use crate::scheme::Draw;

/// Settings of feature masking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Masking {
    /// How much is hidden from the first view.
    pub first: MaskRates,
    /// How much is hidden from the second view.
    pub second: MaskRates,
    /// Hides columns that belong to central nodes less often, as GCA does. Without it all columns are alike, as in GRACE.
    pub centrality: Option<Centrality>,
    /// The most probable hiding of a column, where columns are not alike.
    pub cutoff: f64,
}

impl Default for Masking {
    fn default() -> Self {
        let rates = MaskRates { columns: 0.3, nodes: 0.0 };
        Masking { first: rates, second: rates, centrality: None, cutoff: 0.7 }
    }
}

/// How much is hidden from a view.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MaskRates {
    /// Probability of hiding a column from all nodes.
    pub columns: f64,
    /// Share of each graph's nodes that lose all features: of `n` nodes, `⌊n · nodes⌋`. The attribute masking of GraphCL.
    pub nodes: f64,
}

/// Masking made ready for the graphs and features of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Masker {
    views: [ViewMasker; 2],
}

#[derive(Debug, Clone, PartialEq)]
struct ViewMasker {
    /// One for each column; empty where none is ever hidden.
    columns: Vec<f64>,
    nodes: f64,
}

/// What is hidden. Where something is `None`, nothing of the kind is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    /// For each column whether it is hidden from all nodes.
    pub columns: Option<Vec<bool>>,
    /// For each node of the batch whether all its features are hidden.
    pub nodes: Option<Vec<bool>>,
}

impl Masking {
    /// Finds the probabilities of every column.
    ///
    /// # Errors
    /// When a setting is out of its range, or there is not one row of features for each node of the set.
    pub fn prepare(&self, set: &GraphSet, features: &Features) -> Result<Masker> {
        for (view, rates) in [("first", self.first), ("second", self.second)] {
            check_share(&format!("share of columns hidden from the {view} view"), rates.columns)?;
            check_share(&format!("share of nodes hidden from the {view} view"), rates.nodes)?;
        }
        check_share("cut-off", self.cutoff)?;
        if features.rows() != set.num_nodes() {
            let expected = format!("one for each of {} nodes", set.num_nodes());
            return Err(Error::setting("number of feature rows", features.rows(), expected));
        }
        let importance = self.centrality.map(|centrality| column_importance(set, features, centrality));
        let view = |rates: MaskRates| {
            let columns = match &importance {
                _ if rates.columns == 0.0 => Vec::new(),
                Some(importance) => fading(importance, rates.columns, self.cutoff),
                None => vec![rates.columns; features.columns()],
            };
            ViewMasker { columns, nodes: rates.nodes }
        };
        Ok(Masker { views: [view(self.first), view(self.second)] })
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

impl Masker {
    /// The probability of hiding each column from a view; empty where none is ever hidden.
    ///
    /// # Errors
    /// When there is no such view.
    pub fn column_probabilities(&self, view: usize) -> Result<&[f64]> {
        Ok(&self.view(view)?.columns)
    }

    /// Draws the mask of a view of a batch.
    ///
    /// Columns depend on the seed, the epoch and the view alone, so that they are the same for all graphs. The nodes of a graph
    /// are the same in whatever batch.
    ///
    /// # Errors
    /// When there is no such view.
    pub fn draw(&self, batch: &Batch, draw: Draw) -> Result<Mask> {
        let view = self.view(draw.view)?;
        let [of_columns, of_nodes] = match draw.view {
            0 => ["first mask of columns", "first mask of nodes"],
            _ => ["second mask of columns", "second mask of nodes"],
        };
        let columns = (!view.columns.is_empty()).then(|| {
            let mut random = stream(draw.seed, of_columns, u64::from(draw.epoch));
            view.columns.iter().map(|&probability| random.random::<f64>() < probability).collect()
        });
        let nodes = (view.nodes > 0.0).then(|| {
            let of_graph = |(block, &graph): (usize, &usize)| {
                let nodes = batch.node_range(block).len();
                let mut random = stream(draw.seed, of_nodes, u64::from(draw.epoch) << 32 | graph as u64);
                // A share such as 0.29 of 100 must not lose a node to rounding.
                choose(nodes, (view.nodes * nodes as f64 + 1e-9) as usize, &mut random)
            };
            batch.graphs.iter().enumerate().flat_map(of_graph).collect()
        });
        Ok(Mask { columns, nodes })
    }

    fn view(&self, view: usize) -> Result<&ViewMasker> {
        self.views.get(view).ok_or_else(|| Error::setting("view", view, "0 or 1"))
    }
}

impl Mask {
    /// Whether a node's feature is hidden.
    pub fn hides(&self, node: usize, column: usize) -> bool {
        let hidden = |marks: &Option<Vec<bool>>, at: usize| marks.as_ref().is_some_and(|marks| marks[at]);
        hidden(&self.columns, column) || hidden(&self.nodes, node)
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
        let masked = match features {
            Features::Dense(dense) => {
                let mut values = dense.values().to_vec();
                for (at, value) in values.iter_mut().enumerate() {
                    if self.hides(at / features.columns(), at % features.columns()) {
                        *value = 0.0;
                    }
                }
                Features::Dense(Dense::new(features.rows(), features.columns(), values)?)
            }
            Features::Sparse(sparse) => Features::Sparse(self.apply_to_sparse(sparse, features.columns())?),
            Features::Categorical(categorical) => Features::Categorical(self.apply_to_categories(categorical)?),
        };
        Ok(masked)
    }

    fn apply_to_sparse(&self, sparse: &Sparse, columns: usize) -> Result<Sparse> {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..sparse.rows() {
            let (of_row, row_values) = sparse.row(row);
            for (&column, &value) in of_row.iter().zip(row_values) {
                if !self.hides(row, column as usize) {
                    indices.push(column);
                    values.push(value);
                }
            }
            offsets.push(indices.len());
        }
        Ok(Sparse::new(columns, offsets, indices, values)?)
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
