//! Out-of-domain transfer: pre-training on ego-nets of one kind of network, fine-tuning on nodes and graphs of others.

use fiedler_evaluate::ProtocolPreset;
use fiedler_learn::data::FeatureSettings;
use fiedler_learn::encoder::GinSettings;

use super::kind::TableSpec;
use super::pretraining::{Pretraining, Size};

/// What the table is.
pub const SPEC: TableSpec = TableSpec {
    title: "Out-of-domain transfer",
    datasets: PRETRAINING.full.datasets,
    cells: |context| PRETRAINING.cells(context, None),
    pretraining: Some(&PRETRAINING),
    protocol: ProtocolPreset::Kfold,
    transform: Some("degrees:"),
    notes: &[
        "Ego-nets of Coauthor-CS and PubMed stand in for those of Yelp, which are not to be had here: two hops, at most 128 nodes by random walks \
         with restart 0.8; --pretraining ego:YELP,count=80000 takes those of a file. Features are the degrees of nodes in the whole graph, in \
         buckets whose borders are powers of two, and mean the same everywhere.",
        "Nodes (US airports) are classified in the whole graph, graphs by the mean of their nodes; all weights are fine-tuned. Every tenth item of \
         a training set is set aside to say when to stop.",
    ],
    ..TableSpec::USUAL
};

const PRETRAINING: Pretraining = Pretraining {
    line: |graphs| format!("ego:coauthor-cs+pubmed,hops=2,cap=128,restart=0.8,count={graphs},seed=0"),
    // As many as there are nodes.
    full: Size {
        graphs: 38_050,
        epochs: [20, 100],
        channels: 64,
        datasets: &["usa-airports", "collab", "reddit-binary", "imdb-binary"],
    },
    quick: Size { graphs: 500, epochs: [10, 30], channels: 32, datasets: &["usa-airports", "imdb-binary"] },
    encoder: |channels| GinSettings {
        hidden_channels: channels,
        num_layers: 5,
        expansion: 1,
        ..GinSettings::default()
    },
    features: FeatureSettings::default,
    dropout: 0.5,
    weight_decay: 1e-5,
    learning_rate: 5e-3,
    batches: [32, 32],
};
