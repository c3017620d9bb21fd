//! What is known of an attack: `attack.json`.

use std::collections::HashSet;

use fiedler_attack::{AttackSettings, Flip, Outcome, Suspect};
use fiedler_graph::{Labels, Split};
use serde::{Deserialize, Serialize};

use super::AttackPlan;
use crate::task::DataRecord;

/// What is known of an attack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AttackRecord {
    /// Version of the program.
    pub version: String,
    /// The command that asked for it.
    pub command: String,
    /// The clean data.
    pub data: DataRecord,
    /// The attack and its settings, its seed among them.
    pub attack: AttackSettings,
    /// What it knew beside the graph and its features.
    pub knows: String,
    /// Flips that were allowed.
    pub budget: usize,
    /// Flips that were made.
    pub flips: usize,
    /// Of what kind they are.
    pub counts: FlipCounts,
    /// The split that it was made for: on others it does less harm.
    pub split: Option<SplitRecord>,
    /// Accuracy of a linear GCN on the split's test nodes, before and after.
    pub surrogate_accuracy: Option<SurrogateAccuracy>,
    /// How well added edges can be told from others.
    pub detection: Option<Detection>,
    /// Hash of the poisoned graph.
    pub poisoned_fingerprint: String,
    /// Seconds that choosing the flips took.
    pub seconds: f64,
    /// The most memory that the process held.
    pub peak_bytes: Option<u64>,
    /// What a user should know, one sentence each.
    pub notes: Vec<String>,
}

/// The split that an attack was made for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitRecord {
    /// Its name.
    pub name: String,
    /// Hash of its parts.
    pub fingerprint: String,
    /// Numbers of nodes.
    pub train: usize,
    /// The same for validation.
    pub validation: usize,
    /// The same for the test.
    pub test: usize,
}

/// Accuracy of the surrogate on test nodes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SurrogateAccuracy {
    /// On the clean graph.
    pub before: f64,
    /// On the poisoned one.
    pub after: f64,
}

/// How well added edges can be told from others: of the k most suspicious edges, k being the number of additions, so many are additions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// Edges that were added.
    pub added: usize,
    /// Share of additions among as many edges with the highest suspicion.
    pub precision: f64,
    /// The same by the unlikeness of features alone.
    pub precision_by_features: Option<f64>,
    /// Share of additions among all edges: what guessing would reach.
    pub chance: f64,
}

/// Flips by kind.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FlipCounts {
    /// Edges that were added.
    pub added: usize,
    /// Edges that were removed.
    pub removed: usize,
    /// Additions whose ends are of different classes.
    pub added_between_classes: usize,
    /// Removals whose ends are of different classes.
    pub removed_between_classes: usize,
    /// Flips with a training node at one end or both.
    pub at_training_nodes: usize,
    /// Flips with a training node at both ends.
    pub between_training_nodes: usize,
}

impl FlipCounts {
    /// Counts flips; classes and training nodes where they are known.
    pub fn of(flips: &[Flip], labels: Option<&Labels>, split: Option<&Split>) -> FlipCounts {
        let trains: HashSet<u32> = split.iter().flat_map(|split| split.train.iter().copied()).collect();
        let mut counts = FlipCounts::default();
        for flip in flips {
            let between = classes_agree(labels, flip) == Some(false);
            let ends = usize::from(trains.contains(&flip.low)) + usize::from(trains.contains(&flip.high));
            let (all, apart) = match flip.added {
                true => (&mut counts.added, &mut counts.added_between_classes),
                false => (&mut counts.removed, &mut counts.removed_between_classes),
            };
            *all += 1;
            *apart += usize::from(between);
            counts.at_training_nodes += usize::from(ends > 0);
            counts.between_training_nodes += usize::from(ends == 2);
        }
        counts
    }
}

/// Whether the ends of a flip are of one class; none where that is not known.
pub fn classes_agree(labels: Option<&Labels>, flip: &Flip) -> Option<bool> {
    let classes = labels?.classes()?.of();
    Some(classes[flip.low as usize]? == classes[flip.high as usize]?)
}

impl Detection {
    /// Suspects are all edges of the poisoned graph; none where nothing was added.
    pub fn of(suspects: &[Suspect], flips: &[Flip]) -> Option<Detection> {
        let added: HashSet<(u32, u32)> = flips.iter().filter(|flip| flip.added).map(Flip::pair).collect();
        if added.is_empty() {
            return None;
        }
        let share = |first: &mut dyn Iterator<Item = &Suspect>| {
            let found = first.take(added.len()).filter(|suspect| added.contains(&(suspect.low, suspect.high)));
            found.count() as f64 / added.len() as f64
        };
        let mut unlike: Vec<&Suspect> = suspects.iter().filter(|suspect| suspect.similarity.is_some()).collect();
        unlike.sort_by(|a, b| {
            let similarity = |suspect: &Suspect| suspect.similarity.unwrap_or(0.0);
            similarity(a).total_cmp(&similarity(b)).then((a.low, a.high).cmp(&(b.low, b.high)))
        });
        Some(Detection {
            added: added.len(),
            precision: share(&mut suspects.iter()),
            precision_by_features: (!unlike.is_empty()).then(|| share(&mut unlike.iter().copied())),
            chance: added.len() as f64 / suspects.len() as f64,
        })
    }
}

impl AttackRecord {
    pub(super) fn new(
        plan: &AttackPlan<'_>,
        outcome: &Outcome,
        split: Option<&Split>,
        suspects: &[Suspect],
    ) -> AttackRecord {
        AttackRecord {
            version: env!("CARGO_PKG_VERSION").into(),
            command: plan.command.clone(),
            data: plan.data.clone(),
            attack: plan.settings.clone(),
            knows: plan.settings.knows().in_words().into(),
            budget: outcome.budget,
            flips: outcome.flips.len(),
            counts: FlipCounts::of(&outcome.flips, plan.dataset.node_labels.as_ref(), split),
            split: split.map(|split| SplitRecord {
                name: split.name.clone(),
                fingerprint: split.fingerprint(),
                train: split.train.len(),
                validation: split.validation.len(),
                test: split.test.len(),
            }),
            surrogate_accuracy: None,
            detection: Detection::of(suspects, &outcome.flips),
            poisoned_fingerprint: String::new(),
            seconds: 0.0,
            peak_bytes: None,
            notes: outcome.notes.clone(),
        }
    }
}
