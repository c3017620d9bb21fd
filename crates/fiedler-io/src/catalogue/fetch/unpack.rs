//! Unpacking a zip that a stranger may have made.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Read, Seek, Write};
use std::path::Path;

use zip::ZipArchive;

use super::{Failure, local};
use crate::input::{expansion_limit, is_litter};

/// No published dataset comes near this many files.
const MAX_MEMBERS: usize = 10_000;

/// Unpacks an archive, or one folder within it, into a folder. A folder that all members share is left out.
pub(super) fn unpack(archive: &Path, into: &Path, within: Option<&str>) -> Result<(), Failure> {
    let file = File::open(archive).map_err(local("read", archive))?;
    let size = file.metadata().map_err(local("read", archive))?.len();
    let mut zip = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    if zip.len() > MAX_MEMBERS {
        return Err(Failure::Wrong(format!("the zip has {} members; expected at most {MAX_MEMBERS}", zip.len())));
    }
    let mut members = wanted(&mut zip, within)?;
    if members.is_empty() {
        let within = within.map(|folder| format!(" within {folder}")).unwrap_or_default();
        return Err(Failure::Wrong(format!("the zip holds no files{within}")));
    }
    leave_out_shared_folder(&mut members);

    let limit = expansion_limit(size);
    let mut left = limit;
    for (at, parts) in members {
        let path = parts.iter().fold(into.to_path_buf(), |path, part| path.join(part));
        let parent = path.parent().unwrap_or(into);
        fs::create_dir_all(parent).map_err(local("create", parent))?;
        let mut target = match File::create_new(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Failure::Wrong(format!("the zip has {} twice", parts.join("/"))));
            }
            Err(error) => return Err(local("create", &path)(error)),
        };
        let mut member = zip.by_index(at).map_err(damaged)?.take(left.saturating_add(1));
        // A short buffer of our own tells errors of the archive from errors of the disk.
        let mut chunk = vec![0; 64 << 10];
        loop {
            let count = match member.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) => return Err(damaged(error)),
            };
            left = left.checked_sub(count as u64).ok_or_else(|| {
                Failure::Wrong(format!("the zip unpacks to more than {limit} bytes, too many for its size"))
            })?;
            target.write_all(&chunk[..count]).map_err(local("write", &path))?;
        }
        target.sync_all().map_err(local("write", &path))?;
    }
    Ok(())
}

/// The files to unpack: their index, and the parts of their path.
fn wanted<R: Read + Seek>(zip: &mut ZipArchive<R>, within: Option<&str>) -> Result<Vec<(usize, Vec<String>)>, Failure> {
    let within: Vec<_> = within.into_iter().flat_map(|folder| folder.split('/')).collect();
    let mut members = Vec::new();
    for at in 0..zip.len() {
        let member = zip.by_index(at).map_err(damaged)?;
        let name = member.name().map_err(damaged)?.into_owned();
        if is_litter(&name) || member.is_dir() {
            continue;
        }
        let Some(parts) = safe_parts(&name).filter(|_| !member.is_symlink()) else {
            return Err(Failure::Wrong(format!("the zip has a member {name:?}, which leads out of its folder")));
        };
        let inside = parts.len() > within.len() && parts.iter().zip(&within).all(|(part, folder)| part == folder);
        if inside {
            members.push((at, parts[within.len()..].iter().map(|part| (*part).to_owned()).collect()));
        }
    }
    Ok(members)
}

/// The parts of a member's path; `None` when it is absolute or climbs, on any system.
fn safe_parts(name: &str) -> Option<Vec<&str>> {
    let parts: Vec<_> = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | ".")).collect();
    let absolute = name.starts_with(['/', '\\']);
    let strange = parts.iter().any(|part| *part == ".." || part.contains([':', '\0']));
    (!absolute && !strange && !parts.is_empty()).then_some(parts)
}

fn leave_out_shared_folder(members: &mut [(usize, Vec<String>)]) {
    let Some(first) = members.first().and_then(|(_, parts)| parts.first()).cloned() else { return };
    if members.iter().all(|(_, parts)| parts.len() > 1 && parts[0] == first) {
        for (_, parts) in members {
            parts.remove(0);
        }
    }
}

fn damaged(error: impl std::fmt::Display) -> Failure {
    Failure::Wrong(format!("the zip is damaged ({error}); it may have been cut short"))
}
