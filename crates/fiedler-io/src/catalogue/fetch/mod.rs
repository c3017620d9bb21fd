//! Downloading a dataset into the cache, whole or not at all.
//!
//! The files land in `NAME.part` beside the place of the dataset, where a later call finds them again and goes on. Only when all
//! are there, checked and unpacked does the folder get its name, in one step. A lock keeps others from doing the same at once.

mod download;
mod unpack;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use super::entry::{Entry, Published};
use super::locate::locate_in;
use crate::error::{Error, Result};

/// How to download.
#[derive(Clone)]
pub struct FetchSettings<'a> {
    /// The folder that the dataset gets its own folder in; see [`cache_folder`](super::cache_folder).
    pub cache: PathBuf,
    /// Take files from `MIRROR/DATASET/FILE` instead of their published addresses.
    pub mirror: Option<String>,
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
    /// How often to try again after a connection failed.
    pub retries: u32,
    /// How long to wait before the first of these; twice as long before each further one.
    pub pause: Duration,
    /// How long to wait for a connection, and for a server that says nothing.
    pub timeout: Duration,
}

impl FetchSettings<'static> {
    /// The usual settings, telling nobody.
    pub fn new(cache: impl Into<PathBuf>) -> FetchSettings<'static> {
        FetchSettings {
            cache: cache.into(),
            mirror: None,
            progress: &Silent,
            retries: 4,
            pause: Duration::from_secs(1),
            timeout: Duration::from_secs(60),
        }
    }
}

/// Who is told how far a download is.
pub trait Progress {
    /// A file is begun, or begun again after a failure, when `done` of its `size` bytes are here already.
    fn start(&self, file: &str, size: Option<u64>, done: u64);
    /// So many more bytes are here.
    fn advance(&self, bytes: u64);
    /// The file is whole.
    fn finish(&self);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn start(&self, _file: &str, _size: Option<u64>, _done: u64) {}
    fn advance(&self, _bytes: u64) {}
    fn finish(&self) {}
}

/// Why a step failed.
enum Failure {
    /// The network's fault: another try may do.
    Passing(String),
    /// No use in trying again now; what is here already may serve later.
    Lasting(String),
    /// What was received is not what was published; it is thrown away.
    Wrong(String),
    /// This machine's fault.
    Local(Error),
}

/// Downloads a dataset into the cache and returns the path to read. What is there already is not downloaded again.
///
/// # Errors
/// When it cannot be downloaded, what was downloaded is not what was published, or the cache cannot be written to. The error
/// says how to get the dataset by hand.
pub fn fetch(entry: &Entry, settings: &FetchSettings<'_>) -> Result<PathBuf> {
    let cache = settings.cache.as_path();
    let present = || locate_in(entry, slice::from_ref(&settings.cache));
    match present() {
        Ok(located) => return Ok(located.path),
        Err(Error::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let fail = |problem: String| Error::Fetch { name: entry.name.clone(), problem, hint: entry.by_hand(cache) };
    if entry.files.is_empty() {
        return Err(fail("it is published without an address to download it from".into()));
    }

    fs::create_dir_all(cache).map_err(Error::io("create", cache))?;
    let lock_path = cache.join(format!("{}.lock", entry.name));
    let _lock = lock(&lock_path)?;
    // Whoever held the lock before may have fetched it.
    if let Ok(located) = present() {
        return Ok(located.path);
    }
    let target = cache.join(&entry.name);
    make_way(&target).map_err(|problem| Error::Fetch {
        name: entry.name.clone(),
        problem,
        hint: format!("move {} away", target.display()),
    })?;

    let part = cache.join(format!("{}.part", entry.name));
    let whole = part.join("whole");
    let assembled = download_all(entry, settings, &part).and_then(|files| assemble(entry, &files, &whole));
    assembled.map_err(|failure| match failure {
        Failure::Passing(problem) | Failure::Lasting(problem) | Failure::Wrong(problem) => fail(problem),
        Failure::Local(error) => error,
    })?;
    fs::rename(whole.join(&entry.name), &target).map_err(Error::io("create", &target))?;
    // Leftovers do no harm.
    let _ = fs::remove_dir_all(&part);
    let _ = fs::remove_file(&lock_path);
    Ok(present()?.path)
}

/// Waits until nobody else fetches the same dataset. The lock ends with the file that is returned, or with the process.
fn lock(path: &Path) -> Result<File> {
    let file = File::options().create(true).truncate(false).write(true).open(path);
    let file = file.map_err(Error::io("create", path))?;
    match file.lock() {
        Ok(()) => Ok(file),
        // Some network file systems have no locks; there, two at once may spoil each other's download, which is then noticed.
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(error) => Err(Error::io("lock", path)(error)),
    }
}

/// Removes an empty folder that stands where the dataset goes; anything else there belongs to the user.
fn make_way(target: &Path) -> Result<(), String> {
    let _ = fs::remove_dir(target);
    match target.exists() {
        true => Err(format!("{} exists but lacks files of the dataset", target.display())),
        false => Ok(()),
    }
}

fn download_all<'e>(
    entry: &'e Entry,
    settings: &FetchSettings<'_>,
    part: &Path,
) -> Result<Vec<(&'e Published, PathBuf)>, Failure> {
    fs::create_dir_all(part).map_err(local("create", part))?;
    let agent = download::agent(settings);
    let fetched = entry.files.iter().map(|file| {
        let url = match &settings.mirror {
            Some(mirror) => format!("{}/{}/{}", mirror.trim_end_matches('/'), entry.name, file.file),
            None => file.url.clone(),
        };
        Ok((file, download::download(&agent, file, &url, part, settings)?))
    });
    fetched.collect()
}

/// Puts the files together as `whole/NAME` and checks that the dataset can be found in it.
fn assemble(entry: &Entry, files: &[(&Published, PathBuf)], whole: &Path) -> Result<(), Failure> {
    if whole.exists() {
        fs::remove_dir_all(whole).map_err(local("remove", whole))?;
    }
    let folder = whole.join(&entry.name);
    fs::create_dir_all(&folder).map_err(local("create", &folder))?;
    for (file, path) in files {
        if file.is_zip() {
            let unpacked = unpack::unpack(path, &folder, entry.within.as_deref());
            if let Err(Failure::Wrong(problem)) = unpacked {
                // Or the next call would take it for a finished download.
                let _ = fs::remove_file(path);
                return Err(Failure::Wrong(format!("{}: {problem}", file.url)));
            }
            unpacked?;
        } else {
            let place = folder.join(&file.file);
            fs::rename(path, &place).map_err(local("create", &place))?;
        }
    }
    match locate_in(entry, slice::from_ref(&whole.to_path_buf())) {
        Ok(_) => Ok(()),
        Err(_) => {
            let addresses: Vec<_> = entry.files.iter().map(|file| file.url.as_str()).collect();
            files.iter().for_each(|(_, path)| drop(fs::remove_file(path)));
            Err(Failure::Wrong(format!("{}: lacks files of the dataset", addresses.join(", "))))
        }
    }
}

fn local(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
    let path = path.to_path_buf();
    move |error| Failure::Local(Error::io(action, path)(error))
}
