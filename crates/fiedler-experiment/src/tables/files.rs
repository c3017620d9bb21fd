//! The files that a table is kept in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_io::AtomicFiles;

use super::render;
use super::table::Table;
use crate::error::{Error, ErrorKind, Result};
use fiedler_evaluate::ProtocolPreset;

/// Writes a table as json, csv and markdown, together with what earlier commands found.
pub fn write(out: &Path, mut table: Table) -> Result<Table> {
    fs::create_dir_all(out).map_err(Error::io("create", out))?;
    let path = path(out, &table.experiment, table.protocol);
    if let Some(earlier) = read(&path)? {
        table.merge(earlier);
    }
    let csv = render::csv(&table);
    let csv = csv.map_err(|error| Error::new(ErrorKind::Output, format!("cannot write the table: {error}"), None))?;
    let mut targets = AtomicFiles::new(true);
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
pub fn read(path: &Path) -> Result<Option<Table>> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let table = serde_json::from_str(&text).map_err(|error| {
        let hint = "it is not a table of this version; move it away".to_owned();
        Error::new(ErrorKind::Data, format!("{}: {error}", path.display()), hint)
    })?;
    Ok(Some(table))
}

/// Where a table is kept.
pub fn path(out: &Path, experiment: &str, preset: ProtocolPreset) -> PathBuf {
    out.join(format!("{experiment}-{}.json", preset.name()))
}
