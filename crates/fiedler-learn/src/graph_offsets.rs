//! Which rows belong to which graph.

use std::ops::Range;
use std::sync::Arc;

use fiedler_graph::{Batch, GraphSet};

/// Consecutive rows of one matrix, one segment a graph. One graph is one segment.
///
/// ```
/// use fiedler_learn::GraphOffsets;
/// let offsets = GraphOffsets::new(vec![0, 3, 5]);
/// assert_eq!((offsets.len(), offsets.rows()), (2, 5));
/// assert_eq!(offsets.of_rows(), [0, 0, 0, 1, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphOffsets {
    offsets: Arc<[u32]>,
}

impl GraphOffsets {
    /// GraphOffsets from where each starts and the end of the last; at least that end must be given, and offsets ascend.
    pub fn new(offsets: Vec<u32>) -> GraphOffsets {
        debug_assert!(!offsets.is_empty() && offsets.is_sorted());
        GraphOffsets { offsets: offsets.into() }
    }

    /// All rows in one segment.
    pub fn single(rows: usize) -> GraphOffsets {
        GraphOffsets::new(vec![0, rows as u32])
    }

    /// Number of offsets.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no segment.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows of all offsets.
    pub fn rows(&self) -> usize {
        self.offsets[self.len()] as usize
    }

    /// The rows of one segment.
    pub fn range(&self, segment: usize) -> Range<usize> {
        self.offsets[segment] as usize..self.offsets[segment + 1] as usize
    }

    /// Where each segment starts, and the end of the last.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// For each row the segment it is in.
    pub fn of_rows(&self) -> Vec<u32> {
        (0..self.len()).flat_map(|segment| self.range(segment).map(move |_| segment as u32)).collect()
    }
}

impl From<&GraphSet> for GraphOffsets {
    fn from(set: &GraphSet) -> GraphOffsets {
        let ends = (0..set.len()).map(|graph| set.node_range(graph).end);
        GraphOffsets::new(std::iter::once(0).chain(ends).collect())
    }
}

impl From<&Batch> for GraphOffsets {
    fn from(batch: &Batch) -> GraphOffsets {
        GraphOffsets::new(batch.node_offsets.clone())
    }
}
