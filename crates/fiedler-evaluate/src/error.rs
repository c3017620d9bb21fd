//! Errors of an evaluation: each says where, what was found and what was expected.

use std::fmt;

/// Result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why embeddings could not be evaluated.
///
/// ```
/// use fiedler_evaluate::Protocol;
///
/// let error = "kfodl".parse::<Protocol>().expect_err("a misspelt name");
/// assert_eq!(error.to_string(), "no protocol is called \"kfodl\"");
/// assert!(error.hint().is_some_and(|hint| hint.starts_with("did you mean kfold? there are: public, ")));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of its range, or does not fit another one or the labels.
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
    #[error("{place}: {found}; expected {expected}")]
    Data {
        /// Where: embeddings, labels, or a part of a split.
        place: String,
        /// What was found there.
        found: String,
        /// What should have been there.
        expected: String,
        /// What the user can do about it.
        hint: Option<String>,
    },
    /// The observer asked to stop.
    #[error("stopped before the evaluation was finished")]
    Stopped,
    /// A name that is not known, or labels, splits or tables that `fiedler-graph` refused.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
}

impl Error {
    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into(), hint: None }
    }

    /// Data that do not fit each other: where, what was found, what was expected.
    pub fn data(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Data { place: place.into(), found: found.into(), expected: expected.into(), hint: None }
    }

    /// The same error with a hint.
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

    /// Message and hint in one line, for those who can show but one text.
    pub(crate) fn in_one_line(&self) -> String {
        match self.hint() {
            Some(hint) => format!("{self}; {hint}"),
            None => self.to_string(),
        }
    }
}
