//! Files that fiedler writes itself: those that were written once are still read, and those that nobody meant to write are refused with
//! a reason, without a panic and without much memory.
#![allow(clippy::unwrap_used)]

mod crafted;
mod fuzz;
mod written;

use std::path::{Path, PathBuf};

/// A folder of fixtures.
fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder)
}

/// What lies in a folder, in order; nothing where there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}
