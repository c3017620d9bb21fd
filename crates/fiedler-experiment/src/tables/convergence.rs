//! How the norm of the spectrum goes while a scheme is optimized.

use std::io::Write;
use std::path::Path;

use fiedler_augment::SchemeSettings;
use fiedler_augment::scheme::{Report, Spectral};
use fiedler_io::AtomicFiles;
use fiedler_spectral::Operator;

use super::cell::{Cell, Measure};
use super::kind::{Context, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Convergence of the scheme",
    unit: "norms",
    datasets: &["cora", "amazon-photo", "wiki-cs", "pubmed"],
    cells,
    notes: &["Norms are the square roots of the sums of squared eigenvalues of the expected graph; the steps are in \
         convergence-DATASET.csv."],
    writes_steps: true,
    ..TableSpec::USUAL
};

/// The norm before, and what both views make of it. The way there stands in a file for each dataset.
fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let mut base = context.recipes.span(&context.data.name, context.data.level)?;
    // The norms that the paper prints are those of the operator that its program has, not of the Laplacian of its text.
    if let SchemeSettings::Opposite(spectral) = base.settings.scheme_or_usual() {
        let operator = Operator::Propagation;
        base.settings.scheme = Some(SchemeSettings::Opposite(Spectral { operator, ..spectral }));
    }
    let cell = |row: &str, measure: Measure, paper| Cell {
        data: context.place,
        row: row.into(),
        recipe: base.name.clone(),
        about: base.about.clone(),
        settings: base.settings.clone(),
        start: None,
        measure,
        paper,
        against: None,
    };
    Ok(vec![
        cell("norm of the original spectrum", Measure::Norm, context.figure("spectrum-norm", "original graph")),
        cell("relative norm, maximised", Measure::RelativeNorm { view: 0 }, None),
        cell("relative norm, minimised", Measure::RelativeNorm { view: 1 }, None),
    ])
}

/// Writes how the norm went, step by step.
pub fn write_steps(out: &Path, dataset: &str, report: &Report) -> Result<()> {
    let mut targets = AtomicFiles::new(true);
    targets.write(&out.join(format!("convergence-{dataset}.csv")), |file| {
        writeln!(file, "view,step,relative_norm,expected_flips")?;
        for view in &report.views {
            for point in &view.curve {
                writeln!(file, "{},{},{},{}", view.name, point.step, point.relative_norm, point.mass)?;
            }
        }
        Ok(())
    })?;
    targets.finish()?;
    Ok(())
}
