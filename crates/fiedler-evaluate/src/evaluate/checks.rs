//! What is asked of data before any of it is learnt from, and what a reader of the score should know of it.

use std::collections::BTreeSet;

use fiedler_graph::{Classes, Dense, Labels, Split};

use crate::error::{Error, Result};
use crate::protocol::Protocol;
use crate::target::Target;

/// Embeddings are a row of numbers for each item, and there is something to tell apart.
pub(super) fn check(embeddings: &Dense, target: &Target) -> Result<()> {
    let (rows, labels, items) = (embeddings.rows(), target.labels.len(), target.items());
    if rows != labels {
        let problem = format!("there are {rows} embeddings for {labels} {items}s");
        return Err(Error::data(problem).advise(format!("give one row of embeddings for each {items}")));
    }
    if embeddings.columns() == 0 {
        return Err(Error::data("embeddings have no columns").advise("give at least one number for each row"));
    }
    check_labels(target)
}

fn check_labels(target: &Target) -> Result<()> {
    let labelled = target.labelled();
    if labelled.is_empty() {
        return Err(Error::data(format!("none of {} {}s has a label", target.labels.len(), target.items())));
    }
    if let Labels::Classes(classes) = &target.labels {
        let present = present(classes, &labelled);
        if let (Some(&only), 1) = (present.first(), present.len()) {
            let name = &classes.names()[only as usize];
            let problem = format!("all {} labelled {}s are of class {name:?}", labelled.len(), target.items());
            return Err(Error::data(problem).advise("a probe needs at least two classes to tell apart"));
        }
    }
    Ok(())
}

/// Every split has something to learn from and, where it should, something to choose on.
pub(super) fn check_splits(protocol: Protocol, splits: &[Split], target: &Target) -> Result<()> {
    for split in splits {
        let needs_valid = matches!(protocol, Protocol::Random { .. } | Protocol::Reference);
        if split.train.is_empty() || split.test.is_empty() || needs_valid && split.validation.is_empty() {
            let [train, validation, test] = [&split.train, &split.validation, &split.test].map(Vec::len);
            let problem =
                format!("split {} has {train} to learn from, {validation} to choose on, {test} to test", split.name);
            return Err(Error::data(problem).advise("there must be some of each; are there too few labels?"));
        }
        if let Labels::Classes(classes) = &target.labels
            && let present = present(classes, &split.train)
            && let (Some(&only), 1) = (present.first(), present.len())
        {
            let (name, items) = (&classes.names()[only as usize], split.train.len());
            let problem = format!("split {} has {items} items to learn from, all of class {name:?}", split.name);
            return Err(
                Error::data(problem).advise("try --stratified true, or --protocol kfold, which learns from more")
            );
        }
    }
    if let (Protocol::Kfold { folds, stratified: true }, Labels::Classes(classes)) = (protocol, &target.labels) {
        check_folds(folds, classes)?;
    }
    Ok(())
}

/// As scikit-learn has it: some class must have a member for every fold.
fn check_folds(folds: usize, classes: &Classes) -> Result<()> {
    let largest = sizes(classes).into_iter().max().unwrap_or(0);
    if largest < folds {
        let problem = format!("no class has more than {largest} members, too few for {folds} folds");
        return Err(Error::data(problem).advise("ask for fewer folds with --splits"));
    }
    Ok(())
}

/// What a reader of the score should know, one sentence each.
pub(super) fn notes(protocol: Protocol, splits: &[Split], target: &Target) -> Vec<String> {
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
        notes.push(format!(
            "in {lacking} of {of} splits some class has no member to learn from, and is never predicted"
        ));
    }
    if let Protocol::Kfold { folds, stratified: true } = protocol {
        let small = sizes(classes).into_iter().filter(|&size| size > 0 && size < folds).count();
        if small > 0 {
            notes.push(format!("{small} classes have fewer members than there are folds"));
        }
    }
    notes
}

fn present(classes: &Classes, items: &[u32]) -> BTreeSet<u32> {
    items.iter().filter_map(|&item| classes.of()[item as usize]).collect()
}

fn sizes(classes: &Classes) -> Vec<usize> {
    let mut sizes = vec![0; classes.count()];
    classes.of().iter().flatten().for_each(|&class| sizes[class as usize] += 1);
    sizes
}
