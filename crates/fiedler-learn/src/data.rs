//! A dataset as encoders see it.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use burn::tensor::Device;
use fiedler_graph::{Batch, Dataset, Dense, Features, GraphSet, NoObserver, NodeMarks, Observer, StoredFeatures};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::edge_table::EdgeTable;
use crate::encoder::InputDims;
use crate::error::{Error, Result};
use crate::molecule_features::{MoleculeFeatures, not_molecules};
use crate::sample::Loaded;
use crate::sources::{FeatureSource, FeatureSources};
use crate::standardize::ColumnScaling;
use crate::task::TaskLevel;
use crate::trainer::Block;
use crate::{FeatureMatrix, MessageGraph, Normalization};

/// How features become an encoder's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FeatureSettings {
    /// What features are put together from: `auto`, or sources joined by `+`.
    pub sources: FeatureSources,
    /// Whether columns of a dense table of measurements are standardized, for they may have different units. Mean and deviation are
    /// those of the data that an encoder is trained on, and kept with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub standardize: bool,
    /// Whether every row is scaled to sum to one.
    pub normalize_rows: bool,
    /// Where nodes have no features, their one-hot degrees serve; degrees of this number and more share the last column.
    pub degrees: usize,
    /// Whether encoders that can look at features of edges do so, where there are any.
    pub edges: bool,
    /// Which codes of atoms and bonds count, where the data are molecules.
    #[serde(skip_serializing_if = "MoleculeFeatures::is_usual")]
    pub molecules: MoleculeFeatures,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        FeatureSettings {
            sources: FeatureSources::default(),
            standardize: false,
            normalize_rows: false,
            degrees: 100,
            edges: true,
            molecules: MoleculeFeatures::default(),
        }
    }
}

impl FeatureSettings {
    /// Whether features of nodes are taken as a dataset has them.
    fn is_as_given(&self) -> bool {
        let given = self.sources.is_auto() || self.sources.list() == [FeatureSource::Given];
        given && !self.standardize && !self.normalize_rows && self.molecules.is_usual()
    }

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
    stored: Option<&'a StoredFeatures>,
    edges: Option<EdgeTable>,
    degrees: bool,
    /// All graphs as one batch: made when it is first asked for, and shared by training, embeddings and baselines.
    whole: OnceLock<Arc<Batch>>,
    /// The features of that batch, less what lies on a device.
    whole_matrix: OnceLock<FeatureMatrix>,
    /// How messages pass in that batch, without features of edges: made once as well.
    whole_graphs: Mutex<Vec<(Normalization, MessageGraph)>>,
    names: Option<&'a [String]>,
    scaling: Option<ColumnScaling>,
    /// Memory as long as the graph has nodes, for cutting blocks.
    marks: Mutex<Option<NodeMarks>>,
}

impl<'a> Data<'a> {
    /// Takes what encoders see from a dataset.
    ///
    /// # Errors
    /// When the parts of the dataset do not fit together, or it has no node.
    pub fn new(dataset: &'a Dataset, settings: &FeatureSettings) -> Result<Data<'a>> {
        Data::watched(dataset, settings, &NoObserver)
    }

    /// As [`Data::new`]; the observer hears of features that take long to compute.
    ///
    /// # Errors
    /// As there, and when the observer wants to stop.
    pub fn watched(dataset: &'a Dataset, settings: &FeatureSettings, observer: &dyn Observer) -> Result<Data<'a>> {
        Data::as_trained(dataset, settings, None, None, observer)
    }

    /// As [`Data::new`], with the columns of features in the order, and on the scale, of those that an encoder was trained on.
    pub(crate) fn as_trained(
        dataset: &'a Dataset,
        settings: &FeatureSettings,
        columns: Option<&[u32]>,
        scaling: Option<&ColumnScaling>,
        observer: &dyn Observer,
    ) -> Result<Data<'a>> {
        settings.check()?;
        dataset.check()?;
        let graphs = &dataset.graphs;
        if graphs.num_nodes() == 0 {
            return Err(Error::setting("number of nodes", 0, "at least 1"));
        }
        let mut scaling = scaling.cloned();
        let given = match &dataset.features {
            Some(features) => {
                let mut features = match columns {
                    Some(columns) => Cow::Owned(features.select_columns(columns)?),
                    None => Cow::Borrowed(features),
                };
                features = settings.molecules.of_atoms(features)?;
                if settings.standardize {
                    let found = scaling.take().map_or_else(|| ColumnScaling::fit(&features), Ok)?;
                    features = Cow::Owned(found.apply(&features)?);
                    scaling = Some(found);
                }
                if settings.normalize_rows {
                    features.to_mut().normalize_rows();
                }
                // Other sources have rows of length one, and stand back where there are many entries; standardized ones are one already.
                if settings.sources.list().len() > 1 && !settings.standardize {
                    features.to_mut().unit_entries();
                }
                Some(features)
            }
            None if settings.molecules.is_usual() => None,
            None => return Err(not_molecules()),
        };
        let stored = dataset.stored_features.as_ref();
        if stored.is_some() && (!settings.is_as_given() || graphs.len() != 1) {
            let expected = "those of one graph as they are given, where they stay in their file";
            return Err(Error::setting("features", "prepared or composed", expected));
        }
        let degrees = given.is_none() && stored.is_none() && settings.sources.is_auto();
        let features = match given {
            _ if stored.is_some() => Cow::Owned(Features::Dense(Dense::new(graphs.num_nodes(), 0, Vec::new())?)),
            given if !settings.sources.is_auto() => {
                Cow::Owned(settings.sources.compose(dataset, given.as_deref(), settings.degrees, observer)?)
            }
            Some(features) => features,
            None => Cow::Owned(Features::degrees(graphs.block_diagonal(), settings.degrees)),
        };
        let edges = match &dataset.edge_features {
            Some(features) if settings.edges => Some(EdgeTable::new(graphs, &*settings.molecules.of_bonds(features)?)?),
            _ => None,
        };
        let (whole, whole_matrix, whole_graphs) = (OnceLock::new(), OnceLock::new(), Mutex::new(Vec::new()));
        let names = dataset.feature_names.as_deref().filter(|_| columns.is_none() && settings.molecules.is_usual());
        let marks = Mutex::new(None);
        Ok(Data { graphs, features, stored, edges, degrees, whole, whole_matrix, whole_graphs, names, scaling, marks })
    }

    /// What columns of features were standardized by, if they were.
    pub(crate) fn scaling(&self) -> Option<&ColumnScaling> {
        self.scaling.as_ref()
    }

    /// The graphs.
    pub fn graphs(&self) -> &'a GraphSet {
        self.graphs
    }

