//! Table 1: nodes of single graphs.

use fiedler_learn::method::{MethodSettings, Raw};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use super::recipes::FoundRecipe;
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Node classification",
    datasets: &["cora", "citeseer", "pubmed", "wiki-cs", "amazon-computers", "amazon-photo", "coauthor-cs"],
    cells,
    notes: &[
        SHARED_SCHEME,
        "Every method has its recipe for the dataset, or else what it recommends. hops and spectral are not trained; differences are to \
         hops, paired over seeds and splits.",
    ],
    ..TableSpec::USUAL
};

/// What needs no training, and every method is compared with.
const BAR: &str = "hops";

/// Rows of the paper, and ours, that are a method with its recipe for the dataset, or else with what it recommends.
const METHODS: &[(&str, &str)] = &[
    ("GRACE", "grace"),
    ("BGRL", "bgrl"),
    ("GBT", "gbt"),
    ("MVGRL", "mvgrl"),
    ("GCA", "gca"),
    ("GMI", "gmi"),
    ("DGI", "dgi"),
    ("CCA-SSG", "cca-ssg"),
    ("SGRL", "sgrl"),
    ("spectral", "spectral"),
    ("hops", "hops"),
];

/// The rows of a dataset.
fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let (name, level) = (&context.data.name, context.data.level);
    let cell = |row: &str, found: FoundRecipe, against: Option<&str>| Cell {
        data: context.place,
        row: row.into(),
        recipe: found.name,
        about: found.about,
        settings: of_row(row, found.settings),
        start: None,
        measure: Measure::Score(None),
        paper: context.figure("node", row),
        against: against.map(Into::into),
    };
    let mut cells = vec![
        cell("Raw-X", context.recipes.span(name, level)?, None),
        cell("S-GCN", context.recipes.supervised(name, level)?, None),
        cell("R-GCN", context.recipes.span(name, level)?, None),
    ];
    for &(row, method) in METHODS {
        cells.push(cell(row, context.recipes.method(method, context.data)?, (row != BAR).then_some(BAR)));
    }
    cells.push(cell("GCL-SPAN", context.recipes.span(name, level)?, Some(BAR)));
    Ok(cells)
}

/// The settings of a row that needs no scheme, out of those of the paper's method; those of others are as they are.
pub fn of_row(row: &str, settings: Settings) -> Settings {
    let untrained = settings.method.as_any().untrained().unwrap_or_default();
    let method: MethodSettings = match row {
        "Raw-X" => Raw { pooling: untrained.readout.pooling, edges: false }.into(),
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
