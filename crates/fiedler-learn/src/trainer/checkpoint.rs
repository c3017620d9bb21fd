//! Where training stands, in bytes that it can go on from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::method::Phase;
use crate::state_dict::StateDict;
use crate::version1;

/// Where a run keeps its checkpoint. Files are the business of whoever implements this.
pub trait CheckpointStore: Sync {
    /// The bytes of the last checkpoint, if there is one.
    ///
    /// # Errors
    /// When it cannot be read; the text says why.
    fn load(&self) -> std::result::Result<Option<Vec<u8>>, String>;

    /// Keeps a checkpoint in place of the one before.
    ///
    /// # Errors
    /// When it cannot be written; the text says why.
    fn save(&self, bytes: &[u8]) -> std::result::Result<(), String>;
}

/// A checkpoint's place, and what tells its run from others.
#[derive(Clone, Copy)]
pub struct Checkpointing<'a> {
    /// Where it is kept.
    pub store: &'a dyn CheckpointStore,
    /// Settings and data of the run, in any form: a checkpoint of another run is refused.
    pub run: &'a str,
}

/// How training has gone so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct History {
    /// The mean loss of each epoch.
    pub losses: Vec<f32>,
    /// The epoch, counted from one, with the smallest loss, or with the smallest value of the method's own validation; and that value.
    pub best: Option<(usize, f32)>,
    /// Time taken, interruptions not counted.
    pub seconds: f64,
    /// The value of the method's own validation after each epoch, where early stopping looks at one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validation: Vec<f32>,
}

/// How far an epoch is.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Position {
    /// Steps of the epoch that are done.
    pub(super) batch: usize,
    /// Sum of losses, each times the graphs of its step.
    pub(super) loss_sum: f64,
    /// Graphs of these steps.
    pub(super) graphs: usize,
}

/// All that training needs to go on.
#[derive(Debug, Clone)]
pub(super) struct Checkpoint {
    pub(super) model: StateDict,
    pub(super) optimizers: Vec<StateDict>,
    /// The weights that had the smallest loss, where they may be wanted again.
    pub(super) best: Option<StateDict>,
    pub(super) history: History,
    pub(super) position: Position,
    pub(super) state: Value,
}

/// Version of the format.
const VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    version: u32,
    run: String,
    /// The note of each optimizer: its number of steps.
    optimizers: Vec<String>,
    history: History,
    position: Position,
    state: Value,
}

impl Checkpointing<'_> {
    pub(super) fn write(&self, checkpoint: &Checkpoint) -> Result<()> {
        let bytes = checkpoint.to_bytes(self.run)?;
        self.store.save(&bytes).map_err(|problem| Error::Checkpoint { action: "write", problem })
    }

    /// What was kept, if anything.
    pub(super) fn read(&self, epochs: usize) -> Result<Option<Checkpoint>> {
        let bytes = self.store.load().map_err(|problem| Error::Checkpoint { action: "read", problem })?;
        bytes.map(|bytes| Checkpoint::from_bytes(&bytes, self.run, epochs)).transpose()
    }
}

impl Checkpoint {
    fn to_bytes(&self, run: &str) -> Result<Vec<u8>> {
        let note = Note {
            version: VERSION,
            run: run.to_owned(),
            optimizers: self.optimizers.iter().map(|optimizer| optimizer.note.clone().unwrap_or_default()).collect(),
            history: self.history.clone(),
            position: self.position,
            state: self.state.clone(),
        };
        let mut file = StateDict::default();
        file.note = Some(serde_json::to_string(&note).map_err(malformed)?);
        let optimizers = self.optimizers.iter().enumerate().map(|(at, weights)| (format!("optimizer{at}."), weights));
        let parts = [("model.".to_owned(), &self.model)].into_iter().chain(optimizers);
        for (part, weights) in parts.chain(self.best.iter().map(|best| ("best.".to_owned(), best))) {
            for (name, shape, values) in weights.iter() {
                file.insert(format!("{part}{name}"), shape.to_vec(), values.to_vec())?;
            }
        }
        file.to_bytes()
    }

    fn from_bytes(bytes: &[u8], run: &str, epochs: usize) -> Result<Checkpoint> {
        let file = StateDict::from_bytes(bytes)?;
        let note = file.note.as_deref().unwrap_or_default();
        let version: Value = serde_json::from_str(note).map_err(malformed)?;
        if version.get("version").and_then(Value::as_u64) != Some(VERSION.into()) {
            return Err(malformed("it was left by another version of fiedler; begin the run anew"));
        }
        let note: Note = serde_json::from_value(version).map_err(malformed)?;
        if note.run != run {
            return Err(Error::OtherRun);
        }
        if let Some(name) = file.not_finite() {
            return Err(malformed(format!("{name} holds a value that is no finite number")));
        }
        note.check(epochs)?;
        let (mut model, mut best) = (StateDict::default(), StateDict::default());
        let mut optimizers: Vec<StateDict> = Vec::new();
        for steps in note.optimizers {
            let mut optimizer = StateDict::default();
            optimizer.note = Some(steps);
            optimizers.push(optimizer);
        }
        for (name, shape, values) in file.iter() {
            let (part, rest) = name.split_once('.').unwrap_or((name, ""));
            let optimizer = part.strip_prefix("optimizer").and_then(|number| number.parse::<usize>().ok());
            let part = match (part, optimizer) {
                ("model", _) => &mut model,
                ("best", _) => &mut best,
                (_, Some(at)) if at < optimizers.len() => &mut optimizers[at],
                _ => return Err(malformed(format!("{name} belongs to no part"))),
            };
            part.insert(rest, shape.to_vec(), values.to_vec())?;
        }
        let has_best = best.iter().next().is_some();
        let (model, best) = (version1::upgrade_weights(model)?, version1::upgrade_weights(best)?);
        let optimizers = optimizers.into_iter().map(version1::upgrade_moments).collect();
        let (history, position, state) = (note.history, note.position, note.state);
        Ok(Checkpoint { model, optimizers, best: has_best.then_some(best), history, position, state })
    }
}

impl Note {
    /// Refuses what no run of ours would have written.
    fn check(&self, epochs: usize) -> Result<()> {
        let History { losses, best, seconds, validation } = &self.history;
        if losses.len() > epochs || losses.iter().any(|loss| !loss.is_finite()) {
            return Err(malformed(format!("it tells of {} epochs, where the run has {epochs}", losses.len())));
        }
        let validated = validation.is_empty() || validation.len() == losses.len();
        if !validated || validation.iter().any(|value| !value.is_finite()) {
            return Err(malformed("its values of validation are not those of its epochs"));
        }
        if best.is_some_and(|(epoch, value)| epoch == 0 || epoch > losses.len() || !value.is_finite()) {
            return Err(malformed("its best epoch is none of those that it tells of"));
        }
        if !(seconds.is_finite() && *seconds >= 0.0 && self.position.loss_sum.is_finite()) {
            return Err(malformed("its times or sums are no numbers"));
        }
        if !(1..=Phase::MOST).contains(&self.optimizers.len()) {
            return Err(malformed(format!("it has {} optimizers", self.optimizers.len())));
        }
        Ok(())
    }
}

fn malformed(problem: impl std::fmt::Display) -> Error {
    Error::Malformed { problem: format!("not a checkpoint: {problem}") }
}

/// Reads the bytes of a checkpoint as a run would that has no other: what a fuzzer calls.
///
/// # Errors
/// When they are not those of a checkpoint.
#[doc(hidden)]
pub fn read_any(bytes: &[u8]) -> Result<()> {
    Checkpoint::from_bytes(bytes, "", usize::MAX).map(drop)
}
