//! Where bytes come from: a folder, an archive or memory, behind one interface.
//!
//! A format of several files does not care whether they lie in a folder or in a zip; a reader asks a [`DataSource`] for files by
//! name. Compressed files are unpacked on the way, within a bound on how far they may expand.

mod archive;
mod file;
mod standard_input;

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

pub use archive::Archive;
#[cfg(feature = "fetch")]
pub(crate) use archive::is_litter;
pub use file::File;
use flate2::bufread::MultiGzDecoder;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// How far a compressed file may expand before it is taken for a bomb.
const MAX_EXPANSION: u64 = 256;
/// Small files may expand up to this in any case.
const FREE_EXPANSION: u64 = 16 << 20;

/// Files of at least this many bytes are read in parts.
const LARGE_FILE: u64 = 16 << 20;
/// The path that stands for standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// How every gzipped file begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The most bytes that `compressed` bytes may unpack to.
pub(crate) fn expansion_limit(compressed: u64) -> u64 {
    compressed.saturating_mul(MAX_EXPANSION).max(FREE_EXPANSION)
}

/// A path to read from: the files around it, and the file it names, if it names one.
#[derive(Debug)]
pub struct DataSource {
    path: PathBuf,
    store: Store,
    file: Option<String>,
}

#[derive(Debug)]
enum Store {
    Folder(PathBuf),
    Archive(Archive),
    Memory(BTreeMap<String, Vec<u8>>),
}

impl DataSource {
    /// Looks at a path: a folder, a zip (which stands for the folder it holds), a file with what lies beside it, or `-` for standard input, which can be read
    /// once.
    ///
    /// # Errors
    /// When the path does not exist or cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<DataSource> {
        let path = path.as_ref();
        if path == Path::new(STANDARD_INPUT) {
            return standard_input::open();
        }
        let metadata = fs::metadata(path).map_err(Error::io("read", path))?;
        if metadata.is_dir() {
            return Ok(DataSource { path: path.into(), store: Store::Folder(path.into()), file: None });
        }
        if has_extension(path, "zip") {
            let bytes = fs::read(path).map_err(Error::io("read", path))?;
            let archive = Archive::open(bytes, path)?;
            return Ok(DataSource { path: path.into(), store: Store::Archive(archive), file: None });
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok(DataSource { path: path.into(), store: Store::Folder(folder), file })
    }

