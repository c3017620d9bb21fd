//! Embeddings in files, evaluated by a protocol.

use std::path::Path;

use fiedler_evaluate::{EvaluationSettings, Score, Target, evaluate};
use fiedler_graph::Observer;
use fiedler_io::tables::{self, EmbeddingTable, ItemKind, ItemNames, Items, Matching};

use crate::error::Result;
use crate::observe::Tell;

/// The score of embeddings in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct FileScore {
    /// The score.
    pub score: Score,
    /// Which columns of the file were taken as embeddings, and where ids were found, in words.
    pub used: String,
}

/// Reads embeddings and evaluates them.
///
/// # Errors
/// When the file cannot be read, its rows cannot be matched to the labels, one of its columns is what is to be predicted, or the observer
/// asks to stop.
pub fn evaluate_file(
    path: &Path,
    target: &Target,
    matching: Matching,
    settings: &EvaluationSettings,
    observer: &dyn Observer,
) -> Result<FileScore> {
    let names = match (&target.names, target.counted) {
        (Some(names), _) => ItemNames::Known(names),
        (None, true) => ItemNames::Counted,
        (None, false) => ItemNames::Unknown,
    };
    let items = Items {
        names,
        kind: if target.graphs { ItemKind::Graph } else { ItemKind::Node },
        labels: &target.labels,
        label_columns: &target.columns,
    };
    let EmbeddingTable { values, used, notes } = tables::read_embeddings(path, items, matching)?;
    let name = path.display().to_string();
    let _stage = observer.stage("evaluation", &name);
    let mut score = evaluate(&values, target, settings, observer)?;
    score.notes.extend(notes);
    Ok(FileScore { score, used: used.to_string() })
}

/// Reads labels from a table: classes, yes-or-no labels or real values.
///
/// # Errors
/// When the file is no table of labels, or names an item twice.
pub fn read_labels(path: &Path) -> Result<Target> {
    let table = tables::read_labels(path)?;
    Ok(Target { names: table.ids, columns: table.columns, splits: table.splits, ..Target::of_labels(table.labels) })
}
