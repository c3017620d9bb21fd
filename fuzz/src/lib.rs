//! What all fuzz targets share. `readers.rs` has those of other people's files, `own_files.rs` those of the files that fiedler writes itself.

pub mod own_files;
pub mod readers;

/// Hands an input to a target.
///
/// # Panics
/// When reading does what it must not do; and when there is no such target.
pub fn run(target: &str, data: &[u8]) {
    if own_files::TARGETS.contains(&target) { own_files::run(target, data) } else { readers::run(target, data) }
}
