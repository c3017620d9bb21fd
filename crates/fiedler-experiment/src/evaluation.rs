//! Embeddings in files, evaluated by a protocol.

use std::path::Path;

use fiedler_evaluate::{Score, Settings, Target, evaluate, read_embeddings};
use fiedler_graph::Observer;

use crate::error::Result;
use crate::observe::{Tell, of_evaluation};

/// Reads embeddings and evaluates them.
///
/// # Errors
/// When the file cannot be read, its rows are not those of the labels, or the observer asks to stop.
pub fn evaluate_file(path: &Path, target: &Target, settings: &Settings, observer: &dyn Observer) -> Result<Score> {
    let (embeddings, notes) = read_embeddings(path, target)?;
    let name = path.display().to_string();
    let stage = observer.stage("evaluation", &name);
    let mut score = evaluate(&embeddings, target, settings, &of_evaluation(&stage))?;
    score.notes.extend(notes);
    Ok(score)
}
