//! Spectral views inside other methods: each with its own views, with an unchanged graph, with spectral views, and with random flips of
//! the same number.

use fiedler_augment::SchemeSettings;
use fiedler_augment::scheme::{Rates, Uniform};
use fiedler_learn::method::{MethodSettings, MvgrlDiffusion};

use super::ablation;
use super::cell::{Cell, Measure};
use super::kind::{Context, SHARED_SCHEME, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Spectral views inside other methods",
    datasets: &["cora", "citeseer", "pubmed", "wiki-cs", "amazon-computers", "amazon-photo", "coauthor-cs"],
    cells,
    notes: &[
        SHARED_SCHEME,
        "Every method has its recipe for the dataset, or else its defaults; the arms differ in the topology of the views alone, and \
         keep the method's feature masking. Own views: as the method has them. No edge changes: feature masking only. SPAN: the \
         opposite scheme, with the budget of the dataset's recipe. Matched flips: as many removals and additions in each view as SPAN \
         expects, all pairs alike. MVGRL's own second view is a diffusion, whose place these views take. No arm was searched for by itself.",
        "Differences are to SPAN in the same method, paired over seeds and splits: a negative one is in SPAN's favor.",
    ],
    ..TableSpec::USUAL
};

/// The methods that compare two views, with their names in the paper.
const METHODS: &[(&str, &str)] =
    &[("grace", "GRACE"), ("bgrl", "BGRL"), ("gbt", "GBT"), ("mvgrl", "MVGRL"), ("cca-ssg", "CCA-SSG")];

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let span = context.recipes.span(&context.data.name, context.data.level)?;
    let opposite = ablation::scheme("opposite", &span.settings.scheme_or_usual());
    let none = Uniform { first: Rates::default(), second: Rates::default() };
    let mut cells = Vec::new();
    for &(method, printed) in METHODS {
        let found = context.recipes.method(method, context.data)?;
        let of_span = format!("{printed}-SPAN");
        let arms = [
            (printed.to_owned(), None),
            (format!("{printed} no edge changes"), Some(SchemeSettings::Uniform(none))),
            (format!("{printed} matched flips"), Some(opposite.with_name("uniform-matched")?)),
            (of_span.clone(), Some(opposite.clone())),
        ];
        for (row, scheme) in arms {
            let mut settings = found.settings.clone();
            if let (MethodSettings::Mvgrl(mvgrl), Some(_)) = (&mut settings.method, &scheme) {
                mvgrl.diffusion = MvgrlDiffusion::Identity;
            }
            settings.scheme = scheme.or(settings.scheme);
            cells.push(Cell {
                data: context.place,
                against: (row != of_span).then(|| of_span.clone()),
                paper: context.figure("plug-in", &row),
                row,
                recipe: found.name.clone(),
                about: found.about.clone(),
                settings,
                start: None,
                measure: Measure::Score(None),
            });
        }
    }
    Ok(cells)
}
