//! How well labels can be predicted: from the embedding, and from what any embedding has to beat.

use fiedler_graph::Observer;
use fiedler_learn::Embeddings;
use fiedler_learn::method::{MethodSettings, Raw, Untrained};
use fiedler_learn::run::{Run, Settings};

use crate::error::Result;
use crate::observe::Tell;
use crate::quick_probe::{ProbeScore, QuickProbe};
use crate::task::Task;

/// The score of the run first, then of the untrained encoder and of the raw features.
pub(super) fn of_run(
    settings: &Settings,
    task: &Task,
    embeddings: &Embeddings,
    probe: &QuickProbe<'_>,
    observer: &dyn Observer,
) -> Result<Vec<ProbeScore>> {
    let _stage = observer.stage("evaluation", "looking how well labels can be predicted");
    let method = &settings.method;
    let readout = method.readout().cloned().unwrap_or_default();
    let own = match method {
        MethodSettings::Supervised(_) => probe.score_of_classes("the supervised encoder", embeddings),
        _ => Some(probe.score(method.name(), embeddings)?),
    };
    let mut scores: Vec<ProbeScore> = own.into_iter().collect();
    if method.is_trained()
        && let Some(encoder) = method.encoder().cloned()
    {
        let untrained = without_training(settings, task, Untrained { encoder, readout: readout.clone() }.into())?;
        scores.push(probe.score("the untrained encoder", &untrained)?);
    }
    if !matches!(method, MethodSettings::Raw(_)) {
        let what = if task.dataset.features.is_some() { "raw features" } else { "node degrees" };
        let raw = without_training(settings, task, Raw { pooling: readout.pooling }.into())?;
        scores.push(probe.score(what, &raw)?);
    }
    Ok(scores)
}

fn without_training(settings: &Settings, task: &Task, method: MethodSettings) -> Result<Embeddings> {
    let settings = Settings { method, ..settings.clone() };
    Ok(Run::new(&settings, &task.dataset, None).run()?.embeddings)
}
