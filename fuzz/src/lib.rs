//! What all fuzz targets share. `readers.rs` has those of other people's files; `own_files.rs` and `models.rs` have those of the files that
//! fiedler writes itself. Features leave out what a target does not need: the tensor library takes long to build for a fuzzer.

#[cfg(feature = "models")]
pub mod models;
pub mod own_files;
#[cfg(feature = "readers")]
pub mod readers;

/// Hands an input to a target.
///
/// # Panics
/// When reading does what it must not do; and when there is no such target.
pub fn run(target: &str, data: &[u8]) {
    match target {
        "scheme" => own_files::scheme(data),
        #[cfg(feature = "models")]
        target if models::TARGETS.contains(&target) => models::run(target, data),
        #[cfg(feature = "readers")]
        target => readers::run(target, data),
        #[cfg(not(feature = "readers"))]
        target => panic!("no target is called {target}"),
    }
}
