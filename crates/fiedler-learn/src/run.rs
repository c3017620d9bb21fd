//! A run: settings and a dataset in, embeddings and an encoder out.

use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::Scheme;
use fiedler_augment::mask::Masking;
use fiedler_graph::Dataset;
use serde::{Deserialize, Serialize};

use crate::data::{Data, FeatureSettings, Level, Views};
use crate::encoder::{EncoderSettings, GinSettings};
use crate::error::{Error, Result};
use crate::method::{Method, MethodSettings, Span};
use crate::ops::Pooling;
use crate::readout::ReadoutSettings;
use crate::trainer::{CheckpointFile, History, Trainer, Training, Watch, unwatched};
use crate::weights::Weights;
use crate::{Embeddings, Initialiser};

/// All settings of a run, as they stand in files. The defaults are the paper's for one graph.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// What encoders see of a dataset.
    pub features: FeatureSettings,
    /// How views are drawn.
    pub scheme: SchemeSettings,
    /// What features are hidden from views.
    pub masking: Masking,
    /// What is learned.
    pub method: MethodSettings,
    /// How long and how fast.
    pub training: Training,
}

/// The scheme's settings, the paper's by default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SchemeSettings(pub fiedler_augment::Settings);

impl Default for SchemeSettings {
    fn default() -> Self {
        SchemeSettings(fiedler_augment::Settings::Opposite(Default::default()))
    }
}

impl Settings {
    /// The paper's settings for embedding nodes or graphs.
    pub fn paper(level: Level) -> Settings {
        let settings = Settings::default();
        match level {
            Level::Nodes => settings,
            Level::Graphs => Settings {
                method: MethodSettings::Span(Span {
                    encoder: EncoderSettings::Gin(GinSettings::default()),
                    readout: ReadoutSettings { pooling: Pooling::Sum, ..ReadoutSettings::default() },
                    ..Span::default()
                }),
                training: Training { epochs: 100, checkpoint_every: 5, ..Training::default() },
                ..settings
            },
        }
    }
}

/// What a run is given beside its settings.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The settings.
    pub settings: &'a Settings,
    /// The data.
    pub dataset: &'a Dataset,
    /// The scheme that the settings ask for, computed for this dataset; methods that are not trained need none.
    pub scheme: Option<&'a Scheme>,
    /// Where to keep a checkpoint, and to look for one to go on from.
    pub checkpoint: Option<&'a CheckpointFile>,
    /// Bytes that training may take, if there is a limit.
    pub memory: Option<u64>,
    /// Who hears of progress.
    pub watch: Watch<'a>,
}

/// What a run gives.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// One row for each node, or for each graph of a set.
    pub embeddings: Embeddings,
    /// The model, with all that is needed to apply it to other graphs.
    pub encoder: Weights,
    /// How training went.
    pub history: History,
}

impl<'a> Run<'a> {
    /// A run that keeps no checkpoint and is not watched.
    pub fn new(settings: &'a Settings, dataset: &'a Dataset, scheme: Option<&'a Scheme>) -> Run<'a> {
        Run { settings, dataset, scheme, checkpoint: None, memory: None, watch: &unwatched }
    }

    /// Trains and embeds.
    ///
    /// # Errors
    /// As [`Trainer::train`]; and when there is no scheme where one is needed, or it belongs to other graphs.
    pub fn run(&self) -> Result<Outcome> {
        match &self.settings.method {
            MethodSettings::Span(span) => self.run_method(span),
            MethodSettings::Untrained(untrained) => self.run_method(untrained),
            MethodSettings::Raw(raw) => self.run_method(raw),
        }
    }

    fn run_method<M: Method>(&self, method: &M) -> Result<Outcome> {
        let Settings { seed, features, masking, training, .. } = self.settings;
        let data = Data::new(self.dataset, features)?;
        let masker = data.masker(masking)?;
        if let Some(scheme) = self.scheme {
            scheme.check(data.graphs())?;
        }
        let views = self.scheme.map(|scheme| Views { scheme, masker: &masker, seed: *seed });
        let trainer = Trainer {
            method,
            data: &data,
            views,
            training,
            seed: *seed,
            device: &Device::flex(),
            checkpoint: self.checkpoint,
            memory: self.memory,
            watch: self.watch,
        };
        let (model, history) = trainer.train()?;
        let embeddings = trainer.embed(&model)?;
        let encoder = SavedEncoder::new(self.settings, &data).with_weights(&model)?;
        Ok(Outcome { embeddings, encoder, history })
    }
}

/// What stands beside the weights of a saved encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedEncoder {
    version: u32,
    level: Level,
    /// Number of columns of the features, and of those of edges.
    columns: usize,
    edge_columns: Option<usize>,
    /// Whether the features are the degrees of nodes.
    degrees: bool,
    features: FeatureSettings,
    method: MethodSettings,
}

