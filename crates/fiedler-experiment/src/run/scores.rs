//! How well labels can be predicted: from the embedding, and from what any embedding has to beat.

use fiedler_evaluate::{Metric, QuickProbe, QuickScore};
use fiedler_graph::Observer;
use fiedler_learn::method::{Hops, Method, MethodSettings, Raw, Spectral};
use fiedler_learn::run::{CheckedRun, Settings};
use fiedler_learn::{Beside, Embeddings, TaskLevel};

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::observe::Tell;
use crate::task::Task;

/// Nodes from which hops are left out: their components would take longer than a look at the result is worth.
const LARGE: usize = 200_000;
/// Nodes from which eigenvectors are left out.
const LARGE_SPECTRUM: usize = 50_000;
/// Differences below this are ties: one split of one dataset tells no more.
const TIE: f64 = 0.005;

/// What an embedding is compared with: a method without training.
struct Baseline<'r> {
    name: &'static str,
    /// Columns of its embedding, by an estimate.
    columns: usize,
    /// Bytes that making the embedding takes, by an estimate.
    memory: u64,
    /// The most nodes that it is made for.
    most_nodes: usize,
    embed: Box<dyn Fn() -> fiedler_learn::Result<Embeddings> + 'r>,
}

/// The untrained encoder, hops, eigenvectors and the raw features; without what the run itself is.
fn baselines<'r>(run: &'r CheckedRun<'_>, task: &'r Task) -> Vec<Baseline<'r>> {
    fn baseline<'r, M: Method>(
        run: &'r CheckedRun<'_>,
        name: &'static str,
        columns: usize,
        most_nodes: usize,
        method: M,
    ) -> Baseline<'r> {
        let memory = run.baseline_memory(&method).unwrap_or(0);
        Baseline { name, columns, memory, most_nodes, embed: Box::new(move || run.baseline(&method)) }
    }
    let method = &run.settings().method;
    let of_nodes = run.task().level == TaskLevel::Nodes;
    let (untrained, features) = (method.as_any().untrained(), task.dataset.features.as_ref());
    let mut all = Vec::new();
    if let Some(untrained) = untrained.clone().filter(|_| run.requirements().trained) {
        all.push(baseline(run, "the untrained encoder", untrained.encoder.hidden_channels(), usize::MAX, untrained));
    }
    if !matches!(method, MethodSettings::Hops(_)) {
        let hops = Hops::default();
        // Without features, hops of nodes have eigenvectors too.
        let most = if of_nodes && features.is_none() { LARGE_SPECTRUM } else { LARGE };
        let columns = if of_nodes { hops.dimensions } else { hops.graphs.dimensions };
        all.push(baseline(run, "hops", columns, most, hops));
    }
    if of_nodes && !matches!(method, MethodSettings::Spectral(_)) {
        let spectral = Spectral::default();
        all.push(baseline(run, "spectral", spectral.eigenvectors, LARGE_SPECTRUM, spectral));
    }
    // What stays in its file is not brought into memory to be compared with.
    if !matches!(method, MethodSettings::Raw(_)) && task.dataset.stored_features.is_none() {
        let name = if features.is_some() { "raw features" } else { "node degrees" };
        let pooling = match (method, untrained) {
            (MethodSettings::Untrained(method), _) => method.readout.pooling,
            (_, Some(untrained)) => untrained.readout.pooling,
            _ => Default::default(),
        };
        let mut raw = baseline(run, name, run.task().dims.nodes, usize::MAX, Raw { pooling, edges: false });
        if let Some(given) =
            features.filter(|given| of_nodes && given.columns() > 0 && !run.settings().features.sources.is_auto())
        {
            // What the run puts beside them is no raw feature.
            raw.columns = given.columns();
            raw.embed = Box::new(|| Ok(Embeddings::new(given.columns(), given.to_dense().values().to_vec())));
        }
        all.push(raw);
    }
    all
}

impl Baseline<'_> {
    /// Bytes that embedding and judging take at once, by an estimate.
    fn needs(&self, rows: usize, probe: &QuickProbe) -> u64 {
        self.memory.max(probe.memory(rows, self.columns))
    }
}

/// Bytes that judging a run of so many columns holds at once, by an estimate; baselines beyond the limit are not counted, for they will be
/// left out.
pub(super) fn memory(run: &CheckedRun<'_>, task: &Task, probe: &QuickProbe, columns: usize, limit: u64) -> u64 {
    let rows = rows(run);
    let kept = 4 * (rows * columns) as u64;
    let of_baselines = baselines(run, task)
        .iter()
        .filter(|baseline| run.task().num_nodes <= baseline.most_nodes)
        .map(|baseline| baseline.needs(rows, probe))
        .filter(|needs| kept + needs <= limit)
        .max();
    kept + of_baselines.unwrap_or(0).max(probe.memory(rows, columns))
}

fn rows(run: &CheckedRun<'_>) -> usize {
    match run.task().level {
        TaskLevel::Nodes => run.task().num_nodes,
        TaskLevel::Graphs => run.task().num_graphs,
    }
}

/// The score of the run first, then those of baselines: what takes too long or, with what is held already, more than `limit` bytes is left
/// out with a note.
pub(super) fn of_run(
    run: &CheckedRun<'_>,
    task: &Task,
    embeddings: &Embeddings,
    probe: &QuickProbe,
    limit: Option<u64>,
    observer: &dyn Observer,
) -> Result<Vec<QuickScore>> {
    let _stage = observer.stage("evaluation", "looking how well labels can be predicted");
    let method = &run.settings().method;
    let own = match method {
        MethodSettings::Supervised(_) => probe.score_predictions("the supervised encoder", &embeddings.to_dense()?),
        _ => Some(probe.score(&in_words(run.settings()), &embeddings.to_dense()?, observer)?),
    };
    let mut scores: Vec<QuickScore> = own.into_iter().collect();
    for baseline in baselines(run, task) {
        let (name, most) = (baseline.name, baseline.most_nodes);
        if run.task().num_nodes > most {
            observer.note(&format!("{name} is not among the scores, to save time: there are more than {most} nodes"));
            continue;
        }
        let needs = memory::held_bytes().unwrap_or(0) + baseline.needs(embeddings.rows(), probe);
        if let Some(limit) = limit.filter(|&limit| needs > limit) {
            let (needs, limit) = (memory::in_words(needs), memory::in_words(limit));
            observer.note(&format!("{name} is not among the scores: {needs} of memory would be needed, of {limit}"));
            continue;
        }
        match (baseline.embed)() {
            Ok(embeddings) => scores.push(probe.score(name, &embeddings.to_dense()?, observer)?),
            // No baseline is worth losing a run for.
            Err(error) => observer.note(&format!("{name} is not among the scores: {error}")),
        }
    }
    Ok(scores)
}

/// What embeds, as summaries name it: the method, and what stands beside it.
pub fn in_words(settings: &Settings) -> String {
    match settings.embedding.beside {
        Some(Beside::Hops) => format!("{} beside hops", settings.method.name()),
        None => settings.method.name().to_owned(),
    }
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
