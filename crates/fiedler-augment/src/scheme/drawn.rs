//! A scheme against what it draws: the norm that drawn views have beside what the objective says.

use fiedler_graph::GraphSet;
use serde::{Deserialize, Serialize};

use super::report::{Norm, NormOf};
use super::{Augmentation, Report, SchemeSettings, ViewKey, ViewReport};
use crate::ascent::Stop;
use crate::error::Result;
use crate::objective::squared_norm;

/// Views drawn of a graph, and fewer of one so large that these would take long.
const VIEWS: usize = 10;
const FEWEST_VIEWS: usize = 2;
/// Nodes and edges that all views together may have.
const MOST_WORK: usize = 20_000_000;
/// How far drawn views may be off what the objective says.
const OFF: f64 = 0.02;
/// Movements by less than this share of the norm are none.
const STILL: f64 = 1e-4;
/// A view that spends less of its budget than this says why.
const SPENT: f64 = 0.95;

/// The norm of all eigenvalues of views that were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DrawnNorm {
    /// Of the original graph.
    pub before: f64,
    /// Mean over the views.
    pub mean: f64,
    /// Standard deviation over the views.
    pub std: f64,
    /// How many views were drawn.
    pub views: usize,
}

impl DrawnNorm {
    /// Mean relative to before; one where there is nothing to compare.
    pub fn relative(&self) -> f64 {
        if self.before > 0.0 { self.mean / self.before } else { 1.0 }
    }
}

/// Draws views of every augmentation, and adds to the report what they have and what a user should know of it.
pub(super) fn check(
    settings: &SchemeSettings,
    set: &GraphSet,
    views: &[Augmentation],
    report: &mut Report,
) -> Result<()> {
    let operator = settings.operator();
    let before = squared_norm(set.block_diagonal(), operator).sqrt();
    let whole = set.whole();
    let count = (MOST_WORK / (set.num_nodes() + set.num_edges()).max(1)).clamp(FEWEST_VIEWS, VIEWS);
    for (view, augmentation) in views.iter().enumerate() {
        // A propagation matrix is no graph whose norm could be compared.
        if matches!(augmentation, Augmentation::Unchanged | Augmentation::Static(_)) {
            continue;
        }
        let mut norms = Vec::with_capacity(count);
        for epoch in 0..count as u32 {
            let drawn = augmentation.draw(&whole, ViewKey::new(0, epoch, view as u32))?;
            norms.push(squared_norm(&drawn.graph, operator).sqrt());
        }
        let mean = norms.iter().sum::<f64>() / count as f64;
        let variance = norms.iter().map(|norm| (norm - mean).powi(2)).sum::<f64>() / (count - 1) as f64;
        let drawn = DrawnNorm { before, mean, std: variance.sqrt(), views: count };
        let Some(told) = report.views.get_mut(view) else { continue };
        told.drawn_norm = Some(drawn);
        told.diversity = augmentation.diversity();
        let (warning, notes) = (warning(told, &drawn), notes(told));
        report.warnings.extend(warning);
        report.notes.extend(notes);
    }
    // Views that are drawn from the same probabilities have the same to say.
    report.notes.dedup();
    Ok(())
}

/// What to say where drawn views are not what the objective promises.
fn warning(view: &ViewReport, drawn: &DrawnNorm) -> Option<String> {
    let norm = view.norm?;
    // Some eigenvalues only, or a noise on them: the norm of all says nothing about them.
    if (norm.before - drawn.before).abs() > 1e-3 * drawn.before {
        return None;
    }
    let told = norm.after - norm.before;
    let promised = match view.name.as_str() {
        "max" => 1.0,
        "min" => -1.0,
        _ => told.signum(),
    };
    let found = drawn.mean - drawn.before;
    let error = drawn.std / (drawn.views as f64).sqrt();
    let moved = told.abs() > STILL * norm.before;
    let wrong = moved && found * promised < -(STILL * norm.before).max(2.0 * error);
    let off = (drawn.mean - norm.after).abs() > OFF * norm.after + 2.0 * error;
    if !wrong && !off {
        return None;
    }
    let what = if wrong { "on the other side of the graph's own" } else { "more than 2 % off what the objective says" };
    Some(format!(
        "view {}: drawn views have a norm of {:.2} (mean of {}), {what}: {:.2} before, {:.2} told. {}",
        view.name,
        drawn.mean,
        drawn.views,
        norm.before,
        norm.after,
        reason(view, &norm)
    ))
}

fn reason(view: &ViewReport, norm: &Norm) -> &'static str {
    match (norm.of, norm.distance, view.support.as_str()) {
        (_, Some(_), "nodes") => {
            "What is told is the norm of the expected graph, in which a dropped node's edges fade; in a view they are gone. Judge the \
             scheme by the drawn norm, or lower the ratio"
        }
        (NormOf::ExpectedGraph, None, _) => {
            "What is told is the norm of the expected graph, in which a pair may be there by half and a degree below one; a drawn \
             pair is there or not. Optimize what is drawn with the objective sampled (--norm sampled)"
        }
        (NormOf::ExpectedGraph, Some(_), _) => {
            "What is told is of the expected graph, in which a pair may be there by half. Judge the scheme by the drawn norm"
        }
        (NormOf::DrawnGraphs, ..) => {
            "More views would tell whether that is chance: the graph is small, or its views vary much"
        }
    }
}

/// Whether what was optimized has moved.
fn has_moved(norm: Norm) -> bool {
    match norm.distance {
        Some(distance) => distance > STILL,
        None => (norm.after - norm.before).abs() > STILL * norm.before,
    }
}

/// How the ascent of a view ended, where that is not as one would expect.
fn notes(view: &ViewReport) -> Vec<String> {
    let mut notes = Vec::new();
    let name = &view.name;
    if view.perturbed > 0 {
        notes.push(format!(
            "view {name}: the start is stationary (derivatives vanish, or all that help are equal); it was left by a small random \
             perturbation, so that another seed may lead to another scheme of the same worth"
        ));
    }
    let Some(stop) = view.stop else { return notes };
    let mass = view.mass.total();
    if view.budget == 0.0 {
        notes.push(format!("view {name} changes nothing: its budget, a share of the {}, is 0", view.changes()));
    }
    let why = match stop {
        Stop::NoGainLeft => "to first order, more flips would gain nothing",
        Stop::NoBetterStep => "no step along the derivative gains anything",
        Stop::StepLimit => "the most steps allowed were made: allow more",
        Stop::FixedSteps => "the given step size did not lead further: leave it out for steps that adapt",
    };
    if view.budget > 0.0 && mass < SPENT * view.budget {
        notes.push(format!("view {name} spends {mass:.1} of a budget of {:.1}: {why}", view.budget));
    } else if view.budget > 0.0 && !view.norm.is_some_and(has_moved) {
        notes.push(format!("view {name} does not move the spectrum: {why}"));
    }
    let best = view.curve.iter().map(|point| point.relative_norm);
    let (best, last) = match name.as_str() {
        "min" => (best.fold(f64::INFINITY, f64::min), view.curve.last()),
        _ => (best.fold(0.0, f64::max), view.curve.last()),
    };
    if stop == Stop::FixedSteps && last.is_some_and(|last| (last.relative_norm - best).abs() > 1e-3 * best) {
        notes.push(format!(
            "view {name}: with the given step size an earlier iterate was better ({best:.4}) than the last, which is kept as the \
             reference program does; leave the step size out for steps that adapt"
        ));
    }
    notes
}
