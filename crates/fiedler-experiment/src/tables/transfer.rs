//! Transfer between molecules: pre-training without labels on one set, fine-tuning by labels on others.

use fiedler_evaluate::ProtocolPreset;
use fiedler_learn::MoleculeFeatures;
use fiedler_learn::data::FeatureSettings;
use fiedler_learn::published::hu_settings;

use super::kind::TableSpec;
use super::pretraining::{Pretraining, Size, available};

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Transfer between molecules",
    unit: "ROC-AUC in % of tasks",
    datasets: PRETRAINING.full.datasets,
    cells: |context| PRETRAINING.cells(context, None),
    pretraining: Some(&PRETRAINING),
    protocol: ProtocolPreset::Scaffold,
    notes: &[
        "All rows have one encoder, that of Hu et al. (atom type and chirality, bond type; the files know no bond direction), the same scaffold \
         split, seeds and code of fine-tuning; MVGRL, whose views are diffusions, has a GCN without bonds and is compared with that. Of \
         validation, the epoch of the smallest loss counts; test is looked at once.",
        "Encoders were pre-trained on MOSES, not on the ZINC-2M of publications: printed figures are of other data and stand in no row here.",
    ],
    ..TableSpec::USUAL
};

/// All targets, whose validation and test molecules are left out of pre-training, whichever columns are asked for.
const TARGETS: &[&str] =
    &["ogbg-molbbbp", "ogbg-moltox21", "ogbg-molsider", "ogbg-molclintox", "ogbg-molhiv", "scaffold:muv"];

const PRETRAINING: Pretraining = Pretraining {
    line,
    full: Size { graphs: 50_000, epochs: [100, 100], channels: 300, datasets: TARGETS },
    quick: Size {
        graphs: 2_000,
        epochs: [10, 30],
        channels: 32,
        datasets: &["ogbg-molbbbp", "ogbg-molclintox", "ogbg-molsider"],
    },
    encoder: |channels| hu_settings(channels, 5),
    features: || FeatureSettings { molecules: MoleculeFeatures::Hu, ..FeatureSettings::default() },
    dropout: 0.5,
    weight_decay: 0.0,
    learning_rate: 1e-3,
    batches: [256, 32],
};

/// Molecules of MOSES without those that are validated and tested on.
fn line(graphs: usize) -> String {
    let targets = available(TARGETS).join("+");
    let sample = format!("sample:moses,n={graphs},seed=0");
    if targets.is_empty() { sample } else { format!("without:{sample},of={targets}") }
}
