//! The page of an attack.

use std::collections::HashSet;

use fiedler_attack::Flip;
use fiedler_augment::scheme::{Augmentation, SchemeSettings, Spectral};
use fiedler_graph::{Dataset, NoObserver, Split};
use fiedler_report::{AttackPage, FlipRow, Page, SuspectRow};

use crate::attack::{AttackPlan, FinishedAttack};
use crate::error::Result;

/// Nodes up to which SPAN's own scheme is computed for comparison.
const SCHEME_UP_TO: usize = 5_000;
/// Suspects that a page could list.
const SUSPECTS: usize = 100;

/// The page of a finished attack.
pub fn page(plan: &AttackPlan<'_>, attack: &FinishedAttack, split: Option<&Split>) -> Result<Page> {
    let record = &attack.record;
    let (before, after) = (plan.dataset.graphs.block_diagonal(), attack.poisoned.graphs.block_diagonal());
    let added: HashSet<(u32, u32)> = attack.flips.iter().filter(|flip| flip.added).map(Flip::pair).collect();
    let ends = |low: u32, high: u32| [before.name(low), before.name(high)];
    let of_page = AttackPage {
        attack: plan.settings.name().into(),
        knows: record.knows.clone(),
        budget: record.budget,
        flips: attack.flips.iter().map(|flip| row(flip, plan.dataset, split)).collect(),
        surrogate: record.surrogate_accuracy.map(|accuracy| (accuracy.before, accuracy.after)),
        spectra: Some(AttackPage::spectra(before, after, plan.seed)?),
        scheme: scheme(plan, &attack.flips)?,
        suspects: attack
            .suspects
            .iter()
            .take(SUSPECTS)
            .map(|suspect| SuspectRow {
                ends: ends(suspect.low, suspect.high),
                similarity: suspect.similarity,
                neighborhood_similarity: suspect.neighborhood_similarity,
                spectral_effect: suspect.spectral_effect,
                score: suspect.score,
                added: added.contains(&(suspect.low, suspect.high)),
            })
            .collect(),
        detection: record.detection.map(|found| (found.precision, found.precision_by_features, found.chance)),
        notes: record.notes.clone(),
        seconds: record.seconds,
    };
    let mut page = super::page(format!("{}: attack {}", plan.dataset.name, plan.settings.name()), of_page.lead());
    page.extend(of_page.sections());
    Ok(page)
}

fn row(flip: &Flip, dataset: &Dataset, split: Option<&Split>) -> FlipRow {
    let graph = dataset.graphs.block_diagonal();
    let part = |node: u32| match split {
        Some(split) if split.train.contains(&node) => "train",
        Some(split) if split.validation.contains(&node) => "validation",
        Some(split) if split.test.contains(&node) => "test",
        _ => "",
    };
    FlipRow {
        ends: [graph.name(flip.low), graph.name(flip.high)],
        added: flip.added,
        gain: flip.gain,
        same_class: crate::attack::classes_agree(dataset.node_labels.as_ref(), flip),
        parts: [part(flip.low), part(flip.high)],
        degrees: [graph.degree(flip.low), graph.degree(flip.high)],
    }
}

/// How many of the flips each view of SPAN's own scheme makes, at the same budget; nothing of large graphs.
fn scheme(plan: &AttackPlan<'_>, flips: &[Flip]) -> Result<Vec<(String, f64, f64)>> {
    let graphs = &plan.dataset.graphs;
    if graphs.num_nodes() > SCHEME_UP_TO || flips.is_empty() {
        return Ok(Vec::new());
    }
    let ratio = flips.len() as f64 / graphs.num_edges() as f64;
    let settings = SchemeSettings::Opposite(Spectral { ratio, ..Spectral::default() });
    let scheme = settings.compute(graphs, &NoObserver)?;
    let mut views = Vec::new();
    for (view, report) in scheme.views().iter().zip(&scheme.report().views) {
        if let Augmentation::Pairs(pairs) = view
            && let [probabilities] = pairs.graphs()
        {
            let of = |flip: &Flip| f64::from(probabilities.probability(flip.low, flip.high));
            views.push((report.name.clone(), flips.iter().map(of).sum(), report.mass.added + report.mass.removed));
        }
    }
    Ok(views)
}
