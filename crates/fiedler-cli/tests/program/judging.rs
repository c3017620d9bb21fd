//! What `fiedler embed` says of its own embeddings: by the protocol of `fiedler evaluate`, and never at the cost of the embeddings.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{failure, fiedler, json_of, stdout, write_rings};

const SMALL: [&str; 4] = ["--hidden", "8", "--epochs", "2"];

/// A path of so many nodes, with these labels.
fn write_path(folder: &Path, nodes: usize, labels: &[&str]) {
    let edges: String = (1..nodes).map(|node| format!("{},{}\n", node - 1, node)).collect();
    fs::write(folder.join("path.csv"), format!("source,target\n{edges}")).unwrap();
    let labels: String = labels.iter().enumerate().map(|(node, label)| format!("{node},{label}\n")).collect();
    fs::write(folder.join("labels.csv"), format!("node,label\n{labels}")).unwrap();
}

fn embed(folder: &Path, more: &[&str]) -> Value {
    let data = ["embed", "path.csv", "--labels", "labels.csv", "--out", "run", "--force"];
    json_of(fiedler(folder).args(data).args(more))
}

#[test]
fn embeddings_that_cannot_be_judged_are_written_with_a_note() {
    let folder = TempDir::new().unwrap();
    let npy = folder.path().join("run/embeddings.npy");
    let untrained: &[&str] = &["--method", "untrained", "--hidden", "8"];
    let cases: [(&[&str], &str); 3] = [
        (&["a", "b", "a", "b", "a", "b"], "too few labels to judge by: 6 nodes have a label"),
        (&["a"; 30], "too few labels to judge by: all 30 are of class \"a\""),
        (&["a", "b"], "too few labels to judge by: class \"a\" has 1 member"),
    ];
    for (labels, reason) in cases {
        write_path(folder.path(), 30, labels);
        for flags in [&SMALL[..], untrained] {
            let summary = embed(folder.path(), flags);
            assert_eq!((&summary["finished"], &summary["result"]["not_judged"]), (&true.into(), &reason.into()));
            assert!(summary["result"]["scores"].as_array().unwrap().is_empty() && npy.exists());
            fs::remove_file(&npy).unwrap();
        }
        let encoder = ["embed", "path.csv", "--labels", "labels.csv", "--encoder", "run/encoder.safetensors"];
        let text = stdout(fiedler(folder.path()).args(encoder).args(["--out", "applied", "--force"]));
        assert!(text.contains(reason), "{text}");
        assert!(folder.path().join("applied/embeddings.npy").exists());
    }
    let resumed = json_of(fiedler(folder.path()).args(["embed", "--resume", "--out", "run"]));
    assert_eq!(resumed["finished"], true);
}

#[test]
fn judging_can_be_left_out() {
    let folder = TempDir::new().unwrap();
    let summary = json_of(fiedler(folder.path()).args(["embed", "--out", "run", "--no-evaluate"]).args(SMALL));
    assert!(summary["result"]["scores"].as_array().unwrap().is_empty(), "{summary}");
    assert!(summary["result"].get("not_judged").is_none());
    let supervised = ["embed", "--method", "supervised", "--out", "taught", "--no-evaluate", "--epochs", "2"];
    assert_eq!(json_of(fiedler(folder.path()).args(supervised))["result"]["columns"], 7);
    let encoder = ["embed", "--encoder", "run/encoder.safetensors", "--no-evaluate", "--out", "applied"];
    assert!(json_of(fiedler(folder.path()).args(encoder))["scores"].as_array().unwrap().is_empty());
}

/// `embed` says what `evaluate` would.
fn assert_judged_as_by_evaluate(folder: &Path, run: &str, data: &str, protocol: &str) {
    let record: Value = serde_json::from_slice(&fs::read(folder.join(run).join("run.json")).unwrap()).unwrap();
    let score = &record["result"]["scores"][0];
    let file = format!("{run}/embeddings.npy");
    let judged = json_of(fiedler(folder).args(["evaluate", &file, "--labels", data]));
    assert_eq!(judged["protocol"], protocol);
    assert_eq!((&score["value"], &score["protocol"]), (&judged["mean"], &judged["description"]));
    let splits = judged["splits"].as_array().unwrap().len();
    assert_eq!(score["splits"], splits);
    assert_eq!(score.get("std"), (splits > 1).then_some(&judged["std"]));
}

