//! The datasets of a reproduction.

use fiedler_graph::Observer;
use fiedler_io::{Error as IoError, catalogue};

use super::paper::Paper;
use crate::error::{Error, ErrorKind, Result};
use crate::observe::Tell;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;
use fiedler_io::ReadOptions;

/// Reads all datasets that are there. Names that nobody knows are refused; those that are known but not on this machine are
/// named, once, and left out; so are those that the protocol has no splits for. Every dataset goes through a transform, if there is one.
pub fn load(
    names: &[String],
    transform: &str,
    preset: ProtocolPreset,
    paper: &Paper,
    observer: &dyn Observer,
) -> Result<Vec<Task>> {
    let mut loaded = Vec::new();
    let mut missing = Vec::new();
    for name in names {
        let plain = name.strip_prefix("scaffold:").unwrap_or(name);
        let title = paper.name(plain).unwrap_or(plain).to_owned();
        if let Some(hint) = hint_where_missing(name) {
            observer.note(&format!("left out: {title}{hint}"));
            missing.push(title);
            continue;
        }
        let mut data = Task::open(&format!("{transform}{name}"), &ReadOptions::default(), 0, observer)?;
        data.title = title;
        if let Err(error) = preset.protocol().splits(data.target()?, 0) {
            observer.note(&format!(
                "left out: {}, which the protocol {} cannot evaluate: {error}",
                data.title,
                preset.name()
            ));
            missing.push(data.title);
            continue;
        }
        loaded.push(data);
    }
    if loaded.is_empty() {
        let hint = "set FIEDLER_DATA to the folder that has them, or see `fiedler data fetch --help`".to_owned();
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("none of the datasets can be used: {}", missing.join(", ")),
            hint,
        ));
    }
    Ok(loaded)
}

/// How to get a known dataset that is not on this machine, as the rest of a sentence; `None` where it is, or nobody knows it. Of a transform
/// it is what is transformed that counts.
pub fn hint_where_missing(name: &str) -> Option<String> {
    let name = name.strip_prefix("scaffold:").unwrap_or(name);
    let entry = catalogue::find(name).ok()?;
    match catalogue::locate(&entry.name) {
        Err(error @ (IoError::NotFound { .. } | IoError::Unreadable { .. })) => {
            Some(error.hint().map_or(String::new(), |hint| format!("; {hint}")))
        }
        _ => None,
    }
}
