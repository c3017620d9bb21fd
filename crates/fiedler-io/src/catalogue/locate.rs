//! Where on this machine a dataset lies.

use std::env;
use std::path::{Path, PathBuf};

use super::entry::{Entry, Pattern, find};
use crate::error::{Error, Result};

/// A dataset that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file or folder to read.
    pub path: PathBuf,
    /// The format it is in, a name of [`FORMATS`](crate::read::FORMATS).
    pub format: String,
}

/// Looks for a dataset by its name in [`folders`].
///
/// # Errors
/// When no dataset has the name, it is not on this machine, or no reader can read what is published of it.
pub fn locate(name: &str) -> Result<Located> {
    locate_in(find(name)?, &folders())
}

/// Looks for a dataset in the given folders, in their order.
///
/// # Errors
/// When it is in none of them, or no reader can read what is published of it.
pub fn locate_in(entry: &Entry, folders: &[PathBuf]) -> Result<Located> {
    if let Some(reason) = &entry.unreadable {
        return Err(Error::Unreadable { name: entry.name.clone(), reason: reason.clone() });
    }
    folders.iter().find_map(|folder| entry.locate_below(folder)).ok_or_else(|| Error::NotFound {
        name: entry.name.clone(),
        searched: folders.to_vec(),
        hint: match &entry.by_hand {
            Some(_) => entry.by_hand(&cache_folder().unwrap_or_else(|| "a folder of FIEDLER_DATA".into())),
            None => format!(
                "`fiedler data fetch {}` downloads it; set FIEDLER_DATA to the folder if you have it already",
                entry.name
            ),
        },
    })
}

/// The folders that are searched: those that `FIEDLER_DATA` lists, then the cache.
pub fn folders() -> Vec<PathBuf> {
    let listed = env::var_os("FIEDLER_DATA").map(|list| env::split_paths(&list).collect::<Vec<_>>());
    let listed = listed.unwrap_or_default().into_iter().filter(|folder| !folder.as_os_str().is_empty());
    listed.chain(cache_folder()).collect()
}

/// The folder that datasets are downloaded to: `FIEDLER_CACHE`, or `fiedler` in the platform's folder for caches.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("FIEDLER_CACHE").or_else(|| {
        let platform = if cfg!(windows) {
            set("LOCALAPPDATA")
        } else if cfg!(target_os = "macos") {
            env::home_dir().map(|home| home.join("Library/Caches"))
        } else {
            // The standard asks to ignore a relative path.
            let standard = set("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
            standard.or_else(|| env::home_dir().map(|home| home.join(".cache")))
        };
        platform.map(|folder| folder.join("fiedler"))
    })
}

impl Entry {
    /// How a person gets the dataset without this program, and where to put it.
    pub(super) fn by_hand(&self, cache: &Path) -> String {
        let folder = cache.join(&self.name);
        let folder = folder.display();
        if let Some(page) = &self.by_hand {
            let files = if self.holds.is_empty() { "the file".into() } else { self.holds.join(", ") };
            return format!("by hand: from {page}, put {files} into {folder}");
        }
        let addresses: Vec<_> = self.files.iter().map(|file| file.url.as_str()).collect();
        let addresses = addresses.join(", ");
        match self.files.iter().any(|file| file.is_zip()) {
            true => format!("by hand: download {addresses} and unpack it into {folder}"),
            false => format!("by hand: download {addresses} into {folder}"),
        }
    }

    fn locate_below(&self, folder: &Path) -> Option<Located> {
        let format = self.format.as_ref()?;
        self.places.iter().find_map(|place| {
            let path = self.spellings(place).map(|path| folder.join(path)).find(|path| self.is_at(path))?;
            Some(Located { path, format: place.format.as_ref().unwrap_or(format).clone() })
        })
    }

    /// The paths that a pattern stands for.
    fn spellings<'a>(&'a self, place: &'a Pattern) -> impl Iterator<Item = String> + 'a {
        self.names().flat_map(move |name| {
            let named = place.path.replace("{name}", name);
            self.keys.iter().map(move |key| named.replace("{key}", key))
        })
    }

    /// Whether a path is this dataset: a file, or a folder with all the files that it needs.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let holds_all = |key: &String| self.holds.iter().all(|file| path.join(file.replace("{key}", key)).is_file());
        path.is_file() || (path.is_dir() && !self.holds.is_empty() && self.keys.iter().any(holds_all))
    }
}
