//! What fuzzing found once: inputs that made a reader panic, take too long or ask for too much memory.

#[path = "../../../../fuzz/src/readers.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn what_was_found_is_read_without_harm() {
    let mut inputs = 0;
    for folder in entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/fuzz")) {
        let target = folder.file_name().and_then(|name| name.to_str()).expect("a plain name");
        for input in entries(&folder) {
            targets::run(target, &fs::read(&input).expect("a file"));
            inputs += 1;
        }
    }
    assert!(inputs > 0, "no inputs were found");
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("an entry").path()).collect()
}
