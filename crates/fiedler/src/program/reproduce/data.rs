//! The datasets of a reproduction.

use fiedler_graph::{Error, catalogue};

use super::paper::Paper;
use crate::program::failure::{Exit, Failure};
use crate::program::ledger::Ledger;
use crate::program::output::Output;
use crate::program::reading::Reading;
use crate::program::run::data::Data;

/// Reads all datasets that are there. Names that nobody knows are refused; those that are known but not on this machine are
/// named, once, and left out; so are those that the ledger has no splits for.
pub fn load(names: &[String], ledger: Ledger, paper: &Paper, output: &Output) -> Result<Vec<Data>, Failure> {
    let mut loaded = Vec::new();
    let mut missing = Vec::new();
    for name in names {
        let title = paper.name(name).unwrap_or(name).to_owned();
        if let Some(hint) = hint_where_missing(name) {
            output.note(&format!("left out: {title}{hint}"));
            missing.push(title);
            continue;
        }
        let reading = Reading::default();
        let dataset = reading.load(Some(name), 0, output)?;
        let data = Data::new(title, name, &reading, dataset)?;
        if let Err(error) = ledger.protocol().splits(&data.target, 0) {
            output.note(&format!("left out: {}, which the ledger {} cannot judge: {error}", data.title, ledger.name()));
            missing.push(data.title);
            continue;
        }
        loaded.push(data);
    }
    if loaded.is_empty() {
        let hint = "set FIEDLER_DATA to the folder that has them, or see `fiedler data fetch --help`".to_owned();
        return Err(Failure::new(
            Exit::NotFound,
            format!("none of the datasets can be used: {}", missing.join(", ")),
            hint,
        ));
    }
    Ok(loaded)
}

/// How to get a known dataset that is not on this machine, as the rest of a sentence; `None` where it is, or nobody knows it.
pub fn hint_where_missing(name: &str) -> Option<String> {
    let entry = catalogue::find(name).ok()?;
    match catalogue::locate(&entry.name) {
        Err(error @ (Error::NotFound { .. } | Error::Unreadable { .. })) => {
            Some(error.hint().map_or(String::new(), |hint| format!("; {hint}")))
        }
        _ => None,
    }
}
