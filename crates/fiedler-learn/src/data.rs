//! A dataset as encoders see it.

use std::borrow::Cow;

use burn::tensor::Device;
use fiedler_graph::{Dataset, Features, GraphSet};
use serde::{Deserialize, Serialize};

use crate::edge_table::EdgeTable;
use crate::encoder::InputDims;
use crate::error::{Error, Result};
use crate::sample::Loaded;
use crate::task::TaskLevel;

/// How features become an encoder's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSettings {
    /// Whether every row is scaled to sum to one.
    pub normalize_rows: bool,
    /// Where nodes have no features, their one-hot degrees serve; degrees of this number and more share the last column.
    pub degrees: usize,
    /// Whether encoders that can look at features of edges do so, where there are any.
    pub edges: bool,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        FeatureSettings { normalize_rows: false, degrees: 100, edges: true }
    }
}

impl FeatureSettings {
    /// Refuses settings that are out of their range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<()> {
        if !(1..=100_000).contains(&self.degrees) {
            return Err(Error::setting("features.degrees", self.degrees, "1 to 100,000"));
        }
        Ok(())
    }
}

/// The graphs of a dataset with the features that encoders see.
#[derive(Debug)]
pub struct Data<'a> {
    graphs: &'a GraphSet,
    features: Cow<'a, Features>,
    edges: Option<EdgeTable>,
    degrees: bool,
    names: Option<&'a [String]>,
}

impl<'a> Data<'a> {
    /// Takes what encoders see from a dataset.
    ///
    /// # Errors
    /// When the parts of the dataset do not fit together, or it has no node.
    pub fn new(dataset: &'a Dataset, settings: &FeatureSettings) -> Result<Data<'a>> {
        Data::with_columns(dataset, settings, None)
    }

    /// As [`Data::new`], with the columns of features in another order.
    pub(crate) fn with_columns(
        dataset: &'a Dataset,
        settings: &FeatureSettings,
        columns: Option<&[u32]>,
    ) -> Result<Data<'a>> {
        settings.check()?;
        dataset.check()?;
        let graphs = &dataset.graphs;
        if graphs.num_nodes() == 0 {
            return Err(Error::setting("number of nodes", 0, "at least 1"));
        }
        let features = match &dataset.features {
            Some(features) => {
                let mut features = match columns {
                    Some(columns) => Cow::Owned(features.select_columns(columns)?),
                    None => Cow::Borrowed(features),
                };
                if settings.normalize_rows {
                    features.to_mut().normalize_rows();
                }
                features
            }
            None => Cow::Owned(Features::degrees(graphs.block_diagonal(), settings.degrees)),
        };
        let edges = match &dataset.edge_features {
            Some(features) if settings.edges => Some(EdgeTable::new(graphs, features)?),
            _ => None,
        };
        let names = dataset.feature_names.as_deref().filter(|_| columns.is_none());
        Ok(Data { graphs, features, edges, degrees: dataset.features.is_none(), names })
    }

    /// The graphs.
    pub fn graphs(&self) -> &'a GraphSet {
        self.graphs
    }

    /// The features of nodes.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Whether the features are the degrees of nodes, because there are no others.
    pub fn are_features_degrees(&self) -> bool {
        self.degrees
    }

    /// Names of the columns of features, where they have any.
    pub fn feature_names(&self) -> Option<&'a [String]> {
        self.names
    }

    /// What an embedding of this dataset describes.
    pub fn level(&self) -> TaskLevel {
        TaskLevel::of(self.graphs.len())
    }

    /// How many columns encoders see.
    pub fn dims(&self) -> InputDims {
        let nodes = match &*self.features {
            // One column for each code, and one for what is hidden.
            Features::Categorical(codes) => codes.cardinalities().iter().map(|&count| usize::from(count) + 1).sum(),
            numbers => numbers.columns(),
        };
        InputDims { nodes, edges: self.edges.as_ref().map(EdgeTable::columns) }
    }

    pub(crate) fn edges(&self) -> Option<&EdgeTable> {
        self.edges.as_ref()
    }

    /// Brings all graphs to a device.
    ///
    /// # Errors
    /// When a column of categories has no code left for what is hidden.
    pub fn load_all(&self, device: &Device) -> Result<Loaded<'_>> {
        Loaded::new(self.graphs.whole(), Cow::Borrowed(&*self.features), device)
    }

    /// Brings some graphs to a device.
    ///
    /// # Errors
    /// As [`Data::load_all`].
    pub fn load(&self, graphs: &[usize], device: &Device) -> Result<Loaded<'static>> {
        let batch = self.graphs.batch(graphs);
        let features = self.features.gather(&batch.node_rows);
        Loaded::new(batch, Cow::Owned(features), device)
    }
}
