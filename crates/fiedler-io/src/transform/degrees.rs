//! Degrees in place of features, so that an encoder can be applied to any graph.

use fiedler_graph::generate::Parameter;
use fiedler_graph::{Dataset, Features};

use super::{Arguments, Transform};
use crate::error::{Error, Result};

/// The same graphs with their degrees as the only features.
pub(super) const TRANSFORM: Transform = Transform {
    name: "degrees",
    about: "the same graphs with degrees as features that mean the same everywhere: one-hot buckets 0, 1, 2-3, 4-7 …",
    usage: "degrees:DATA,buckets=16",
    parameters: &[BUCKETS],
    apply,
};

pub(super) const BUCKETS: Parameter =
    Parameter { name: "buckets", about: "buckets of degrees; the last holds all that are larger" };
const DEFAULT_BUCKETS: usize = 16;

/// The number of buckets asked for.
pub(super) fn buckets(arguments: &Arguments<'_>) -> Result<usize> {
    match arguments.whole(BUCKETS.name, DEFAULT_BUCKETS)? {
        buckets @ 2..=33 => Ok(buckets),
        other => Err(Error::setting(BUCKETS.name, other, "2 to 33")),
    }
}

fn apply(arguments: &Arguments<'_>) -> Result<Dataset> {
    let buckets = buckets(arguments)?;
    let mut dataset = arguments.open_with(arguments.data, arguments.options)?;
    dataset.features = Some(Features::degree_buckets(dataset.graphs.block_diagonal(), buckets));
    dataset.feature_names = Some(Features::degree_bucket_names(buckets));
    dataset.edge_features = None;
    dataset.name = format!("{}-degrees", dataset.name);
    Ok(dataset)
}