impl SavedEncoder {
    fn new(settings: &Settings, data: &Data<'_>) -> SavedEncoder {
        let widths = data.widths(settings.method.weighting());
        SavedEncoder {
            version: 1,
            level: data.level(),
            columns: widths.nodes,
            edge_columns: widths.edges,
            degrees: data.are_features_degrees(),
            features: settings.features.clone(),
            method: settings.method.clone(),
        }
    }

    fn with_weights<M: Module>(&self, model: &M) -> Result<Weights> {
        let mut weights = Weights::of(model);
        weights.note = Some(serde_json::to_string(self).map_err(not_an_encoder)?);
        Ok(weights)
    }

    /// What stands beside weights.
    ///
    /// # Errors
    /// When the weights are not those of an encoder that was saved here.
    pub fn of(weights: &Weights) -> Result<SavedEncoder> {
        let note = weights.note.as_deref().unwrap_or_default();
        let saved: SavedEncoder = serde_json::from_str(note).map_err(not_an_encoder)?;
        if saved.version != 1 {
            return Err(not_an_encoder(format!("it has version {}, and only version 1 is known", saved.version)));
        }
        Ok(saved)
    }

    /// The method that trained it.
    pub fn method(&self) -> &MethodSettings {
        &self.method
    }

    /// Embeds other data with an encoder's weights. Nothing is drawn: graphs are taken as they are.
    ///
    /// # Errors
    /// When the data have other columns of features than those it was trained on, or the weights are not its own.
    pub fn embed(&self, weights: &Weights, dataset: &Dataset) -> Result<Embeddings> {
        let data = Data::new(dataset, &self.features)?;
        let widths = data.widths(self.method.weighting());
        let found = (widths.nodes, widths.edges, data.are_features_degrees());
        let expected = (self.columns, self.edge_columns, self.degrees);
        if found != expected {
            let data = dataset.name.clone();
            return Err(Error::OtherFeatures { data, found: columns(found), expected: columns(expected) });
        }
        match &self.method {
            MethodSettings::Span(span) => {
                apply(&Span { embedding: Default::default(), ..span.clone() }, weights, &data)
            }
            MethodSettings::Untrained(untrained) => apply(untrained, weights, &data),
            MethodSettings::Raw(raw) => apply(raw, weights, &data),
        }
    }
}

fn apply<M: Method>(method: &M, weights: &Weights, data: &Data<'_>) -> Result<Embeddings> {
    let device = Device::flex();
    let mut initialiser = Initialiser::new(0, &device.clone().autodiff());
    let model = weights.apply(method.build(data.widths(method.weighting()), &mut initialiser)?)?;
    let trainer = Trainer {
        method,
        data,
        views: None,
        training: &Training::default(),
        seed: 0,
        device: &device,
        checkpoint: None,
        memory: None,
        watch: &unwatched,
    };
    trainer.embed(&model)
}

fn columns((nodes, edges, degrees): (usize, Option<usize>, bool)) -> String {
    let kind = if degrees { "columns of degrees" } else { "columns of features" };
    let edges = edges.map_or(String::new(), |edges| format!(" and {edges} of edges"));
    format!("{nodes} {kind}{edges}")
}

fn not_an_encoder(problem: impl std::fmt::Display) -> Error {
    Error::Malformed { path: "encoder".into(), problem: format!("not a saved encoder: {problem}") }
}