#[test]
fn a_run_is_judged_by_the_protocol_that_evaluate_takes() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let untrained = ["--method", "untrained", "--hidden", "8"];
    fiedler(folder.path()).args(["embed", "--out", "nodes"]).args(untrained).assert().success();
    assert_judged_as_by_evaluate(folder.path(), "nodes", "citation", "public");
    let text = stdout(fiedler(folder.path()).args(["embed", "RINGS", "--out", "graphs"]).args(untrained));
    assert!(text.contains(" ± ") && text.contains("10-fold cross-validation"), "{text}");
    assert_judged_as_by_evaluate(folder.path(), "graphs", "RINGS", "kfold");
    write_path(folder.path(), 200, &["a", "b"].repeat(100));
    embed(folder.path(), &untrained);
    assert_judged_as_by_evaluate(folder.path(), "run", "labels.csv", "random");
}

#[test]
fn a_finished_run_is_not_resumed_with_other_settings() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["embed", "karate", "--out", "run"]).args(SMALL).assert().success();
    let resume = ["embed", "--resume", "--out", "run"];
    fiedler(folder.path()).args(resume).args(SMALL).assert().success();
    let message = failure(fiedler(folder.path()).args(resume).args(["--epochs", "9"]), 2);
    assert!(message.contains("training.epochs is 2 there and 9 here"), "{message}");
    let message = failure(fiedler(folder.path()).args(["embed", "citation", "--resume", "--out", "run"]), 2);
    assert!(message.contains("citation") && message.contains("karate"), "{message}");
    let output = fiedler(folder.path()).args(resume).args(["--embeddings", "csv"]).assert().success();
    let notes = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("--embeddings csv is ignored"), "{notes}");
}

/// A graph with names, features and labels, its lines in an order that the step gives.
fn write_shuffled(folder: &Path, step: usize) {
    const NODES: usize = 211;
    let order: Vec<usize> = (0..NODES).map(|at| at * step % NODES).collect();
    let lines = |line: &dyn Fn(usize) -> String| order.iter().map(|&node| line(node)).collect::<String>();
    let edges = lines(&|node| format!("n{node},n{}\n", (node + 1) % NODES));
    let noise = |node: usize, by: usize| (node * by % 97) as f64 / 97.0;
    let features =
        lines(&|node| format!("n{node},{},{}\n", noise(node, 31) + 0.4 * (node % 3) as f64, noise(node, 57)));
    let labels = lines(&|node| format!("n{node},{}\n", ["red", "green", "blue"][node % 3]));
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("edges.csv"), format!("source,target\n{edges}")).unwrap();
    fs::write(folder.join("features.csv"), format!("node,a,b\n{features}")).unwrap();
    fs::write(folder.join("labels.csv"), format!("node,label\n{labels}")).unwrap();
}

#[test]
fn the_order_of_lines_changes_no_score() {
    let folder = TempDir::new().unwrap();
    let run = ["embed", "edges.csv", "--features", "features.csv", "--labels", "labels.csv", "--method", "raw"];
    let score = |step: usize| {
        let place = folder.path().join(step.to_string());
        write_shuffled(&place, step);
        let summary = json_of(fiedler(&place).args(run).args(["--out", "run"]));
        let judge = ["evaluate", "run/embeddings.npy", "--labels", "labels.csv", "--protocol"];
        let judged =
            ["random", "kfold"].map(|protocol| json_of(fiedler(&place).args(judge).arg(protocol))["mean"].clone());
        (summary["result"]["scores"][0]["value"].clone(), judged)
    };
    let one = score(1);
    assert!(one.0.as_f64() > Some(0.3) && one.0.as_f64() < Some(0.95), "{one:?}");
    assert_eq!(one, score(17));
    assert_eq!(one, score(210));
}

#[test]
fn the_summary_says_which_epoch_is_embedded_and_warns_of_a_loss_that_rose() {
    let folder = TempDir::new().unwrap();
    let text = stdout(fiedler(folder.path()).args(["embed", "--out", "run", "--no-evaluate"]).args(SMALL));
    assert!(text.contains("in 2 epochs; the last is embedded"), "{text}");
    let wild = ["embed", "karate", "--out", "wild", "--method", "dgi", "--epochs", "30", "--learning-rate", "3"];
    let result = json_of(fiedler(folder.path()).args(wild))["result"].clone();
    let warning = result["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.contains("far above the lowest"), "{result}");
    let patient = ["--force", "--patience", "30"];
    let result = json_of(fiedler(folder.path()).args(wild).args(patient))["result"].clone();
    assert!(result.get("warnings").is_none() && result["embedded_epoch"] == result["best_epoch"], "{result}");
}
