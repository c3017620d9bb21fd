//! Whole graphs: the TU collection.

use fiedler_augment::scheme::{GraphCl, NodeDropping, Operation};
use fiedler_augment::{FeatureMasking, SchemeSettings};
use fiedler_learn::FeatureSource;
use fiedler_learn::FeatureSources;
use fiedler_learn::descriptor::{Block, DescriptorSettings};
use fiedler_learn::method::{Hops, MethodSettings, Raw};
use fiedler_learn::ops::Pooling;
use fiedler_learn::run::Settings;

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use super::node::of_row;
use super::recipes::FoundRecipe;
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
        "Methods have the features of their publications: AD-GCL a constant for all nodes, the others node labels, and a constant where there are \
         none (GraphMAE and MVGRL degrees); none of them looks at the bonds of MUTAG, as GCL-SPAN, R-GIN and S-GIN do here. Rows differ by \
         features as much as by methods.",
        "Printed figures of S-GIN, R-GIN, InfoGraph, GraphCL and AD-GCL are those of AD-GCL's publication, which takes a constant for all nodes \
         and a linear support vector machine.",
    ],
    protocol: ProtocolPreset::Kfold,
    floors: FLOORS,
    tells_twins: true,
    ..TableSpec::USUAL
};

/// Rows without training.
const FLOORS: &[&str] = &["majority", "size", "counts", "R-GIN", "hop-pool", "WL", "descriptor"];
/// The row that methods are compared with, pair by pair.
const BAR: &str = "descriptor";
/// Share of the nodes that node dropping takes.
const DROPPED: f64 = 0.2;

/// Rows of the paper, and ours, that are a method with its recipe for the dataset, or else with what it recommends.
const METHODS: &[(&str, &str)] = &[
    ("InfoGraph", "infograph"),
    ("GraphCL", "graphcl"),
    ("JOAO", "joao"),
    ("JOAOv2", "joao-v2"),
    ("AD-GCL", "ad-gcl"),
    ("MVGRL", "mvgrl"),
    ("GraphMAE", "graphmae"),
    ("SimGRACE", "simgrace"),
];

/// Rows in which a method draws its views from a scheme: row, method, scheme, and the row that it is compared with.
const PLUGGED: &[(&str, &str, &str, &str)] = &[
    ("GraphCL + uniform", "graphcl", "uniform", "GraphCL"),
    ("GraphCL + opposite", "graphcl", "opposite", "GraphCL + uniform"),
    ("AD-GCL + uniform", "ad-gcl", "uniform", "AD-GCL"),
    ("AD-GCL + opposite", "ad-gcl", "opposite", "AD-GCL + uniform"),
];

/// Embeddings without training that every table of whole graphs has; the first gives every graph the same.
pub fn floors(constant: &'static str) -> Vec<(&'static str, Settings)> {
    let blocks = |blocks: &[Block]| {
        let graphs = DescriptorSettings { blocks: blocks.to_vec(), ..DescriptorSettings::default() };
        Settings::of_method(Hops { graphs, ..Hops::default() })
    };
    let mut same = Settings::of_method(Raw { pooling: Pooling::Mean, edges: false });
    same.features.sources = FeatureSources::new(vec![FeatureSource::Constant]);
    vec![
        (constant, same),
        ("size", blocks(&[Block::Size])),
        ("counts", Settings::of_method(Raw { pooling: Pooling::Sum, edges: true })),
        ("hop-pool", blocks(&[Block::Hop])),
        ("WL", blocks(&[Block::Wl])),
        ("descriptor", Settings::of_method(Hops::default())),
    ]
}

/// A cell of settings that are no recipe.
pub fn of_settings(context: &Context<'_>, row: &str, settings: Settings, against: Option<&str>) -> Cell {
    Cell {
        data: context.place,
        row: row.into(),
        recipe: "defaults".into(),
        about: "the defaults of the method".into(),
        settings,
        start: None,
        measure: Measure::Score(None),
        paper: None,
        against: against.map(Into::into),
    }
}

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
    let cell = |row: &str, found: FoundRecipe, printed: Option<(&str, &str)>, against: Option<&str>| Cell {
        recipe: found.name,
        about: found.about,
        paper: printed.and_then(|(table, method)| context.figure(table, method)),
        ..of_settings(context, row, of_row(row, found.settings), against)
    };
    let mut cells: Vec<Cell> =
        floors("majority").into_iter().map(|(row, settings)| of_settings(context, row, settings, None)).collect();
    cells.push(cell("S-GIN", recipes.supervised(name, level)?, Some(("graph-tu", "S-GIN")), None));
    cells.push(cell("R-GIN", recipes.span(name, level)?, Some(("graph-tu", "R-GIN")), None));
    for &(row, method) in METHODS {
        let found = recipes.method(method, context.data)?;
        cells.push(cell(row, found, Some(("graph-tu", row)), Some(BAR)));
    }
    let base = recipes.span(name, level)?.settings.scheme_or_usual();
    for &(row, method, scheme, against) in PLUGGED {
        let mut found = recipes.method(method, context.data)?;
        plug(&mut found.settings, ablation::scheme(scheme, &base));
        cells.push(cell(row, found, None, Some(against)));
    }
    cells.push(cell("uniform", recipes.with_scheme(name, level, "uniform", uniform)?, None, None));
    cells.push(cell("GCL-SPAN", recipes.span(name, level)?, Some(("graph-tu", "GCL-SPAN")), Some("uniform")));
    let printed = |method| Some(("node-drop", method));
    cells.push(cell(
        "uniform node dropping",
        recipes.with_scheme(name, level, "uniform-node-dropping", at_random)?,
        printed("Uniformly random node dropping"),
        None,
    ));
    cells.push(cell(
        "spectral node dropping",
        recipes.with_scheme(name, level, "node-dropping", dropping)?,
        printed("Spectral guided node dropping"),
        Some("uniform node dropping"),
    ));
    Ok(cells)
}

/// Puts views of a scheme, with no features hidden, into a method.
pub fn plug(settings: &mut Settings, scheme: SchemeSettings) {
    let nothing = fiedler_augment::pipeline::MaskRates::default();
    settings.scheme = Some(scheme);
    settings.feature_masking = Some(FeatureMasking { first: nothing, second: nothing, ..FeatureMasking::default() });
    if let MethodSettings::GraphCl(graphcl) = &mut settings.method {
        graphcl.as_released = false;
    }
}
