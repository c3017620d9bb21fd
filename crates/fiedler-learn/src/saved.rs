//! An encoder as a run leaves it, to be applied to other data.

use burn::module::Module;
use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{Dataset, NoObserver};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::{Data, FeatureSettings};
use crate::device::DeviceSettings;
use crate::encoder::InputDims;
use crate::error::{Error, Result};
use crate::method::{Method, MethodSettings, Requirements};
use crate::run::Settings;
use crate::state_dict::StateDict;
use crate::task::{Target, Task, TaskLevel};
use crate::trainer::{Trainer, TrainingSettings};
use crate::version1;
use crate::views::ViewStore;
use crate::{Embeddings, Initializer, Normalization};

/// An encoder as a run leaves it.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedEncoder {
    about: About,
    weights: StateDict,
}

/// Version of the format; 1 is still read.
const VERSION: u32 = 2;

/// What stands beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    version: u32,
    level: TaskLevel,
    /// Number of columns of the features, and of those of edges.
    columns: usize,
    edge_columns: Option<usize>,
    /// Whether the features are the degrees of nodes.
    degrees: bool,
    features: FeatureSettings,
    method: MethodSettings,
    /// What it was trained to predict, if it was.
    #[serde(default)]
    target: Option<Target>,
}

impl SavedEncoder {
    pub(crate) fn new<M: Module>(settings: &Settings, data: &Data<'_>, task: &Task, model: &M) -> SavedEncoder {
        let about = About {
            version: VERSION,
            level: task.level,
            columns: task.dims.nodes,
            edge_columns: task.dims.edges,
            degrees: data.are_features_degrees(),
            features: settings.features.clone(),
            method: settings.method.clone(),
            target: task.target,
        };
        SavedEncoder { about, weights: StateDict::of(model) }
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// When there are too many weights for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut weights = self.weights.clone();
        weights.note = Some(serde_json::to_string(&self.about).map_err(|error| refuse(error.to_string()))?);
        weights.to_bytes()
    }

    /// Reads the bytes of a safetensors file. Nothing is built of them yet.
    ///
    /// # Errors
    /// When they are not those of an encoder that a run left.
    pub fn from_bytes(bytes: &[u8]) -> Result<SavedEncoder> {
        let mut weights = StateDict::from_bytes(bytes).map_err(|error| match error {
            Error::Malformed { problem } => refuse(problem),
            other => other,
        })?;
        let note = weights.note.take().ok_or_else(|| refuse("it says nothing of its settings".into()))?;
        let mut about: Value = serde_json::from_str(&note).map_err(|error| refuse(error.to_string()))?;
        match about.get("version").and_then(Value::as_u64) {
            Some(1) => {
                version1::upgrade_encoder(&mut about);
                weights = weights.renamed(version1::tensor_name);
            }
            Some(version) if version == u64::from(VERSION) => {}
            version => return Err(refuse(format!("it has version {version:?}, and only 1 and {VERSION} are known"))),
        }
        let about: About = serde_json::from_value(about).map_err(|error| refuse(error.to_string()))?;
        if let Some(name) = weights.not_finite() {
            return Err(refuse(format!("{name} holds a value that is no finite number")));
        }
        let encoder = SavedEncoder { about, weights };
        encoder.about.features.check()?;
        encoder.about.method.as_any().check(&encoder.task(1, 1))?;
        Ok(encoder)
    }

    /// Name of the method that trained it.
    pub fn method(&self) -> &MethodSettings {
        &self.about.method
    }

    /// What its embeddings describe.
    pub fn level(&self) -> TaskLevel {
        self.about.level
    }

    /// The task that it was trained for, with graphs of other sizes.
    fn task(&self, num_nodes: usize, num_graphs: usize) -> Task {
        let About { columns, edge_columns, target, .. } = self.about;
        // Whatever training had to look at, an embedding looks at one graph at a time.
        let (num_nodes, many) = (num_nodes.max(2), num_graphs.max(2));
        Task {
            level: TaskLevel::of(num_graphs),
            dims: InputDims { nodes: columns, edges: edge_columns },
            num_nodes,
            num_graphs,
            batch_graphs: many,
            num_views: 2,
            target,
        }
    }

    /// Embeds data. Graphs are taken as they are, or as the method wants them embedded.
    ///
    /// # Errors
    /// When the data have other columns of features than those it was trained on, or the weights are not those of its settings.
    pub fn embed(&self, dataset: &Dataset) -> Result<Embeddings> {
        let data = Data::new(dataset, &self.about.features)?;
        let dims = data.dims();
        // Features of edges count only for encoders that look at them.
        let requirements = self.about.method.as_any().check(&self.task(1, 1))?;
        let edges = |columns: Option<usize>| columns.filter(|_| requirements.operators.contains(&Normalization::None));
        let found = (dims.nodes, edges(dims.edges), data.are_features_degrees());
        let expected = (self.about.columns, edges(self.about.edge_columns), self.about.degrees);
        if found != expected {
            let data = dataset.name.clone();
            return Err(Error::OtherFeatures { data, found: columns(found), expected: columns(expected) });
        }
        self.about.method.as_any().apply(self, &data)
    }

    pub(crate) fn embed_by<M: Method>(&self, method: &M, data: &Data<'_>) -> Result<Embeddings> {
        let device = DeviceSettings::default().open();
        let task = self.task(data.graphs().num_nodes(), data.graphs().len());
        let requirements = Requirements { trained: false, labels: false, ..Method::check(method, &task)? };
        // The model that the settings describe may not be larger than the weights that there are.
        let mut initializer = Initializer::limited(self.weights.num_values(), &device.clone().autodiff());
        let model = method.restore(&task, &self.weights, &mut initializer)?;
        let mut schemes = ComputeSchemes::new(data.graphs(), &NoObserver);
        let views = ViewStore::new(data, &mut schemes);
        let trainer = Trainer {
            method,
            data,
            task: &task,
            requirements: &requirements,
            phases: method.phases(),
            views: &views,
            given: &[],
            supervision: None,
            training: &TrainingSettings::default(),
            seed: 0,
            device: &device,
            checkpoint: None,
            observer: &NoObserver,
        };
        trainer.embed(&model)
    }
}

fn refuse(problem: String) -> Error {
    Error::NotAnEncoder { problem }
}

fn columns((nodes, edges, degrees): (usize, Option<usize>, bool)) -> String {
    let kind = if degrees { "columns of degrees" } else { "columns of features" };
    let edges = edges.map_or(String::new(), |edges| format!(" and {edges} of edges"));
    format!("{nodes} {kind}{edges}")
}
