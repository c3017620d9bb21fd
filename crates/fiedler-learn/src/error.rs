//! What can go wrong, said so that a person can mend it.

use std::path::PathBuf;

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
        name: &'static str,
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
    Weights {
        /// Name of the parameter.
        name: String,
        /// What is there.
        found: String,
        /// What the model has.
        expected: String,
    },
    /// A file of weights is not what its format promises.
    #[error("{}: {problem}; expected a safetensors file", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `read` or `write`.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// A setting that is out of its range.
    pub fn setting(name: &'static str, value: impl std::fmt::Display, expected: impl Into<String>) -> Error {
        Error::Setting { name, value: value.to_string(), expected: expected.into() }
    }

    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Weights { .. } => Some(
                "the weights were saved from a model with other settings; use the settings they were saved with".into(),
            ),
            Error::Malformed { .. } => Some("write the weights again with the program that made them".into()),
            Error::Setting { .. } | Error::Size { .. } | Error::Io { .. } => None,
        }
    }
}

/// Checks that two sizes agree.
pub(crate) fn check_size(what: impl Into<String>, found: usize, expected: usize) -> Result<()> {
    if found != expected {
        return Err(Error::Size { what: what.into(), found, expected });
    }
    Ok(())
}