    /// Files held in memory; `file` is the one the path would name.
    pub fn memory(files: impl IntoIterator<Item = (String, Vec<u8>)>, file: Option<&str>) -> DataSource {
        let files = files.into_iter().collect();
        DataSource {
            path: PathBuf::from(file.unwrap_or("memory")),
            store: Store::Memory(files),
            file: file.map(Into::into),
        }
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the file that the path names; `None` for folders and zips.
    pub fn file_name(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// A short name for the data: the file or folder name without its extensions.
    pub fn stem(&self) -> String {
        let name =
            self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_else(|| "data".into());
        let without_gz = name.strip_suffix(".gz").unwrap_or(&name);
        match without_gz.rsplit_once('.') {
            Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
            _ => without_gz.to_owned(),
        }
    }

    /// Names of all files, sorted; those in the subfolder `raw` are listed as `raw/name`.
    pub fn names(&self) -> Vec<String> {
        match &self.store {
            Store::Folder(folder) => {
                let mut names = files_in(folder, "");
                names.extend(files_in(&folder.join("raw"), "raw/"));
                names.sort();
                names
            }
            Store::Archive(archive) => archive.names().map(Into::into).collect(),
            Store::Memory(files) => files.keys().cloned().collect(),
        }
    }

    /// The first file, in the order of names, whose name (without folders) the test accepts.
    pub fn find(&self, accept: impl Fn(&str) -> bool) -> Option<String> {
        self.names().into_iter().find(|name| accept(base_name(name)))
    }

    /// Whether there is a file of this name; folders in it are given with `/`.
    pub fn has(&self, name: &str) -> bool {
        match &self.store {
            Store::Folder(folder) => folder.join(name).is_file(),
            Store::Archive(archive) => archive.has(name),
            Store::Memory(files) => files.contains_key(name),
        }
    }

    /// Reads the file that the path names.
    ///
    /// # Errors
    /// When the path names no file, or it cannot be read.
    pub fn read_named(&self) -> Result<File> {
        match &self.file {
            Some(name) => self.read(name),
            None => Err(Error::UnknownFormat { path: self.path.clone() }),
        }
    }

    /// Reads a file by its name, unpacking it if it is gzipped.
    ///
    /// # Errors
    /// When it does not exist, cannot be read, or expands beyond measure.
    pub fn read(&self, name: &str) -> Result<File> {
        let file = match &self.store {
            Store::Folder(folder) => {
                let path = folder.join(name);
                let bytes = read_whole(&path).map_err(Error::io("read", &path))?;
                File::new(path, bytes)
            }
            Store::Archive(archive) => archive.read(name)?,
            Store::Memory(files) => match files.get(name) {
                Some(bytes) => File::new(name, bytes.clone()),
                None => {
                    let source = std::io::ErrorKind::NotFound.into();
                    return Err(Error::Io { action: "read", path: name.into(), source });
                }
            },
        };
        file.unpacked()
    }

    /// The first bytes of a file, unpacked: enough to tell its format without reading it all.
    ///
    /// # Errors
    /// As [`DataSource::read`].
    pub fn head(&self, name: &str, bytes: usize) -> Result<Vec<u8>> {
        let Store::Folder(folder) = &self.store else {
            let mut head = self.read(name)?.into_bytes();
            head.truncate(bytes);
            return Ok(head);
        };
        let path = folder.join(name);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = BufReader::new(fs::File::open(&path)?);
            let packed = file.fill_buf()?.starts_with(&GZIP_MAGIC);
            let mut head = Vec::new();
            match packed {
                true => MultiGzDecoder::new(file).take(bytes as u64).read_to_end(&mut head)?,
                false => file.take(bytes as u64).read_to_end(&mut head)?,
            };
            Ok(head)
        };
        read().map_err(Error::io("read", &path))
    }

    /// A file as it lies there, not unpacked, to be read part by part, and its length in bytes.
    ///
    /// # Errors
    /// As [`DataSource::read`].
    pub fn stream(&self, name: &str) -> Result<(Box<dyn Read>, u64)> {
        let Store::Folder(folder) = &self.store else {
            let bytes = self.read(name)?.into_bytes();
            let length = bytes.len() as u64;
            return Ok((Box::new(io::Cursor::new(bytes)), length));
        };
        let path = folder.join(name);
        let open = || -> io::Result<(Box<dyn Read>, u64)> {
            let file = fs::File::open(&path)?;
            let length = file.metadata()?.len();
            Ok((Box::new(file), length))
        };
        open().map_err(Error::io("read", &path))
    }

    /// Where a file lies by itself, not packed and not in memory; `None` where it does not.
    pub fn file_path(&self, name: &str) -> Option<PathBuf> {
        let Store::Folder(folder) = &self.store else { return None };
        let path = folder.join(name);
        let mut head = [0; GZIP_MAGIC.len()];
        let packed = fs::File::open(&path).ok()?.read_exact(&mut head).is_ok() && head == GZIP_MAGIC;
        (path.is_file() && !packed).then_some(path)
    }

    /// Reads a file that the format cannot do without.
    ///
    /// # Errors
    /// As [`DataSource::read`]; a missing file is reported with the format that needs it.
    pub fn require(&self, name: &str, format: &'static str) -> Result<File> {
        if !self.has(name) {
            return Err(self.missing(name, format));
        }
        self.read(name)
    }

    /// The error for a file that is not there.
    pub fn missing(&self, name: &str, format: &'static str) -> Error {
        let folder = match &self.store {
            Store::Folder(folder) => folder.clone(),
            Store::Archive(_) | Store::Memory(_) => self.path.clone(),
        };
        Error::MissingFile { folder, file: name.into(), format }
    }
}

/// Reads a file; a large one in several parts at once, since copying it takes longer than parsing it.
fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileExt;
        let file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        if length >= LARGE_FILE {
            let mut bytes = vec![0; length as usize];
            let part = bytes.len().div_ceil(rayon::current_num_threads());
            let parts = bytes.par_chunks_mut(part).enumerate();
            parts.try_for_each(|(at, bytes)| file.read_exact_at(bytes, (at * part) as u64))?;
            return Ok(bytes);
        }
    }
    fs::read(path)
}

/// The part of a name after its folders.
pub fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

fn files_in(folder: &Path, prefix: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.path().is_file())
        .map(|entry| format!("{prefix}{}", entry.file_name().to_string_lossy()))
        .collect()
}
