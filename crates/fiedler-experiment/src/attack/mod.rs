//! Attacks for people: a graph is poisoned, and what became of it is written and told.

mod checkpoint;
mod files;
mod record;
mod split;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use fiedler_attack::{
    AttackInput, AttackSettings, AttackState, Checkpoint, Flip, Knowledge, Known, Outcome, Suspect, surrogate_accuracy,
    suspicious_edges,
};
use fiedler_graph::{Dataset, GraphSet, Observer, Split};

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::observe::Tell;
use crate::settings_tree;
use crate::task::DataRecord;

pub(crate) use record::classes_agree;
pub use record::{AttackRecord, Detection, FlipCounts, SplitRecord, SurrogateAccuracy};
pub use split::SplitChoice;

/// The files of an attack.
pub const POISONED: &str = "poisoned.npz";
/// The poisoned adjacency matrix alone, as `scipy.sparse.save_npz` writes it.
pub const ADJACENCY: &str = "adjacency.npz";
/// The flips in their order.
pub const FLIPS: &str = "flips.csv";
/// All that is known of the attack.
pub const RECORD: &str = "attack.json";

/// An attack to be made.
pub struct AttackPlan<'a> {
    /// The attack with its settings.
    pub settings: AttackSettings,
    /// The graph with all that is known of it; what the attack may know is decided by its settings.
    pub dataset: &'a Dataset,
    /// Where the data came from.
    pub data: DataRecord,
    /// The split that the victim will be trained on.
    pub split: Option<SplitChoice>,
    /// Seed of a random split, and of the surrogate that is judged.
    pub seed: u64,
    /// Folder for what comes of it; without, nothing is written.
    pub out: Option<PathBuf>,
    /// Whether files that are there already give way.
    pub force: bool,
    /// What is recorded as having asked for it.
    pub command: String,
}

/// An attack that was made.
pub struct FinishedAttack {
    /// What is known of it.
    pub record: AttackRecord,
    /// The flips in their order.
    pub flips: Vec<Flip>,
    /// The poisoned graph, with features and labels as they were and the split that it was made for.
    pub poisoned: Dataset,
    /// Edges of the poisoned graph, the most suspicious first.
    pub suspects: Vec<Suspect>,
}

/// An attack by its name: the flips as a share of the edges, a seed where it draws anything, and further settings as `key=value`.
///
/// # Errors
/// When there is no such attack or setting, or a value is not of its kind.
pub fn settings_of(name: &str, ratio: Option<f64>, seed: u64, assignments: &[String]) -> Result<AttackSettings> {
    let mut settings: AttackSettings = name.parse()?;
    let ratio = ratio.map(|ratio| format!("ratio={ratio}"));
    // Not every attack draws anything.
    let seeded = settings_tree::assign_to(&settings, &format!("seed={seed}"));
    settings = seeded.unwrap_or(settings);
    for assignment in ratio.iter().chain(assignments) {
        settings = settings_tree::assign_to(&settings, assignment)?;
    }
    Ok(settings)
}

/// The folder of an attack, where data are that folder or the poisoned graph in it.
pub(crate) fn folder_of(data: &str) -> Option<PathBuf> {
    let path = Path::new(data);
    let folder = match path.file_name() {
        Some(name) if name == POISONED || name == ADJACENCY => path.parent()?,
        _ => path,
    };
    folder.join(RECORD).is_file().then(|| folder.to_owned())
}

/// What a reader of a poisoned graph should know.
pub(crate) fn note_of(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(RECORD)).ok()?;
    let record: AttackRecord = serde_json::from_str(&text).ok()?;
    let flips = format!("the graph was poisoned by {}, {} flips", record.attack.name(), record.flips);
    Some(match (record.attack.knows(), record.split) {
        (Known::TrainingLabels, Some(split)) => format!(
            "{flips} made for the split {} ({}): probes that train on other nodes are hardly hurt",
            split.name,
            &split.fingerprint[..split.fingerprint.len().min(8)]
        ),
        _ => flips,
    })
}

/// A poisoned dataset and how it came about, without a word on how good it is.
pub(crate) struct Poisoned {
    pub outcome: Outcome,
    pub dataset: Dataset,
}

