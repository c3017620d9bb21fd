//! What embeddings without training reach: the bar for those with.

use fiedler_graph::NoObserver;
use fiedler_learn::method::{Hops, MethodSettings, Raw, Spectral, Untrained};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::kind::{Context, TableSpec};
use crate::error::Result;
use crate::recipe::SettingsSource;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Embeddings without training",
    unit: "accuracy in %, or seconds",
    datasets: &[
        "cora",
        "citeseer",
        "pubmed",
        "amazon-photo",
        "coauthor-cs",
        "polblogs",
        "usa-airports",
        "brazil-airports",
    ],
    cells,
    notes: &[
        "Nothing is trained but in the row default. Seconds are those of fitting and embedding on this machine, without reading and \
         evaluation.",
        "Where nodes have no features, raw means one-hot degrees, and hops structural features beside eigenvectors.",
    ],
    ..TableSpec::USUAL
};

/// The rows of a dataset.
fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let cell = |row: &str, method: MethodSettings, measure: Measure| Cell {
        data: context.place,
        row: row.into(),
        recipe: "defaults".into(),
        about: "the defaults of the method".into(),
        settings: Settings { method, ..Settings::default() },
        start: None,
        measure,
        paper: None,
        against: None,
    };
    let score = Measure::Score(None);
    let general = SettingsSource::Recipe("none").resolve(context.data, &NoObserver)?;
    let default = Cell {
        recipe: general.name.clone(),
        about: general.header.source.clone(),
        settings: general.settings.clone(),
        against: Some("hops".into()),
        ..cell("default", Raw::default().into(), score)
    };
    Ok(vec![
        cell("raw", Raw::default().into(), score),
        cell("untrained GCN", Untrained::default().into(), score),
        cell("spectral", Spectral::default().into(), score),
        cell("hops", Hops::default().into(), score),
        default,
        cell("seconds of spectral", Spectral::default().into(), Measure::FitSeconds),
        cell("seconds of hops", Hops::default().into(), Measure::FitSeconds),
    ])
}
