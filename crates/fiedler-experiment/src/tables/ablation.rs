//! Schemes against each other, with everything else the same.

use fiedler_augment::SchemeSettings;
use fiedler_augment::scheme::{DiffusionSettings, Form, NodeDropping, Rates, Spectral, Uniform};

use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Augmentation schemes",
    datasets: &["cora", "amazon-photo", "wiki-cs", "pubmed"],
    cells,
    notes: &[
        SHARED_SCHEME,
        "Uniform removes the same share of edges from both views. A scheme has settings of its own where a recipe names it, \
         else those of the opposite scheme. Diffusion keeps the 64 largest entries of each node.",
    ],
    ..TableSpec::USUAL
};

/// Our names, and those of the paper.
const ROWS: &[(&str, &str)] = &[
    ("uniform", "Uniformly random"),
    ("diffusion", "Diffusion augmentation"),
    ("single", "Singe-way scheme SPAN_single"),
    ("double", "Double-way scheme SPAN_double"),
    ("opposite", "Opposite-direction scheme SPAN_opposite"),
];

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let (name, level) = (&context.data.name, context.data.level);
    ROWS.iter()
        .map(|&(row, printed)| {
            let found = match row {
                "opposite" => context.recipes.span(name, level)?,
                _ => context.recipes.with_scheme(name, level, row, |base| scheme(row, base))?,
            };
            Ok(Cell {
                data: context.place,
                row: row.into(),
                recipe: found.name,
                about: found.about,
                settings: found.settings,
                start: None,
                measure: Measure::Score(None),
                paper: context.figure("scheme-ablation", printed),
                against: (row != "uniform").then(|| "uniform".into()),
            })
        })
        .collect()
}

/// A scheme by its name, with the budget of another.
pub fn scheme(name: &str, base: &SchemeSettings) -> SchemeSettings {
    let spectral = match base {
        SchemeSettings::Opposite(base) | SchemeSettings::Single(base) | SchemeSettings::Double(base) => *base,
        _ => Spectral::default(),
    };
    match name {
        "uniform" => uniform(spectral.ratio),
        // The whole matrix would make every epoch as dear as a complete graph.
        "diffusion" => {
            SchemeSettings::Diffusion(DiffusionSettings { form: Form::Sparse, ..DiffusionSettings::default() })
        }
        "single" => SchemeSettings::Single(from_anywhere(spectral)),
        "double" => SchemeSettings::Double(from_anywhere(spectral)),
        "node-dropping" => {
            SchemeSettings::NodeDropping(NodeDropping { ratio: spectral.ratio, ..NodeDropping::default() })
        }
        _ => SchemeSettings::Opposite(spectral),
    }
}

/// Both views lose the same share of their edges.
pub fn uniform(ratio: f64) -> SchemeSettings {
    SchemeSettings::Uniform(Uniform { first: Rates::removing(ratio), second: Rates::removing(ratio) })
}

/// Schemes that compare spectra know neither a zero start nor sampled graphs.
fn from_anywhere(spectral: Spectral) -> Spectral {
    Spectral { start: None, objective: Default::default(), ..spectral }
}
