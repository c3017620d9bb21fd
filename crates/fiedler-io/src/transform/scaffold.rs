//! Molecules with a split by their scaffolds.

use fiedler_graph::generate::Parameter;
use fiedler_graph::{Dataset, molecule};

use super::{Arguments, Transform};
use crate::error::{Error, Result};

/// The same molecules with a scaffold split as their only one.
pub(super) const TRANSFORM: Transform = Transform {
    name: "scaffold",
    about: "the same molecules divided by their scaffolds, as the Open Graph Benchmark divides its own, without chirality",
    usage: "scaffold:DATA,train=0.8,validation=0.1",
    parameters: &[
        Parameter { name: "train", about: "share of the molecules to train on, at most" },
        Parameter { name: "validation", about: "share to validate on, at most; the rest is tested on" },
    ],
    apply,
};

fn apply(arguments: &Arguments<'_>) -> Result<Dataset> {
    let (train, validation) = (arguments.real("train", 0.8)?, arguments.real("validation", 0.1)?);
    let mut dataset = arguments.open_with(arguments.data, arguments.options)?;
    let split = molecule::scaffold_split(&dataset, train, validation)?;
    if dataset.graphs.len() < 2 {
        let expected = "at least two molecules: those of a set are divided, not the atoms of one";
        return Err(Error::setting("scaffold", dataset.graphs.len(), expected));
    }
    if !dataset.splits.is_empty() {
        dataset.report.notes.push("the splits that came with the data gave way to one by scaffolds".to_owned());
    }
    dataset.splits = vec![split];
    Ok(dataset)
}
