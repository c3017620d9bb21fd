//! What the tests of all formats share.
#![allow(dead_code)]

use std::io::Write;
use std::path::PathBuf;

use fiedler_graph::Dataset;
use fiedler_io::read::{self, ReadOptions};
use fiedler_io::{DataSource, Error};

/// A path below `FIEDLER_DATA`; where that is not set, says which case is skipped.
pub fn published(path: &str) -> Option<PathBuf> {
    match std::env::var_os("FIEDLER_DATA") {
        Some(root) => Some(PathBuf::from(root).join(path)),
        None => {
            // Not `eprintln`, which the test harness captures.
            let _ = writeln!(std::io::stderr(), "skipped: {path} (FIEDLER_DATA is not set)");
            None
        }
    }
}

/// Files in memory, as a folder or, with `file`, as the path of one of them.
pub fn memory(files: &[(&str, &[u8])], file: Option<&str>) -> DataSource {
    DataSource::memory(files.iter().map(|(name, bytes)| (name.to_string(), bytes.to_vec())), file)
}

/// Reads with default options.
pub fn read(input: &DataSource) -> Result<Dataset, Error> {
    read::read_source(input, &ReadOptions::default())
}

/// Reads a published file with default options.
pub fn read_path(path: impl AsRef<std::path::Path>) -> Dataset {
    match read::read(path, &ReadOptions::default()) {
        Ok(dataset) => dataset,
        Err(error) => panic!("{error}"),
    }
}
