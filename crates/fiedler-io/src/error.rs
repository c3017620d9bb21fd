//! What can go wrong, said so that a person can mend it.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The result of anything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be read or written, or a dataset not be found or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `create` …
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not what its format promises.
    #[error("{0}")]
    Malformed(Box<Malformed>),
    /// A format of several files lacks one of them.
    #[error("{} has no {file}, which the {format} format needs", folder.display())]
    MissingFile {
        /// The folder or archive that was searched.
        folder: PathBuf,
        /// The file that should be there.
        file: String,
        /// The name of the format.
        format: &'static str,
    },
    /// No format recognizes the path.
    #[error("cannot tell the format of {}", path.display())]
    UnknownFormat {
        /// The path that was looked at.
        path: PathBuf,
    },
    /// A name that the catalogue does not know.
    #[error("no dataset is called {name:?}")]
    UnknownDataset {
        /// What was asked for.
        name: String,
        /// The known name that is nearest to it.
        nearest: Option<String>,
    },
    /// A dataset of the catalogue that is not on this machine.
    #[error("{name} is not on this machine; looked in {}", list(searched))]
    NotFound {
        /// Name in the catalogue.
        name: String,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
        /// How to get it.
        hint: String,
    },
    /// A dataset of the catalogue that is published in a form no reader here can read.
    #[error("{name} cannot be read: {reason}")]
    Unreadable {
        /// Name in the catalogue.
        name: String,
        /// What stands in the way.
        reason: String,
    },
    /// A dataset of the catalogue that could not be downloaded.
    #[error("cannot fetch {name}: {problem}")]
    Fetch {
        /// Name in the catalogue.
        name: String,
        /// What went wrong, with the address.
        problem: String,
        /// How to get it without this program.
        hint: String,
    },
    /// A target exists and the user did not ask to replace it.
    #[error("{} exists already", path.display())]
    Exists {
        /// The path that would have been overwritten.
        path: PathBuf,
    },
    /// The data make no graph, or a setting is out of its range.
    #[error(transparent)]
    Graph(#[from] fiedler_graph::Error),
}

impl Error {
    /// What the user can do about it, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Malformed(malformed) => malformed.hint.clone(),
            Error::MissingFile { file, .. } => {
                Some(format!("put {file} beside the other files, or name the format if this is another one"))
            }
            Error::UnknownFormat { .. } => {
                Some("name it with --format; `fiedler inspect --help` lists the formats".into())
            }
            Error::UnknownDataset { nearest: Some(nearest), .. } => Some(format!(
                "did you mean {nearest}? `fiedler data list` shows all names; a file is given by its path"
            )),
            Error::UnknownDataset { nearest: None, .. } => {
                Some("`fiedler data list` shows all names; a file is given by its path".into())
            }
            Error::NotFound { hint, .. } | Error::Fetch { hint, .. } => Some(hint.clone()),
            Error::Unreadable { .. } => {
                Some("convert it with the library that wrote it, to any of the formats here, and give its path".into())
            }
            Error::Exists { .. } => Some("choose another name, or pass --force to replace it".into()),
            Error::Graph(error) => error.hint(),
            Error::Io { path, source, .. } if source.kind() == io::ErrorKind::NotFound => Some(missing(path)),
            Error::Io { .. } => None,
        }
    }

    /// Wraps an error of the operating system with what was tried and where.
    pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { action, path, source }
    }

    /// A value that is out of its range because a file says so is a fault of that file; other errors stay as they are.
    pub(crate) fn at(self, place: &Place) -> Error {
        match self {
            Error::Graph(fiedler_graph::Error::Setting { name, value, expected }) => {
                place.malformed(format!("{name} is {value}"), expected).into()
            }
            other => other,
        }
    }

    /// A setting that is out of its range; see [`fiedler_graph::Error::setting`].
    pub fn setting(name: impl Into<String>, value: impl fmt::Display, expected: impl Into<String>) -> Error {
        Error::Graph(fiedler_graph::Error::setting(name, value, expected))
    }

    /// A name that is none of those there are; see [`fiedler_graph::Error::unknown_name`].
    pub fn unknown_name<'a>(
        kind: impl Into<String>,
        name: impl Into<String>,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Error {
        Error::Graph(fiedler_graph::Error::unknown_name(kind, name, known))
    }
}

/// What may be meant by a path at which there is nothing: a file of its folder with a name like it, if there is one.
fn missing(path: &Path) -> String {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return format!("there is no folder {}, seen from where the program was started", folder.display());
    };
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let likely = names.map(|name| (strsim::normalized_damerau_levenshtein(&name, &wanted), name));
    // Of names that are equally like it the first, in whatever order the system lists them.
    match likely.filter(|(likeness, _)| *likeness >= 0.7).max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)))
    {
        Some((_, name)) => format!("did you mean {}?", folder.join(name).display()),
        None => "a path is seen from where the program was started; datasets that are known by name have no ending \
                 (`fiedler data list`)"
            .into(),
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    if shown.is_empty() { "no folder".into() } else { shown.join(", ") }
}

/// A place in the user's input: a file, a member of it, a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The file as the user can find it.
    pub file: PathBuf,
    /// The member of an archive, the array, or the key inside the file.
    pub member: Option<String>,
    /// The line, counted from one.
    pub line: Option<u64>,
}

impl Place {
    /// The file as a whole.
    pub fn file(path: impl AsRef<Path>) -> Self {
        // A file beside the user is called by its name, not `./NAME`.
        let path = path.as_ref();
        let file = path.strip_prefix(".").ok().filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(path);
        Place { file: file.into(), member: None, line: None }
    }

    /// The same file, at a member or key of it.
    pub fn member(&self, member: impl Into<String>) -> Self {
        let member = member.into();
        let member = match &self.member {
            Some(outer) => format!("{outer}/{member}"),
            None => member,
        };
        Place { member: Some(member), ..self.clone() }
    }

    /// The same place, at a line counted from one.
    pub fn line(&self, line: u64) -> Self {
        Place { line: Some(line), ..self.clone() }
    }

    /// An error at this place: what was found there, and what should have been.
    pub fn malformed(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        Malformed { place: self.clone(), found: found.into(), expected: expected.into(), hint: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(member) = &self.member {
            write!(f, ", {member}")?;
        }
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        Ok(())
    }
}

/// A file that is not what its format promises.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {found}; expected {expected}")]
pub struct Malformed {
    /// Where it was found.
    pub place: Place,
    /// What was found.
    pub found: String,
    /// What was expected in its stead.
    pub expected: String,
    /// What the user can try.
    pub hint: Option<String>,
}

impl Malformed {
    /// Adds what the user can try.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Error::Malformed(Box::new(malformed))
    }
}
