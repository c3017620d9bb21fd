//! The folder that a run leaves, and finds again when it is resumed.
//!
//! `run.json` is there from the start, with `finished` false; the checkpoint comes and goes; embeddings, encoder and losses appear together
//! when training is done; `run.json` says so last, when the embeddings have been judged. So whatever has `finished` true is whole.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fiedler_io::{AtomicFiles, atomic};
use fiedler_learn::run::RunResult;
use fiedler_learn::trainer::CheckpointStore;

use super::embeddings::{TableFormat, write_embeddings};
use super::lock::RunLock;
use super::record::RunRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::task::Task;

const RECORD: &str = "run.json";
const CHECKPOINT: &str = "checkpoint.safetensors";
const SCHEME: &str = "scheme.safetensors";
pub(crate) const ENCODER: &str = "encoder.safetensors";
/// What an encoder that was applied leaves instead of [`RECORD`].
pub(crate) const APPLIED: &str = "applied.json";
pub(crate) const LOSSES: &str = "losses.csv";
/// A run's page.
pub const PAGE: &str = "report.html";
/// All that a run may leave beside `run.json`.
const FILES: [&str; 10] = [
    CHECKPOINT,
    SCHEME,
    ENCODER,
    LOSSES,
    PAGE,
    "embeddings.npy",
    "embeddings.ids.csv",
    "embeddings.csv",
    "embeddings.parquet",
    APPLIED,
];

/// What is done about a run that is in the folder already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It stays, and the new one is refused.
    Refuse,
    /// It gives way.
    Replace,
    /// It goes on where it stopped; where there is none, one begins.
    Resume,
}

