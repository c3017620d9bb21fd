//! Poisoned graphs of a table: each is made once, kept in the table's folder, and shared by all rows.

use std::fs;
use std::path::Path;

use fiedler_attack::{AttackSettings, AttackState, Outcome};
use fiedler_evaluate::ProtocolPreset;
use fiedler_graph::fingerprint::short_hash;
use fiedler_graph::{GraphSet, Observer, Split};
use fiedler_io::AtomicFiles;
use serde::{Deserialize, Serialize};

use crate::attack::{Poisoned, poison};
use crate::error::{Error, Result};
use crate::observe::Tell;
use crate::task::{Poison, Task};

/// What is kept of an attack.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    attack: AttackSettings,
    budget: usize,
    #[serde(flatten)]
    state: AttackState,
    complete: bool,
}

/// The attacks of a table, each with the name and the share of edges that rows are named by.
pub type Poisons = fn() -> Vec<(&'static str, f64, AttackSettings)>;

/// The datasets, each followed by its poisoned forms; attacks that no row is wanted of are left out.
pub fn with_poisoned(
    data: Vec<Task>,
    poisons: Poisons,
    wanted: impl Fn(&Task) -> Result<bool>,
    preset: ProtocolPreset,
    seed: u64,
    out: &Path,
    observer: &dyn Observer,
) -> Result<Vec<Task>> {
    let mut all = Vec::new();
    for clean in data {
        // The split that the first seed's probe trains on: on others, what reads training labels would do little harm.
        let splits = preset.protocol().splits(clean.target()?, preset.evaluation(seed, None).seed)?;
        let split = splits.into_iter().next().ok_or_else(|| Error::unexpected("a split", "the protocol has none"))?;
        let mut poisoned = Vec::new();
        for (attack, ratio, settings) in poisons() {
            let mut task = clean.clone();
            task.poison = Some(Poison { attack, ratio });
            if wanted(&task)? {
                poisoned.push(make(task, &settings, &split, out, observer)?);
            }
        }
        all.push(clean);
        all.extend(poisoned);
    }
    Ok(all)
}

/// Attacks the data of a task, unless that was done before.
fn make(mut task: Task, settings: &AttackSettings, split: &Split, out: &Path, observer: &dyn Observer) -> Result<Task> {
    let record = &task.record;
    let of =
        (settings, &record.fingerprint, &record.features_fingerprint, task.labels_fingerprint(), split.fingerprint());
    let name = format!("{}-{}-{}.json", task.name, settings.name(), short_hash(&of));
    let path = out.join("poisoned").join(name);
    let kept: Option<Kept> = fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    let resume = match kept {
        Some(kept) if kept.complete => {
            let outcome =
                Outcome { budget: kept.budget, flips: kept.state.flips, complete: true, ..Outcome::default() };
            let graph = outcome.poison(task.dataset.graphs.block_diagonal())?;
            task.change_graphs(GraphSet::single(graph));
            return Ok(task);
        }
        kept => kept.map(|kept| kept.state),
    };
    let stage = observer.stage("attack", settings.name());
    let Poisoned { outcome, dataset } = poison(settings, &task.dataset, Some(split), resume.as_ref(), None, observer)?;
    let Outcome { budget, complete, .. } = outcome;
    let kept = Kept { attack: settings.clone(), budget, state: outcome.state(), complete };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    }
    let mut files = AtomicFiles::new(true);
    files.write(&path, |file| Ok(serde_json::to_writer(file, &kept)?))?;
    files.finish()?;
    drop(stage);
    if !complete {
        let message = format!("stopped after {} of {budget} flips", kept.state.flips.len());
        return Err(Error::Stopped { message, folder: None });
    }
    for note in &outcome.notes {
        observer.note(&format!("{}, {}: {note}", task.title, settings.name()));
    }
    task.change_graphs(dataset.graphs);
    Ok(task)
}
