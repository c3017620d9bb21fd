//! Molecules: OGB's sets, by the split of their scaffolds.

use fiedler_learn::encoder::GinSettings;
use fiedler_learn::method::{MethodSettings, Untrained};
use fiedler_learn::run::Settings;

use super::ablation;
use super::cell::Cell;
use super::encoders::with_gin;
use super::graph::{floors, of_settings, plug};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;
use fiedler_evaluate::ProtocolPreset;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Properties of molecules",
    unit: "RMSE of values, ROC-AUC in % of tasks",
    datasets: &[
        "ogbg-molesol",
        "ogbg-mollipo",
        "ogbg-molfreesolv",
        "ogbg-molbbbp",
        "ogbg-molclintox",
        "ogbg-moltox21",
        "ogbg-molsider",
    ],
    cells,
    notes: &[
        SHARED_SCHEME,
        "Encoders are trained on all molecules without labels, those of validation and test as well. Probes are fitted to train, penalties chosen \
         on validation; missing labels are left out. The last epoch counts.",
        "Every method has an encoder of five graph isomorphism layers with embedded atoms and bonds; an edge that a view adds has a bond vector \
         of its own.",
        "Printed figures were chosen by epoch on validation; those of S-GIN, R-GIN, InfoGraph, GraphCL and AD-GCL are those of AD-GCL's \
         publication.",
    ],
    protocol: ProtocolPreset::Scaffold,
    floors: FLOORS,
    tells_twins: true,
    ..TableSpec::USUAL
};

/// Rows without training.
const FLOORS: &[&str] = &["mean", "size", "counts", "R-GIN", "hop-pool", "WL", "descriptor"];
/// The row that methods are compared with.
const BAR: &str = "counts";
/// Channels of the encoder: 300 in publications, which takes twenty times as long.
const CHANNELS: usize = 64;

/// Rows of the paper, and ours.
const METHODS: &[(&str, &str)] = &[
    ("InfoGraph", "infograph"),
    ("GraphCL", "graphcl"),
    ("JOAO", "joao"),
    ("AD-GCL", "ad-gcl"),
    ("MVGRL", "mvgrl"),
    ("GraphMAE", "graphmae"),
    ("SimGRACE", "simgrace"),
];

/// The encoder of all rows.
fn encoder() -> GinSettings {
    GinSettings { hidden_channels: CHANNELS, expansion: 2, last_relu: false, ..GinSettings::default() }
}

/// The same settings with the table's encoder, where the method can have it.
fn with_encoder(mut settings: Settings) -> Settings {
    let dropout = if matches!(settings.method, MethodSettings::Supervised(_)) { 0.5 } else { 0.0 };
    with_gin(&mut settings.method, &GinSettings { dropout, ..encoder() });
    settings
}

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let (name, level) = (&context.data.name, context.data.level);
    let recipes = context.recipes;
    let printed = |row: &str, cell: Cell| {
        let name = context.data.name.trim_start_matches("ogbg-");
        Cell { paper: context.paper.figure("graph-ogb", name, row), ..cell }
    };
    let mut cells: Vec<Cell> =
        floors("mean").into_iter().map(|(row, settings)| of_settings(context, row, settings, None)).collect();
    let span = recipes.span(name, level)?;
    let untrained: Untrained = with_encoder(span.settings.clone()).method.as_any().untrained().unwrap_or_default();
    cells.push(printed("R-GIN", of_settings(context, "R-GIN", Settings::of_method(untrained), None)));
    let supervised = with_encoder(recipes.supervised(name, level)?.settings);
    cells.push(printed("S-GIN", of_settings(context, "S-GIN", supervised, None)));
    for &(row, method) in METHODS {
        let settings = with_encoder(recipes.method(method, context.data)?.settings);
        cells.push(printed(row, of_settings(context, row, settings, Some(BAR))));
    }
    let base = span.settings.scheme_or_usual();
    for (row, scheme, against) in
        [("GraphCL + uniform", "uniform", "GraphCL"), ("GraphCL + opposite", "opposite", "GraphCL + uniform")]
    {
        let mut settings = with_encoder(recipes.method("graphcl", context.data)?.settings);
        plug(&mut settings, ablation::scheme(scheme, &base));
        cells.push(of_settings(context, row, settings, Some(against)));
    }
    cells.push(printed("GCL-SPAN", of_settings(context, "GCL-SPAN", with_encoder(span.settings), Some(BAR))));
    Ok(cells)
}
