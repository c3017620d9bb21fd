//! Weights that PyTorch saved: both layouts hold the same, and damage ends in an error.

use std::path::{Path, PathBuf};

use fiedler_io::input::File;
use fiedler_io::read::torch::{StateFile, is_torch};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fiedler-experiment/tests/fixtures/hu_gin").join(name)
}

fn tensors(name: &str) -> Vec<(String, Vec<usize>, Vec<f32>)> {
    let file = StateFile::read(fixture(name)).expect("weights");
    let plain = |name: &str| name.trim_start_matches("gnn.").to_owned();
    let mut found: Vec<_> = file
        .tensors()
        .map(|(name, array)| (plain(name), array.shape().to_vec(), array.to_f32().expect("numbers")))
        .filter(|(name, ..)| !name.starts_with("graph_pred"))
        .collect();
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[test]
fn both_layouts_hold_the_same_tensors() {
    let zip = tensors("weights.pth");
    assert_eq!(zip.len(), 2 + 3 * (6 + 5));
    assert_eq!(zip.iter().find(|(name, ..)| name == "x_embedding1.weight").unwrap().1, [120, 6]);
    for name in ["old.pth", "unkind.pth"] {
        assert_eq!(tensors(name), zip, "{name}");
    }
}

#[test]
fn damage_ends_in_an_error_or_in_tensors_and_never_in_a_panic() {
    let whole = std::fs::read(fixture("old.pth")).unwrap();
    assert!(is_torch(&whole) && !is_torch(&whole[1..]));
    let mut refused = 0;
    for at in 0..whole.len().min(3_000) {
        for change in [0x00, 0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = if change == 1 { damaged[at].wrapping_add(1) } else { change };
            refused += usize::from(StateFile::of(File::new("a.pth", damaged)).is_err());
        }
    }
    for length in (0..whole.len()).step_by(13) {
        assert!(StateFile::of(File::new("a.pth", whole[..length].to_vec())).is_err(), "{length} bytes");
    }
    assert!(refused > 1_000, "{refused}");
}

#[test]
fn what_holds_no_weights_is_refused_in_words() {
    for (bytes, expected) in [
        (&b"weights"[..], "neither a zip archive nor its forerunner"),
        (b"PK\x03\x04", "damaged zip data"),
        // torch.save([1, 2]) before 1.6: magic, version, system, list, no storages.
        (
            b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}.\x80\x02](K\x01K\x02e.\x80\x02].",
            "state_dict",
        ),
    ] {
        let error = StateFile::of(File::new("a.pth", bytes.to_vec())).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
