//! Files in and out: what `convert` writes, what `inspect` reads and tells.

use std::fs;

use tempfile::TempDir;

use super::{failure, fiedler, json_of, stdout, write_rings};

#[test]
fn sets_are_converted_and_read_back() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let before = json_of(fiedler(folder.path()).args(["inspect", "RINGS"]));
    fs::create_dir(folder.path().join("files")).unwrap();
    for target in ["rings.json", "rings.npz", "rings.zip", "files/rings_A.txt"] {
        fiedler(folder.path()).args(["convert", "RINGS", target]).assert().success();
        let after = json_of(fiedler(folder.path()).args(["inspect", target]));
        for key in ["graphs", "nodes", "edges", "classes", "class_counts"] {
            assert_eq!(after[key], before[key], "{target}: {key}");
        }
    }
    let message = failure(fiedler(folder.path()).args(["convert", "RINGS", "rings.csv"]), 2);
    assert!(message.contains("number of graphs is 40") && message.contains(".json, _a.txt, .zip, .npz"), "{message}");
}

#[test]
fn what_a_format_leaves_out_is_told_first() {
    let folder = TempDir::new().unwrap();
    let output = fiedler(folder.path()).args(["convert", "karate", "karate.zip"]).assert().success();
    let told = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    let (note, wrote) = (told.find("classes of nodes are left out").unwrap(), told.find("wrote karate.zip").unwrap());
    assert!(note < wrote, "{told}");
    let help = stdout(fiedler(folder.path()).args(["convert", "--help"]));
    for ending in [".csv", ".graphml", ".json", "_a.txt", ".zip", ".npz"] {
        assert!(help.contains(ending), "{ending}: {help}");
    }
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let folder = TempDir::new().unwrap();
    let seen = json_of(fiedler(folder.path()).args(["inspect", "-"]).write_stdin("0 1\n1 2\n# node: 9\n"));
    assert_eq!((&seen["nodes"], &seen["edges"], &seen["format"]), (&4.into(), &2.into(), &"edge-list".into()));
    fiedler(folder.path()).args(["convert", "-", "g.graphml"]).write_stdin("a,b\nb,c\n").assert().success();
    assert_eq!(json_of(fiedler(folder.path()).args(["inspect", "g.graphml"]))["edges"], 2);
}

#[test]
fn flags_say_what_is_missing_and_what_labels_are() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("g.csv"), "a,b\nb,c\n").unwrap();
    fs::write(folder.path().join("x.csv"), "id,p\na,1\nc,3\n").unwrap();
    fs::write(folder.path().join("y.csv"), "id,label,split\na,1,train\nb,2,test\nc,,\n").unwrap();
    let flags = ["inspect", "g.csv", "--features", "x.csv", "--labels", "y.csv"];
    let message = failure(fiedler(folder.path()).args(flags), 3);
    assert!(message.contains("no row for node \"b\"") && message.contains("--fill mean"), "{message}");
    let seen = json_of(fiedler(folder.path()).args(flags).args(["--fill", "mean", "--target", "regression"]));
    assert_eq!(
        (&seen["features"], &seen["label_kind"], &seen["splits"][0]),
        (&1.into(), &"values".into(), &"split".into())
    );
    let notes = seen["notes"].as_array().unwrap();
    assert!(notes.contains(&"1 of 3 nodes have no label".into()), "{notes:?}");
    assert!(notes.contains(&"1 missing feature values were filled with the mean of their column".into()), "{notes:?}");
}

#[test]
fn a_split_beside_labels_is_what_embeddings_are_judged_by() {
    let folder = TempDir::new().unwrap();
    let (mut x, mut y) = (String::from("id,a,b\n"), String::from("id,label,split\n"));
    for row in 0..40 {
        let part = ["train", "train", "val", "test"][row / 2 % 4];
        x += &format!("n{row},{},{}\n", row % 2 * 3 + row % 5, row % 7);
        y += &format!("n{row},{},{part}\n", if row % 2 == 0 { "even" } else { "odd" });
    }
    fs::write(folder.path().join("x.csv"), x).unwrap();
    fs::write(folder.path().join("y.csv"), y).unwrap();
    let score =
        json_of(fiedler(folder.path()).args(["evaluate", "x.csv", "--labels", "y.csv", "--protocol", "public"]));
    let splits = score["splits"].as_array().unwrap();
    assert_eq!((splits.len(), &splits[0]["name"]), (1, &"split".into()), "{score}");
}

#[test]
fn a_graph_of_two_sides_is_told() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("sold.csv"), "buyer,good\nann,tea\nbob,tea\nbob,rice\n").unwrap();
    assert!(stdout(fiedler(folder.path()).args(["inspect", "sold.csv"])).contains("bipartite"));
    assert!(!stdout(fiedler(folder.path()).args(["inspect", "karate"])).contains("bipartite"));
}
