//! Opening data: a path, a name of the catalogue or a generator becomes a dataset.

use std::path::{Path, PathBuf};

use fiedler_graph::read::{self, Options};
use fiedler_graph::{Dataset, Observer, catalogue, generate};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::observe::Tell;

/// What is read when no data are named: a generated citation graph.
pub const BUILT_IN: &str = "citation";

/// How data are read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// Format of the path, where looking at it does not tell.
    pub format: Option<String>,
    /// Node features: a csv, npy or parquet file.
    pub features: Option<PathBuf>,
    /// Node labels: a csv, npy or parquet file.
    pub labels: Option<PathBuf>,
    /// Columns to predict, of a table with a molecule in each row.
    pub targets: Vec<String>,
    /// Use continuous node attributes beside node labels, where a dataset has both.
    pub attributes: bool,
    /// Leave edge weights out.
    pub unweighted: bool,
}

impl ReadOptions {
    fn options(&self) -> Options {
        Options {
            format: self.format.clone(),
            features: self.features.clone(),
            labels: self.labels.clone(),
            targets: self.targets.clone(),
            attributes: self.attributes,
            unweighted: self.unweighted,
        }
    }
}

/// Reads, finds or makes a dataset; `seed` is that of a generator.
///
/// # Errors
/// When there is no such path or name, or it cannot be read.
pub fn open(data: &str, options: &ReadOptions, seed: u64) -> Result<Dataset> {
    if generate::is_spec(data) && !Path::new(data).exists() {
        return Ok(generate::from_spec(data, seed)?);
    }
    if Path::new(data).exists() || looks_like_path(data) {
        return Ok(read::read(data, &options.options())?);
    }
    Ok(catalogue::open(data, &options.options())?)
}

/// As [`open`]; what reading made of the source is told to the observer.
///
/// # Errors
/// As [`open`].
pub fn open_observed(data: &str, options: &ReadOptions, seed: u64, observer: &dyn Observer) -> Result<Dataset> {
    let stage = observer.stage("reading", data);
    let dataset = open(data, options, seed)?;
    drop(stage);
    for note in &dataset.report.notes {
        observer.note(&format!("note: {note}"));
    }
    Ok(dataset)
}

/// Names have neither folders nor extensions; what has them was meant as a path, even if nothing is there.
fn looks_like_path(data: &str) -> bool {
    data.contains(std::path::is_separator) || Path::new(data).extension().is_some()
}
