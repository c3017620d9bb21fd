//! How well labels can be predicted: from the embedding, and from what any embedding has to beat.

use fiedler_evaluate::{Metric, QuickProbe, QuickScore};
use fiedler_graph::Observer;
use fiedler_learn::method::{Hops, Method, MethodSettings, Raw, Spectral};
use fiedler_learn::run::CheckedRun;
use fiedler_learn::{Embeddings, TaskLevel};

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::task::Task;

/// Nodes from which hops are left out: their components would take longer than a look at the result is worth.
const LARGE: usize = 200_000;
/// Nodes from which eigenvectors are left out.
const LARGE_SPECTRUM: usize = 50_000;
/// Differences below this are ties: one split of one dataset tells no more.
const TIE: f64 = 0.005;

/// The score of the run first, then of the untrained encoder, hops, eigenvectors and the raw features.
pub(super) fn of_run(
    run: &CheckedRun<'_>,
    task: &Task,
    embeddings: &Embeddings,
    probe: &QuickProbe,
    observer: &dyn Observer,
) -> Result<Vec<QuickScore>> {
    let _stage = observer.stage("evaluation", "looking how well labels can be predicted");
    let method = &run.settings().method;
    let score = |of: &str, embeddings: &Embeddings| -> Result<QuickScore> {
        Ok(probe.score(of, &embeddings.to_dense()?, observer)?)
    };
    let own = match method {
        MethodSettings::Supervised(_) => probe.score_predictions("the supervised encoder", &embeddings.to_dense()?),
        _ => Some(score(method.name(), embeddings)?),
    };
    let mut scores: Vec<QuickScore> = own.into_iter().collect();
    let untrained = method.as_any().untrained();
    if let Some(untrained) = untrained.as_ref().filter(|_| run.requirements().trained) {
        scores.push(score("the untrained encoder", &run.baseline(untrained)?)?);
    }
    let of_nodes = run.task().level == TaskLevel::Nodes;
    let wanted = |name: &str, most: usize| {
        let small = run.task().num_nodes <= most;
        if !small {
            observer.note(&format!("{name} is not among the scores, to save time: there are more than {most} nodes"));
        }
        small
    };
    // Without features, hops of nodes have eigenvectors too.
    let of_hops = if of_nodes && task.dataset.features.is_none() { LARGE_SPECTRUM } else { LARGE };
    if !matches!(method, MethodSettings::Hops(_)) && wanted("hops", of_hops) {
        scores.extend(baseline("hops", run, &Hops::default(), score, observer)?);
    }
    if of_nodes && !matches!(method, MethodSettings::Spectral(_)) && wanted("spectral", LARGE_SPECTRUM) {
        scores.extend(baseline("spectral", run, &Spectral::default(), score, observer)?);
    }
    if !matches!(method, MethodSettings::Raw(_)) {
        let what = if task.dataset.features.is_some() { "raw features" } else { "node degrees" };
        let pooling = match (method, untrained) {
            (MethodSettings::Untrained(method), _) => method.readout.pooling,
            (_, Some(untrained)) => untrained.readout.pooling,
            _ => Default::default(),
        };
        scores.push(score(what, &run.baseline(&Raw { pooling })?)?);
    }
    Ok(scores)
}

/// Why embeddings could not be judged, told to the observer; an error only where somebody asked to stop.
pub(super) fn why_not(error: Error, probe: &QuickProbe, observer: &dyn Observer) -> Result<String> {
    if error.kind() == ErrorKind::Interrupted {
        return Err(error);
    }
    let reason = match &error {
        Error::Evaluate(error) => probe.why_not(error),
        other => format!("not judged: {}", other.in_one_line()),
    };
    observer.note(&format!("note: {reason}; the embeddings are written"));
    Ok(reason)
}

/// The score of a method without training; none, with a note, where it cannot be had: no baseline is worth losing a run for.
fn baseline<M: Method>(
    name: &str,
    run: &CheckedRun<'_>,
    method: &M,
    score: impl Fn(&str, &Embeddings) -> Result<QuickScore>,
    observer: &dyn Observer,
) -> Result<Option<QuickScore>> {
    match run.baseline(method) {
        Ok(embeddings) => score(name, &embeddings).map(Some),
        Err(error) => {
            observer.note(&format!("{name} is not among the scores: {error}"));
            Ok(None)
        }
    }
}

/// One sentence on who won and by how much, from the scores of a run, its own first. `None` where there is nothing to compare.
pub fn verdict(method: &MethodSettings, scores: &[QuickScore]) -> Option<String> {
    let (own, others) = scores.split_first()?;
    let less_is_better = own.metric == Metric::Rmse;
    let better = |a: &QuickScore, b: &QuickScore| if less_is_better { b.value - a.value } else { a.value - b.value };
    let best = others
        .iter()
        .filter(|other| other.metric == own.metric && other.value.is_finite())
        .reduce(|best, other| if better(other, best) > 0.0 { other } else { best })?;
    let gain = better(own, best);
    let by = match less_is_better {
        true => format!("{:.3}", gain.abs()),
        false => format!("{:.1} points", 100.0 * gain.abs()),
    };
    let trained = method.as_any().untrained().is_some() || matches!(method, MethodSettings::Supervised(_));
    let (name, other) = (&own.of, &best.of);
    Some(if gain.abs() < if less_is_better { TIE * best.value.abs() } else { TIE } {
        match trained {
            true => format!("training added nothing: {other}, which needs none, does as well ({by} apart)"),
            false => format!("{name} and {other} are level ({by} apart)"),
        }
    } else if gain > 0.0 {
        format!("{name} is the best of these, ahead of {other} by {by}")
    } else {
        let try_it = advice(other).map_or(String::new(), |advice| format!("; try {advice}"));
        match trained {
            true => format!("training did not help: {other} is better by {by}{try_it}"),
            false => format!("{other} is better by {by}{try_it}"),
        }
    })
}

/// The flags that give what won.
fn advice(of: &str) -> Option<&'static str> {
    match of {
        "hops" => Some("--method hops"),
        "spectral" => Some("--method spectral"),
        "raw features" | "node degrees" => Some("--method raw"),
        "the untrained encoder" => Some("--method untrained"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn score(of: &str, metric: Metric, value: f64) -> QuickScore {
        QuickScore { of: of.into(), metric, value, std: None, splits: 1, protocol: String::new(), test_items: None }
    }

    #[test]
    fn the_verdict_says_who_won_and_what_to_try() {
        let accuracy = |of: &str, value| score(of, Metric::Accuracy, value);
        let span = MethodSettings::default();
        let lost = [accuracy("span", 0.775), accuracy("hops", 0.833), accuracy("raw features", 0.8)];
        let said = verdict(&span, &lost).unwrap();
        assert_eq!(said, "training did not help: hops is better by 5.8 points; try --method hops");
        let won = verdict(&span, &[accuracy("span", 0.9), accuracy("hops", 0.8)]).unwrap();
        assert_eq!(won, "span is the best of these, ahead of hops by 10.0 points");
        assert!(verdict(&span, &[accuracy("span", 0.9), accuracy("hops", 0.899)]).unwrap().contains("added nothing"));
        assert_eq!(verdict(&span, &lost[..1]), None);
        // Of errors the smaller one is better.
        let errors = [score("span", Metric::Rmse, 1.2), score("raw features", Metric::Rmse, 1.0)];
        assert!(verdict(&span, &errors).unwrap().contains("raw features is better by 0.200"));
    }
}
