//! A run: settings and a dataset in, embeddings and an encoder out.
//!
//! [`Run::check`] refuses whatever would not work before anything is computed; only the [`CheckedRun`] that it gives can be fitted.

use burn::module::Module;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::pipeline::{ComputeSchemes, SchemeSource, short_form};
use fiedler_augment::scheme::Spectral;
use fiedler_augment::{FeatureMasking, Pipeline, SchemeSettings};
use fiedler_graph::{Dataset, NoObserver, Observer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Embeddings;
use crate::Normalization;
use crate::beside::{EmbeddingSettings, Joint};
use crate::data::{Data, FeatureSettings};
use crate::device::DeviceSettings;
use crate::encoder::{EncoderSettings, GinSettings};
use crate::error::{Error, Result};
use crate::method::{AnyMethod, Method, MethodSettings, Phase, Requirements, Span};
use crate::ops::Pooling;
use crate::readout::ReadoutSettings;
use crate::saved::{EmbeddedViews, SavedEncoder};
use crate::state_dict::StateDict;
use crate::supervision::{Part, Supervision};
use crate::task::{Task, TaskLevel};
use crate::trainer::{Checkpointing, History, Sampler, SamplerInput, Trained, Trainer, TrainingSettings, estimate};
use crate::views::{ViewStore, check_views};

/// All settings of a run, as they stand in files. The defaults are the paper's for one graph; what a file leaves open of training is as
/// the method recommends ([`Method::default_training`]).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "InFile")]
#[schemars(!try_from, default)]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// Device: where the work is done.
    pub device: DeviceSettings,
    /// What encoders see of a dataset.
    pub features: FeatureSettings,
    /// Short form of two views: the scheme that they are drawn from. Without it, what the method usually has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<SchemeSettings>,
    /// Short form of two views: what features are hidden from each. Without it, what the method usually has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature_masking: Option<FeatureMasking>,
    /// Views in full, one pipeline each, in place of `scheme` and `feature_masking`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<Vec<Pipeline>>,
    /// Method: how the embedding is learned.
    pub method: MethodSettings,
    /// How long and how fast.
    pub training: TrainingSettings,
    /// What becomes of embeddings after training.
    #[serde(skip_serializing_if = "EmbeddingSettings::is_default")]
    pub embedding: EmbeddingSettings,
}

/// Settings as they are read: how a method is trained is known only once the method is.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct InFile {
    seed: u64,
    device: DeviceSettings,
    features: FeatureSettings,
    scheme: Option<SchemeSettings>,
    feature_masking: Option<FeatureMasking>,
    views: Option<Vec<Pipeline>>,
    method: MethodSettings,
    training: serde_json::Map<String, serde_json::Value>,
    embedding: EmbeddingSettings,
}

impl TryFrom<InFile> for Settings {
    type Error = serde_json::Error;

    fn try_from(file: InFile) -> Result<Settings, serde_json::Error> {
        let InFile { seed, device, features, scheme, feature_masking, views, method, training: given, embedding } =
            file;
        let mut training = serde_json::to_value(Settings::of_method(method.clone()).training)?;
        if let Some(training) = training.as_object_mut() {
            training.extend(given);
        }
        let training = serde_json::from_value(training)?;
        Ok(Settings { seed, device, features, scheme, feature_masking, views, method, training, embedding })
    }
}

impl Settings {
    /// A method with its usual views, trained as it recommends, or as the paper where it recommends nothing.
    pub fn of_method(method: impl Into<MethodSettings>) -> Settings {
        let method = method.into();
        let training = method.as_any().default_training().unwrap_or_default();
        Settings { method, training, ..Settings::default() }
    }

    /// The paper's settings for embedding nodes or graphs.
    pub fn paper(level: TaskLevel) -> Settings {
        let spectral = Spectral { objective: Some(SpectralObjective::Expected), ..Spectral::default() };
        let settings = Settings { scheme: Some(SchemeSettings::Opposite(spectral)), ..Settings::default() };
        match level {
            TaskLevel::Nodes => settings,
            TaskLevel::Graphs => Settings {
                method: MethodSettings::Span(Span {
                    encoder: EncoderSettings::Gin(GinSettings::default()),
                    readout: ReadoutSettings { pooling: Pooling::Sum, ..ReadoutSettings::default() },
                    ..Span::default()
                }),
                training: TrainingSettings { epochs: 100, checkpoint_every: 5, ..TrainingSettings::default() },
                ..settings
            },
        }
    }

