//! Graphs and features made ready for a method: whole, in batches, and as views.

use std::borrow::Cow;
use std::sync::Arc;

use burn::tensor::Device;
use fiedler_augment::Scheme;
use fiedler_augment::mask::{Mask, Masker, Masking};
use fiedler_augment::scheme::{Draw, View};
use fiedler_graph::{Batch, Classes, Dataset, Features, GraphSet, Split};
use serde::{Deserialize, Serialize};

use crate::edge_table::EdgeTable;
use crate::encoder::Widths;
use crate::error::{Error, Result, check_size};
use crate::{Input, Segments, Structure, Weighting};

/// How features become an encoder's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FeatureSettings {
    /// Whether every row is scaled to sum to one.
    pub normalize_rows: bool,
    /// Where nodes have no features, their degrees serve, one column each; degrees of this number and more share the last.
    pub degrees: usize,
    /// Whether encoders that can look at features of edges do so, where there are any.
    pub edges: bool,
}

impl Default for FeatureSettings {
    fn default() -> Self {
        FeatureSettings { normalize_rows: false, degrees: 100, edges: true }
    }
}

/// What an embedding describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Every node of one graph.
    Nodes,
    /// Every graph of a set.
    Graphs,
}

/// The graphs of a dataset with the features that encoders see.
#[derive(Debug)]
pub struct Data<'a> {
    graphs: &'a GraphSet,
    features: Cow<'a, Features>,
    edges: Option<EdgeTable>,
    degrees: bool,
}

/// Labels to learn from, and which of them may be used for what.
#[derive(Debug, Clone, Copy)]
pub struct Supervision<'a> {
    /// The class of each node, or of each graph of a set.
    pub classes: &'a Classes,
    /// `train` is learned from, `valid` says when to stop; the test part is never looked at.
    pub split: &'a Split,
}

/// Some graphs with their features, where they lie in memory for a step.
#[derive(Debug)]
pub struct Loaded<'a> {
    batch: Batch,
    features: Cow<'a, Features>,
    input: Input,
    device: Device,
}

/// Graphs as encoders and objectives take them.
#[derive(Debug, Clone)]
pub struct Sample {
    /// What messages pass along.
    pub structure: Structure,
    /// Features of the nodes.
    pub input: Input,
    /// Which nodes belong to which graph.
    pub segments: Segments,
    /// The nodes that were not dropped, where some were.
    pub kept: Option<KeptNodes>,
}

/// Nodes that were not dropped.
#[derive(Debug, Clone)]
pub struct KeptNodes {
    /// Their rows.
    pub rows: Vec<u32>,
    /// Which of these rows belong to which graph.
    pub segments: Segments,
}

