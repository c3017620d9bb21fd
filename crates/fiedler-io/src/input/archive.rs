//! Zip archives: TU's downloads, and numpy's npz.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use zip::ZipArchive;

use super::expansion_limit;
use super::file::{File, bomb};
use crate::error::{Place, Result};

/// A zip archive in memory. Names are cleaned: no doubled slashes, no folder that all members share, no system litter.
#[derive(Debug)]
pub struct Archive {
    place: Place,
    zip: ZipArchive<Cursor<Arc<[u8]>>>,
    stored: u64,
    members: BTreeMap<String, usize>,
}

impl Archive {
    /// Reads the archive's table of contents.
    ///
    /// # Errors
    /// When the bytes are no zip archive.
    pub fn open(bytes: Vec<u8>, path: impl AsRef<Path>) -> Result<Archive> {
        Archive::of(File::new(path, bytes))
    }

    /// As [`Archive::open`], of a file that may itself have been unpacked.
    ///
    /// # Errors
    /// When the file is no zip archive.
    pub fn of(file: File) -> Result<Archive> {
        let (place, stored) = (file.place().clone(), file.stored());
        let zip = ZipArchive::new(Cursor::new(Arc::from(file.into_bytes()))).map_err(|error| {
            let malformed = place.malformed(format!("damaged zip data ({error})"), "a whole zip archive");
            malformed.hint("the file may be truncated; download it again")
        })?;
        let mut members: BTreeMap<String, usize> = BTreeMap::new();
        for (at, name) in (0..zip.len()).filter_map(|at| Some((at, zip.name_for_index(at)?.ok()?))) {
            if !name.ends_with('/') && !is_litter(&name) {
                members.insert(clean(&name), at);
            }
        }
        let members = strip_shared_folder(members);
        Ok(Archive { place, zip, stored, members })
    }

    /// Names of the members, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Whether there is a member of this name.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Where the archive came from.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Unpacks one member.
    ///
    /// # Errors
    /// When there is no such member, its data are damaged, or it expands beyond measure.
    pub fn read(&self, name: &str) -> Result<File> {
        let place = self.place.member(name);
        let Some(&at) = self.members.get(name) else {
            let found = self.names().take(8).collect::<Vec<_>>().join(", ");
            return Err(self.place.malformed(format!("only {found}"), format!("a member {name}")).into());
        };
        let limit = expansion_limit(self.stored);
        let mut bytes = Vec::new();
        let mut zip = self.zip.clone();
        let unpacked = zip
            .by_index(at)
            .map_err(|error| error.to_string())
            .and_then(|member| member.take(limit + 1).read_to_end(&mut bytes).map_err(|error| error.to_string()));
        if let Err(error) = unpacked {
            let malformed = place.malformed(format!("damaged zip data ({error})"), "a whole member");
            return Err(malformed.hint("the file may be truncated; download it again").into());
        }
        if bytes.len() as u64 > limit {
            return Err(bomb(&place, limit).into());
        }
        Ok(File::unpacked_from(self.stored, place, bytes))
    }
}

fn clean(name: &str) -> String {
    name.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>().join("/")
}

/// Whether a member is what an operating system or editor left behind.
pub(crate) fn is_litter(name: &str) -> bool {
    name.starts_with("__MACOSX/") || name.ends_with(".DS_Store") || name.ends_with('~')
}

fn strip_shared_folder(members: BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let folder_of = |name: &str| name.split_once('/').map(|(folder, _)| folder.to_owned());
    let Some(shared) = members.keys().next().and_then(|name| folder_of(name)) else { return members };
    if members.keys().all(|name| folder_of(name).as_ref() == Some(&shared)) {
        members.into_iter().map(|(name, at)| (name[shared.len() + 1..].to_owned(), at)).collect()
    } else {
        members
    }
}
