//! Flips of an attack that is not finished, so that it can go on.

use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fiedler_attack::{Flip, Outcome};
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
    flips: Vec<Flip>,
}

impl AttackCheckpoint {
    pub fn new(plan: &AttackPlan<'_>, split: Option<&Split>) -> AttackCheckpoint {
        let data = (&plan.data.fingerprint, &plan.data.features_fingerprint);
        let labels = plan.dataset.node_labels.as_ref().map(|labels| labels.fingerprint());
        let of = short_hash(&(&plan.settings, data, labels, split.map(Split::fingerprint)));
        AttackCheckpoint { folder: plan.out.clone(), of, written: Mutex::new(Instant::now()) }
    }

    /// Flips of an earlier attempt at the same attack.
    pub fn read(&self) -> Vec<Flip> {
        let text = self.folder.as_ref().and_then(|folder| fs::read_to_string(folder.join(FILE)).ok());
        let part = text.and_then(|text| serde_json::from_str::<Part>(&text).ok());
        part.filter(|part| part.of == self.of).map(|part| part.flips).unwrap_or_default()
    }

    /// Keeps the flips so far, now and then. That an attempt cannot be kept is no reason to give it up.
    pub fn keep(&self, flips: &[Flip]) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.elapsed() >= BETWEEN {
            let _: Option<()> = self.write(flips);
            *written = Instant::now();
        }
    }

    fn write(&self, flips: &[Flip]) -> Option<()> {
        let folder = self.folder.as_ref()?;
        fs::create_dir_all(folder).ok()?;
        let part = Part { of: self.of.clone(), flips: flips.to_vec() };
        let mut files = AtomicFiles::new(true);
        files.write(&folder.join(FILE), |file| Ok(serde_json::to_writer(file, &part)?)).ok()?;
        files.finish().ok().map(drop)
    }

    /// The attack was stopped: its flips are kept, if there is a place for them.
    pub fn stopped(&self, outcome: &Outcome) -> Error {
        let done = format!("stopped after {} of {} flips", outcome.flips.len(), outcome.budget);
        let kept = self.write(&outcome.flips).is_some() && !outcome.flips.is_empty();
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
