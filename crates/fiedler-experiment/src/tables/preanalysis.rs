//! The paper's pre-analysis: edges that go at random against edges that go between clusters, at equal budgets.

use fiedler_augment::SchemeSettings;
use fiedler_augment::pipeline::{FeatureMasking, MaskRates};
use fiedler_augment::scheme::{Clustered, Rates, Uniform};
use fiedler_evaluate::Metric;
use fiedler_learn::encoder::{EncoderSettings, GcnSettings};
use fiedler_learn::loss::{ContrastiveLoss, InfoNce};
use fiedler_learn::method::{ContrastMode, Span};
use fiedler_learn::readout::{Projector, ReadoutSettings};
use fiedler_learn::run::Settings;

use super::cell::{Cell, Measure};
use super::kind::{Context, TableSpec};
use crate::error::Result;

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Pre-analysis",
    unit: "micro F1 in %, L2 distance of spectra",
    datasets: &["cora"],
    cells,
    notes: &[
        "One view is the graph itself; the other loses edges and hides 0.3 of the columns; a GCN of 2 layers of 32, \
         trained with GRACE's objective, but among 256 nodes drawn for each step, where GRACE takes all; temperature 0.5.",
        "The paper shows curves only. Of single classes, micro F1 is accuracy.",
    ],
    ..TableSpec::USUAL
};

/// σ in the paper, in tenths.
const TENTHS: [u8; 5] = [1, 3, 5, 7, 9];
const MASK: f64 = 0.3;
const HIDDEN: usize = 32;
const TEMPERATURE: f64 = 0.5;
const ANCHORS: usize = 256;

fn cells(context: &Context<'_>) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (what, measure) in [("F1", Measure::Score(Some(Metric::MicroF1))), ("spectral change", Measure::SpectralChange)]
    {
        for tenths in TENTHS {
            let ratio = f64::from(tenths) / 10.0;
            for scheme in ["uniform", "clustered"] {
                cells.push(Cell {
                    data: context.place,
                    row: format!("{what}, {scheme} {ratio}"),
                    recipe: "preanalysis".into(),
                    about: "As the paper's Appendix C.1 says; temperature, projector and number of negatives, which it does not give, are ours".into(),
                    settings: settings(scheme, ratio, context.recipes.epochs),
                    start: None,
                    measure,
                    paper: None,
                    against: (scheme == "clustered").then(|| format!("{what}, uniform {ratio}")),
                });
            }
        }
    }
    Ok(cells)
}

/// One view is the graph itself, the other loses edges and hides columns; a GCN of two layers of 32 and GRACE's objective.
fn settings(scheme: &str, ratio: f64, epochs: Option<usize>) -> Settings {
    let scheme = match scheme {
        "uniform" => SchemeSettings::Uniform(Uniform { first: Rates::default(), second: Rates::removing(ratio) }),
        _ => SchemeSettings::Clustered(Clustered { ratio, ..Clustered::default() }),
    };
    let mut settings = Settings { scheme: Some(scheme), ..Settings::default() };
    let second = MaskRates { rate: MASK, nodes: 0.0 };
    settings.feature_masking =
        Some(FeatureMasking { first: MaskRates::default(), second, ..FeatureMasking::default() });
    let encoder = EncoderSettings::Gcn(GcnSettings { hidden_channels: HIDDEN, ..GcnSettings::default() });
    settings.method = Span {
        encoder,
        readout: ReadoutSettings { projector: Projector::MlpElu, ..ReadoutSettings::default() },
        loss: ContrastiveLoss::InfoNce(InfoNce { temperature: TEMPERATURE, ..InfoNce::default() }),
        contrast: ContrastMode::LocalLocal { anchors: ANCHORS },
        ..Span::default()
    }
    .into();
    settings.training.epochs = epochs.unwrap_or(settings.training.epochs);
    settings
}
