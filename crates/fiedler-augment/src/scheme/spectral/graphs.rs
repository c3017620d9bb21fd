//! The same computation for every graph of a set, and one report of all of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fiedler_graph::{Event, Graph, GraphSet, Observer};
use rayon::prelude::*;

use super::choice::Chosen;
use super::climb::{Climbed, StepWatch};
use crate::ascent::{Ascent, Progress};
use crate::error::{Error, Result};
use crate::scheme::report::Norm;
use crate::scheme::{STAGE, ViewReport};
use crate::support::Mass;

/// What came of one view of one graph.
#[derive(Debug)]
pub(crate) struct Outcome<P> {
    /// The probabilities.
    pub(crate) probabilities: P,
    /// How many pairs or nodes may change.
    pub(crate) places: u64,
    pub(crate) mass: Mass,
    pub(crate) climbed: Climbed,
    pub(crate) chosen: Chosen,
    pub(crate) ascent: Ascent,
}

/// Runs on every graph of a set, in parallel where there are many, and gives for each view the probabilities of all graphs and
/// the report.
pub(crate) fn over_graphs<P: Send>(
    set: &GraphSet,
    names: &[&str],
    steps: usize,
    observer: &dyn Observer,
    run: impl Fn(&Graph, usize, &[StepWatch<'_>]) -> Result<Vec<Outcome<P>>> + Sync,
) -> Result<Vec<(Vec<P>, ViewReport)>> {
    let started = Instant::now();
    let of_graphs = if set.len() == 1 {
        alone(set.block_diagonal(), names, steps, observer, run)?
    } else {
        all(set, names, observer, run)?
    };
    let mut views: Vec<(Vec<P>, ViewReport)> = names.iter().map(|name| (Vec::new(), empty_report(name))).collect();
    for outcomes in of_graphs {
        for ((probabilities, report), outcome) in views.iter_mut().zip(outcomes) {
            add(report, &outcome);
            probabilities.push(outcome.probabilities);
        }
    }
    for (_, report) in &mut views {
        finish(report, started.elapsed().as_secs_f64() / names.len() as f64);
    }
    Ok(views)
}

fn alone<P>(
    graph: &Graph,
    names: &[&str],
    steps: usize,
    observer: &dyn Observer,
    run: impl Fn(&Graph, usize, &[StepWatch<'_>]) -> Result<Vec<Outcome<P>>>,
) -> Result<Vec<Vec<Outcome<P>>>> {
    let tell = |view, progress: &Progress| {
        let value = Some(progress.relative_norm);
        observer.goes_on(&Event::Progress { stage: STAGE, item: view, done: progress.step, total: Some(steps), value })
    };
    let tells: Vec<_> = names.iter().map(|&name| move |progress: &Progress| tell(name, progress)).collect();
    let watches: Vec<StepWatch<'_>> = tells.iter().map(|tell| tell as StepWatch<'_>).collect();
    Ok(vec![run(graph, 0, &watches)?])
}

fn all<P: Send>(
    set: &GraphSet,
    names: &[&str],
    observer: &dyn Observer,
    run: impl Fn(&Graph, usize, &[StepWatch<'_>]) -> Result<Vec<Outcome<P>>> + Sync,
) -> Result<Vec<Vec<Outcome<P>>>> {
    let done = AtomicUsize::new(0);
    let silent: Vec<StepWatch<'_>> = vec![&|_: &Progress| true; names.len()];
    let view = names.join(" and ");
    let one = |at: usize| {
        let outcomes = run(&set.graph(at), at, &silent)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let goes_on =
            observer.goes_on(&Event::Progress { stage: STAGE, item: &view, done, total: Some(set.len()), value: None });
        if goes_on { Ok(outcomes) } else { Err(Error::Stopped) }
    };
    (0..set.len()).into_par_iter().map(one).collect()
}

fn empty_report(name: &str) -> ViewReport {
    ViewReport { name: name.into(), ..ViewReport::default() }
}

/// Adds one graph to the report. Norms and the curve are held as squares until all are in.
fn add<P>(report: &mut ViewReport, outcome: &Outcome<P>) {
    let Outcome { climbed, chosen, ascent, mass, .. } = outcome;
    if report.support.is_empty() {
        report.support = chosen.support.name().into();
        report.reason.clone_from(&chosen.reason);
        report.rate = Some(climbed.rate);
    } else if report.support != chosen.support.name() {
        report.support = "mixed".into();
        report.reason = None;
    }
    report.places += outcome.places;
    report.mass.added += mass.added;
    report.mass.removed += mass.removed;
    report.budget += ascent.budget;
    report.steps = report.steps.max(climbed.curve.len().saturating_sub(1));
    report.stop = report.stop.max(climbed.stop);
    report.perturbed += usize::from(climbed.perturbed);
    if let Some(gap) = climbed.gap {
        *report.gap.get_or_insert(0.0) += gap;
    }
    let norm = report.norm.get_or_insert(Norm { before: 0.0, after: 0.0, of: climbed.of, distance: None });
    norm.before += climbed.before;
    norm.after += climbed.after;
    if let Some(distance) = climbed.distance {
        *norm.distance.get_or_insert(0.0) += distance;
    }
    let Some(last) = climbed.curve.last() else { return };
    // An ascent that ended early stays where it is: the longest so far sets how many points there are.
    let square = |point: &Progress| point.relative_norm * point.relative_norm * climbed.before;
    let known = report.curve.last().copied().unwrap_or(Progress { step: 0, relative_norm: 0.0, mass: 0.0 });
    for step in report.curve.len()..climbed.curve.len() {
        report.curve.push(Progress { step, ..known });
    }
    for (step, sum) in report.curve.iter_mut().enumerate() {
        let point = climbed.curve.get(step).unwrap_or(last);
        sum.relative_norm += square(point);
        sum.mass += point.mass;
    }
}

fn finish(report: &mut ViewReport, seconds: f64) {
    report.seconds = seconds;
    let Some(norm) = &mut report.norm else { return };
    let root = |square: f64| if norm.before > 0.0 { (square / norm.before).sqrt() } else { 1.0 };
    for point in &mut report.curve {
        point.relative_norm = root(point.relative_norm);
    }
    // Of the square root of what is optimized, relative to the norm before.
    let optimized = norm.distance.unwrap_or(norm.after);
    let slope = 1.0 / (2.0 * (optimized * norm.before).sqrt());
    report.gap = report.gap.map(|gap| gap * slope).filter(|gap| gap.is_finite());
    norm.distance = norm.distance.map(root);
    norm.before = norm.before.sqrt();
    norm.after = norm.after.sqrt();
}
