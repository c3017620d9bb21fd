//! Which scheme, with its settings.

use fiedler_graph::GraphSet;
use serde::{Deserialize, Serialize};

use super::{NodeDropping, Scheme, Spectral, Watch};
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
}

impl Settings {
    /// The name of the scheme.
    pub fn name(&self) -> &'static str {
        match self {
            Settings::Opposite(_) => "opposite",
            Settings::Single(_) => "single",
            Settings::Double(_) => "double",
            Settings::NodeDropping(_) => "node-dropping",
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
        };
        Ok(Scheme::new(self.clone(), set, views, report))
    }
}
