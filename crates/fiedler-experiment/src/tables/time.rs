//! How long the scheme and the training take.

use fiedler_augment::SchemeSettings;

use super::ablation;
use super::cell::{Cell, Measure};
use super::eigenvalues::outermost;
use super::kind::{Context, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Running time",
    unit: "seconds",
    datasets: &["cora", "amazon-photo", "wiki-cs", "pubmed"],
    cells,
    notes: &[
        "Ours on this machine's processor, the paper's on graphics cards. Training was timed over the epochs of the run and \
         scaled to 1,000.",
        "Where a graph has no 2,000 eigenvalues, all of them count in the first row too.",
    ],
    ..TableSpec::USUAL
};

/// Steps, eigenvalues and epochs of the paper's table.
const STEPS: usize = 50;
const ENDS: usize = 1000;
const EPOCHS: usize = 1000;

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let base = context.recipes.span(&context.data.name, context.data.level)?;
    let nodes = context.data.dataset.graphs.num_nodes();
    let cell = |row: &str, measure: Measure, ends: Option<usize>, printed: Option<&str>| {
        let mut settings = base.settings.clone();
        if let SchemeSettings::Opposite(mut spectral) = ablation::scheme("opposite", &settings.scheme_or_usual()) {
            spectral.steps = STEPS;
            settings.scheme = Some(SchemeSettings::Opposite(outermost(spectral, ends)));
        }
        let paper = printed.and_then(|printed| context.figure("running-time", printed));
        Cell {
            data: context.place,
            row: row.into(),
            recipe: base.name.clone(),
            about: base.about.clone(),
            settings,
            start: None,
            measure,
            paper,
            against: None,
        }
    };
    let ends = (2 * ENDS < nodes).then_some(ENDS);
    Ok(vec![
        cell(
            "scheme, K = 1000, 50 steps",
            Measure::SchemeSeconds,
            ends,
            Some("augmentation pre-computation (K=1000, T=50)"),
        ),
        cell("scheme, all eigenvalues, 50 steps", Measure::SchemeSeconds, None, None),
        cell(
            "training, 1000 epochs",
            Measure::TrainingSeconds { epochs: EPOCHS },
            None,
            Some("contrastive training (1000 epochs)"),
        ),
    ])
}
