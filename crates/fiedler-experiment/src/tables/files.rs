//! The files that a table is kept in.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use fiedler_io::AtomicFiles;

use super::table::Table;
use crate::error::{Error, ErrorKind, Result};
use fiedler_evaluate::ProtocolPreset;

/// Writes a table as json, csv and markdown, together with what earlier commands found.
pub fn write(out: &Path, mut table: Table) -> Result<Table> {
    fs::create_dir_all(out).map_err(Error::io("create", out))?;
    let path = path(out, &table.experiment, table.protocol);
    if let Some(earlier) = read(&path)? {
        if earlier.setup != table.setup {
            let message = format!("{} is a table of {}, not of {}", path.display(), earlier.setup, table.setup);
            return Err(Error::new(ErrorKind::Output, message, "choose another folder with --out".to_owned()));
        }
        table.merge(earlier);
    }
    let page = table.results();
    let csv = page
        .to_csv()
        .map_err(|error| Error::new(ErrorKind::Output, format!("cannot write the table: {error}"), None))?;
    let mut targets = AtomicFiles::new(true);
    targets.write(&path, |file| {
        serde_json::to_writer_pretty(&mut *file, &table)?;
        writeln!(file)
    })?;
    targets.write(&path.with_extension("csv"), |file| file.write_all(&csv))?;
    targets.write(&path.with_extension("md"), |file| file.write_all(page.to_markdown().as_bytes()))?;
    targets.finish()?;
    Ok(table)
}

/// The table in a file, if there is one.
pub fn read(path: &Path) -> Result<Option<Table>> {
    let Ok(text) = fs::read_to_string(path) else { return Ok(None) };
    let mut table: Table = serde_json::from_str(&text).map_err(|error| {
        let hint = "it is not a table of this version; move it away".to_owned();
        Error::new(ErrorKind::Data, format!("{}: {error}", path.display()), hint)
    })?;
    table.commands.iter_mut().for_each(|command| *command = in_words_of_today(command));
    Ok(Some(table))
}

/// A command that an earlier version recorded, with flags and values as they are called now.
fn in_words_of_today(command: &str) -> String {
    let mut words: Vec<&str> = command.split(' ').collect();
    for at in 0..words.len() {
        if words[at] == "--ledger" {
            words[at] = "--protocol";
        }
        if words[at] == "--protocol"
            && let Some(preset) = words.get(at + 1).and_then(|name| name.parse::<ProtocolPreset>().ok())
        {
            words[at + 1] = preset.name();
        }
    }
    words.join(" ")
}

/// Where a table is kept.
pub fn path(out: &Path, experiment: &str, preset: ProtocolPreset) -> PathBuf {
    out.join(format!("{experiment}-{}.json", preset.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_commands_have_the_words_of_today() {
        let old = "fiedler reproduce node --datasets 'my graph' --ledger folds --out results";
        let new = "fiedler reproduce node --datasets 'my graph' --protocol kfold --out results";
        assert_eq!(in_words_of_today(old), new);
        assert_eq!(in_words_of_today(new), new);
    }
}
