//! Graphs as encoders and losses take them: loaded for a step, as they are or as a view.

use std::borrow::Cow;
use std::sync::Arc;

use burn::tensor::Device;
use fiedler_augment::View;
use fiedler_augment::mask::Mask;
use fiedler_graph::{Batch, Features, Graph, StoredFeatures};

use crate::data::Data;
use crate::error::{Error, Result, check_size};
use crate::{FeatureMatrix, GraphOffsets, MessageGraph, Normalization};

/// Some graphs with their features, where they lie in memory for a step.
#[derive(Debug)]
pub struct Loaded<'a> {
    pub(crate) batch: Arc<Batch>,
    features: Cow<'a, Features>,
    matrix: FeatureMatrix,
    device: Device,
    /// The nodes that count, where a sampler has brought others along.
    pub(crate) rows: Option<Vec<u32>>,
}

/// Graphs as encoders and losses take them.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Features of the nodes; without columns where they stay in their file.
    pub features: FeatureMatrix,
    /// The features of the nodes where they stay in their file.
    pub stored_features: Option<StoredFeatures>,
    /// Which nodes belong to which graph.
    pub offsets: GraphOffsets,
    /// The nodes that count and were not dropped, where these are not all: a sampler may have brought others along, for their messages alone.
    pub kept: Option<KeptNodes>,
    /// For each node whether its features are hidden, where a step of the view's pipeline hides some.
    pub masked_nodes: Option<Vec<bool>>,
    /// What steps that choose have chosen for each graph.
    pub choices: Vec<Vec<u8>>,
    graphs: Vec<(Normalization, MessageGraph)>,
    topology: Topology,
}

/// The graph that a sample is of.
#[derive(Debug, Clone)]
enum Topology {
    Clean(Arc<Batch>),
    View(Arc<Graph>),
}

/// Nodes that count and were not dropped.
#[derive(Debug, Clone)]
pub struct KeptNodes {
    /// Their rows.
    pub rows: Vec<u32>,
    /// Which of these rows belong to which graph.
    pub offsets: GraphOffsets,
}

impl Sample {
    /// The graph with messages weighted in one of the ways that the method has asked for
    /// ([`Requirements::operators`](crate::method::Requirements)).
    ///
    /// # Errors
    /// When the method has not asked for it.
    pub fn graph(&self, normalization: Normalization) -> Result<&MessageGraph> {
        let found = self.graphs.iter().find(|(other, _)| *other == normalization);
        found.map(|(_, graph)| graph).ok_or_else(|| {
            Error::setting("normalization", format!("{normalization:?}"), "one of those that the method requires")
        })
    }

    /// The graph itself, of several graphs the block-diagonal one: for methods that look at more than messages.
    pub fn topology(&self) -> &Graph {
        match &self.topology {
            Topology::Clean(batch) => &batch.graph,
            Topology::View(graph) => graph,
        }
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.offsets.rows()
    }

    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.offsets.len()
    }
}

impl<'a> Loaded<'a> {
    pub(crate) fn new(batch: Arc<Batch>, features: Cow<'a, Features>, device: &Device) -> Result<Loaded<'a>> {
        let matrix = Loaded::matrix_of(&features, device)?;
        Loaded::with_matrix(batch, features, matrix)
    }

    /// With features that are in the form to multiply already.
    pub(crate) fn with_matrix(
        batch: Arc<Batch>,
        features: Cow<'a, Features>,
        matrix: FeatureMatrix,
    ) -> Result<Loaded<'a>> {
        check_size("table of features", features.rows(), batch.graph.num_nodes())?;
        let device = matrix.device().clone();
        Ok(Loaded { batch, features, matrix, device, rows: None })
    }

    /// Features in the form to multiply.
    pub(crate) fn matrix_of(features: &Features, device: &Device) -> Result<FeatureMatrix> {
        Ok(match features {
            // What is hidden has a code of its own, whether anything is hidden or not.
            Features::Categorical(_) => FeatureMatrix::new(&Mask::default().apply(features)?, device),
            numbers => FeatureMatrix::new(numbers, device),
        })
    }

