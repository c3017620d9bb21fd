//! Where training stands, in a file that it can go on from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::weights::Weights;

/// Where a run keeps its checkpoint, and what tells it from other runs.
#[derive(Debug, Clone)]
pub struct CheckpointFile {
    /// The file.
    pub path: PathBuf,
    /// Settings and data of the run, in any form: a checkpoint of another run is refused.
    pub run: String,
}

/// How training has gone so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// The mean loss of each epoch.
    pub losses: Vec<f32>,
    /// The number of epochs after which the loss was smallest, and that loss.
    pub best: Option<(usize, f32)>,
    /// Time taken, interruptions not counted.
    pub seconds: f64,
}

/// All that training needs to go on.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) model: Weights,
    pub(super) adam: Weights,
    /// The weights that had the smallest loss, where they may be wanted again.
    pub(super) best: Option<Weights>,
    pub(super) history: History,
}

#[derive(Serialize, Deserialize)]
struct Note {
    run: String,
    steps: Option<String>,
    history: History,
}

const PARTS: [&str; 3] = ["model.", "adam.", "best."];

impl CheckpointFile {
    pub(super) fn write(&self, checkpoint: Checkpoint) -> Result<()> {
        let Checkpoint { model, adam, best, history } = checkpoint;
        let note = Note { run: self.run.clone(), steps: adam.note.clone(), history };
        let mut file = Weights::default();
        file.note = Some(serde_json::to_string(&note).map_err(|error| self.malformed(error))?);
        for (part, weights) in PARTS.iter().zip([Some(model), Some(adam), best]) {
            for (name, shape, values) in weights.iter().flat_map(Weights::iter) {
                file.insert(format!("{part}{name}"), shape.to_vec(), values.to_vec())?;
            }
        }
        file.write(&self.path)
    }

    /// What the file holds, if there is one.
    pub(super) fn read(&self) -> Result<Option<Checkpoint>> {
        if !self.path.exists() {
            return Ok(None);
        }
        let file = Weights::read(&self.path)?;
        let note = file.note.as_deref().unwrap_or_default();
        let note: Note = serde_json::from_str(note).map_err(|error| self.malformed(error))?;
        if note.run != self.run {
            return Err(Error::OtherRun { path: self.path.clone() });
        }
        let mut parts: [Weights; 3] = Default::default();
        for (name, shape, values) in file.iter() {
            let found = PARTS.iter().enumerate().find_map(|(part, prefix)| Some((part, name.strip_prefix(prefix)?)));
            let (part, name) = found.ok_or_else(|| self.malformed(format!("{name} belongs to no part")))?;
            parts[part].insert(name, shape.to_vec(), values.to_vec())?;
        }
        let [model, mut adam, best] = parts;
        adam.note = note.steps;
        let has_best = best.iter().next().is_some();
        Ok(Some(Checkpoint { model, adam, best: has_best.then_some(best), history: note.history }))
    }

    fn malformed(&self, problem: impl std::fmt::Display) -> Error {
        Error::Malformed { path: self.path.clone(), problem: format!("not a checkpoint: {problem}") }
    }
}

/// Removes a checkpoint that is no longer needed; that there is none is no failure.
///
/// # Errors
/// When the system refuses.
pub fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::Io { action: "remove", path: path.into(), source: error })
        }
        _ => Ok(()),
    }
}