/// A folder for one run.
#[derive(Debug, Clone)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// The folder at a path, whether or not it is there.
    pub fn new(path: &Path) -> RunFolder {
        RunFolder { path: path.into() }
    }

    /// A folder named after data and method that is not there yet.
    pub fn free(data: &str, method: &str) -> RunFolder {
        let plain = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' };
        let base = format!("{}-{method}", data.chars().map(plain).collect::<String>());
        let mut names = std::iter::once(base.clone()).chain((2..).map(|number| format!("{base}-{number}")));
        RunFolder { path: names.find(|name| !Path::new(name).exists()).unwrap_or(base).into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The encoder's file.
    pub fn encoder(&self) -> PathBuf {
        self.path.join(ENCODER)
    }

    /// The file of a scheme; a run has more than one where its views are drawn from several.
    pub fn scheme(&self, at: usize) -> PathBuf {
        match at {
            0 => self.path.join(SCHEME),
            _ => self.path.join(format!("scheme-{}.safetensors", at + 1)),
        }
    }

    /// Where a run keeps its checkpoint.
    pub(crate) fn checkpoint(&self) -> CheckpointFile {
        CheckpointFile { path: self.path.join(CHECKPOINT) }
    }

    /// What an earlier run in this folder left.
    ///
    /// # Errors
    /// When `run.json` cannot be read.
    pub fn record(&self) -> Result<Option<RunRecord>> {
        let path = self.path.join(RECORD);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(RunRecord::parse(&text, &path)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    /// The record of a run that came to its end.
    ///
    /// # Errors
    /// When there is no run, or it has not come to its end.
    pub fn finished(&self) -> Result<RunRecord> {
        let place = self.path.display();
        match self.record()? {
            Some(record) if record.finished => Ok(record),
            Some(_) => {
                let hint = format!("go on with it: fiedler embed --resume --out {place}");
                Err(Error::new(ErrorKind::Usage, format!("the run in {place} has not come to its end"), hint))
            }
            None => Err(Error::new(ErrorKind::NotFound, format!("{place} holds no run"), None)),
        }
    }

    /// Refuses a folder that holds a run.
    ///
    /// # Errors
    /// When there is a run, or a file that a run would write.
    pub fn check_free(&self) -> Result<()> {
        let record = self.path.join(RECORD);
        if record.exists() {
            let finished = self.record()?.is_some_and(|record| record.finished);
            let state = if finished { "a finished run" } else { "a run that has not come to its end" };
            let hint = if finished {
                "choose another folder, or pass --force to replace the run"
            } else {
                "--resume goes on with it, --force replaces it"
            };
            let message = format!("{} holds {state} already", self.path.display());
            return Err(Error::new(ErrorKind::Output, message, hint.to_owned()));
        }
        match FILES.iter().map(|name| self.path.join(name)).find(|path| path.exists()) {
            Some(path) => Err(Error::exists(path)),
            None => Ok(()),
        }
    }

    /// Makes the folder where it is not there, and takes its lock.
    ///
    /// # Errors
    /// When another process works there ([`Error::Busy`]), or the system refuses.
    pub fn lock(&self) -> Result<RunLock> {
        RunLock::make(&self.path)
    }

    /// Removes what a run that was killed may have left half-written, unless another process works there.
    ///
    /// # Errors
    /// When another process works there, or the system refuses.
    pub fn tidy(&self) -> Result<()> {
        let _lock = self.lock()?;
        self.sweep()
    }

    /// Removes what a run that was killed may have left half-written. Only files that fiedler names: what else is hidden there is not
    /// ours. The caller holds the lock.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn sweep(&self) -> Result<()> {
        for entry in fs::read_dir(&self.path).map_err(Error::io("read", &self.path))?.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && atomic::is_leftover(&name) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Writes what is known before anything is computed; what another run left is removed. The caller holds the lock.
    pub(crate) fn begin(&self, record: &RunRecord) -> Result<()> {
        for name in FILES {
            remove(&self.path.join(name))?;
        }
        // A run whose views are drawn from several schemes leaves one file each.
        for scheme in (1..).map(|at| self.scheme(at)).take_while(|path| path.exists()) {
            remove(&scheme)?;
        }
        let mut targets = AtomicFiles::new(true);
        targets.write(&self.path.join(RECORD), |file| record.write(file))?;
        targets.finish()?;
        Ok(())
    }

    /// Writes what was learned under temporary names, then gives all files their own. The checkpoint stays, for the run is not finished.
    pub(crate) fn write_outcome(&self, outcome: &RunResult, task: &Task, formats: &[TableFormat]) -> Result<()> {
        let mut targets = AtomicFiles::new(true);
        write_embeddings(&self.path, &outcome.embeddings, &task.dataset, formats, &mut targets)?;
        let encoder = outcome.encoder.to_bytes()?;
        targets.write(&self.path.join(ENCODER), |file| file.write_all(&encoder))?;
        let losses = &outcome.history.losses;
        if !losses.is_empty() {
            targets.write(&self.path.join(LOSSES), |file| {
                let validation = &outcome.history.validation;
                writeln!(file, "epoch,loss{}", if validation.is_empty() { "" } else { ",validation" })?;
                losses.iter().enumerate().try_for_each(|(epoch, loss)| match validation.get(epoch) {
                    Some(validated) => writeln!(file, "{},{loss},{validated}", epoch + 1),
                    None => writeln!(file, "{},{loss}", epoch + 1),
                })
            })?;
        }
        targets.finish()?;
        Ok(())
    }

    /// Writes that the run has come to its end, and removes the checkpoint.
    pub(crate) fn finish(&self, record: &RunRecord) -> Result<()> {
        let mut targets = AtomicFiles::new(true);
        targets.write(&self.path.join(RECORD), |file| record.write(file))?;
        targets.finish()?;
        remove(&self.path.join(CHECKPOINT))
    }
}

/// A checkpoint in a file.
#[derive(Debug, Clone)]
pub(crate) struct CheckpointFile {
    path: PathBuf,
}

impl CheckpointStore for CheckpointFile {
    fn load(&self) -> std::result::Result<Option<Vec<u8>>, String> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", self.path.display())),
        }
    }

    fn save(&self, bytes: &[u8]) -> std::result::Result<(), String> {
        let mut files = AtomicFiles::new(true);
        let written = files.write(&self.path, |file| file.write_all(bytes)).and_then(|()| files.finish().map(drop));
        written.map_err(|error| error.to_string())
    }
}

/// Removes a file; that there is none is no failure.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn sweeping_removes_our_own_leftovers_only() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        for name in [".tmpnotes", ".fiedler-notes", "notes.part", ".fiedler-a1b2c3d4.part"] {
            fs::write(path(name), "").unwrap();
        }
        fs::create_dir(path(".tmpdir")).unwrap();
        fs::create_dir(path(".fiedler-dir.part")).unwrap();
        RunFolder::new(place.path()).sweep().unwrap();
        for name in [".tmpnotes", ".fiedler-notes", "notes.part", ".tmpdir", ".fiedler-dir.part"] {
            assert!(path(name).exists(), "{name}");
        }
        assert!(!path(".fiedler-a1b2c3d4.part").exists());
    }
}
