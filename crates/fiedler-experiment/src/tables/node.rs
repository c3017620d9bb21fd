//! Table 1: nodes of single graphs.

use fiedler_learn::method::{MethodSettings, Raw};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Node classification",
    datasets: &["cora", "citeseer", "pubmed", "wiki-cs", "amazon-computers", "amazon-photo", "coauthor-cs"],
    cells,
    notes: &[SHARED_SCHEME],
    ..TableSpec::USUAL
};
pub const ROWS: &[&str] = &["Raw-X", "S-GCN", "R-GCN", "GCL-SPAN"];

/// The rows of a dataset.
fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    ROWS.iter()
        .map(|&row| {
            let found = match row {
                "S-GCN" => context.recipes.supervised(&context.data.name, context.data.level)?,
                _ => context.recipes.span(&context.data.name, context.data.level)?,
            };
            Ok(Cell {
                data: context.place,
                row: row.into(),
                recipe: found.name,
                about: found.about,
                settings: of_row(row, found.settings),
                measure: Measure::Score(None),
                paper: context.figure("node", row),
                against: None,
            })
        })
        .collect()
}

/// The settings of a row that needs no scheme, out of those of the paper's method; those of others are as they are.
pub fn of_row(row: &str, settings: Settings) -> Settings {
    let untrained = settings.method.as_any().untrained().unwrap_or_default();
    let method: MethodSettings = match row {
        "Raw-X" => Raw { pooling: untrained.readout.pooling }.into(),
        "R-GCN" | "R-GIN" => untrained.into(),
        _ => return settings,
    };
    let features = match method {
        MethodSettings::Raw(_) => Default::default(),
        _ => settings.features,
    };
    // Nothing else means anything to them: runs of the same features and encoder are the same run.
    Settings { method, features, ..Settings::default() }
}