/// Attacks a dataset of one graph; the split is what the attack is made for.
pub(crate) fn poison(
    settings: &AttackSettings,
    dataset: &Dataset,
    split: Option<&Split>,
    resume: Option<&AttackState>,
    checkpoint: Option<&Checkpoint<'_>>,
    observer: &dyn Observer,
) -> Result<Poisoned> {
    let graph = dataset.graph().ok_or_else(|| several_graphs(dataset))?;
    let knowledge = knowledge(dataset, split);
    let outcome = settings.run(&AttackInput { graph, knowledge, resume, checkpoint }, observer)?;
    let mut poisoned = dataset.clone();
    poisoned.graphs = GraphSet::single(outcome.poison(graph)?);
    poisoned.edge_features = None;
    if let Some(split) = split {
        poisoned.splits = vec![split.clone()];
    }
    Ok(Poisoned { outcome, dataset: poisoned })
}

fn knowledge<'a>(dataset: &'a Dataset, split: Option<&'a Split>) -> Knowledge<'a> {
    Knowledge { features: dataset.features.as_ref(), labels: dataset.node_labels.as_ref(), split }
}

fn several_graphs(dataset: &Dataset) -> Error {
    let message = format!("{} has {} graphs, and an attack is on one", dataset.name, dataset.graphs.len());
    Error::new(ErrorKind::Usage, message, "give a single graph".to_owned())
}

impl AttackPlan<'_> {
    /// Makes the attack and writes what came of it. An attack that was stopped goes on where it was when it is asked for again.
    ///
    /// # Errors
    /// When the attack is not for such data, a file is there that may not be replaced, writing fails, or the observer asks to stop.
    pub fn run(&self, observer: &dyn Observer) -> Result<FinishedAttack> {
        let graph = self.dataset.graph().ok_or_else(|| several_graphs(self.dataset))?;
        if let Some(folder) = &self.out {
            files::check(folder, self.force)?;
        }
        let split = self.split.as_ref().map(|choice| choice.resolve(self.dataset, self.seed)).transpose()?;
        let known = knowledge(self.dataset, split.as_ref());
        self.settings.check(&AttackInput::new(graph, known))?;
        let checkpoint = checkpoint::AttackCheckpoint::new(self, split.as_ref());
        let resume = checkpoint.read();
        if let Some(state) = &resume {
            let done = match &state.relaxed {
                Some(relaxed) => format!("{} steps", relaxed.steps),
                None => format!("{} flips", state.flips.len()),
            };
            observer.note(&format!("going on after {done} of an earlier attack"));
        }
        let started = Instant::now();
        let stage = observer.stage("attack", self.settings.name());
        let keep = |state: &dyn Fn() -> AttackState| checkpoint.keep(state);
        let Poisoned { outcome, dataset } =
            poison(&self.settings, self.dataset, split.as_ref(), resume.as_ref(), Some(&keep), observer)?;
        drop(stage);
        if !outcome.complete {
            return Err(checkpoint.stopped(&outcome));
        }
        let seconds = started.elapsed().as_secs_f64();
        let stage = observer.stage("attack", "looking at what it did");
        let suspects = suspicious_edges(dataset.graphs.block_diagonal(), dataset.features.as_ref());
        let mut record = AttackRecord::new(self, &outcome, split.as_ref(), &suspects);
        record.poisoned_fingerprint = dataset.graphs.fingerprint();
        record.surrogate_accuracy = self.judge(&dataset, split.as_ref())?;
        (record.seconds, record.peak_bytes) = (seconds, memory::peak_bytes());
        if self.dataset.edge_features.is_some() {
            record.notes.push("edge features are left out of the poisoned graph: added edges have none".into());
        }
        let finished = FinishedAttack { record, flips: outcome.flips, poisoned: dataset, suspects };
        if let Some(folder) = &self.out {
            files::write(folder, self, &finished, split.as_ref())?;
            checkpoint.remove();
        }
        drop(stage);
        Ok(finished)
    }

    /// How well the surrogate does on the graph before and after; none without classes or a split.
    fn judge(&self, poisoned: &Dataset, split: Option<&Split>) -> Result<Option<SurrogateAccuracy>> {
        let has_classes = self.dataset.node_labels.as_ref().is_some_and(|labels| labels.classes().is_some());
        if split.is_none() || !has_classes {
            return Ok(None);
        }
        let accuracy = |dataset: &Dataset| {
            surrogate_accuracy(dataset.graphs.block_diagonal(), &knowledge(dataset, split), self.seed)
        };
        let (before, after) = (accuracy(self.dataset)?, accuracy(poisoned)?);
        Ok(before.zip(after).map(|(before, after)| SurrogateAccuracy { before, after }))
    }
}
