//! A dataset as encoders see it.

use std::borrow::Cow;

use burn::tensor::Device;
use fiedler_graph::{Dataset, Features, GraphSet};
use serde::{Deserialize, Serialize};

use crate::edge_table::EdgeTable;
use crate::encoder::InputDims;
use crate::error::{Error, Result};
use crate::sample::Loaded;
use crate::sources::FeatureSources;
use crate::task::TaskLevel;

/// How features become an encoder's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSettings {
    /// What features are put together from: `auto`, or sources joined by `+`.
    #[serde(skip_serializing_if = "FeatureSources::is_auto")]
    pub sources: FeatureSources,
    /// Whether every row is scaled to sum to one.
    pub normalize_rows: bool,
    /// Where nodes have no features, their one-hot degrees serve; degrees of this number and more share the last column.
    pub degrees: usize,
    /// Whether encoders that can look at features of edges do so, where there are any.
    pub edges: bool,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        FeatureSettings { sources: FeatureSources::default(), normalize_rows: false, degrees: 100, edges: true }
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
        self.sources.check()
    }
}

/// The graphs of a dataset with the features that encoders see.
#[derive(Debug)]
pub struct Data<'a> {
    graphs: &'a GraphSet,
    features: Cow<'a, Features>,
    edges: Option<EdgeTable>,
    degrees: bool,
}

impl<'a> Data<'a> {
    /// Takes what encoders see from a dataset.
    ///
    /// # Errors
    /// When the parts of the dataset do not fit together, or it has no node.
    pub fn new(dataset: &'a Dataset, settings: &FeatureSettings) -> Result<Data<'a>> {
        settings.check()?;
        dataset.check()?;
        let graphs = &dataset.graphs;
        if graphs.num_nodes() == 0 {
            return Err(Error::setting("number of nodes", 0, "at least 1"));
        }
        let given = dataset.features.as_ref().map(|features| {
            if !settings.normalize_rows {
                return Cow::Borrowed(features);
            }
            let mut features = features.clone();
            features.normalize_rows();
            Cow::Owned(features)
        });
        let degrees = given.is_none() && settings.sources.is_auto();
        let features = match given {
            given if !settings.sources.is_auto() => {
                Cow::Owned(settings.sources.compose(dataset, given.as_deref(), settings.degrees)?)
            }
            Some(features) => features,
            None => Cow::Owned(Features::degrees(graphs.block_diagonal(), settings.degrees)),
        };
        let edges = match &dataset.edge_features {
            Some(features) if settings.edges => Some(EdgeTable::new(graphs, features)?),
            _ => None,
        };
        Ok(Data { graphs, features, edges, degrees })
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
