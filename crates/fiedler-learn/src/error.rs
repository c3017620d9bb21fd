//! What can go wrong, said so that a person can mend it.

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an encoder could not be made, fed or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// Name of the setting, as the user knows it.
        name: String,
        /// The value it has.
        value: String,
        /// The values it may have.
        expected: String,
    },
    /// Two things that belong together have different sizes.
    #[error("{what} has {found}; expected {expected}")]
    Size {
        /// What was looked at.
        what: String,
        /// The size it has.
        found: usize,
        /// The size it should have.
        expected: usize,
    },
    /// The weights do not fit the model they are for.
    #[error("the weights have {found} for {name}; expected {expected}")]
    StateDict {
        /// Name of the parameter.
        name: String,
        /// What is there.
        found: String,
        /// What the model has.
        expected: String,
    },
    /// A file of weights is not what its format promises.
    #[error("{problem}; expected a safetensors file")]
    Malformed {
        /// What is wrong with it.
        problem: String,
    },
    /// Training gave a number that is none.
    #[error("the {what} is not a finite number after epoch {epoch}")]
    NotFinite {
        /// What was looked at.
        what: &'static str,
        /// Whole epochs done.
        epoch: usize,
    },
    /// Training made all embeddings alike.
    #[error(
        "the embeddings have collapsed after epoch {epoch}: their relative standard deviation is {relative_std:.1e}, where less than \
         {least:.1e} tells nothing apart"
    )]
    Collapsed {
        /// Whole epochs done.
        epoch: usize,
        /// Distance from the mean embedding relative to the length of an embedding.
        relative_std: f64,
        /// The least that is accepted.
        least: f64,
    },
    /// A training step would not fit into memory.
    #[error("this run needs about {} of memory, and {} are free", gibibytes(*needed), gibibytes(*free))]
    Memory {
        /// Bytes that are needed, by an estimate.
        needed: u64,
        /// Bytes there are.
        free: u64,
    },
    /// Whoever watched asked to stop.
    #[error("stopped after epoch {epoch} of {epochs}")]
    Stopped {
        /// Whole epochs done.
        epoch: usize,
        /// Epochs there should have been.
        epochs: usize,
        /// Whether a checkpoint was written.
        saved: bool,
    },
    /// A checkpoint that another run left.
    #[error("the checkpoint was left by a run with other settings or other data")]
    OtherRun,
    /// A file that is no encoder, or a damaged one.
    #[error("not a saved encoder: {problem}")]
    NotAnEncoder {
        /// What is wrong with it.
        problem: String,
    },
    /// A saved encoder that does not fit the data it is to be applied to.
    #[error("the encoder was trained on {expected}; {data} has {found}")]
    OtherFeatures {
        /// Name of the dataset.
        data: String,
        /// The features it has.
        found: String,
        /// The features the encoder wants.
        expected: String,
    },
    /// A view could not be drawn.
    #[error(transparent)]
    Augment(#[from] fiedler_augment::Error),
    /// A graph or a file could not be handled.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
    /// A checkpoint could not be kept or fetched.
    #[error("cannot {action} the checkpoint: {problem}")]
    Checkpoint {
        /// What was tried: `read` or `write`.
        action: &'static str,
        /// What went wrong.
        problem: String,
    },
}

impl Error {
    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into() }
    }

    /// A name that is none of those there are.
    pub fn unknown_name<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
        fiedler_augment::Error::unknown_name(what, name, known).into()
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::StateDict { .. } => Some(
                "the weights were saved from a model with other settings; use the settings they were saved with".into(),
            ),
            Error::Malformed { .. } => Some("write the weights again with the program that made them".into()),
            Error::NotFinite { .. } => Some(
                "lower the learning rate; if features have large values, scale them (features.normalize_rows in the settings)".into(),
            ),
            Error::Collapsed { .. } => Some(
                "lower the learning rate or the weight decay, hide fewer features, or train for fewer epochs; where nodes have no \
                 features and all degrees are alike, there is nothing to tell them apart by"
                    .into(),
            ),
            Error::Memory { .. } => Some(
                "choose a smaller hidden width, fewer layers or, for sets of graphs, a smaller batch; or free some memory".into(),
            ),
            Error::OtherRun => {
                Some("use the settings and the data of that run, or begin anew in another folder".into())
            }
            Error::OtherFeatures { .. } => Some("an encoder can be applied to graphs with the same columns of features".into()),
            Error::NotAnEncoder { .. } => Some("give the encoder.safetensors that a run left".into()),
            Error::Augment(error) => error.hint(),
            Error::Graph(error) => error.hint(),
            Error::Setting { .. } | Error::Size { .. } | Error::Stopped { .. } | Error::Checkpoint { .. } => None,
        }
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Checks that two sizes agree.
pub(crate) fn check_size(what: impl Into<String>, found: usize, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Size { what: what.into(), found, expected });
    }
    Ok(())
}
