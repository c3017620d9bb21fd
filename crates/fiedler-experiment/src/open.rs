//! Opening data: a path, a name of the catalogue or a generator becomes a dataset.

use std::path::Path;

use fiedler_graph::{Dataset, Observer};
use fiedler_io::ReadOptions;

use crate::attack;
use crate::error::Result;
use crate::observe::Tell;

/// What is read when no data are named: a generated citation graph.
pub const BUILT_IN: &str = "citation";

/// Reads, finds or makes a dataset; `seed` is that of a generator. What reading made of the source is told to the observer.
///
/// # Errors
/// When there is no such path or name, or it cannot be read.
pub fn open_observed(data: &str, options: &ReadOptions, seed: u64, observer: &dyn Observer) -> Result<Dataset> {
    let stage = observer.stage("reading", data);
    let poisoned = attack::folder_of(data);
    let dataset = match &poisoned {
        Some(folder) if Path::new(data).is_dir() => fiedler_io::read::read(folder.join(attack::POISONED), options)?,
        _ => fiedler_io::open(data, options, seed)?,
    };
    drop(stage);
    if let Some(note) = poisoned.and_then(|folder| attack::note_of(&folder)) {
        observer.note(&format!("note: {note}"));
    }
    for note in dataset.report.notes.iter().chain(&weights_in_words(&dataset)) {
        observer.note(&format!("note: {note}"));
    }
    Ok(dataset)
}

/// Which weights edges have, where they have any.
pub fn weights_in_words(dataset: &Dataset) -> Option<String> {
    let weights = dataset.graphs.block_diagonal().weights().filter(|weights| !weights.is_empty())?;
    let least = weights.iter().copied().fold(f32::INFINITY, f32::min);
    let most = weights.iter().copied().fold(0.0, f32::max);
    let merged = match dataset.report.edges.reweighted {
        0 => String::new(),
        pairs => format!("; {pairs} pairs were given again with another weight, of which the largest is kept"),
    };
    Some(format!("edge weights from {least} to {most} are used (--unweighted leaves them out){merged}"))
}
