//! What a page is asked of: a run, a scheme, tables, or data.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// What WHAT turns out to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// The folder of a run.
    Run(PathBuf),
    /// The folder of a fine-tuning.
    Finetune(PathBuf),
    /// The file of a scheme.
    Scheme(PathBuf),
    /// A folder or a csv file of tables.
    Tables(PathBuf),
    /// Anything else that data can be read from.
    Data(String),
}

impl Source {
    pub fn run(&self) -> Option<&Path> {
        if let Source::Run(folder) = self { Some(folder) } else { None }
    }

    pub fn tables(&self) -> Option<&Path> {
        if let Source::Tables(path) = self { Some(path) } else { None }
    }
}

/// Headers of the csv files that `fiedler reproduce` writes.
pub const TABLE_HEADERS: [&str; 2] = ["experiment,protocol,", "experiment,ledger,"];
pub const STEPS_HEADER: &str = "view,step,relative_norm,";

/// Looks what lies there.
pub fn recognize(what: &str) -> Result<Source> {
    let path = Path::new(what);
    let has = |name: &str| path.join(name).is_file();
    Ok(match path {
        folder if has("run.json") => Source::Run(folder.into()),
        folder if has(crate::finetune::RECORD) => Source::Finetune(folder.into()),
        folder if has("scheme.safetensors") => Source::Scheme(folder.join("scheme.safetensors")),
        folder if folder.is_dir() && !table_files(folder)?.is_empty() => Source::Tables(folder.into()),
        file if file.is_file() && is_named(file, "run.json") => {
            Source::Run(file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).into())
        }
        file if file.is_file() && file.extension().is_some_and(|extension| extension == "safetensors") => {
            Source::Scheme(file.into())
        }
        file if is_table(file) => Source::Tables(file.into()),
        _ => Source::Data(what.to_owned()),
    })
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|own| own == name)
}

/// The csv files of a folder that `fiedler reproduce` wrote, by their names.
pub fn table_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_table(path)).collect();
    files.sort();
    Ok(files)
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "csv")
        && header(path)
            .is_some_and(|line| TABLE_HEADERS.iter().chain([&STEPS_HEADER]).any(|header| line.starts_with(header)))
}

/// The first line of a file, if it is a short one.
pub fn header(path: &Path) -> Option<String> {
    use std::io::Read;
    let mut line = String::new();
    BufReader::new(fs::File::open(path).ok()?.take(1024)).read_line(&mut line).ok()?;
    Some(line)
}

/// Names of folders without what they have in common in front, so that they differ and can be read.
pub fn short_names(folders: &[&Path]) -> Vec<String> {
    let parts: Vec<Vec<String>> = folders
        .iter()
        .map(|folder| folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect())
        .collect();
    let shared = (0..).take_while(|&at| {
        let first = parts.first().and_then(|parts| parts.get(at));
        first.is_some() && parts.iter().all(|parts| parts.get(at) == first && parts.len() > at + 1)
    });
    let shared = shared.count();
    let mut names: Vec<String> = parts.iter().map(|parts| parts[shared..].join("/")).collect();
    // The same folder twice is two rows with two names.
    for at in 1..names.len() {
        let before = names[..at].iter().filter(|name| **name == names[at]).count();
        if before > 0 {
            names[at] = format!("{} ({})", names[at], before + 1);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_differ() {
        let names = |folders: &[&str]| short_names(&folders.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(names(&["runs/cora/a", "runs/cora/b"]), ["a", "b"]);
        assert_eq!(names(&["x/seed-0", "y/seed-0"]), ["x/seed-0", "y/seed-0"]);
        assert_eq!(names(&["a", "a"]), ["a", "a (2)"]);
        assert_eq!(names(&["a", "a/b"]), ["a", "a/b"]);
    }
}
