//! Schemes for people and other programs: figures of what a scheme does, and files of it.

mod files;
mod summary;

use std::path::{Path, PathBuf};

use fiedler_augment::Scheme;
use fiedler_graph::Dataset;

use crate::error::Result;

pub use summary::{BetweenClasses, SchemeSummary};

/// What is written of a scheme, and where.
#[derive(Debug, Clone)]
pub struct SchemeExport {
    /// The folder.
    pub folder: PathBuf,
    /// Whether files that are there already give way.
    pub force: bool,
    /// Sampled graphs of each view, as edge lists.
    pub views: u32,
    /// Rows in `sensitive_edges.csv`.
    pub top: usize,
    /// Seed of the sampled graphs.
    pub seed: u64,
}

impl SchemeExport {
    /// Refuses before anything is computed what would be refused after it.
    ///
    /// # Errors
    /// When a file is there that may not be replaced.
    pub fn check(&self) -> Result<()> {
        files::check(&self.folder, self.force)
    }

    /// Writes everything under temporary names, then gives all files their own.
    ///
    /// # Errors
    /// When a file is there that may not be replaced, or writing fails.
    pub fn write(&self, scheme: &Scheme, dataset: &Dataset) -> Result<()> {
        files::write_all(&self.folder, scheme, dataset, self)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}
