//! How the norm of the spectrum goes while a scheme is optimised.

use super::cell::{Cell, Measure};
use super::experiment::Context;
use crate::program::failure::Failure;

pub const DATASETS: &[&str] = &["cora", "amazon-photo", "wiki-cs", "pubmed"];

/// The norm before, and what both views make of it. The way there stands in a file for each dataset.
pub fn cells(context: &Context<'_>) -> Result<Vec<Cell>, Failure> {
    let base = context.recipes.span(&context.data.name, context.data.level())?;
    let cell = |row: &str, measure: Measure, paper| Cell {
        data: context.place,
        row: row.into(),
        recipe: base.name.clone(),
        settings: base.settings.clone(),
        measure,
        paper,
        against: None,
    };
    Ok(vec![
        cell("norm of the original spectrum", Measure::Norm, context.figure("spectrum-norm", "original graph")),
        cell("relative norm, maximised", Measure::RelativeNorm { view: 0 }, None),
        cell("relative norm, minimised", Measure::RelativeNorm { view: 1 }, None),
    ])
}