    /// The same settings with the method's usual views written out, where the settings say nothing of views.
    pub fn resolved(&self) -> Settings {
        self.resolved_for(self.method.as_any())
    }

    fn resolved_for(&self, method: &dyn AnyMethod) -> Settings {
        let mut settings = self.clone();
        if settings.views.is_none()
            && let Some((scheme, masking)) = method.default_views()
        {
            settings.scheme.get_or_insert(scheme);
            settings.feature_masking.get_or_insert(masking);
        }
        settings
    }

    /// The scheme in short, or the one that the method usually has, or the paper's.
    pub fn scheme_or_usual(&self) -> SchemeSettings {
        self.resolved().scheme.unwrap_or_default()
    }

    /// The feature masking in short, or the one that the method usually has, to be changed.
    pub fn feature_masking_mut(&mut self) -> &mut FeatureMasking {
        let usual = self.resolved().feature_masking.unwrap_or_default();
        self.feature_masking.get_or_insert(usual)
    }

    /// The views that these settings ask for; none where they ask for none.
    ///
    /// # Errors
    /// When views are given in full and in short.
    pub fn given_views(&self) -> Result<Vec<Pipeline>> {
        match (&self.views, &self.scheme, &self.feature_masking) {
            (Some(_), None, None) | (None, None, None) => Ok(self.views.clone().unwrap_or_default()),
            (Some(_), _, _) => {
                let expected = "views, or scheme and feature_masking, which are their short form";
                Err(Error::setting("views", "given in full and in short", expected))
            }
            (None, scheme, masking) => {
                let masking = masking.unwrap_or_default();
                masking.check()?;
                Ok(match scheme {
                    Some(scheme) => short_form(scheme, &masking),
                    None => {
                        let unchanged =
                            fiedler_augment::scheme::Uniform { first: Default::default(), second: Default::default() };
                        short_form(&SchemeSettings::Uniform(unchanged), &masking)
                    }
                })
            }
        }
    }
}

/// What a run is given.
#[derive(Clone, Copy)]
pub struct Run<'s, 'a> {
    /// The settings.
    pub settings: &'s Settings,
    /// The data.
    pub dataset: &'a Dataset,
    /// Labels, for a method that learns from them.
    pub supervision: Option<Supervision<'a>>,
    /// Weights of another run, by their names in the model, for a method that starts from them ([`Method::start`]).
    pub initial: Option<&'a StateDict>,
    /// Bytes that training may take, if there is a limit.
    pub memory: Option<u64>,
    /// Who hears of features that take long to compute, and may stop.
    pub observer: &'s dyn Observer,
}

/// A run whose settings, data and memory have been checked; nothing has been computed yet.
pub struct CheckedRun<'a> {
    settings: Settings,
    data: Data<'a>,
    task: Task,
    requirements: Requirements,
    given: Vec<Pipeline>,
    supervision: Option<Supervision<'a>>,
    initial: Option<&'a StateDict>,
    memory_estimate: u64,
}

/// What fitting needs beside settings and data.
pub struct Fitting<'a> {
    /// Where schemes come from: [`ComputeSchemes`], or a store that keeps them.
    pub schemes: &'a mut (dyn SchemeSource + Send),
    /// Where to keep a checkpoint, and to look for one to go on from.
    pub checkpoint: Option<Checkpointing<'a>>,
    /// Who hears of progress, and may stop.
    pub observer: &'a dyn Observer,
}

/// What a run gives.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// One row for each node, or for each graph of a set.
    pub embeddings: Embeddings,
    /// The model, with all that is needed to apply it to other graphs.
    pub encoder: SavedEncoder,
    /// How training went.
    pub history: History,
}

impl<'s, 'a> Run<'s, 'a> {
    /// A run without labels and without a limit of memory.
    pub fn new(settings: &'s Settings, dataset: &'a Dataset) -> Run<'s, 'a> {
        Run { settings, dataset, supervision: None, initial: None, memory: None, observer: &NoObserver }
    }

