//! What is asked of data before a probe is fitted, and what a reader of the score should know of it.

use std::collections::BTreeSet;

use fiedler_graph::{Classes, Dense, Labels, Split};

use crate::error::{Error, Result};
use crate::protocol::Protocol;
use crate::settings::Plan;
use crate::target::Target;

/// Embeddings are a row of numbers for each item, and there is something to tell apart.
pub(crate) fn check(embeddings: &Dense, target: &Target) -> Result<()> {
    let (rows, labels, items) = (embeddings.rows(), target.labels.len(), target.items());
    if rows != labels {
        return Err(Error::data("embeddings", format!("{rows} rows"), format!("{labels}, one for each {items}")));
    }
    if embeddings.columns() == 0 {
        return Err(Error::data("embeddings", "no columns", "at least one number in each row"));
    }
    check_labels(target)
}

/// There is something to tell apart.
pub(crate) fn check_labels(target: &Target) -> Result<()> {
    let labelled = target.labelled();
    if labelled.is_empty() {
        let found = format!("none for any of {} {}s", target.labels.len(), target.items());
        return Err(Error::data("labels", found, "some"));
    }
    if let Labels::Classes(classes) = &target.labels {
        let present = present(classes, &labelled);
        if let (Some(&only), 1) = (present.first(), present.len()) {
            let name = &classes.names()[only as usize];
            let found = format!("all {} {}s are of class {name:?}", labelled.len(), target.items());
            return Err(Error::data("labels", found, "at least two classes"));
        }
    }
    Ok(())
}

/// Every split has training and test items and, where it should, validation items.
pub(crate) fn check_splits(plan: &Plan, splits: &[Split], target: &Target) -> Result<()> {
    for split in splits {
        let lacks_validation = split.validation.is_empty();
        if split.train.is_empty() || split.test.is_empty() || lacks_validation && plan.protocol.needs_validation() {
            let [train, validation, test] = [&split.train, &split.validation, &split.test].map(Vec::len);
            let found = format!("{train} train, {validation} validation and {test} test items");
            let error = Error::data(format!("split {}", split.name), found, "some of each");
            return Err(error.advise("are there too few labels?"));
        }
        if lacks_validation && plan.probe.needs_validation() {
            let expected = format!("some, since the probe {} chooses on them", plan.probe);
            let error = Error::data(format!("split {}", split.name), "no validation items", expected);
            return Err(error.advise("choose another probe, or the protocol random"));
        }
        if let Labels::Classes(classes) = &target.labels
            && let present = present(classes, &split.train)
            && let (Some(&only), 1) = (present.first(), present.len())
        {
            let (name, items) = (&classes.names()[only as usize], split.train.len());
            let found = format!("{items} items, all of class {name:?}");
            let error = Error::data(format!("training set of split {}", split.name), found, "at least two classes");
            return Err(error.advise("let the split be stratified, or choose the protocol kfold, which trains on more"));
        }
    }
    match &target.labels {
        Labels::Classes(classes) => plan.protocol.check_classes(classes),
        _ => Ok(()),
    }
}

/// What a reader of the score should know, one sentence each.
pub(crate) fn notes(protocol: Protocol, splits: &[Split], target: &Target) -> Vec<String> {
    let mut notes = Vec::new();
    let without = target.labels.len() - target.labelled().len();
    if without > 0 {
        notes.push(format!("{without} {}s have no label and were left out", target.items()));
    }
    let Labels::Classes(classes) = &target.labels else { return notes };
    let all = present(classes, &target.labelled()).len();
    let lacking = splits.iter().filter(|split| present(classes, &split.train).len() < all).count();
    if lacking > 0 {
        let of = splits.len();
        notes.push(format!("in {lacking} of {of} splits some class has no training item, and is never predicted"));
    }
    notes.extend(protocol.note(classes));
    notes
}

/// Says so where solvers of probes gave up before they had converged: the score may be another with more steps.
pub(crate) fn convergence_note(plan: &Plan, converged: &[bool]) -> Option<String> {
    let stopped = converged.iter().filter(|converged| !**converged).count();
    (stopped > 0).then(|| {
        let (probe, of) = (plan.probe.name(), converged.len());
        format!(
            "in {stopped} of {of} splits the probe {probe} took all its steps (max_iterations) and has not converged"
        )
    })
}

fn present(classes: &Classes, items: &[u32]) -> BTreeSet<u32> {
    items.iter().filter_map(|&item| classes.of()[item as usize]).collect()
}
