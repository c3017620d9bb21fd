//! How many eigenvalues count: K of the lowest and K of the highest, or all.

use fiedler_augment::SchemeSettings;
use fiedler_augment::scheme::Spectral;

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Number of eigenvalues",
    datasets: &["pubmed", "wiki-cs", "amazon-computers", "coauthor-cs"],
    cells,
    notes: &[
        SHARED_SCHEME,
        "A number of eigenvalues is left out where both ends would meet. The paper shows curves only.",
    ],
    ..TableSpec::USUAL
};

/// K in the paper.
const ENDS: [usize; 6] = [50, 100, 200, 500, 1000, 5000];

/// One row for each K that leaves eigenvalues out, and one for all of them.
fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let base = context.recipes.span(&context.data.name, context.data.level)?;
    let nodes = context.data.dataset.graphs.num_nodes();
    let some = ENDS.into_iter().filter(|&ends| 2 * ends < nodes).map(Some);
    let cell = |ends: Option<usize>| {
        let mut settings = base.settings.clone();
        if let SchemeSettings::Opposite(spectral) = ablation::scheme("opposite", &settings.scheme_or_usual()) {
            settings.scheme = Some(SchemeSettings::Opposite(outermost(spectral, ends)));
        }
        Cell {
            data: context.place,
            row: ends.map_or("all".into(), |ends| format!("K = {ends}")),
            recipe: base.name.clone(),
            about: base.about.clone(),
            settings,
            start: None,
            measure: Measure::Score(None),
            paper: None,
            against: ends.map(|_| "all".into()),
        }
    };
    Ok(some.chain([None]).map(cell).collect())
}

/// The norm of some eigenvalues is known of the expected graph only.
pub fn outermost(spectral: Spectral, ends: Option<usize>) -> Spectral {
    let objective = if ends.is_some() { Default::default() } else { spectral.objective };
    Spectral { k: ends, objective, ..spectral }
}