    /// The same, of which only some nodes count.
    pub(crate) fn with_rows(self, rows: Option<Vec<u32>>) -> Loaded<'a> {
        Loaded { rows, ..self }
    }

    /// The graphs' places in the set.
    pub(crate) fn graphs(&self) -> &[usize] {
        &self.batch.graphs
    }

    /// The graphs as they are.
    pub(crate) fn clean(&self, data: &Data<'_>, operators: &[Normalization]) -> Result<Sample> {
        Ok(Sample {
            features: self.matrix.clone(),
            stored_features: data.stored_features().cloned(),
            offsets: GraphOffsets::from(&*self.batch),
            kept: self.kept(None, &GraphOffsets::from(&*self.batch)),
            masked_nodes: None,
            choices: Vec::new(),
            graphs: self.message_graphs(data, &self.batch.graph, None, operators)?,
            topology: Topology::Clean(Arc::clone(&self.batch)),
        })
    }

    /// A view of the graphs.
    pub(crate) fn view(&self, data: &Data<'_>, view: View, operators: &[Normalization]) -> Result<Sample> {
        let View { graph, dropped, self_loop_weights, mask, feature_rows, choices } = view;
        let offsets = GraphOffsets::from(&*self.batch);
        Ok(Sample {
            features: self.masked(&mask, feature_rows.as_deref())?,
            stored_features: None,
            kept: self.kept(dropped.as_deref(), &offsets),
            offsets,
            masked_nodes: mask.nodes,
            choices,
            graphs: self.message_graphs(data, &graph, self_loop_weights.as_deref(), operators)?,
            topology: Topology::View(Arc::new(graph)),
        })
    }

    /// The nodes that count and were not dropped.
    fn kept(&self, dropped: Option<&[bool]>, offsets: &GraphOffsets) -> Option<KeptNodes> {
        let is_dropped = |row: usize| dropped.is_some_and(|dropped| dropped[row]);
        match &self.rows {
            None => dropped.map(|_| KeptNodes::new(|row| !is_dropped(row), offsets)),
            Some(rows) => {
                let counts = |row: usize| rows.binary_search(&(row as u32)).is_ok();
                Some(KeptNodes::new(|row| counts(row) && !is_dropped(row), offsets))
            }
        }
    }

    fn message_graphs(
        &self,
        data: &Data<'_>,
        graph: &Graph,
        self_loop_weights: Option<&[f32]>,
        operators: &[Normalization],
    ) -> Result<Vec<(Normalization, MessageGraph)>> {
        let make = |&normalization: &Normalization| {
            // Only encoders that sum over neighbors look at features of edges.
            let edges = data.edges().filter(|_| normalization == Normalization::None);
            let graph = match (edges, self_loop_weights) {
                (Some(_), Some(_)) => {
                    let expected = "one whose views consist of edges, because edges have features here";
                    return Err(Error::setting("scheme", "a diffusion", expected));
                }
                (Some(table), None) => {
                    let rows = table.rows_of(&self.batch, graph);
                    MessageGraph::with_edges(graph, &table.features().gather(&rows), &self.device)?
                }
                (None, Some(weights)) => MessageGraph::with_self_loop_weights(graph, weights)?,
                (None, None) if std::ptr::eq(graph, &*self.batch.graph) => data.clean_graph(&self.batch, normalization),
                (None, None) => MessageGraph::new(graph, normalization),
            };
            Ok((normalization, graph))
        };
        operators.iter().map(make).collect()
    }

    fn masked(&self, mask: &Mask, rows: Option<&[u32]>) -> Result<FeatureMatrix> {
        let shuffled = rows.map(|rows| self.features.gather(rows));
        let features = shuffled.as_ref().unwrap_or(&self.features);
        match (mask, features) {
            (mask, _) if mask.is_empty() && shuffled.is_none() => Ok(self.matrix.clone()),
            (
                Mask { columns: Some(hidden), graph_columns: None, nodes: None, .. },
                Features::Dense(_) | Features::Sparse(_),
            ) if shuffled.is_none() => {
                self.matrix.with_columns(hidden.iter().map(|hidden| !hidden).collect::<Arc<[bool]>>())
            }
            _ => Ok(FeatureMatrix::new(&mask.apply(features)?, &self.device)),
        }
    }
}

impl KeptNodes {
    fn new(is_kept: impl Fn(usize) -> bool, offsets: &GraphOffsets) -> KeptNodes {
        let mut rows = Vec::new();
        let mut ends = vec![0];
        for graph in 0..offsets.len() {
            rows.extend(offsets.range(graph).filter(|&row| is_kept(row)).map(|row| row as u32));
            ends.push(rows.len() as u32);
        }
        KeptNodes { rows, offsets: GraphOffsets::new(ends) }
    }
}
