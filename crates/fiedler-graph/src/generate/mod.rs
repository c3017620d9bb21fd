//! Graphs that are made rather than read, one file a generator.

use crate::dataset::Dataset;
use crate::graph::Graph;

/// Zachary's karate club.
pub fn karate_club() -> Dataset {
    Dataset::single("karate", Graph::empty(34))
}
