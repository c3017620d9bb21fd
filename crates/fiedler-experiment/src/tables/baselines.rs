//! What embeddings without training reach: the bar for those with.

use fiedler_learn::method::{Hops, MethodSettings, Raw, Spectral, Untrained};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::kind::Context;
use crate::error::Result;

pub const DATASETS: &[&str] =
    &["cora", "citeseer", "pubmed", "amazon-photo", "coauthor-cs", "polblogs", "usa-airports", "brazil-airports"];

/// The rows of a dataset.
pub fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let cell = |row: &str, method: MethodSettings, measure: Measure| Cell {
        data: context.place,
        row: row.into(),
        recipe: "defaults".into(),
        about: "the defaults of the method".into(),
        settings: Settings { method, ..Settings::default() },
        measure,
        paper: None,
        against: None,
    };
    let score = Measure::Score(None);
    Ok(vec![
        cell("raw", Raw::default().into(), score),
        cell("untrained GCN", Untrained::default().into(), score),
        cell("spectral", Spectral::default().into(), score),
        cell("hops", Hops::default().into(), score),
        cell("seconds of spectral", Spectral::default().into(), Measure::FitSeconds),
        cell("seconds of hops", Hops::default().into(), Measure::FitSeconds),
    ])
}
