//! Does the spectrum help? Spectral schemes against random ones that change as many pairs, and against views without any change.

use fiedler_augment::SchemeSettings;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::scheme::{Rates, Spectral, Uniform};

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Spectral schemes against random ones of the same strength",
    datasets: &["cora", "citeseer", "amazon-photo", "blogcatalog", "usa-airports"],
    cells,
    notes: &[
        SHARED_SCHEME,
        "All rows have the settings of the dataset's recipe but for the scheme, and its ratio r: views change r times as many pairs \
         as there are edges. Uniform removal removes them from both views; matched flips removes and adds as many in each view as the \
         opposite scheme. Differences are to uniform removal, paired over seeds and splits.",
        "A cap is the most flip probability of any pair: below 1, views differ from draw to draw.",
    ],
    ..TableSpec::USUAL
};

/// The row that others are compared with.
const RIVAL: &str = "uniform removal";
const CAPS: [f64; 3] = [1.0, 0.8, 0.5];

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let base = context.recipes.span(&context.data.name, context.data.level)?;
    let cell = |row: String, scheme: SchemeSettings| {
        let mut settings = base.settings.clone();
        settings.scheme = Some(scheme);
        Cell {
            data: context.place,
            against: (row != RIVAL).then(|| RIVAL.into()),
            row,
            recipe: base.name.clone(),
            about: base.about.clone(),
            settings,
            start: None,
            measure: Measure::Score(None),
            paper: None,
        }
    };
    let usual = base.settings.scheme_or_usual();
    let spectral = match ablation::scheme("opposite", &usual) {
        SchemeSettings::Opposite(spectral) => Spectral { max_probability: 1.0, ..spectral },
        _ => Spectral::default(),
    };
    let none = Rates::default();
    let mut cells = vec![
        cell("no change".into(), SchemeSettings::Uniform(Uniform { first: none, second: none })),
        cell(RIVAL.into(), ablation::uniform(spectral.ratio)),
        cell("matched flips".into(), SchemeSettings::UniformMatched(spectral)),
    ];
    for (name, objective) in [("expected", SpectralObjective::Expected), ("sampled", SpectralObjective::Sampled)] {
        for cap in CAPS {
            let spectral = Spectral { objective: Some(objective), max_probability: cap, ..spectral };
            cells.push(cell(format!("opposite {name} cap {cap}"), SchemeSettings::Opposite(spectral)));
        }
    }
    for name in ["single", "double"] {
        for cap in CAPS {
            let capped = SchemeSettings::Opposite(Spectral { max_probability: cap, ..spectral });
            cells.push(cell(format!("{name} cap {cap}"), ablation::scheme(name, &capped)));
        }
    }
    Ok(cells)
}