    /// Refuses what can be refused before anything is computed.
    ///
    /// # Errors
    /// When a setting is out of its range or not for such data, or memory would not suffice.
    pub fn check(&self) -> Result<CheckedRun<'a>> {
        self.check_method(self.settings.method.as_any())
    }

    /// As [`Run::check`], for any method in place of the settings' own.
    ///
    /// # Errors
    /// As there.
    pub fn check_method(&self, method: &dyn AnyMethod) -> Result<CheckedRun<'a>> {
        let settings = self.settings.resolved_for(method);
        settings.training.check()?;
        let data = Data::watched(self.dataset, &settings.features, self.observer)?;
        let (num_graphs, num_nodes) = (data.graphs().len(), data.graphs().num_nodes());
        settings.training.check_sampler(num_graphs)?;
        settings.training.check_steps(settings.training.steps_per_epoch(num_graphs, num_nodes))?;
        let given = settings.given_views()?;
        let [views, embedded] = method.all_views(&given);
        let supervision = self.supervision;
        let task = Task {
            level: data.level(),
            dims: data.dims(),
            num_nodes: data.graphs().num_nodes(),
            num_graphs: data.graphs().len(),
            batch_graphs: data.graphs().len().min(settings.training.batch_size),
            num_views: views.len(),
            target: supervision.as_ref().map(Supervision::target),
        };
        let info = method.info();
        if !info.levels.contains(&task.level) {
            let fitting = MethodSettings::ALL.iter().filter(|other| other.levels.contains(&task.level));
            let names: Vec<&str> = fitting.map(|other| other.name).collect();
            let level = format!("{:?}", task.level).to_lowercase();
            return Err(Error::setting("method", info.name, format!("a method for {level}: {}", names.join(", "))));
        }
        check_stored_features(method, &data)?;
        let requirements = method.check(&task)?;
        check_blocks(method, &settings.training, &data, &requirements)?;
        Phase::check_all(&method.all_phases())?;
        let initial = check_start(method, &task, self.initial)?;
        let supervision = supervision.filter(|_| requirements.labels);
        if let Some(supervision) = &supervision {
            supervision.check(&data)?;
        }
        check_views(views.iter().chain(&embedded), &data, &requirements)?;
        let mut footprint = requirements.footprint;
        settings.embedding.check()?;
        if let Some(hops) = settings.embedding.hops(settings.seed) {
            if task.level != TaskLevel::Nodes {
                let expected = "none for sets of graphs: multi-hop features are of the nodes of one graph";
                return Err(Error::setting("embedding.beside", "hops", expected));
            }
            if requirements.labels {
                let expected = "none for a method whose embedding is what it predicts";
                return Err(Error::setting("embedding.beside", "hops", expected));
            }
            // One comes after the other; both embeddings, side by side and projected, come last.
            let beside = Method::check(&hops, &task)?.footprint;
            let joined = (4 * settings.embedding.dimensions) as f64 + beside.values_per_node;
            footprint.values_per_node = footprint.values_per_node.max(joined - footprint.transient_per_node);
            footprint.weights += beside.weights;
        }
        let needed = estimate(&data, &settings.training, footprint);
        if let Some(free) = self.memory
            && needed > free
        {
            return Err(Error::Memory { needed, free });
        }
        Ok(CheckedRun { settings, data, task, requirements, given, supervision, initial, memory_estimate: needed })
    }

    /// Checks, computes schemes and fits, without a checkpoint and unwatched: the whole way in one call.
    ///
    /// # Errors
    /// As [`Run::check`] and [`CheckedRun::fit`].
    pub fn fit(&self) -> Result<RunResult> {
        let checked = self.check()?;
        let mut schemes = ComputeSchemes::new(&self.dataset.graphs, &NoObserver);
        checked.fit(Fitting { schemes: &mut schemes, checkpoint: None, observer: &NoObserver })
    }

    /// Trains a method that is not in the list, such as one of one's own, and embeds.
    ///
    /// # Errors
    /// As [`Run::fit`].
    pub fn fit_method<M: Method>(&self, method: &M) -> Result<(Embeddings, History)> {
        let checked = self.check_method(method)?;
        let mut schemes = ComputeSchemes::new(&self.dataset.graphs, &NoObserver);
        let fitting = Fitting { schemes: &mut schemes, checkpoint: None, observer: &NoObserver };
        let (trained, _) = checked.train_and_join(method, fitting)?;
        Ok((trained.embeddings, trained.history))
    }
}