impl<'a> Data<'a> {
    /// Takes what encoders see from a dataset.
    ///
    /// # Errors
    /// When the parts of the dataset do not fit together, or it has no node.
    pub fn new(dataset: &'a Dataset, settings: &FeatureSettings) -> Result<Data<'a>> {
        dataset.check()?;
        let graphs = &dataset.graphs;
        if graphs.num_nodes() == 0 {
            return Err(Error::setting("number of nodes", 0, "at least 1"));
        }
        let features = match &dataset.features {
            Some(features) if settings.normalize_rows => {
                let mut features = features.clone();
                features.normalize_rows();
                Cow::Owned(features)
            }
            Some(features) => Cow::Borrowed(features),
            None => Cow::Owned(Features::degrees(graphs.block_diagonal(), settings.degrees)),
        };
        let edges = match &dataset.edge_features {
            Some(features) if settings.edges => Some(EdgeTable::new(graphs, features)?),
            _ => None,
        };
        Ok(Data { graphs, features, edges, degrees: dataset.features.is_none() })
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
    pub fn level(&self) -> Level {
        if self.graphs.len() == 1 { Level::Nodes } else { Level::Graphs }
    }

    /// How many columns encoders see; those of edges only if the encoder looks at them.
    pub fn widths(&self, weighting: Weighting) -> Widths {
        let nodes = match &*self.features {
            // One column for each code, and one for what is hidden.
            Features::Categorical(codes) => codes.cardinalities().iter().map(|&count| usize::from(count) + 1).sum(),
            numbers => numbers.columns(),
        };
        Widths { nodes, edges: self.edges_for(weighting).map(EdgeTable::columns) }
    }

    /// Only encoders that sum over neighbors look at edges.
    fn edges_for(&self, weighting: Weighting) -> Option<&EdgeTable> {
        self.edges.as_ref().filter(|_| weighting == Weighting::Sum)
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

    /// Graphs as they are.
    ///
    /// # Errors
    /// When the features do not fit the graphs.
    pub fn clean(&self, loaded: &Loaded<'_>, weighting: Weighting) -> Result<Sample> {
        let view = View::of(loaded.batch.graph.clone());
        self.sample(loaded, &view, &Mask::default(), weighting)
    }

    /// Makes feature masking ready.
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn masker(&self, masking: &Masking) -> Result<Masker> {
        Ok(masking.prepare(self.graphs, &self.features)?)
    }

    fn sample(&self, loaded: &Loaded<'_>, view: &View, mask: &Mask, weighting: Weighting) -> Result<Sample> {
        let structure = match (self.edges_for(weighting), &view.own_weights) {
            (Some(_), Some(_)) => {
                let expected = "one whose views consist of edges, because edges have features here";
                return Err(Error::setting("scheme", "a diffusion", expected));
            }
            (Some(table), None) => {
                let rows = table.rows_of(&loaded.batch, &view.graph);
                Structure::with_edges(&view.graph, &table.features().gather(&rows), &loaded.device)?
            }
            (None, Some(own)) => Structure::with_own_weights(&view.graph, own)?,
            (None, None) => Structure::new(&view.graph, weighting),
        };
        let segments = Segments::from(&loaded.batch);
        let kept = view.dropped.as_deref().map(|dropped| KeptNodes::new(dropped, &segments));
        Ok(Sample { structure, input: loaded.masked(mask)?, segments, kept })
    }
}

impl<'a> Loaded<'a> {
    fn new(batch: Batch, features: Cow<'a, Features>, device: &Device) -> Result<Loaded<'a>> {
        check_size("table of features", features.rows(), batch.graph.num_nodes())?;
        let input = match &*features {
            // What is hidden has a code of its own, whether anything is hidden or not.
            Features::Categorical(_) => Input::new(&Mask::default().apply(&features)?, device),
            numbers => Input::new(numbers, device),
        };
        Ok(Loaded { batch, features, input, device: device.clone() })
    }

    /// The graphs' places in the set.
    pub(crate) fn graphs(&self) -> &[usize] {
        &self.batch.graphs
    }

    fn masked(&self, mask: &Mask) -> Result<Input> {
        match (&mask.columns, &mask.nodes, &*self.features) {
            (None, None, _) => Ok(self.input.clone()),
            (Some(hidden), None, Features::Dense(_) | Features::Sparse(_)) => {
                self.input.with_columns(hidden.iter().map(|hidden| !hidden).collect::<Arc<[bool]>>())
            }
            _ => Ok(Input::new(&mask.apply(&self.features)?, &self.device)),
        }
    }
}

impl KeptNodes {
    fn new(dropped: &[bool], segments: &Segments) -> KeptNodes {
        let mut rows = Vec::with_capacity(dropped.len());
        let mut offsets = vec![0];
        for segment in 0..segments.len() {
            rows.extend(segments.range(segment).filter(|&row| !dropped[row]).map(|row| row as u32));
            offsets.push(rows.len() as u32);
        }
        KeptNodes { rows, segments: Segments::new(offsets) }
    }
}

impl Supervision<'_> {
    /// Checks that labels and parts fit the data.
    ///
    /// # Errors
    /// When they do not, or there is nothing to learn from.
    pub fn check(&self, data: &Data<'_>) -> Result<()> {
        let items = match data.level() {
            Level::Nodes => data.graphs().num_nodes(),
            Level::Graphs => data.graphs().len(),
        };
        check_size("list of classes", self.classes.of().len(), items)?;
        self.split.check(items)?;
        if self.known(&self.split.train).next().is_none() {
            return Err(Error::setting("labels to learn from", 0, "at least 1"));
        }
        Ok(())
    }

    /// Those of a part whose class is known, with the class.
    pub(crate) fn known<'p>(&'p self, part: &'p [u32]) -> impl Iterator<Item = (u32, u32)> + 'p {
        part.iter().filter_map(|&item| Some((item, self.classes.of()[item as usize]?)))
    }

    /// What is known of the rows of a step: all that train, of one graph; of the graphs of a batch each.
    pub(crate) fn answers(&self, loaded: &Loaded<'_>, level: Level) -> Vec<(u32, u32)> {
        match level {
            Level::Nodes => self.known(&self.split.train).collect(),
            Level::Graphs => {
                let each = loaded.graphs().iter().enumerate();
                each.filter_map(|(row, &graph)| Some((row as u32, self.classes.of()[graph]?))).collect()
            }
        }
    }
}

/// Where views come from: flips and drops from a scheme, hidden features from a masker.
#[derive(Debug, Clone, Copy)]
pub struct Views<'a> {
    /// The probabilities of flips and drops.
    pub scheme: &'a Scheme,
    /// The probabilities of hiding.
    pub masker: &'a Masker,
    /// Seed of the draws.
    pub seed: u64,
}

impl Views<'_> {
    /// Draws one view of some graphs.
    ///
    /// # Errors
    /// When the graphs are not those of the scheme.
    pub fn draw(
        &self,
        data: &Data<'_>,
        loaded: &Loaded<'_>,
        weighting: Weighting,
        epoch: u32,
        view: usize,
    ) -> Result<Sample> {
        let draw = Draw { seed: self.seed, epoch, view };
        let mask = self.masker.draw(&loaded.batch, draw)?;
        data.sample(loaded, &self.scheme.draw(&loaded.batch, draw)?, &mask, weighting)
    }
}