    /// The features of nodes; without columns where they stay in their file.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// The features of nodes where they stay in their file: only [methods that say so](crate::method::Method::takes_stored_features) see
    /// them.
    pub fn stored_features(&self) -> Option<&'a StoredFeatures> {
        self.stored
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
            _ if self.stored.is_some() => self.stored.map_or(0, StoredFeatures::columns),
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
        let whole = self.whole.get_or_init(|| Arc::new(self.graphs.whole()));
        let matrix = match self.whole_matrix.get() {
            Some(matrix) => matrix.to_device(device),
            None => {
                let matrix = Loaded::matrix_of(&self.features, device)?;
                // Another copy, because what the first brings to its device is to go when it goes.
                self.whole_matrix.get_or_init(|| matrix.to_device(device));
                matrix
            }
        };
        Loaded::with_matrix(Arc::clone(whole), Cow::Borrowed(&*self.features), matrix)
    }

    /// The graphs of a batch as they are, without features of edges.
    pub(crate) fn clean_graph(&self, batch: &Arc<Batch>, normalization: Normalization) -> MessageGraph {
        if !self.whole.get().is_some_and(|whole| Arc::ptr_eq(whole, batch)) {
            return MessageGraph::new(&batch.graph, normalization);
        }
        let mut made = self.whole_graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, graph)) = made.iter().find(|(known, _)| *known == normalization) {
            return graph.clone();
        }
        let graph = MessageGraph::new(&batch.graph, normalization);
        made.push((normalization, graph.clone()));
        graph
    }

    /// Brings some graphs to a device.
    ///
    /// # Errors
    /// As [`Data::load_all`].
    pub fn load(&self, graphs: &[usize], device: &Device) -> Result<Loaded<'static>> {
        let batch = self.graphs.batch(graphs);
        let features = self.features.gather(&batch.node_rows);
        Loaded::new(Arc::new(batch), Cow::Owned(features), device)
    }

    /// Brings some nodes of the one graph to a device, with all edges among them. The cost grows with the block.
    ///
    /// # Errors
    /// As [`Data::load_all`].
    pub(crate) fn load_block(&self, block: Block, device: &Device) -> Result<Loaded<'static>> {
        let graph = self.graphs.block_diagonal();
        let mut kept = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = kept.get_or_insert_with(|| NodeMarks::new(graph.num_nodes()));
        let batch = Batch::block(graph, block.nodes, marks);
        drop(kept);
        let features = self.features.gather(&batch.node_rows);
        Ok(Loaded::new(Arc::new(batch), Cow::Owned(features), device)?.with_rows(block.rows))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::device::DeviceSettings;

    #[test]
    fn all_graphs_are_copied_once_and_normalized_once() {
        let dataset = fiedler_graph::generate::karate_club();
        let data = Data::new(&dataset, &FeatureSettings::default()).unwrap();
        let device = DeviceSettings::default().open();
        // As training and an embedding load them.
        let [one, other] = [device.clone().autodiff(), device.clone()].map(|device| data.load_all(&device).unwrap());
        assert!(Arc::ptr_eq(&one.batch, &other.batch));
        let operator = |loaded: &Loaded<'_>, normalization| {
            let sample = loaded.clean(&data, &[normalization]).unwrap();
            Arc::clone(sample.graph(normalization).unwrap().operator())
        };
        for normalization in [Normalization::Symmetric, Normalization::RowMean, Normalization::None] {
            assert!(Arc::ptr_eq(&operator(&one, normalization), &operator(&other, normalization)));
            // What is loaded by itself is its own.
            let alone = operator(&data.load(&[0], &device).unwrap(), normalization);
            assert_eq!(alone, operator(&one, normalization));
            assert!(!Arc::ptr_eq(&alone, &operator(&one, normalization)));
        }
        assert_ne!(operator(&one, Normalization::Symmetric), operator(&one, Normalization::None));
    }
}