impl<'a> CheckedRun<'a> {
    /// The settings, with the method's usual views written out.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What there is to learn from.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// What the method needs.
    pub fn requirements(&self) -> &Requirements {
        &self.requirements
    }

    /// Bytes that training will hold at once, by an estimate.
    pub fn memory_estimate(&self) -> u64 {
        self.memory_estimate
    }

    /// The settings of every scheme that the run will ask for.
    pub fn schemes(&self) -> Vec<SchemeSettings> {
        let [views, embedded] = self.settings.method.as_any().all_views(&self.given);
        let mut schemes: Vec<SchemeSettings> = Vec::new();
        for scheme in views.iter().chain(&embedded).flat_map(Pipeline::schemes) {
            if !schemes.contains(&scheme) {
                schemes.push(scheme);
            }
        }
        schemes
    }

    /// Trains and embeds.
    ///
    /// # Errors
    /// When a scheme cannot be computed, the loss or the embeddings are not finite, the embeddings collapse, a checkpoint cannot be read
    /// or written or belongs to another run, or the observer asks to stop.
    pub fn fit(&self, fitting: Fitting<'_>) -> Result<RunResult> {
        self.settings.method.as_any().fit(self, fitting)
    }

    pub(crate) fn fit_method<M: Method>(&self, method: &M, fitting: Fitting<'_>) -> Result<RunResult> {
        let (Trained { model, embeddings, history }, joint) = self.train_and_join(method, fitting)?;
        let views = EmbeddedViews::of(method, &self.given, self.settings.seed);
        let encoder = SavedEncoder::new(&self.settings, &self.data, &self.task, views, &model, joint);
        Ok(RunResult { embeddings, encoder, history })
    }

    /// Trains, and puts the embedding beside another where the settings want it.
    fn train_and_join<M: Method>(&self, method: &M, fitting: Fitting<'_>) -> Result<(Trained<M>, Option<Joint>)> {
        let (observer, saved) = (fitting.observer, fitting.checkpoint.is_some());
        let mut trained = self.train(method, fitting)?;
        let Some(hops) = self.settings.embedding.hops(self.settings.seed) else { return Ok((trained, None)) };
        let epochs = trained.history.losses.len();
        let beside = self.without_training(&hops, observer).map_err(|error| match error {
            Error::Stopped { .. } => Error::Stopped { epoch: epochs, epochs, saved },
            other => other,
        })?;
        let Settings { seed, embedding, .. } = &self.settings;
        let weights = StateDict::of(&beside.model);
        let joint = Joint::fit(&trained.embeddings, &beside.embeddings, weights, embedding.dimensions, *seed)?;
        trained.embeddings = joint.apply(&trained.embeddings, &beside.embeddings)?;
        Ok((trained, Some(joint)))
    }

    fn train<M: Method>(&self, method: &M, fitting: Fitting<'_>) -> Result<Trained<M>> {
        let Fitting { schemes, checkpoint, observer } = fitting;
        let device = self.settings.device.open();
        let views = ViewStore::new(&self.data, schemes);
        let sampler = self.requirements.trained.then(|| self.sampler(observer));
        let trainer = Trainer {
            method,
            data: &self.data,
            task: &self.task,
            requirements: &self.requirements,
            phases: method.phases(),
            views: &views,
            given: &self.given,
            supervision: self.supervision,
            balance: self.supervision.map_or_else(Vec::new, |labels| labels.balance()).into(),
            initial: self.initial,
            training: &self.settings.training,
            sampler,
            seed: self.settings.seed,
            device: &device,
            checkpoint,
            observer,
        };
        trainer.train()
    }

    /// How epochs are divided into steps.
    fn sampler<'s>(&'s self, observer: &'s dyn Observer) -> Box<dyn Sampler + 's> {
        let graphs = match &self.supervision {
            Some(labels) if self.task.num_graphs > 1 => {
                labels.known(Part::Train).into_iter().map(|graph| graph as usize).collect()
            }
            _ => (0..self.task.num_graphs).collect(),
        };
        let Settings { seed, training, .. } = &self.settings;
        let TrainingSettings { batch_size, batch_nodes, .. } = *training;
        let graph = self.data.graphs().block_diagonal();
        let input = SamplerInput { graphs, batch_size, batch_nodes, graph, seed: *seed, observer };
        training.sampler.build(self.task.num_graphs, input)
    }

