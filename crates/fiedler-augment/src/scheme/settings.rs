//! Which scheme, with its settings.

use fiedler_graph::GraphSet;
use serde::{Deserialize, Serialize};

use super::{CentralityRemoval, Clustered, Diffused, GraphCl, NodeDropping, Scheme, Spectral, Uniform, Watch};
use crate::error::Result;

/// A scheme and its settings, as they stand in files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "scheme", rename_all = "kebab-case")]
pub enum Settings {
    /// One view pushes the spectral norm up, the other down: the paper's main scheme.
    Opposite(Spectral),
    /// One view moves the spectrum as far as it can, the other is the graph itself.
    Single(Spectral),
    /// Two views move their spectra as far apart as they can.
    Double(Spectral),
    /// Both views drop nodes so that the spectrum moves as far as it can.
    NodeDropping(NodeDropping),
    /// Edges are removed and added at the same rate everywhere.
    Uniform(Uniform),
    /// Edges between clusters are removed more often than those within.
    Clustered(Clustered),
    /// Edges between central nodes are removed less often: GCA.
    Centrality(CentralityRemoval),
    /// The second view is a diffusion of the graph: MVGRL.
    Diffusion(Diffused),
    /// Nodes are dropped, subgraphs cut out, or edges perturbed: GraphCL.
    #[serde(rename = "graphcl")]
    GraphCl(GraphCl),
}

impl Settings {
    /// The name of the scheme.
    pub fn name(&self) -> &'static str {
        match self {
            Settings::Opposite(_) => "opposite",
            Settings::Single(_) => "single",
            Settings::Double(_) => "double",
            Settings::NodeDropping(_) => "node-dropping",
            Settings::Uniform(_) => "uniform",
            Settings::Clustered(_) => "clustered",
            Settings::Centrality(_) => "centrality",
            Settings::Diffusion(_) => "diffusion",
            Settings::GraphCl(_) => "graphcl",
        }
    }

    /// Computes the scheme for one graph or many. `watch` hears how far it is.
    ///
    /// # Errors
    /// When a setting is out of its range, the computation would exceed its memory, or `watch` asks to stop.
    pub fn compute(&self, set: &GraphSet, watch: Watch<'_>) -> Result<Scheme> {
        let (views, report) = match self {
            Settings::Opposite(settings) => settings.opposite(set, watch)?,
            Settings::Single(settings) => settings.single(set, watch)?,
            Settings::Double(settings) => settings.double(set, watch)?,
            Settings::NodeDropping(settings) => settings.compute(set, watch)?,
            Settings::Uniform(settings) => settings.compute(set)?,
            Settings::Clustered(settings) => settings.compute(set, watch)?,
            Settings::Centrality(settings) => settings.compute(set, watch)?,
            Settings::Diffusion(settings) => settings.compute(set, watch)?,
            Settings::GraphCl(settings) => settings.compute(set)?,
        };
        Ok(Scheme::new(self.clone(), set, views, report))
    }
}
