//! Failures as exceptions. The classes, and the words of their hints, are in `package/fiedler/_errors.py`.

use std::path::Path;

use fiedler_experiment::{Error, ErrorKind};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What an exception is made of.
#[derive(Default)]
struct Failure<'a> {
    kind: &'static str,
    file: Option<&'a Path>,
    member: Option<&'a str>,
    line: Option<u64>,
    setting: Option<&'a str>,
    code: Option<i32>,
}

/// The exception of a failure.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    make(py, &error.to_string(), error.hint(), &describe(error))
}

/// The exception of data that are not what they should be, whatever kind of failure the library says it is: a value that is out of range
/// is a setting to it, and part of the data to who handed over arrays.
pub fn of_data(py: Python<'_>, error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let kind = match describe(&error).kind {
        "setting" => "data",
        other => other,
    };
    make(py, &error.to_string(), error.hint(), &Failure { kind, ..describe(&error) })
}

/// The exception of a setting that is out of its range.
pub fn setting(py: Python<'_>, name: &str, message: &str) -> PyErr {
    make(py, message, None, &Failure { kind: "setting", setting: Some(name), ..Failure::default() })
}

/// The exception of arrays that do not fit.
pub fn data(py: Python<'_>, message: &str) -> PyErr {
    make(py, message, None, &Failure { kind: "data", ..Failure::default() })
}

/// The exception of what should not happen.
pub fn bug(py: Python<'_>) -> PyErr {
    let message = "a bug in fiedler, not a mistake of yours; the line on standard error says where it happened";
    make(py, message, None, &Failure { kind: "bug", ..Failure::default() })
}

/// Adds a line to what a traceback prints.
pub fn add_note(py: Python<'_>, error: &PyErr, note: &str) {
    // An exception without a note is still the exception.
    let _ = error.value(py).call_method1("add_note", (note,));
}

fn make(py: Python<'_>, message: &str, hint: Option<String>, failure: &Failure<'_>) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let fields = PyDict::new(py);
        fields.set_item("hint", hint)?;
        fields.set_item("file", failure.file)?;
        fields.set_item("member", failure.member)?;
        fields.set_item("line", failure.line)?;
        fields.set_item("setting", failure.setting)?;
        fields.set_item("code", failure.code)?;
        let exception = py.import("fiedler._errors")?.getattr("make")?.call((failure.kind, message), Some(&fields))?;
        Ok(PyErr::from_value(exception))
    };
    made().unwrap_or_else(|_| PyRuntimeError::new_err(message.to_owned()))
}

fn describe(error: &Error) -> Failure<'_> {
    let kind = match error.kind() {
        ErrorKind::Usage | ErrorKind::Memory => "setting",
        ErrorKind::Data => "data",
        ErrorKind::NotFound => "not-found",
        ErrorKind::Output => "output",
        ErrorKind::Network => "network",
        ErrorKind::Training => "training",
        ErrorKind::Busy => "busy",
        ErrorKind::Interrupted => "interrupted",
        _ => "bug",
    };
    match error {
        Error::File { path, source } => Failure { file: Some(path), ..describe(source) },
        Error::Io(error) => of_files(kind, error),
        Error::Graph(error) => of_graph(kind, error),
        Error::Spectral(error) => of_spectral(kind, error),
        Error::Augment(error) => of_augment(kind, error),
        Error::Learn(error) => of_learn(kind, error),
        Error::Evaluate(fiedler_evaluate::Error::Setting { name, .. }) => of_setting(kind, name),
        Error::Evaluate(fiedler_evaluate::Error::Graph(error)) => of_graph(kind, error),
        _ => Failure { kind, ..Failure::default() },
    }
}

fn of_setting<'a>(kind: &'static str, name: &'a str) -> Failure<'a> {
    Failure { kind, setting: Some(name), ..Failure::default() }
}

fn of_graph<'a>(kind: &'static str, error: &'a fiedler_graph::Error) -> Failure<'a> {
    match error {
        fiedler_graph::Error::Setting { name, .. } => of_setting(kind, name),
        fiedler_graph::Error::UnknownName { kind: what, .. } => of_setting(kind, what),
        _ => Failure { kind, ..Failure::default() },
    }
}

fn of_files<'a>(kind: &'static str, error: &'a fiedler_io::Error) -> Failure<'a> {
    use fiedler_io::Error;
    match error {
        Error::Io { path, source, .. } => {
            Failure { kind: "system", file: Some(path), code: source.raw_os_error(), ..Failure::default() }
        }
        Error::Exists { path } => Failure { kind: "exists", file: Some(path), ..Failure::default() },
        Error::Malformed(malformed) => Failure {
            kind,
            file: Some(&malformed.place.file),
            member: malformed.place.member.as_deref(),
            line: malformed.place.line,
            ..Failure::default()
        },
        Error::MissingFile { folder, .. } => Failure { kind, file: Some(folder), ..Failure::default() },
        Error::UnknownFormat { path } => Failure { kind, file: Some(path), ..Failure::default() },
        Error::Graph(error) => of_graph(kind, error),
        _ => Failure { kind, ..Failure::default() },
    }
}

fn of_spectral<'a>(kind: &'static str, error: &'a fiedler_spectral::Error) -> Failure<'a> {
    match error {
        fiedler_spectral::Error::TooLarge { .. } => Failure { kind: "memory", ..Failure::default() },
        fiedler_spectral::Error::Setting { name, .. } => of_setting(kind, name),
        _ => Failure { kind, ..Failure::default() },
    }
}

fn of_augment<'a>(kind: &'static str, error: &'a fiedler_augment::Error) -> Failure<'a> {
    match error {
        fiedler_augment::Error::Setting { name, .. } => of_setting(kind, name),
        fiedler_augment::Error::Graph(error) => of_graph(kind, error),
        fiedler_augment::Error::Spectral(error) => of_spectral(kind, error),
        _ => Failure { kind, ..Failure::default() },
    }
}

fn of_learn<'a>(kind: &'static str, error: &'a fiedler_learn::Error) -> Failure<'a> {
    match error {
        fiedler_learn::Error::Memory { .. } => Failure { kind: "memory", ..Failure::default() },
        fiedler_learn::Error::Setting { name, .. } => of_setting(kind, name),
        fiedler_learn::Error::Augment(error) => of_augment(kind, error),
        fiedler_learn::Error::Graph(error) => of_graph(kind, error),
        _ => Failure { kind, ..Failure::default() },
    }
}
