//! How well labels can be predicted: from the embedding, and from what any embedding has to beat.

use fiedler_evaluate::{QuickProbe, QuickScore};
use fiedler_graph::Observer;
use fiedler_learn::Embeddings;
use fiedler_learn::method::{MethodSettings, Raw};
use fiedler_learn::run::CheckedRun;

use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::task::Task;

/// The score of the run first, then of the untrained encoder and of the raw features.
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
