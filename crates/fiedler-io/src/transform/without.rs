//! Molecules without those that others will be judged by.

use std::collections::HashSet;

use fiedler_graph::generate::Parameter;
use fiedler_graph::{Dataset, molecule};

use super::{Arguments, Transform};
use crate::error::{Error, Result};
use crate::read::ReadOptions;

/// Molecules without those of other sets, so that nothing is learned from what an encoder will be judged by.
///
/// Molecules are the same if [`molecule::canonical_hashes`] are, which leave stereochemistry out. Of a set with splits those count that
/// are in a validation or test part of any of them; of a set without, all do.
pub(super) const TRANSFORM: Transform = Transform {
    name: "without",
    about: "molecules without those in the validation and test parts of other sets, compared without stereochemistry",
    usage: "without:DATA,of=ogbg-molbbbp+ogbg-moltox21,parts=held-out",
    parameters: &[
        Parameter { name: "of", about: "the other sets, joined by +" },
        Parameter { name: "parts", about: "held-out (validation and test) or all" },
    ],
    apply,
};

fn apply(arguments: &Arguments<'_>) -> Result<Dataset> {
    let Some(names) = arguments.text("of").filter(|names| !names.is_empty()) else {
        return Err(Error::setting("of", "missing", format!("the sets to leave out, as in {}", TRANSFORM.usage)));
    };
    let all = match arguments.text("parts") {
        None | Some("held-out") => false,
        Some("all") => true,
        Some(other) => return Err(Error::setting("parts", format!("{other:?}"), "held-out or all")),
    };
    let (mut hashes, mut named, mut notes) = (HashSet::new(), Vec::new(), Vec::new());
    for name in names.split('+').map(str::trim) {
        let other = arguments.open_with(name, &ReadOptions::default())?;
        let own = molecule::canonical_hashes(&other)?;
        // Splits of a single graph are of its nodes.
        if all || other.splits.is_empty() || other.graphs.len() == 1 {
            if !all {
                notes.push(format!("{name} has no split, so all of its molecules are left out"));
            }
            hashes.extend(own);
        } else {
            let held_out = other.splits.iter().flat_map(|split| split.validation.iter().chain(&split.test));
            hashes.extend(held_out.map(|&graph| own[graph as usize]));
        }
        named.push(other.name);
    }
    let dataset = arguments.open()?;
    let of = dataset.graphs.len();
    let (mut dataset, removed) = molecule::without(dataset, &hashes)?;
    let parts = if all { "" } else { "the validation or test part of " };
    notes.push(format!("{removed} of {of} molecules occur in {parts}{} and were left out", named.join(", ")));
    dataset.report.notes.extend(notes);
    dataset.name = format!("{}-without-{}", dataset.name, short(&named));
    Ok(dataset)
}

/// The names, for that of a folder.
fn short(names: &[String]) -> String {
    match names {
        [first, _, _, ..] => format!("{first}-and-{}-more", names.len() - 1),
        few => few.join("-"),
    }
}
