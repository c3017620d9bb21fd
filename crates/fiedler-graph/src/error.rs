//! What can go wrong, said so that a person can mend it.

use std::fmt;

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a graph, its data or a generator could not be made.
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
    },
    /// Features that stay where they are cannot be read, or not any more.
    #[error("cannot read features from {place}: {found}; expected {expected}")]
    Unreadable {
        /// Where they lie.
        place: String,
        /// What was found there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// A name that is none of those there are, such as that of a generator or of its parameter.
    #[error("no {kind} is called {name:?}")]
    UnknownName {
        /// What the name was taken for.
        kind: String,
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
        /// The one of them that is nearest.
        nearest: Option<String>,
    },
}

impl Error {
    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::UnknownName { known, nearest, .. } => {
                let question = nearest.as_ref().map(|nearest| format!("did you mean {nearest}? "));
                Some(format!("{}there are: {}", question.unwrap_or_default(), known.join(", ")))
            }
            Error::Unreadable { .. } => {
                Some("features that are read while a run is under way must stay as they are until it has ended".into())
            }
            Error::Setting { .. } => None,
        }
    }

    /// A setting that is out of its range.
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name: name.into(), value: value.to_string(), expected: expected.into() }
    }

    /// A name that is none of those there are; looks for the nearest.
    pub fn unknown_name<'a>(
        kind: impl Into<String>,
        name: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        let name = name.into();
        let known: Vec<String> = known.into_iter().map(Into::into).collect();
        // The first knows a beginning that is left unfinished, the second two letters that changed places.
        let likeness = |candidate: &str| {
            strsim::jaro_winkler(candidate, &name).max(strsim::normalized_damerau_levenshtein(candidate, &name))
        };
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let nearest = nearest.filter(|candidate| likeness(candidate) > 0.65).cloned();
        Error::UnknownName { kind: kind.into(), name, known, nearest }
    }
}
