//! Embeddings in files, evaluated by a protocol.

use std::path::Path;

use fiedler_evaluate::{EvaluationSettings, Score, Target, evaluate};
use fiedler_graph::Observer;
use fiedler_io::tables::{self, ItemKind, Items};

use crate::error::Result;
use crate::observe::Tell;

/// Reads embeddings and evaluates them.
///
/// # Errors
/// When the file cannot be read, its rows are not those of the labels, or the observer asks to stop.
pub fn evaluate_file(
    path: &Path,
    target: &Target,
    settings: &EvaluationSettings,
    observer: &dyn Observer,
) -> Result<Score> {
    let items = Items {
        count: target.labels.len(),
        names: target.names.as_deref(),
        names_count_rows: target.names_count_rows,
        kind: if target.graphs { ItemKind::Graph } else { ItemKind::Node },
    };
    let (embeddings, notes) = tables::read_embeddings(path, items)?;
    let name = path.display().to_string();
    let _stage = observer.stage("evaluation", &name);
    let mut score = evaluate(&embeddings, target, settings, observer)?;
    score.notes.extend(notes);
    Ok(score)
}

/// Reads labels from a table: classes, yes-or-no labels or real values.
///
/// # Errors
/// When the file is no table of labels, or names an item twice.
pub fn read_labels(path: &Path) -> Result<Target> {
    let table = tables::read_labels(path)?;
    Ok(Target { names: table.ids, names_count_rows: true, ..Target::of_labels(table.labels) })
}
