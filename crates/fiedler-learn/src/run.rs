//! A run: settings and a dataset in, embeddings and an encoder out.

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use fiedler_augment::Scheme;
use fiedler_augment::mask::{Masker, Masking};
use fiedler_graph::Dataset;
use serde::{Deserialize, Serialize};

use crate::data::{Data, FeatureSettings, Level, Supervision, Views};
use crate::encoder::{EncoderSettings, GinSettings};
use crate::error::{Error, Result};
use crate::method::{EmbeddingOf, Method, MethodSettings, Span, Supervised};
use crate::ops::Pooling;
use crate::readout::ReadoutSettings;
use crate::trainer::{CheckpointFile, History, Trainer, Training, Watch, unwatched};
use crate::weights::Weights;
use crate::{Embeddings, Initializer};

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
    /// Labels, for a method that learns from them.
    pub supervision: Option<Supervision<'a>>,
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
    pub encoder: SavedEncoder,
    /// How training went.
    pub history: History,
}

impl<'a> Run<'a> {
    /// A run that keeps no checkpoint and is not watched.
    pub fn new(settings: &'a Settings, dataset: &'a Dataset, scheme: Option<&'a Scheme>) -> Run<'a> {
        Run { settings, dataset, scheme, supervision: None, checkpoint: None, memory: None, watch: &unwatched }
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
            MethodSettings::Supervised(supervised) => {
                let method = self.supervised(supervised)?;
                let settings = Settings { method: method.clone().into(), ..self.settings.clone() };
                Run { settings: &settings, ..*self }.run_method(&method)
            }
        }
    }

    /// Refuses what can be refused before anything is computed; the scheme may still be missing.
    ///
    /// # Errors
    /// When a setting is out of its range or not for such data, or memory would not suffice.
    pub fn check(&self) -> Result<()> {
        match &self.settings.method {
            MethodSettings::Span(span) => self.check_method(span),
            MethodSettings::Untrained(untrained) => self.check_method(untrained),
            MethodSettings::Raw(raw) => self.check_method(raw),
            MethodSettings::Supervised(supervised) => self.check_method(&self.supervised(supervised)?),
        }
    }

    /// The method for the classes that there are.
    fn supervised(&self, supervised: &Supervised) -> Result<Supervised> {
        let Some(labels) = self.supervision else {
            return Err(Error::setting("labels", "missing", "classes to learn from"));
        };
        Ok(Supervised { classes: Some(labels.classes.names().len()), ..supervised.clone() })
    }

    fn run_method<M: Method>(&self, method: &M) -> Result<Outcome> {
        let data = Data::new(self.dataset, &self.settings.features)?;
        let masker = data.masker(&self.settings.masking)?;
        if let Some(scheme) = self.scheme {
            scheme.check(data.graphs())?;
        }
        let device = Device::flex();
        let trainer = self.trainer(method, &data, &masker, &device);
        let (model, history) = trainer.train()?;
        let embeddings = trainer.embed(&model)?;
        Ok(Outcome { embeddings, encoder: SavedEncoder::new(self.settings, &data, &model), history })
    }

    fn check_method<M: Method>(&self, method: &M) -> Result<()> {
        let data = Data::new(self.dataset, &self.settings.features)?;
        let masker = data.masker(&self.settings.masking)?;
        self.trainer(method, &data, &masker, &Device::flex()).check()
    }

    fn trainer<'b, M: Method>(
        &'b self,
        method: &'b M,
        data: &'b Data<'b>,
        masker: &'b Masker,
        device: &'b Device,
    ) -> Trainer<'b, M> {
        let Settings { seed, training, .. } = self.settings;
        Trainer {
            method,
            data,
            views: self.scheme.map(|scheme| Views { scheme, masker, seed: *seed }),
            supervision: self.supervision.filter(|_| method.learns_from_labels()),
            training,
            seed: *seed,
            device,
            checkpoint: self.checkpoint,
            memory: self.memory,
            watch: self.watch,
        }
    }
}

