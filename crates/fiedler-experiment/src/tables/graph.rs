//! Whole graphs: the TU collection.

use fiedler_augment::SchemeSettings;
use fiedler_augment::scheme::{GraphCl, NodeDropping, Operation};

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use super::node::of_row;
use crate::error::Result;
use fiedler_evaluate::ProtocolPreset;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Graph classification",
    datasets: &[
        "nci1",
        "proteins",
        "mutag",
        "dd",
        "collab",
        "reddit-binary",
        "reddit-multi-5k",
        "imdb-binary",
        "imdb-multi",
    ],
    cells,
    notes: &[
        SHARED_SCHEME,
        "Supervised encoders set one graph in ten of what they learn from aside to say when to stop.",
    ],
    protocol: ProtocolPreset::Kfold,
    ..TableSpec::USUAL
};

/// Share of the nodes that node dropping takes.
const DROPPED: f64 = 0.2;

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let (name, level) = (&context.data.name, context.data.level);
    let recipes = context.recipes;
    let dropping =
        |_: &SchemeSettings| SchemeSettings::NodeDropping(NodeDropping { ratio: DROPPED, ..NodeDropping::default() });
    let at_random = |_: &SchemeSettings| {
        let operation = Operation::NodeDropping;
        SchemeSettings::GraphCl(GraphCl { first: operation, second: operation, ratio: DROPPED })
    };
    let uniform = |base: &SchemeSettings| ablation::scheme("uniform", base);
    let rows = [
        ("S-GIN", recipes.supervised(name, level)?, Some(("graph-tu", "S-GIN")), None),
        ("R-GIN", recipes.span(name, level)?, Some(("graph-tu", "R-GIN")), None),
        ("uniform", recipes.with_scheme(name, level, "uniform", uniform)?, None, None),
        ("GCL-SPAN", recipes.span(name, level)?, Some(("graph-tu", "GCL-SPAN")), Some("uniform")),
        (
            "uniform node dropping",
            recipes.with_scheme(name, level, "uniform-node-dropping", at_random)?,
            Some(("node-drop", "Uniformly random node dropping")),
            None,
        ),
        (
            "spectral node dropping",
            recipes.with_scheme(name, level, "node-dropping", dropping)?,
            Some(("node-drop", "Spectral guided node dropping")),
            Some("uniform node dropping"),
        ),
    ];
    let cell =
        |(row, found, printed, against): (&str, super::recipes::FoundRecipe, Option<(&str, &str)>, Option<&str>)| {
            Cell {
                data: context.place,
                row: row.into(),
                recipe: found.name,
                about: found.about,
                settings: of_row(row, found.settings),
                measure: Measure::Score(None),
                paper: printed.and_then(|(table, method)| context.figure(table, method)),
                against: against.map(Into::into),
            }
        };
    Ok(rows.into_iter().map(cell).collect())
}
