//! The task: data opened once, with all that is decided by them.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fiedler_evaluate::Target;
use fiedler_graph::{Dataset, GraphSet, Observer};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_learn::TaskLevel;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::open::open_observed;

/// A dataset with what is decided when it is opened: level, labels, fingerprints.
#[derive(Clone)]
pub struct Task {
    /// As in print.
    pub title: String,
    /// As in recipes and folders.
    pub name: String,
    /// The data.
    pub dataset: Dataset,
    /// Whether nodes or graphs are embedded.
    pub level: TaskLevel,
    /// What tells the data from others.
    pub record: DataRecord,
    /// What was done to the graph, where it was attacked for a table.
    pub(crate) poison: Option<Poison>,
    target: Option<Target>,
    labels: OnceLock<String>,
}

/// An attack of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Poison {
    /// Name of the attack, as rows have it.
    pub attack: &'static str,
    /// Share of the edges that was flipped.
    pub ratio: f64,
}

/// What was embedded, as `run.json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataRecord {
    /// The path, name or generator, as it was given.
    pub source: String,
    /// How it was read.
    pub options: ReadOptions,
    /// The folder that relative paths among these are relative to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relative_to: Option<PathBuf>,
    /// Name of the dataset.
    pub name: String,
    /// Number of graphs.
    pub graphs: usize,
    /// Number of nodes of all graphs.
    pub nodes: usize,
    /// Number of edges of all graphs.
    pub edges: usize,
    /// SHA-256 of the edges.
    pub fingerprint: String,
    /// SHA-256 of the features.
    pub features_fingerprint: Option<String>,
}

impl Task {
    /// Reads, finds or makes the data; `seed` is that of a generator.
    ///
    /// # Errors
    /// When the data cannot be read.
    pub fn open(source: &str, options: &ReadOptions, seed: u64, observer: &dyn Observer) -> Result<Task> {
        let dataset = open_observed(source, options, seed, observer)?;
        Ok(Task::of(source, options, dataset))
    }

    /// The task of data that are there already.
    pub fn of(source: &str, options: &ReadOptions, dataset: Dataset) -> Task {
        let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
        Task {
            title: source.to_owned(),
            name: canonical(source).chars().map(plain).collect(),
            level: TaskLevel::of(dataset.graphs.len()),
            record: DataRecord::new(source.to_owned(), options.clone(), &dataset),
            target: Target::of(&dataset).ok(),
            labels: OnceLock::new(),
            poison: None,
            dataset,
        }
    }

    /// Puts other edges among the same nodes.
    pub(crate) fn change_graphs(&mut self, graphs: GraphSet) {
        self.dataset.graphs = graphs;
        self.dataset.edge_features = None;
        self.record = DataRecord::new(self.record.source.clone(), self.record.options.clone(), &self.dataset);
    }

    /// What is to be predicted, where there are labels.
    pub fn labelled(&self) -> Option<&Target> {
        self.target.as_ref()
    }

    /// What is to be predicted.
    ///
    /// # Errors
    /// When there are no labels.
    pub fn target(&self) -> Result<&Target> {
        match &self.target {
            Some(target) => Ok(target),
            None => Err(match Target::of(&self.dataset) {
                Err(error) => error.into(),
                Ok(_) => crate::Error::unexpected("labels", "they have appeared since the data were opened"),
            }),
        }
    }

    /// Fingerprint of the labels; empty where there are none.
    pub fn labels_fingerprint(&self) -> &str {
        self.labels.get_or_init(|| self.target.as_ref().map_or(String::new(), |target| target.labels.fingerprint()))
    }
}

impl DataRecord {
    /// Describes a dataset; hashes its edges and features.
    pub fn new(source: String, options: ReadOptions, dataset: &Dataset) -> DataRecord {
        let paths = [Some(Path::new(&source)), options.features.as_deref(), options.labels.as_deref()];
        let is_relative = |path: &Path| path.is_relative() && path.exists();
        let relative = paths.into_iter().flatten().any(is_relative);
        DataRecord {
            relative_to: std::env::current_dir().ok().filter(|_| relative),
            source,
            options,
            name: dataset.name.clone(),
            graphs: dataset.graphs.len(),
            nodes: dataset.graphs.num_nodes(),
            edges: dataset.graphs.num_edges(),
            fingerprint: dataset.graphs.fingerprint(),
            features_fingerprint: match (&dataset.features, &dataset.stored_features) {
                (Some(features), _) => Some(features.fingerprint()),
                (None, stored) => stored.as_ref().map(|stored| stored.fingerprint().to_owned()),
            },
        }
    }

    /// Source and options as they can be read from any folder.
    pub fn located(&self) -> (String, ReadOptions) {
        let locate = |path: &Path| {
            let there = self.relative_to.as_ref().map(|folder| folder.join(path)).filter(|path| path.exists());
            there.unwrap_or_else(|| path.to_owned())
        };
        let source = locate(Path::new(&self.source));
        let options = ReadOptions {
            features: self.options.features.as_deref().map(locate),
            labels: self.options.labels.as_deref().map(locate),
            ..self.options.clone()
        };
        (source.to_str().map_or_else(|| self.source.clone(), str::to_owned), options)
    }

    /// Whether both are of the same graphs with the same features.
    pub fn is_same(&self, other: &DataRecord) -> bool {
        (&self.fingerprint, &self.features_fingerprint) == (&other.fingerprint, &other.features_fingerprint)
    }
}

/// The one name that all spellings of a dataset have.
pub fn canonical(name: &str) -> String {
    catalogue::find(name).map_or_else(|_| name.to_owned(), |entry| entry.name.clone())
}
