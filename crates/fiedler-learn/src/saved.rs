//! An encoder as a run leaves it, to be applied to other data.

use std::collections::{HashMap, HashSet};

use burn::module::Module;
use fiedler_augment::Pipeline;
use fiedler_augment::pipeline::ComputeSchemes;
use fiedler_graph::{Dataset, NoObserver};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::beside::Joint;
use crate::data::{Data, FeatureSettings};
use crate::device::DeviceSettings;
use crate::encoder::{EncoderSettings, InputDims};
use crate::error::{Error, Result};
use crate::method::{Hops, Method, MethodSettings, Requirements, Untrained};
use crate::pretrained::PretrainedEncoder;
use crate::readout::{Projector, ReadoutSettings};
use crate::run::{Settings, check_stored_features};
use crate::standardize::ColumnScaling;
use crate::state_dict::StateDict;
use crate::task::{Target, Task, TaskLevel};
use crate::trainer::{Trainer, TrainingSettings};
use crate::version1;
use crate::views::{ViewStore, check_views};
use crate::{Embeddings, Initializer, Normalization};

/// An encoder as a run leaves it.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedEncoder {
    about: About,
    weights: StateDict,
    /// What puts the embedding beside another, where there is one.
    joint: Option<Joint>,
}

/// Version of the format; 1 is still read.
const VERSION: u32 = 2;

/// Bytes of names of columns that are kept at most.
const MAX_NAME_BYTES: usize = 16 << 20;

/// What stands beside the weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    version: u32,
    level: TaskLevel,
    /// Number of columns of the features, and of those of edges.
    columns: usize,
    edge_columns: Option<usize>,
    /// Names of the columns of features, where they had any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    feature_names: Option<Vec<String>>,
    /// Whether the features are the degrees of nodes.
    degrees: bool,
    features: FeatureSettings,
    /// What columns of features were standardized by, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scaling: Option<ColumnScaling>,
    method: MethodSettings,
    /// What it was trained to predict, if it was.
    #[serde(default)]
    target: Option<Target>,
    /// What is drawn to be embedded, where that is not the graphs as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    views: Option<EmbeddedViews>,
    /// What the embedding stands beside, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<Hops>,
}

/// What a method draws the views from that it embeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmbeddedViews {
    /// Seed of the draws.
    seed: u64,
    /// The views of the run's settings; schemes among them are computed for the graphs that are embedded.
    given: Vec<Pipeline>,
}

impl EmbeddedViews {
    /// Those of a run; none where the graphs are embedded as they are.
    pub(crate) fn of<M: Method>(method: &M, given: &[Pipeline], seed: u64) -> Option<EmbeddedViews> {
        let clean = method.embedding_views(given).iter().all(Pipeline::is_identity);
        (!clean).then(|| EmbeddedViews { seed, given: given.to_vec() })
    }
}

/// Whether a method embeds views that the settings of its run have to name.
fn embeds_given_views<M: Method>(method: &M) -> bool {
    // Any views do to ask; these are not what a method would embed by itself.
    let some = [Pipeline::ShuffleFeatures, Pipeline::ShuffleFeatures];
    method.embedding_views(&some) != method.embedding_views(&[])
}

impl SavedEncoder {
    pub(crate) fn new<M: Module>(
        settings: &Settings,
        data: &Data<'_>,
        task: &Task,
        views: Option<EmbeddedViews>,
        model: &M,
        joint: Option<Joint>,
    ) -> SavedEncoder {
        let about = About {
            version: VERSION,
            level: task.level,
            columns: task.dims.nodes,
            edge_columns: task.dims.edges,
            feature_names: data.feature_names().filter(|names| are_storable(names)).map(<[String]>::to_vec),
            degrees: data.are_features_degrees(),
            features: settings.features.clone(),
            scaling: data.scaling().cloned(),
            method: settings.method.clone(),
            target: task.target,
            views,
            beside: settings.embedding.hops(settings.seed).filter(|_| joint.is_some()),
        };
        SavedEncoder { about, weights: StateDict::of(model), joint }
    }

    /// An encoder of graphs whose weights come from elsewhere.
    pub(crate) fn of_untrained<M: Module>(
        task: &Task,
        features: FeatureSettings,
        method: Untrained,
        model: &M,
    ) -> SavedEncoder {
        let about = About {
            version: VERSION,
            level: task.level,
            columns: task.dims.nodes,
            edge_columns: task.dims.edges,
            feature_names: None,
            degrees: false,
            features,
            scaling: None,
            method: method.into(),
            target: None,
            views: None,
            beside: None,
        };
        SavedEncoder { about, weights: StateDict::of(model), joint: None }
    }

