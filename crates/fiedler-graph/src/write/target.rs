//! Files that appear whole or not at all.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::Written;
use crate::error::{Error, Result};

/// Files that belong together, under temporary names until all of them are written. Dropped before it is finished, it leaves
/// nothing behind.
#[derive(Debug)]
pub struct Targets {
    force: bool,
    pending: Vec<(PathBuf, NamedTempFile)>,
    notes: Vec<String>,
}

impl Targets {
    /// No files yet; `force` lets them replace what is there.
    pub fn new(force: bool) -> Targets {
        Targets { force, pending: Vec::new(), notes: Vec::new() }
    }

    /// Writes a file under a temporary name beside its own.
    ///
    /// # Errors
    /// When there is a file of this name that may not be replaced, or the system refuses.
    pub fn write(
        &mut self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<&mut NamedTempFile>) -> std::io::Result<()>,
    ) -> Result<()> {
        if !self.force && path.exists() {
            return Err(Error::Exists { path: path.into() });
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = temporary_in(folder).map_err(Error::io("create a file in", folder))?;
        let mut writer = BufWriter::with_capacity(1 << 16, &mut file);
        content(&mut writer).and_then(|()| writer.flush()).map_err(Error::io("write", path))?;
        drop(writer);
        self.pending.push((path.into(), file));
        Ok(())
    }

    /// Says something the user should know.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Gives the files their names; the one that was written first, which the others go with, comes last.
    ///
    /// # Errors
    /// When a file of the same name has appeared, or the system refuses.
    pub fn finish(self) -> Result<Written> {
        let files = self.pending.iter().map(|(path, _)| path.clone()).collect();
        for (path, file) in self.pending.into_iter().rev() {
            let renamed = if self.force { file.persist(&path) } else { file.persist_noclobber(&path) };
            renamed.map_err(|error| match error.error.kind() {
                std::io::ErrorKind::AlreadyExists => Error::Exists { path: path.clone() },
                _ => Error::Io { action: "write", path: path.clone(), source: error.error },
            })?;
        }
        Ok(Written { files, notes: self.notes })
    }
}

fn temporary_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".fiedler-").suffix(".part");
    // A temporary file is private unless told otherwise; this one becomes the user's, under the usual mask.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
