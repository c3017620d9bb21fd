//! Atomic files: they appear whole or not at all.
//!
//! Everything that this project puts on disk goes through [`AtomicFiles`]. A process that is killed may leave a temporary file behind;
//! [`is_leftover`] knows it by its name, so that whoever owns the folder can sweep it without touching anything else:
//!
//! ```
//! use std::io::Write;
//! use fiedler_io::atomic::{self, AtomicFiles};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let mut files = AtomicFiles::new(false);
//! for name in ["run.json", "embeddings.npy"] {
//!     files.write(&folder.path().join(name), |writer| writer.write_all(b"whole"))?;
//! }
//! let names = || std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
//! assert!(names().all(|name| atomic::is_leftover(&name)));
//! files.finish()?;
//! assert!(!names().any(|name| atomic::is_leftover(&name)));
//! # Ok::<(), fiedler_io::Error>(())
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

const PREFIX: &str = ".fiedler-";
const SUFFIX: &str = ".part";
/// Random letters and digits between them.
const RANDOM: usize = 8;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    /// The files, the one that was asked for first.
    pub files: Vec<PathBuf>,
    /// What a user should know, such as what the format cannot hold; one sentence each.
    pub notes: Vec<String>,
}

/// Files that belong together, under temporary names until all of them are written. Dropped before it is finished, it leaves
/// nothing behind.
#[derive(Debug)]
pub struct AtomicFiles {
    force: bool,
    pending: Vec<(PathBuf, NamedTempFile)>,
    /// Files that go when the others appear.
    outdated: Vec<PathBuf>,
    notes: Vec<String>,
}

impl AtomicFiles {
    /// No files yet; `force` lets them replace what is there.
    pub fn new(force: bool) -> AtomicFiles {
        AtomicFiles { force, pending: Vec::new(), outdated: Vec::new(), notes: Vec::new() }
    }

    /// Writes a file under a temporary name beside its own.
    ///
    /// # Errors
    /// When there is a file of this name that may not be replaced, or the system refuses.
    pub fn write(
        &mut self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<&mut File>) -> std::io::Result<()>,
    ) -> Result<()> {
        if !self.force && path.exists() {
            return Err(Error::Exists { path: path.into() });
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file = temporary_in(folder).map_err(Error::io("create a file in", folder))?;
        let mut writer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
        content(&mut writer).and_then(|()| writer.flush()).map_err(Error::io("write", path))?;
        drop(writer);
        self.pending.push((path.into(), file));
        Ok(())
    }

    /// Sees to it that there is no file of this name beside the others, which would be taken for one of them.
    ///
    /// # Errors
    /// When there is one that may not be replaced.
    pub fn remove(&mut self, path: &Path) -> Result<()> {
        if path.exists() {
            if !self.force {
                return Err(Error::Exists { path: path.into() });
            }
            self.outdated.push(path.into());
        }
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
        for path in self.outdated {
            std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(Written { files, notes: self.notes })
    }
}

/// Whether a file of this name, without its folder, is a temporary one of [`AtomicFiles`]: `.fiedler-XXXXXXXX.part`.
///
/// ```
/// use fiedler_io::atomic::is_leftover;
/// assert!(is_leftover(".fiedler-a1B2c3D4.part"));
/// for name in [".tmpnotes", ".fiedler-notes.part", ".fiedler-.part", "cora.part", "x.fiedler-a1B2c3D4.part"] {
///     assert!(!is_leftover(name), "{name}");
/// }
/// ```
pub fn is_leftover(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn temporary_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
    // A temporary file is private unless told otherwise; this one becomes the user's, under the usual mask.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_is_dropped_leaves_nothing_behind() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut files = AtomicFiles::new(false);
        files.write(&folder.path().join("a"), |writer| writer.write_all(b"a")).expect("written");
        let failed = files.write(&folder.path().join("b"), |_| Err(std::io::Error::other("full")));
        assert!(failed.is_err_and(|error| error.to_string().ends_with("b: full")));
        assert!(names(folder.path()).iter().all(|name| is_leftover(name)));
        drop(files);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn nothing_is_replaced_unless_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        let write = |force| {
            let mut files = AtomicFiles::new(force);
            files.write(&path, |writer| writer.write_all(b"a"))?;
            files.finish()
        };
        assert_eq!(write(false).expect("written").files, std::slice::from_ref(&path));
        assert!(matches!(write(false), Err(Error::Exists { .. })));
        assert!(write(true).is_ok());
        assert_eq!(names(folder.path()), ["a"]);
    }
}
