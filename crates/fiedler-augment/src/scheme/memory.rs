//! What computing a scheme holds in memory, by an estimate before anything is made.

use fiedler_graph::GraphSet;

use super::SchemeSettings;

/// Bytes of a pair that may flip: its place, its value and the one a step moves from, its derivative, and what a draw looks up.
pub(super) const PAIR: u64 = 64;

impl SchemeSettings {
    /// Bytes that computing the scheme holds at once beside the graphs, by an estimate.
    pub fn memory(&self, set: &GraphSet) -> u64 {
        match self {
            SchemeSettings::Opposite(settings)
            | SchemeSettings::Single(settings)
            | SchemeSettings::Double(settings)
            | SchemeSettings::UniformMatched(settings) => settings.memory_needed(set),
            SchemeSettings::Diffusion(settings) => settings.memory_needed(set),
            // Rates of edges or nodes.
            _ => PAIR * set.num_edges() as u64,
        }
    }
}