    /// The embedding of a method without training on the same data, such as the features as they are.
    ///
    /// # Errors
    /// When the method is not for such data.
    pub fn baseline<M: Method>(&self, method: &M) -> Result<Embeddings> {
        Ok(self.without_training(method, &NoObserver)?.embeddings)
    }

    /// Bytes that [`CheckedRun::baseline`] will hold at once, by an estimate.
    ///
    /// # Errors
    /// When the method is not for such data.
    pub fn baseline_memory<M: Method>(&self, method: &M) -> Result<u64> {
        let footprint = Method::check(method, &self.task)?.footprint;
        Ok(estimate(&self.data, &self.settings.training, footprint))
    }

    fn without_training<M: Method>(&self, method: &M, observer: &dyn Observer) -> Result<Trained<M>> {
        let requirements = Requirements { trained: false, labels: false, ..Method::check(method, &self.task)? };
        let device = self.settings.device.open();
        let mut schemes = ComputeSchemes::new(self.data.graphs(), &NoObserver);
        let views = ViewStore::new(&self.data, &mut schemes);
        let trainer = Trainer {
            method,
            data: &self.data,
            task: &self.task,
            requirements: &requirements,
            phases: method.phases(),
            views: &views,
            given: &[],
            supervision: None,
            balance: Vec::new().into(),
            initial: None,
            training: &self.settings.training,
            sampler: None,
            seed: self.settings.seed,
            device: &device,
            checkpoint: None,
            observer,
        };
        trainer.train()
    }
}

/// Refuses features that stay in their file where the method wants them in memory.
pub(crate) fn check_stored_features(method: &dyn AnyMethod, data: &Data<'_>) -> Result<()> {
    if data.stored_features().is_none() || method.takes_stored_features() {
        return Ok(());
    }
    let all = MethodSettings::ALL.iter().filter_map(|info| info.name.parse::<MethodSettings>().ok());
    let others: Vec<String> =
        all.filter(|other| other.as_any().takes_stored_features()).map(|other| other.name().to_owned()).collect();
    let expected = format!("{}: only this reads them some rows at a time", others.join(", "));
    Err(Error::setting("method of features that stay in their file", method.info().name, expected))
}

/// Refuses steps that look at blocks of a graph where the method, or what is known of the edges, does not allow it.
fn check_blocks(
    method: &dyn AnyMethod,
    training: &TrainingSettings,
    data: &Data<'_>,
    requirements: &Requirements,
) -> Result<()> {
    let Some(sampler) = training.block_sampler(data.graphs().len()) else { return Ok(()) };
    if !requirements.trained {
        return Ok(());
    }
    let name = method.info().name;
    if !method.takes_blocks() {
        let others = MethodSettings::ALL.iter().filter_map(|info| info.name.parse::<MethodSettings>().ok());
        let others: Vec<&str> =
            others.filter(|other| other.as_any().takes_blocks()).map(|other| other.name()).collect();
        let expected = format!("whole: {name} looks at the whole graph at once; {} can do without", others.join(", "));
        return Err(Error::setting("training.sampler", sampler, expected));
    }
    if data.dims().edges.is_some() && requirements.operators.contains(&Normalization::None) {
        let expected =
            "whole where edges have features that the encoder looks at (features.edges = false leaves them out)";
        return Err(Error::setting("training.sampler", sampler, expected));
    }
    Ok(())
}

/// The weights that a method starts from, if it starts from any: they must be there, be the right ones, and fit the model.
fn check_start<'a>(
    method: &dyn AnyMethod,
    task: &Task,
    initial: Option<&'a StateDict>,
) -> Result<Option<&'a StateDict>> {
    let Some(wanted) = method.start() else { return Ok(None) };
    let Some(weights) = initial else {
        let expected = "none where the weights are not given; `fiedler finetune` gives them";
        return Err(Error::setting("method.start", wanted, expected));
    };
    let found = weights.fingerprint();
    if found != wanted {
        return Err(Error::setting("method.start", wanted, format!("{found}, the fingerprint of the weights given")));
    }
    method.check_initial(task, weights)?;
    Ok(initial)
}

/// Makes sure that models can be handed from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<CheckedRun<'static>>();
    fn _models<M: Module>() {
        is_send::<M>();
    }
};
