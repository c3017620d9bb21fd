//! `fiedler attack` and `fiedler inspect --suspicious` as a user meets them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{explained, failure, fiedler, json_of, stdout};

const GRAPH: &str = "sbm:nodes=120,classes=3";

fn attack(folder: &Path, extra: &[&str]) -> Value {
    json_of(fiedler(folder).args(["attack", GRAPH]).args(extra))
}

fn edges(path: &Path, folder: &Path) -> BTreeSet<(String, String)> {
    fiedler(folder).args(["convert", path.to_str().unwrap(), "edges.csv", "--force"]).assert().success();
    let mut rows = csv::Reader::from_path(folder.join("edges.csv")).unwrap();
    let pair = |row: csv::StringRecord| (row[0].to_owned(), row[1].to_owned());
    rows.records().map(|row| pair(row.unwrap())).collect()
}

#[test]
fn the_folder_holds_graph_flips_record_and_page() {
    let folder = TempDir::new().unwrap();
    let there = folder.path();
    let extra = ["--method", "mettack", "--ratio", "0.03", "--split", "public", "--out", "poisoned"];
    let record = attack(there, &extra);
    let flips = record["flips"].as_u64().unwrap();
    assert!(flips > 3 && record["budget"] == record["flips"], "{record}");
    assert_eq!((&record["attack"]["name"], &record["knows"]), (&"mettack".into(), &"labels of training nodes".into()));
    assert_eq!(record["split"]["fingerprint"].as_str().unwrap().len(), 32);
    let accuracy = &record["surrogate_accuracy"];
    assert!(accuracy["after"].as_f64() <= accuracy["before"].as_f64(), "{accuracy}");
    let out = there.join("poisoned");
    let written: Value = serde_json::from_str(&fs::read_to_string(out.join("attack.json")).unwrap()).unwrap();
    assert_eq!(written, record);

    // Both files hold the poisoned graph, and differ from the clean one in the flips alone.
    let poisoned = edges(&out.join("poisoned.npz"), there);
    assert_eq!(edges(&out.join("adjacency.npz"), there), poisoned);
    fiedler(there).args(["convert", GRAPH, "clean.npz"]).assert().success();
    let clean = edges(&there.join("clean.npz"), there);
    let mut rows = csv::Reader::from_path(out.join("flips.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = rows.records().map(|row| row.unwrap()).collect();
    let changed: BTreeSet<(String, String)> = rows.iter().map(|row| (row[1].to_owned(), row[2].to_owned())).collect();
    assert_eq!(clean.symmetric_difference(&poisoned).cloned().collect::<BTreeSet<_>>(), changed);
    assert_eq!(rows.len() as u64, flips);
    assert!(rows.iter().all(|row| ["add", "remove"].contains(&&row[3]) && row[4].parse::<f64>().is_ok()));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for word in ["Where the flips fall", "The spectrum before and after", "Edges that look added"] {
        assert!(page.contains(word), "no {word}");
    }

    // The folder is a dataset, and says what it is.
    let output = fiedler(there).args(["inspect", "poisoned"]).assert().success().get_output().clone();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("poisoned by mettack") && notes.contains("other nodes are hardly hurt"), "{notes}");
    // A second attack does not replace the first, unless asked.
    assert!(
        failure(fiedler(there).args(["attack", GRAPH, "--split", "public", "--out", "poisoned"]), 5).contains("exists")
    );
    attack(there, &["--method", "random", "--out", "poisoned", "--force"]);
}

#[test]
fn every_attack_runs_and_is_the_same_again() {
    let folder = TempDir::new().unwrap();
    for method in ["random", "dice", "gf", "gf-relaxed", "mettack", "pr-bcd", "gr-bcd"] {
        let extra = ["--method", method, "--ratio", "0.02", "--split", "random", "--seed", "3"];
        let run = |threads: &str| attack(folder.path(), &[&extra[..], &["--threads", threads]].concat());
        let (one, two) = (run("1"), run("2"));
        assert_eq!(one["poisoned_fingerprint"], two["poisoned_fingerprint"], "{method}");
        assert_eq!(one["flips"], one["budget"], "{method}");
    }
}

#[test]
fn what_cannot_be_attacked_is_explained_before_anything_is_written() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("split.json"), r#"{"train": [0, 900], "test": [1]}"#).unwrap();
    fs::write(folder.path().join("broken.json"), "{").unwrap();
    let out = ["--out", "nothing"];
    let with = |extra: &[&'static str]| [&["attack", GRAPH][..], extra, &out].concat();
    let cases: Vec<(Vec<&str>, i32, Vec<&str>)> = vec![
        (with(&[]), 2, vec!["mettack", "--split"]),
        (with(&["--method", "metattack"]), 2, vec!["mettack"]),
        (with(&["--split", "public", "--ratio", "1.5"]), 2, vec!["ratio is 1.5", "from 0 to 1"]),
        (with(&["--split", "public", "--set", "objectives=both"]), 2, vec!["objectives", "did you mean objective"]),
        (with(&["--split", "public", "--set", "objective=meta"]), 2, vec!["objective", "meta-self"]),
        (with(&["--split", "public", "--set", "surrogate.steps=0"]), 2, vec!["surrogate.steps"]),
        (with(&["--split", "split.json"]), 3, vec!["split.json", "900", "below 120"]),
        (with(&["--split", "broken.json"]), 3, vec!["broken.json", "\"train\""]),
        (with(&["--split", "none.json"]), 4, vec!["none.json"]),
        (
            vec!["attack", "erdos-renyi:nodes=30", "--method", "dice", "--out", "nothing"],
            2,
            vec!["dice", "classes of nodes"],
        ),
        (vec!["attack", "karate", "--split", "public", "--out", "nothing"], 2, vec!["karate", "--split random"]),
    ];
    let cases: Vec<(&[&str], i32, &[&str])> =
        cases.iter().map(|(arguments, code, words)| (&arguments[..], *code, &words[..])).collect();
    explained(folder.path(), &cases);
    assert!(!folder.path().join("nothing").exists());
}

#[test]
fn suspicious_edges_are_listed() {
    let folder = TempDir::new().unwrap();
    let found = json_of(fiedler(folder.path()).args(["inspect", "citation", "--suspicious", "7"]));
    let suspects = found["suspicious"].as_array().unwrap();
    assert_eq!(suspects.len(), 7);
    assert!(suspects.windows(2).all(|two| two[0]["score"].as_f64() >= two[1]["score"].as_f64()));
    let text = stdout(fiedler(folder.path()).args(["inspect", "karate", "--suspicious"]));
    assert!(text.contains("edges that look added") && text.matches("suspicion").count() == 20, "{text}");
}

#[test]
fn pruning_is_a_step_of_any_methods_views() {
    let folder = TempDir::new().unwrap();
    let views = r#"views=[{name="compose",steps=[{name="prune-edges",threshold=0.05},{name="drop-edges",rate=0.2}]},{name="prune-edges"}]"#;
    let mut command = fiedler(folder.path());
    command.args(["embed", GRAPH, "--method", "grace", "--set", "training.epochs=2", "--set", views, "--out", "run"]);
    command.assert().success();
}