    /// The bytes of a safetensors file.
    ///
    /// # Errors
    /// When there are too many weights for the format.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut weights = self.weights.clone();
        if let Some(joint) = &self.joint {
            joint.store(&mut weights)?;
        }
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
        weights = version1::upgrade_weights(weights)?;
        let about: About = serde_json::from_value(about).map_err(|error| refuse(error.to_string()))?;
        if let Some(name) = weights.not_finite() {
            return Err(refuse(format!("{name} holds a value that is no finite number")));
        }
        let joint = match &about.beside {
            Some(_) => Some(Joint::take(&mut weights).map_err(|error| refuse(error.to_string()))?),
            None => None,
        };
        let encoder = SavedEncoder { about, weights, joint };
        encoder.about.features.check()?;
        encoder.about.method.as_any().check(&encoder.task(1, 1))?;
        if let Some(hops) = &encoder.about.beside {
            Method::check(hops, &encoder.task(1, 1))?;
        }
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
        let given = self.about.views.as_ref().map_or(0, |views| views.given.len());
        Task {
            level: TaskLevel::of(num_graphs),
            dims: InputDims { nodes: columns, edges: edge_columns },
            num_nodes,
            num_graphs,
            batch_graphs: many,
            // Where the graphs are embedded as they are, the views of training are of no account.
            num_views: if given == 0 { 2 } else { given },
            target,
        }
    }

    /// What is to be said of how columns of features are matched, if anything: those without names are taken by their numbers.
    pub fn column_note(&self, dataset: &Dataset) -> Option<String> {
        dataset.features.as_ref()?;
        let nameless = match (&self.about.feature_names, &dataset.feature_names) {
            (Some(trained), Some(found)) => {
                let moved = trained.iter().zip(found).filter(|(trained, found)| trained != found).count();
                return (moved > 0)
                    .then(|| format!("columns of features were matched by name; {moved} stand elsewhere"));
            }
            (None, Some(_)) => "those that the encoder was trained on have no names",
            (Some(_), None) => "those of the data have no names",
            (None, None) => "they have no names",
        };
        Some(format!("columns of features were matched by their numbers: {nameless}"))
    }

    /// The column of the data for each column that the encoder was trained on, where both have names; `None` where columns are taken by
    /// their numbers.
    fn match_columns(&self, dataset: &Dataset) -> Result<Option<Vec<u32>>> {
        let (Some(trained), Some(found)) = (&self.about.feature_names, &dataset.feature_names) else { return Ok(None) };
        if trained == found {
            return Ok(None);
        }
        let place: HashMap<&str, u32> = (0..).zip(found).map(|(at, name)| (name.as_str(), at)).collect();
        let refuse =
            |found: String, expected: String| Err(Error::OtherFeatures { data: dataset.name.clone(), found, expected });
        if let Some(name) = trained.iter().find(|name| !place.contains_key(name.as_str())) {
            return refuse("none of that name".into(), format!("a column of features {name:?}"));
        }
        let columns: HashSet<&str> = trained.iter().map(String::as_str).collect();
        if let Some(name) = found.iter().find(|name| !columns.contains(name.as_str())) {
            return refuse(format!("also a column {name:?}"), format!("{} columns of features", trained.len()));
        }
        if columns.len() < trained.len() || place.len() < found.len() {
            return refuse("several columns of one name".into(), "columns of features with names".into());
        }
        Ok(Some(trained.iter().map(|name| place[name.as_str()]).collect()))
    }

    /// Embeds data, in the way that the run embedded its own: the graphs as they are, or, where the method embeds views
    /// ([`Span::embed_views`](crate::method::Span::embed_views)), views of them that are drawn by the run's settings and seed. Schemes that
    /// views are drawn from are computed for the data. So the run's own data get the run's own embeddings.
    /// Columns of features are matched by their names where both sides have them.
    ///
    /// # Errors
    /// When the data have other columns of features than those it was trained on, the weights are not those of its settings, or the method
    /// embeds views and the file does not say which, as files of earlier versions do not.
    pub fn embed(&self, dataset: &Dataset) -> Result<Embeddings> {
        let order = self.match_columns(dataset)?;
        let scaling = self.about.scaling.as_ref();
        let data = Data::as_trained(dataset, &self.about.features, order.as_deref(), scaling, &NoObserver)?;
        self.check_features(&data, &dataset.name)?;
        let trained = self.about.method.as_any().apply(self, &data)?;
        let (Some(joint), Some(hops)) = (&self.joint, &self.about.beside) else { return Ok(trained) };
        if data.graphs().len() != 1 {
            let expected = "an encoder without it for sets of graphs: multi-hop features are of the nodes of one graph";
            return Err(Error::setting("embedding.beside", "hops", expected));
        }
        let beside = SavedEncoder { about: self.about.clone(), weights: joint.hops.clone(), joint: None };
        joint.apply(&trained, &beside.embed_by(hops, &data)?)
    }

    /// Refuses data with other features than those it was trained on.
    fn check_features(&self, data: &Data<'_>, name: &str) -> Result<()> {
        let dims = data.dims();
        // Features of edges count only for encoders that look at them.
        let requirements = self.about.method.as_any().check(&self.task(1, 1))?;
        let edges = |columns: Option<usize>| columns.filter(|_| requirements.operators.contains(&Normalization::None));
        let found = (dims.nodes, edges(dims.edges), data.are_features_degrees());
        let expected = (self.about.columns, edges(self.about.edge_columns), self.about.degrees);
        if found != expected {
            let data = name.to_owned();
            return Err(Error::OtherFeatures { data, found: columns(found), expected: columns(expected) });
        }
        Ok(())
    }

    /// The encoder alone, to be trained further, without what its method needed beside it.
    ///
    /// # Errors
    /// When its method has no encoder, such as the raw features.
    pub fn pretrained(&self) -> Result<PretrainedEncoder> {
        let method = self.about.method.as_any();
        let own = match &self.about.method {
            // That a method without training has weights worth keeping is known here alone: they may come from elsewhere.
            MethodSettings::Untrained(own) => Some(own.clone()),
            _ => method.untrained(),
        };
        let Some(untrained) = own else {
            let problem = format!("its method, {}, has none that could be trained further", method.info().name);
            return Err(refuse(problem));
        };
        let mut weights = self.weights.clone();
        let kind = match &untrained.encoder {
            // What is no choice among encoders has no name of its own in the model.
            EncoderSettings::Gcn(_) if matches!(self.about.method, MethodSettings::Mvgrl(_)) => "encoder.Gcn.",
            _ => "encoder.",
        };
        let weights = weights.split_off(&format!("{}.", method.encoder_field()));
        let weights = weights.renamed(|name| format!("{kind}{name}"));
        Ok(PretrainedEncoder {
            encoder: untrained.encoder,
            readout: ReadoutSettings { sigmoid: false, projector: Projector::Identity, ..untrained.readout },
            features: self.about.features.clone(),
            weights,
        })
    }

    /// Puts the columns of a dataset's features into the order of those that the encoder was trained on, where both have names.
    ///
    /// # Errors
    /// When the data have other columns of features than those it was trained on.
    pub fn align(&self, dataset: &mut Dataset) -> Result<()> {
        if let (Some(order), Some(features)) = (self.match_columns(dataset)?, &dataset.features) {
            dataset.features = Some(features.select_columns(&order)?);
            dataset.feature_names.clone_from(&self.about.feature_names);
        }
        self.check_features(&Data::new(dataset, &self.about.features)?, &dataset.name)
    }

    pub(crate) fn embed_by<M: Method>(&self, method: &M, data: &Data<'_>) -> Result<Embeddings> {
        check_stored_features(method, data)?;
        let device = DeviceSettings::default().open();
        let task = self.task(data.graphs().num_nodes(), data.graphs().len());
        let requirements = Requirements { trained: false, labels: false, ..Method::check(method, &task)? };
        let (given, seed): (&[Pipeline], u64) = match &self.about.views {
            Some(views) => (&views.given, views.seed),
            None if embeds_given_views(method) => {
                let problem = "its method embeds drawn views, and the file, of an earlier version, does not say how they are drawn; \
                               train it anew with the settings in the run.json beside it";
                return Err(refuse(problem.into()));
            }
            None => (&[], 0),
        };
        check_views(&method.embedding_views(given), data, &requirements)?;
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
            given,
            supervision: None,
            balance: Vec::new().into(),
            initial: None,
            training: &TrainingSettings::default(),
            sampler: None,
            seed,
            device: &device,
            checkpoint: None,
            observer: &NoObserver,
        };
        trainer.embed(&model)
    }
}

/// Whether names are few and short enough to be kept beside the weights.
fn are_storable(names: &[String]) -> bool {
    names.iter().map(String::len).sum::<usize>() <= MAX_NAME_BYTES
}

fn refuse(problem: String) -> Error {
    Error::NotAnEncoder { problem }
}

fn columns((nodes, edges, degrees): (usize, Option<usize>, bool)) -> String {
    let kind = if degrees { "columns of degrees" } else { "columns of features" };
    let edges = edges.map_or(String::new(), |edges| format!(" and {edges} of edges"));
    format!("{nodes} {kind}{edges}")
}
