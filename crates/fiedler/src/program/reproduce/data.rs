//! The datasets of a reproduction.

use fiedler_graph::{Error, catalogue};

use super::paper::Paper;
use crate::program::failure::{Exit, Failure};
use crate::program::output::Output;
use crate::program::reading::Reading;
use crate::program::run::data::Data;

/// Reads all datasets that are there. Names that nobody knows are refused; those that are known but not on this machine are
/// named, once, and left out.
pub fn load(names: &[String], paper: &Paper, output: &Output) -> Result<Vec<Data>, Failure> {
    let mut loaded = Vec::new();
    let mut missing = Vec::new();
    for name in names {
        let title = paper.name(name).unwrap_or(name).to_owned();
        if let Ok(entry) = catalogue::find(name)
            && let Err(error @ (Error::NotFound { .. } | Error::Unreadable { .. })) = catalogue::locate(&entry.name)
        {
            missing.push((title, error));
            continue;
        }
        let reading = Reading::default();
        let dataset = reading.load(Some(name), 0, output)?;
        loaded.push(Data::new(title, name, &reading, dataset)?);
    }
    for (title, error) in &missing {
        let hint = error.hint().map_or(String::new(), |hint| format!("; {hint}"));
        output.note(&format!("left out: {title}{hint}"));
    }
    if loaded.is_empty() {
        let names: Vec<&str> = missing.iter().map(|(title, _)| title.as_str()).collect();
        let hint = "set FIEDLER_DATA to the folder that has them, or see `fiedler data fetch --help`".to_owned();
        return Err(Failure::new(Exit::NotFound, format!("none of the datasets is here: {}", names.join(", ")), hint));
    }
    Ok(loaded)
}
