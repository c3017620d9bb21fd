//! The one error of the crate: every failure of an experiment, with its kind and what can be done about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment could not be made, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Data could not be made.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
    /// Data could not be read or written.
    #[error(transparent)]
    Io(#[from] fiedler_io::Error),
    /// A file of our own is not what it should be.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<Error>,
    },
    /// A spectrum could not be computed.
    #[error(transparent)]
    Spectral(#[from] fiedler_spectral::Error),
    /// A graph could not be attacked.
    #[error(transparent)]
    Attack(#[from] fiedler_attack::Error),
    /// An augmentation scheme could not be computed or read.
    #[error(transparent)]
    Augment(#[from] fiedler_augment::Error),
    /// Training failed, or a model could not be read.
    #[error(transparent)]
    Learn(#[from] fiedler_learn::Error),
    /// Embeddings could not be evaluated.
    #[error(transparent)]
    Evaluate(#[from] fiedler_evaluate::Error),
    /// A page or a picture could not be made.
    #[error(transparent)]
    Report(#[from] fiedler_report::Error),
    /// The observer asked to stop.
    #[error("{message}")]
    Stopped {
        /// How far it came.
        message: String,
        /// The run folder that can be resumed, if there is one.
        folder: Option<PathBuf>,
    },
    /// Another process works in the folder.
    #[error("{} is in use by {owner}", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// Who holds it, and since when.
        owner: String,
        /// What can be done about it.
        hint: String,
    },
    /// Anything else that this crate refuses.
    #[error("{message}")]
    Refused {
        /// What kind of failure it is.
        kind: ErrorKind,
        /// What is wrong.
        message: String,
        /// What can be done about it.
        hint: Option<String>,
    },
}

/// What kind of failure an [`Error`] is: the exit codes of the program are made from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Settings or arguments ask for something impossible.
    Usage,
    /// What was asked for does not fit into the memory that it may have.
    Memory,
    /// Data are not what their format promises, or not what is needed.
    Data,
    /// A file, dataset or run is not there.
    NotFound,
    /// A result could not be written.
    Output,
    /// A download failed.
    Network,
    /// Training did not lead anywhere.
    Training,
    /// Another process works in the folder.
    Busy,
    /// The observer asked to stop.
    Interrupted,
    /// Something that should not happen.
    Unexpected,
}

impl Error {
    /// A failure with its own message and hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>, hint: impl Into<Option<String>>) -> Error {
        Error::Refused { kind, message: message.into(), hint: hint.into() }
    }

    /// For `map_err`: the system refused to `action` (such as `read`, `create`, `remove`) a path.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| fiedler_io::Error::Io { action, path, source }.into()
    }

    /// A file that is there already and may not be replaced.
    pub fn exists(path: impl AsRef<Path>) -> Error {
        fiedler_io::Error::Exists { path: path.as_ref().into() }.into()
    }

    /// For `map_err`: what is wrong with a file of our own.
    pub(crate) fn in_file<E: Into<Error>>(path: &Path) -> impl FnOnce(E) -> Error + '_ {
        move |error| Error::File { path: path.into(), source: Box::new(error.into()) }
    }

    /// What can be done about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Graph(error) => error.hint(),
            Error::Io(error) => error.hint(),
            Error::File { source, .. } => source.hint(),
            Error::Spectral(error) => error.hint(),
            Error::Attack(error) => error.hint(),
            Error::Augment(error) => error.hint(),
            Error::Learn(error) => error.hint(),
            Error::Evaluate(error) => error.hint(),
            Error::Report(error) => error.hint(),
            Error::Busy { hint, .. } => Some(hint.clone()),
            Error::Refused { hint, .. } => hint.clone(),
            Error::Stopped { .. } => None,
        }
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Graph(error) => of_graph(error),
            Error::Io(error) => of_files(error),
            Error::File { source, .. } => source.kind(),
            Error::Spectral(_) => ErrorKind::Usage,
            Error::Attack(fiedler_attack::Error::Graph(error)) => of_graph(error),
            Error::Attack(_) => ErrorKind::Usage,
            Error::Augment(error) => of_augment(error),
            Error::Learn(error) => of_learn(error),
            Error::Evaluate(error) => of_evaluate(error),
            Error::Report(error) if error.hint().is_some() => ErrorKind::Usage,
            Error::Report(_) => ErrorKind::Unexpected,
            Error::Stopped { .. } => ErrorKind::Interrupted,
            Error::Busy { .. } => ErrorKind::Busy,
            Error::Refused { kind, .. } => *kind,
        }
    }

    /// The message with its hint, for a list of what went wrong.
    pub fn in_one_line(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }

    /// What should not happen, with what was tried.
    pub(crate) fn unexpected(what: &str, error: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Unexpected, format!("{what}: {error}"), None)
    }
}

fn of_graph(error: &fiedler_graph::Error) -> ErrorKind {
    use fiedler_graph::Error;
    match error {
        Error::Setting { .. } | Error::UnknownName { .. } => ErrorKind::Usage,
        _ => ErrorKind::Data,
    }
}

fn of_files(error: &fiedler_io::Error) -> ErrorKind {
    use fiedler_io::Error;
    match error {
        Error::Graph(error) => of_graph(error),
        Error::Io { action, source, .. } => of_io(action, source),
        Error::Exists { .. } => ErrorKind::Output,
        Error::UnknownDataset { .. } | Error::NotFound { .. } => ErrorKind::NotFound,
        Error::Fetch { .. } => ErrorKind::Network,
        _ => ErrorKind::Data,
    }
}

fn of_augment(error: &fiedler_augment::Error) -> ErrorKind {
    use fiedler_augment::Error;
    match error {
        Error::Graph(error) => of_graph(error),
        Error::Spectral(_) | Error::Setting { .. } => ErrorKind::Usage,
        Error::Stopped => ErrorKind::Interrupted,
        _ => ErrorKind::Data,
    }
}

fn of_learn(error: &fiedler_learn::Error) -> ErrorKind {
    use fiedler_learn::Error;
    match error {
        Error::Graph(error) => of_graph(error),
        Error::Augment(error) => of_augment(error),
        Error::Checkpoint { action: "read", .. } => ErrorKind::Data,
        Error::Checkpoint { .. } => ErrorKind::Output,
        Error::Setting { .. } | Error::OtherRun | Error::Memory { .. } => ErrorKind::Usage,
        Error::Stopped { .. } => ErrorKind::Interrupted,
        Error::NotFinite { .. } | Error::Collapsed { .. } => ErrorKind::Training,
        _ => ErrorKind::Data,
    }
}

fn of_evaluate(error: &fiedler_evaluate::Error) -> ErrorKind {
    use fiedler_evaluate::Error;
    match error {
        Error::Graph(error) => of_graph(error),
        Error::Setting { .. } => ErrorKind::Usage,
        Error::Stopped => ErrorKind::Interrupted,
        _ => ErrorKind::Data,
    }
}

fn of_io(action: &str, source: &io::Error) -> ErrorKind {
    match (action, source.kind()) {
        ("read", io::ErrorKind::NotFound) => ErrorKind::NotFound,
        ("read", _) => ErrorKind::Data,
        _ => ErrorKind::Output,
    }
}