/// An encoder as a run leaves it, to be applied to other data.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedEncoder {
    about: About,
    weights: Weights,
}

/// What stands beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct About {
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
    fn new<M: Module>(settings: &Settings, data: &Data<'_>, model: &M) -> SavedEncoder {
        let widths = data.widths(settings.method.weighting());
        let about = About {
            version: 1,
            level: data.level(),
            columns: widths.nodes,
            edge_columns: widths.edges,
            degrees: data.are_features_degrees(),
            features: settings.features.clone(),
            method: settings.method.clone(),
        };
        SavedEncoder { about, weights: Weights::of(model) }
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// When there are too many weights for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let note = serde_json::to_string(&self.about);
        let note = note.map_err(|error| Error::NotAnEncoder { path: "encoder".into(), problem: error.to_string() })?;
        let mut weights = self.weights.clone();
        weights.note = Some(note);
        weights.to_bytes()
    }

    /// Reads the bytes of a safetensors file; `path` is what an error names.
    ///
    /// # Errors
    /// When they are not those of an encoder that a run left.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<SavedEncoder> {
        let refuse = |problem: String| Error::NotAnEncoder { path: path.into(), problem };
        let mut weights = Weights::from_bytes(bytes, path).map_err(|error| match error {
            Error::Malformed { problem, .. } => refuse(problem),
            other => other,
        })?;
        let note = weights.note.take().ok_or_else(|| refuse("it says nothing of its settings".into()))?;
        let about: About = serde_json::from_str(&note).map_err(|error| refuse(error.to_string()))?;
        if about.version != 1 {
            return Err(refuse(format!("it has version {}, and only version 1 is known", about.version)));
        }
        Ok(SavedEncoder { about, weights })
    }

    /// Reads the file that a run left.
    ///
    /// # Errors
    /// When the system refuses, or the file is not an encoder.
    pub fn read(path: &Path) -> Result<SavedEncoder> {
        let bytes = std::fs::read(path).map_err(|source| Error::Io { action: "read", path: path.into(), source })?;
        SavedEncoder::from_bytes(&bytes, path)
    }

    /// Embeds data. Nothing is drawn: graphs are taken as they are.
    ///
    /// # Errors
    /// When the data have other columns of features than those it was trained on.
    pub fn embed(&self, dataset: &Dataset) -> Result<Embeddings> {
        let About { method, features, .. } = &self.about;
        let data = Data::new(dataset, features)?;
        let widths = data.widths(method.weighting());
        let found = (widths.nodes, widths.edges, data.are_features_degrees());
        let expected = (self.about.columns, self.about.edge_columns, self.about.degrees);
        if found != expected {
            let data = dataset.name.clone();
            return Err(Error::OtherFeatures { data, found: columns(found), expected: columns(expected) });
        }
        match method {
            MethodSettings::Span(span) => self.apply(&Span { embedding: EmbeddingOf::Clean, ..span.clone() }, &data),
            MethodSettings::Untrained(untrained) => self.apply(untrained, &data),
            MethodSettings::Raw(raw) => self.apply(raw, &data),
            MethodSettings::Supervised(supervised) => self.apply(supervised, &data),
        }
    }

    fn apply<M: Method>(&self, method: &M, data: &Data<'_>) -> Result<Embeddings> {
        let device = Device::flex();
        let mut initializer = Initializer::new(0, &device.clone().autodiff());
        let model = method.build(data.widths(method.weighting()), &mut initializer)?;
        let trainer = Trainer {
            method,
            data,
            views: None,
            supervision: None,
            training: &Training::default(),
            seed: 0,
            device: &device,
            checkpoint: None,
            memory: None,
            watch: &unwatched,
        };
        trainer.embed(&self.weights.apply(model)?)
    }
}

fn columns((nodes, edges, degrees): (usize, Option<usize>, bool)) -> String {
    let kind = if degrees { "columns of degrees" } else { "columns of features" };
    let edges = edges.map_or(String::new(), |edges| format!(" and {edges} of edges"));
    format!("{nodes} {kind}{edges}")
}
