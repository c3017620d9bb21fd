//! What opens a dataset: paths, names and generators; how it is read, as settings that can be written down.
#![allow(clippy::unwrap_used)]

use fiedler_io::{Error, ReadOptions, open};

#[test]
fn a_path_that_exists_goes_before_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("karate");
    std::fs::write(&path, "0 1\n").unwrap();
    let options = ReadOptions::default();
    assert_eq!(open(path.to_str().unwrap(), &options, 0).unwrap().graphs.num_edges(), 1);
    assert_eq!(open("karate", &options, 0).unwrap().graphs.num_edges(), 78);
}

#[test]
fn what_is_not_there_is_taken_for_what_it_looks_like() {
    let refuse = |data| open(data, &ReadOptions::default(), 0).unwrap_err();
    assert!(matches!(refuse("cora.npz"), Error::Io { .. }));
    assert!(matches!(refuse("data/cora"), Error::Io { .. }));
    assert!(matches!(refuse("coraa"), Error::UnknownDataset { nearest: Some(nearest), .. } if nearest == "cora"));
    assert!(matches!(refuse("smb:nodes=3"), Error::Graph(fiedler_graph::Error::UnknownName { .. })));
    let error = refuse("sbm:nodes=0");
    assert!(matches!(&error, Error::Graph(fiedler_graph::Error::Setting { name, .. }) if name == "nodes"), "{error}");
}

#[test]
fn a_file_that_is_not_there_names_the_one_that_may_be_meant() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("friends.csv"), "a,b\n").unwrap();
    let hint = |name: &str| {
        let path = folder.path().join(name);
        open(path.to_str().unwrap(), &ReadOptions::default(), 0).unwrap_err().hint().unwrap()
    };
    assert_eq!(hint("freinds.csv"), format!("did you mean {}?", folder.path().join("friends.csv").display()));
    assert!(hint("edges.npz").contains("`fiedler data list`"));
    assert!(hint("none/friends.csv").starts_with("there is no folder "));
}

#[test]
fn options_can_be_written_down() {
    // As today's run.json has them.
    let written = r#"{"format": null, "features": "x.csv", "labels": null, "targets": ["p_np"], "attributes": false,
        "unweighted": true}"#;
    let options: ReadOptions = serde_json::from_str(written).unwrap();
    let expected = ReadOptions {
        features: Some("x.csv".into()),
        columns: vec!["p_np".into()],
        unweighted: true,
        ..ReadOptions::default()
    };
    assert_eq!(options, expected);
    let again: ReadOptions = serde_json::from_str(&serde_json::to_string(&options).unwrap()).unwrap();
    assert_eq!(again, options);
    assert_eq!(serde_json::from_str::<ReadOptions>("{}").unwrap(), ReadOptions::default());
    assert!(serde_json::from_str::<ReadOptions>(r#"{"colums": []}"#).is_err());
}

#[cfg(not(feature = "molecules"))]
#[test]
fn a_build_without_chemistry_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("BBBP.csv");
    std::fs::write(&path, "name,p_np,smiles\nethanol,1,CCO\n").unwrap();
    let error = open(path.to_str().unwrap(), &ReadOptions::default(), 0).unwrap_err();
    assert!(error.to_string().ends_with("another format, since this build cannot read SMILES"), "{error}");
    assert_eq!(error.hint().unwrap(), "build with the feature `molecules`");
}
