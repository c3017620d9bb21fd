//! Features that stay where they are, such as in a file, and are read some rows at a time.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::features::Features;
use crate::fingerprint;

/// Bytes of the rows that are worth reading at once.
const AT_ONCE: usize = 16 << 20;

/// Where the rows of [`StoredFeatures`] lie.
pub trait RowSource: Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Number of columns.
    fn columns(&self) -> usize;

    /// The number of entries, where only those are stored that are not zero; `None` of dense features.
    fn entries(&self) -> Option<usize>;

    /// Reads some rows: sparse ones where there is a number of [`entries`](RowSource::entries), else dense ones. They are there.
    ///
    /// # Errors
    /// When they cannot be read, are no features, or the source is not what it was.
    fn read(&self, rows: Range<usize>) -> Result<Features>;
}

/// Features that are larger than memory may be: their rows are read when they are needed, and not kept. All of them have been read once,
/// so that they are known to be whole and finite. Clones share the source.
#[derive(Debug, Clone)]
pub struct StoredFeatures {
    source: Arc<dyn RowSource>,
    fingerprint: String,
}

impl StoredFeatures {
    /// Reads all rows of a source once.
    ///
    /// # Errors
    /// When a row cannot be read, or is none.
    pub fn new(source: impl RowSource + 'static) -> Result<StoredFeatures> {
        let mut stored = StoredFeatures { source: Arc::new(source), fingerprint: String::new() };
        stored.fingerprint = fingerprint::of_stored(&stored)?;
        Ok(stored)
    }

    /// Number of rows: one a node.
    pub fn rows(&self) -> usize {
        self.source.rows()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.source.columns()
    }

    /// Whether rows are read as [`Features::Sparse`]; else as [`Features::Dense`].
    pub fn is_sparse(&self) -> bool {
        self.source.entries().is_some()
    }

    /// Share of values that are stored: as [`Features::density`] for sparse features, 1 for dense ones, whose zeros nobody has counted.
    pub fn density(&self) -> f64 {
        let all = self.rows() as f64 * self.columns() as f64;
        self.source.entries().map_or(1.0, |entries| if all == 0.0 { 0.0 } else { entries as f64 / all })
    }

    /// The [fingerprint](Features::fingerprint) of the same features in memory.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Reads some rows.
    ///
    /// # Errors
    /// When there are no such rows, or they cannot be read any more.
    pub fn read(&self, rows: Range<usize>) -> Result<Features> {
        if rows.start > rows.end || rows.end > self.rows() {
            let expected = format!("rows up to {}", self.rows());
            return Err(Error::setting("rows of features", format!("{rows:?}"), expected));
        }
        let count = rows.len();
        let found = self.source.read(rows)?;
        if (found.rows(), found.columns()) != (count, self.columns()) {
            let expected = format!("{count} rows of {}", self.columns());
            return Err(Error::setting("block of features", format!("{} rows", found.rows()), expected));
        }
        Ok(found)
    }

    /// Ranges of rows that are worth reading at once, all of them in their order.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let rows = self.rows();
        let values = self.source.entries().map_or(self.columns(), |entries| 2 * entries.div_ceil(rows.max(1)));
        let at_once = (AT_ONCE / (4 * values.max(1))).clamp(1, 1 << 16);
        (0..rows).step_by(at_once).map(move |first| first..rows.min(first + at_once))
    }
}

/// Equal where the features are, wherever they lie.
impl PartialEq for StoredFeatures {
    fn eq(&self, other: &StoredFeatures) -> bool {
        self.fingerprint == other.fingerprint
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::features::{Dense, Sparse};

    /// Features in memory that are handed out row by row.
    #[derive(Debug)]
    struct Held(Features);

    impl RowSource for Held {
        fn rows(&self) -> usize {
            self.0.rows()
        }

        fn columns(&self) -> usize {
            self.0.columns()
        }

        fn entries(&self) -> Option<usize> {
            if let Features::Sparse(sparse) = &self.0 { Some(sparse.values().len()) } else { None }
        }

        fn read(&self, rows: Range<usize>) -> Result<Features> {
            Ok(self.0.gather(&rows.map(|row| row as u32).collect::<Vec<_>>()))
        }
    }

    #[test]
    fn stored_features_have_the_fingerprint_of_those_in_memory() {
        let dense = Features::Dense(Dense::new(3, 2, vec![1.0, 0.5, 0.0, -2.0, 3.0, 4.0]).unwrap());
        let indices = vec![4, 0, 7, 2];
        let sparse = Features::Sparse(Sparse::new(9, vec![0, 1, 1, 4], indices, vec![1.0, -1.0, 0.5, 2.0]).unwrap());
        let empty = Features::Dense(Dense::new(0, 4, Vec::new()).unwrap());
        for features in [dense, sparse, empty] {
            let stored = StoredFeatures::new(Held(features.clone())).unwrap();
            assert_eq!(stored.fingerprint(), features.fingerprint());
            let blocks: Vec<_> = stored.blocks().collect();
            assert_eq!(blocks.iter().map(ExactSizeIterator::len).sum::<usize>(), features.rows());
            if features.rows() > 0 {
                assert_eq!(stored.read(1..3).unwrap(), features.gather(&[1, 2]));
                assert!(stored.read(2..4).is_err());
            }
        }
    }

    #[test]
    fn many_rows_are_read_in_their_order() {
        let rows = 150_000;
        let features = Features::Dense(Dense::new(rows, 1, (0..rows).map(|row| row as f32).collect()).unwrap());
        let stored = StoredFeatures::new(Held(features.clone())).unwrap();
        assert_eq!(stored.fingerprint(), features.fingerprint());
        let blocks: Vec<_> = stored.blocks().collect();
        assert!(blocks.len() > 1 && blocks[0].start == 0 && blocks.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(blocks.last().unwrap().end, rows);
    }
}
