//! The files that a table is kept in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_graph::Error;
use fiedler_graph::write::Targets;

use super::render;
use super::table::Table;
use crate::program::failure::{Exit, Failure};
use crate::program::ledger::Ledger;

/// Writes a table as json, csv and markdown, together with what earlier commands found.
pub fn write(out: &Path, mut table: Table) -> Result<Table, Failure> {
    fs::create_dir_all(out).map_err(Error::io("create", out))?;
    let path = path(out, &table.experiment, table.ledger);
    if let Some(earlier) = read(&path)? {
        table.merge(earlier);
    }
    let csv = render::csv(&table);
    let csv = csv.map_err(|error| Failure::new(Exit::Output, format!("cannot write the table: {error}"), None))?;
    let mut targets = Targets::new(true);
    targets.write(&path, |file| {
        serde_json::to_writer_pretty(&mut *file, &table)?;
        writeln!(file)
    })?;
    targets.write(&path.with_extension("csv"), |file| file.write_all(&csv))?;
    targets.write(&path.with_extension("md"), |file| file.write_all(render::markdown(&table).as_bytes()))?;
    targets.finish()?;
    Ok(table)
}

/// The table in a file, if there is one.
pub fn read(path: &Path) -> Result<Option<Table>, Failure> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let table = serde_json::from_str(&text).map_err(|error| {
        let hint = "it is not a table of this version; move it away".to_owned();
        Failure::new(Exit::Data, format!("{}: {error}", path.display()), hint)
    })?;
    Ok(Some(table))
}

/// Where a table is kept.
pub fn path(out: &Path, experiment: &str, ledger: Ledger) -> PathBuf {
    out.join(format!("{experiment}-{}.json", ledger.name()))
}
