//! How much is perturbed: the spectral scheme against the uniform one at equal budgets.

use fiedler_augment::SchemeSettings;

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Perturbation strength",
    datasets: &["cora", "amazon-photo", "wiki-cs", "pubmed"],
    cells,
    notes: &[SHARED_SCHEME, "The paper shows curves only, so there are no figures to compare with."],
    ..TableSpec::USUAL
};

/// σ_e in the paper, in tenths.
const TENTHS: std::ops::RangeInclusive<u8> = 1..=9;

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let base = context.recipes.span(&context.data.name, context.data.level)?;
    let mut cells = Vec::new();
    for tenths in TENTHS {
        let ratio = f64::from(tenths) / 10.0;
        for scheme in ["uniform", "opposite"] {
            let mut settings = base.settings.clone();
            settings.scheme = Some(at(scheme, &settings.scheme_or_usual(), ratio));
            cells.push(Cell {
                data: context.place,
                row: format!("{scheme} {ratio}"),
                recipe: base.name.clone(),
                about: base.about.clone(),
                settings,
                start: None,
                measure: Measure::Score(None),
                paper: None,
                against: (scheme == "opposite").then(|| format!("uniform {ratio}")),
            });
        }
    }
    Ok(cells)
}

fn at(scheme: &str, base: &SchemeSettings, ratio: f64) -> SchemeSettings {
    match ablation::scheme(scheme, base) {
        SchemeSettings::Opposite(spectral) => {
            SchemeSettings::Opposite(fiedler_augment::scheme::Spectral { ratio, ..spectral })
        }
        _ => ablation::uniform(ratio),
    }
}
