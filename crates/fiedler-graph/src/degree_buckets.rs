//! Degrees as features that mean the same in every graph.

use crate::features::{Features, Sparse};
use crate::graph::Graph;

impl Features {
    /// One-hot buckets of node degrees, whose borders are powers of two and so depend on no graph: 0, 1, 2 to 3, 4 to 7, and so on. The
    /// last of `buckets` columns holds all degrees from its border on.
    ///
    /// ```
    /// use fiedler_graph::{Features, Graph};
    /// let (star, _) = Graph::from_pairs(5, vec![(0, 1), (0, 2), (0, 3)])?;
    /// let rows = Features::degree_buckets(&star, 4).to_dense();
    /// assert_eq!(rows.row(0), [0.0, 0.0, 1.0, 0.0]);
    /// assert_eq!((rows.row(1), rows.row(4)), (&[0.0, 1.0, 0.0, 0.0][..], &[1.0, 0.0, 0.0, 0.0][..]));
    /// assert_eq!(Features::degree_bucket_names(4), ["degree 0", "degree 1", "degree 2-3", "degree 4+"]);
    /// # Ok::<(), fiedler_graph::Error>(())
    /// ```
    ///
    /// # Panics
    /// When there is no bucket.
    pub fn degree_buckets(graph: &Graph, buckets: usize) -> Features {
        let bucket = |node| match graph.degree(node) {
            0 => 0,
            degree => (1 + degree.ilog2() as usize).min(buckets - 1) as u32,
        };
        Features::Sparse(Sparse::one_hot(buckets, (0..graph.num_nodes() as u32).map(bucket).collect()))
    }

    /// Names of the columns of [`Features::degree_buckets`].
    pub fn degree_bucket_names(buckets: usize) -> Vec<String> {
        let name = |bucket: usize| {
            let low = match bucket {
                0 => 0,
                other => 1u128.checked_shl(other as u32 - 1).unwrap_or(u128::MAX),
            };
            match bucket {
                _ if bucket + 1 == buckets => format!("degree {low}+"),
                0 | 1 => format!("degree {low}"),
                _ => format!("degree {low}-{}", low.saturating_mul(2) - 1),
            }
        };
        (0..buckets).map(name).collect()
    }
}
