//! Where an attack stands that is not finished, so that it can go on.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fiedler_attack::{AttackState, Outcome};
use fiedler_graph::Split;
use fiedler_graph::fingerprint::short_hash;
use fiedler_io::AtomicFiles;
use serde::{Deserialize, Serialize};

use super::AttackPlan;
use crate::error::Error;

const FILE: &str = "attack.part.json";

/// Time between two writings.
const BETWEEN: Duration = Duration::from_secs(10);

/// Where unfinished attacks are kept; nowhere without a folder.
pub struct AttackCheckpoint {
    folder: Option<PathBuf>,
    /// Fingerprint of all that the flips depend on.
    of: String,
    written: Mutex<Instant>,
}

#[derive(Serialize, Deserialize)]
struct Part {
    of: String,
    #[serde(flatten)]
    state: AttackState,
}

impl AttackCheckpoint {
    pub fn new(plan: &AttackPlan<'_>, split: Option<&Split>) -> AttackCheckpoint {
        let data = (&plan.data.fingerprint, &plan.data.features_fingerprint);
        let labels = plan.dataset.node_labels.as_ref().map(|labels| labels.fingerprint());
        let of = short_hash(&(&plan.settings, data, labels, split.map(Split::fingerprint)));
        AttackCheckpoint { folder: plan.out.clone(), of, written: Mutex::new(Instant::now()) }
    }

    /// Where an earlier attempt at the same attack stood.
    pub fn read(&self) -> Option<AttackState> {
        let text = fs::read_to_string(self.folder.as_ref()?.join(FILE)).ok()?;
        let part = serde_json::from_str::<Part>(&text).ok()?;
        (part.of == self.of && !part.state.is_empty()).then_some(part.state)
    }

    /// Keeps where the attack stands, now and then. That an attempt cannot be kept is no reason to give it up.
    pub fn keep(&self, state: &dyn Fn() -> AttackState) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.elapsed() >= BETWEEN {
            let _: Option<()> = self.write(state());
            *written = Instant::now();
        }
    }

    fn write(&self, state: AttackState) -> Option<()> {
        let folder = self.folder.as_ref()?;
        fs::create_dir_all(folder).ok()?;
        let part = Part { of: self.of.clone(), state };
        let mut files = AtomicFiles::new(true);
        files.write(&folder.join(FILE), |file| Ok(serde_json::to_writer(file, &part)?)).ok()?;
        files.finish().ok().map(drop)
    }

    /// The attack was stopped: where it stands is kept, if there is a place for that.
    pub fn stopped(&self, outcome: &Outcome) -> Error {
        let state = outcome.state();
        let done = match &state.relaxed {
            Some(relaxed) => format!("stopped after {} steps, before flips were drawn", relaxed.steps),
            None => format!("stopped after {} of {} flips", outcome.flips.len(), outcome.budget),
        };
        let kept = !state.is_empty() && self.write(state).is_some();
        let message = if kept { format!("{done}; the same command goes on from there") } else { done };
        Error::Stopped { message, folder: None }
    }

    /// The attack is finished.
    pub fn remove(&self) {
        if let Some(folder) = &self.folder {
            // That it stays is no harm: it is read only for the same attack.
            let _ = fs::remove_file(folder.join(FILE));
        }
    }
}
