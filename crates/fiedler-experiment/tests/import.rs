//! Encoders that PyTorch saved are ours after an import, to the last digits that matter, and nothing in the file is run.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "molecules")]

use std::fs;
use std::path::{Path, PathBuf};

use fiedler_experiment::import::{import, read_published};
use fiedler_experiment::run::read_encoder;
use fiedler_experiment::{ErrorKind, ReadOptions, Task};
use fiedler_graph::NoObserver;
use fiedler_learn::published::hu_gin;
use fiedler_learn::state_dict::StateDict;

/// What is done to the name, shape and values of a tensor; whether it stays.
type Change<'a> = &'a dyn Fn(&str, &mut Vec<usize>, &mut Vec<f32>) -> bool;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hu_gin").join(name)
}

fn molecules() -> Task {
    Task::open(fixture("molecules.smi").to_str().unwrap(), &ReadOptions::default(), 0, &NoObserver).unwrap()
}

#[test]
fn the_forward_pass_is_that_of_pytorch() {
    let expected: Vec<Vec<f32>> = serde_json::from_str(&fs::read_to_string(fixture("expected.json")).unwrap()).unwrap();
    for (name, left_out) in [("weights.pth", &[][..]), ("old.pth", &["graph_pred_linear.weight"]), ("unkind.pth", &[])]
    {
        let published = read_published(&fixture(name)).unwrap();
        assert_eq!(published.left_out, left_out, "{name}");
        assert_eq!(published.shape, "3 graph isomorphism layers of 6 channels, 12 between");
        let found = published.encoder.embed(&molecules().dataset).unwrap().to_dense().unwrap();
        assert_eq!((found.rows(), found.columns()), (expected.len(), 6));
        for (graph, expected) in expected.iter().enumerate() {
            for (found, expected) in found.row(graph).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5, "{name}, molecule {graph}: {found}, expected {expected}");
            }
        }
    }
    assert!(!Path::new("fiedler-was-here").exists(), "a call in the file was made");
}

#[test]
fn an_import_is_an_encoder_of_ours_and_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("imported");
    let made = import(&fixture("weights.pth"), &out, false).unwrap();
    let data = molecules().dataset;
    let direct = read_encoder(&fixture("weights.pth")).unwrap();
    assert_eq!(read_encoder(&made.encoder).unwrap(), direct);
    assert!(direct.pretrained().unwrap().weights().iter().all(|(name, ..)| name.starts_with("encoder.Gin.")));
    assert_eq!(direct.embed(&data).unwrap().rows(), 8);
    let error = import(&fixture("weights.pth"), &out, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output, "{error}");
    import(&fixture("old.pth"), &out, true).unwrap();
    // Data that are no molecules are refused by name.
    let karate = Task::open("karate", &ReadOptions::default(), 0, &NoObserver).unwrap();
    let error = direct.embed(&karate.dataset).unwrap_err().to_string();
    assert!(error.contains("features.molecules is hu"), "{error}");
}

#[test]
fn a_tensor_that_does_not_fit_is_named() {
    let file = fiedler_io::read::torch::StateFile::read(fixture("weights.pth")).unwrap();
    let weights = |change: Change<'_>| {
        let mut weights = StateDict::default();
        for (name, array) in file.tensors() {
            let (mut shape, mut values) = (array.shape().to_vec(), array.to_f32().unwrap());
            if change(name, &mut shape, &mut values) {
                weights.insert(name, shape, values).unwrap();
            }
        }
        hu_gin(&weights).map(|found| found.shape).map_err(|error| error.to_string())
    };
    let missing = |which: &'static str| weights(&|name, _, _| name != which).unwrap_err();
    assert_eq!(
        missing("gnns.1.edge_embedding2.weight"),
        "the weights have nothing for gnns.1.edge_embedding2.weight; expected shape [3, 6]"
    );
    assert_eq!(
        missing("batch_norms.2.running_var"),
        "the weights have nothing for batch_norms.2.running_var; expected shape [6]"
    );
    assert!(missing("x_embedding1.weight").contains("nothing, but batch_norms.0.bias"));
    assert!(missing("gnns.0.mlp.0.weight").contains("gnns.0.mlp.0.weight; expected shape [any, 6]"));
    let narrow = weights(&|name, shape, values| {
        if name == "gnns.2.mlp.2.weight" {
            (*shape, *values) = (vec![6, 3], vec![0.0; 18]);
        }
        true
    });
    assert_eq!(narrow.unwrap_err(), "the weights have shape [6, 3] for gnns.2.mlp.2.weight; expected shape [6, 12]");
    let endless = weights(&|name, _, values| {
        if name == "x_embedding2.weight" {
            values[0] = f32::NAN;
        }
        true
    });
    assert!(endless.unwrap_err().contains("a value that is no finite number for x_embedding2.weight"));
    // What holds no encoder, or is damaged, is refused in words.
    let folder = tempfile::tempdir().unwrap();
    for (name, cut) in [("weights.pth", 9_000), ("old.pth", 9_000), ("old.pth", 400), ("old.pth", 3)] {
        let path = folder.path().join(format!("cut-{cut}-{name}"));
        fs::write(&path, &fs::read(fixture(name)).unwrap()[..cut]).unwrap();
        let error = read_published(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data, "{error}");
        assert!(error.to_string().contains(&format!("cut-{cut}")), "{error}");
    }
}
