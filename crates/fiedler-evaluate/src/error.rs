//! What can go wrong when embeddings are judged.

use std::fmt;

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why embeddings could not be judged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value handed to a function or set by the user is out of its range.
    #[error("{name} is {value}; expected {expected}")]
    Setting {
        /// Name of the setting, as the user knows it.
        name: String,
        /// The value it has.
        value: String,
        /// The values it may have.
        expected: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// Embeddings, labels and splits do not fit each other.
    #[error("{problem}")]
    Data {
        /// What was found and what was expected.
        problem: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// Whoever watched asked to stop.
    #[error("stopped before the evaluation was finished")]
    Stopped,
    /// Labels or splits could not be handled.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
}

impl Error {
    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into(), hint: None }
    }

    /// Data that do not fit each other.
    pub fn data(problem: impl Into<String>) -> Error {
        Error::Data { problem: problem.into(), hint: None }
    }

    /// The same, with advice.
    pub fn advise(mut self, advice: impl Into<String>) -> Error {
        if let Error::Setting { hint, .. } | Error::Data { hint, .. } = &mut self {
            *hint = Some(advice.into());
        }
        self
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Setting { hint, .. } | Error::Data { hint, .. } => hint.clone(),
            Error::Graph(error) => error.hint(),
            Error::Stopped => None,
        }
    }
}
