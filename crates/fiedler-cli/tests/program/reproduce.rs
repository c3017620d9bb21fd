//! `fiedler reproduce` as a user meets it: tables, protocols, stopping and going on, mistakes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use super::{failure, fiedler, json, json_of, stdout, write_rings};

const SMALL: &str = "\
# A small encoder for tests
[scheme]
scheme = \"opposite\"
ratio = 0.2
steps = 5

[method]
kind = \"span\"
encoder = { kind = \"gcn\", hidden = 16 }

[training]
epochs = 3
checkpoint-every = 2
";

fn folder_with_recipes() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("recipes")).unwrap();
    for name in ["citation", "sbm-nodes-200-classes-3"] {
        fs::write(folder.path().join(format!("recipes/{name}.toml")), SMALL).unwrap();
    }
    folder
}

/// All files below a folder, with the times they were written.
fn files(folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files(&entry.path())),
            false => drop(found.insert(entry.path(), entry.metadata().unwrap().modified().unwrap())),
        }
    }
    found
}

fn means(table: &Value) -> Vec<(String, f64)> {
    let entries = table["entries"].as_array().unwrap().iter();
    entries.map(|entry| (entry["row"].as_str().unwrap().to_owned(), entry["mean"].as_f64().unwrap())).collect()
}

const NODE: [&str; 10] =
    ["reproduce", "node", "--datasets", "citation", "--epochs", "3", "--recipes", "recipes", "--out", "out"];
const ROWS: &str = "Raw-X,S-GCN,R-GCN,GCL-SPAN";

#[test]
fn methods_on_poisoned_graphs_share_them() {
    let folder = TempDir::new().unwrap();
    let table = |methods: &str| {
        let mut command = fiedler(folder.path());
        command.args([
            "reproduce",
            "robustness",
            "--datasets",
            "sbm:nodes=120,classes=3",
            "--seeds",
            "1",
            "--out",
            "out",
        ]);
        command.args(["--methods", methods, "--json"]);
        json(&mut command)
    };
    let found = table("Mettack,Random,Raw-X,hops");
    let rows: Vec<&str> = found["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
    assert_eq!(rows.len(), 12, "{rows:?}");
    assert_eq!(rows[..3], ["Random, Raw-X 0", "Random, hops 0", "Random, Raw-X 0.05"]);
    let entry =
        |row: &str| found["entries"].as_array().unwrap().iter().find(|entry| entry["row"] == row).unwrap().clone();
    // Features are clean, so that what looks at nothing else is not hurt; graphs are poisoned, splits the same.
    assert_eq!(entry("Mettack, Raw-X 0.2")["mean"], entry("Random, Raw-X 0")["mean"]);
    assert_ne!(entry("Mettack, hops 0.2")["data"], entry("Mettack, hops 0")["data"]);
    assert_eq!(entry("Mettack, hops 0.2")["data"], entry("Mettack, Raw-X 0.2")["data"]);
    assert_eq!(entry("Mettack, hops 0.2")["splits"], entry("Mettack, hops 0")["splits"]);
    let poisoned = || fs::read_dir(folder.path().join("out/poisoned")).unwrap().count();
    assert_eq!(poisoned(), 4);
    table("Mettack,R-GCN");
    assert_eq!(poisoned(), 4, "graphs that are there are used again");
    let unknown = ["reproduce", "robustness", "--datasets", "karate", "--methods", "GRACES", "--protocol", "random"];
    assert!(failure(fiedler(folder.path()).args(unknown), 2).contains("GRACES"));
    let page = stdout(fiedler(folder.path()).args(["report", "out", "--json"]));
    assert!(page.contains("robustness-public"), "{page}");
}

#[test]
fn a_table_is_the_same_in_every_form_and_nothing_is_computed_twice() {
    let folder = folder_with_recipes();
    let node = |seeds: &str, rows: &str| {
        let mut command = fiedler(folder.path());
        command.args(NODE).args(["--seeds", seeds, "--methods", rows]);
        command
    };
    let table = json_of(&mut node("2", ROWS));
    let found = means(&table);
    assert_eq!(found.iter().map(|(row, _)| row.as_str()).collect::<Vec<_>>(), ["Raw-X", "S-GCN", "R-GCN", "GCL-SPAN"]);
    let of_span = &table["entries"][3];
    assert!(of_span["recipe"].as_str().unwrap().ends_with("citation.toml"), "{of_span}");
    // Every seed has twenty splits of its own, and each of them counts.
    assert_eq!(of_span["splits"].as_array().unwrap().len(), 40);
    assert_eq!(of_span["values"].as_array().unwrap().len(), 40);

    let out = folder.path().join("out");
    let (row, mean) = (csv_column(&out, "row"), csv_column(&out, "mean"));
    for (at, (name, value)) in found.iter().enumerate() {
        assert_eq!((&row[at], mean[at].parse::<f64>().unwrap()), (name, *value));
        let page = fs::read_to_string(out.join("node-random.md")).unwrap();
        assert!(page.contains(&format!("|**{name}**|{value:.2} ± ")), "{page}");
    }

    let before = files(&out.join("runs"));
    let again = node("2", ROWS).assert().success().get_output().clone();
    assert!(String::from_utf8_lossy(&again.stderr).contains("all 8 runs are finished"));
    assert_eq!(files(&out.join("runs")), before);

    // Another protocol judges the same embeddings otherwise, in a table of its own; only what learns from labels is learned anew.
    let public = json_of(node("2", ROWS).args(["--protocol", "public"]));
    assert_ne!(means(&public), found);
    assert!(out.join("node-public.csv").exists() && out.join("node-random.csv").exists());
    let after = files(&out.join("runs"));
    assert!(before.iter().all(|(path, written)| after[path] == *written));
    let learned = |files: &BTreeMap<PathBuf, SystemTime>| {
        files.keys().filter(|path| path.ends_with("losses.csv") && path.to_string_lossy().contains("span")).count()
    };
    assert_eq!((learned(&before), learned(&after)), (2, 2));

    // More seeds are added to those there are, other rows are kept, and a page holds all tables.
    let more = json_of(&mut node("3", "gcl-span"));
    assert_eq!(more["entries"][0]["row"], "GCL-SPAN");
    assert_eq!(more["entries"][0]["values"].as_array().unwrap().len(), 60);
    assert_eq!(more["rows"].as_array().unwrap().len(), 4);
    fiedler(folder.path()).args(["reproduce", "--report", "page/RESULTS.md", "--out", "out"]).assert().success();
    let page = fs::read_to_string(folder.path().join("page/RESULTS.md")).unwrap();
    for words in [
        "protocol random",
        "protocol public",
        "fiedler reproduce node --datasets citation",
        "A small encoder for tests",
    ] {
        assert!(page.contains(words), "{words} is not in\n{page}");
    }
}

/// Parts, one of them twice at once, and what gathers them: the files are those of one process.
#[test]
fn parts_come_to_the_same_table_as_one_process() {
    let folder = folder_with_recipes();
    let asked = |out: &'static str, more: &[&'static str]| {
        let table = ["reproduce", "node", "--datasets", "citation", "--methods", ROWS, "--seeds", "2", "--epochs", "3"];
        [&table[..], &["--protocol", "public", "--recipes", "recipes", "--out", out], more].concat()
    };
    let printed = |out, more: &[&'static str]| json_of(fiedler(folder.path()).args(asked(out, more)));
    let whole = printed("whole", &[]);
    let parts = ["0/2", "1/2", "1/2"].map(|part| spawn(folder.path(), &asked("parts", &["--part", part])));
    for child in parts {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let runs = printed("parts", &["--list"]);
    let runs = runs.as_array().unwrap();
    assert_eq!(runs.len(), 7, "nothing of the raw features on a given split depends on a seed");
    for (number, run) in runs.iter().enumerate() {
        assert_eq!((run["number"].as_u64(), run["finished"].as_bool()), (Some(number as u64), Some(true)), "{run}");
    }
    assert!(!folder.path().join("parts/node-public.json").exists(), "a part writes no table");
    let gathered = printed("parts", &[]);
    assert_eq!(gathered["entries"], whole["entries"]);
    let csv = |out: &str| fs::read(folder.path().join(out).join("node-public.csv")).unwrap();
    assert_eq!(csv("parts"), csv("whole"));
    let refused = failure(fiedler(folder.path()).args(asked("parts", &["--part", "2/2"])), 2);
    assert!(refused.contains("K/N"), "{refused}");
}

#[test]
fn spectral_views_inside_another_method_are_compared_with_as_many_random_flips() {
    let folder = TempDir::new().unwrap();
    let rows = "CCA-SSG,CCA-SSG matched flips,CCA-SSG-SPAN";
    let asked =
        ["reproduce", "plugin", "--datasets", "sbm:nodes=120", "--methods", rows, "--epochs", "2", "--seeds", "1"];
    let table = json_of(fiedler(folder.path()).args(asked).args(["--out", "out"]));
    let found = |at: usize, key: &str| table["entries"][at][key].clone();
    assert_eq!((0..3).map(|at| found(at, "row")).collect::<Vec<_>>(), rows.split(',').collect::<Vec<_>>());
    assert_eq!([found(0, "against"), found(1, "against")], ["CCA-SSG-SPAN"; 2]);
    assert_eq!(found(2, "against"), Value::Null);
    // Other views, other embeddings.
    assert_ne!(found(0, "values"), found(2, "values"));
    assert_ne!(found(1, "values"), found(2, "values"));
}

fn csv_column(out: &Path, name: &str) -> Vec<String> {
    let mut reader = csv::Reader::from_path(out.join("node-random.csv")).unwrap();
    let at = reader.headers().unwrap().iter().position(|header| header == name).unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}

#[test]
fn without_embeddings_another_protocol_judges_the_same() {
    let folder = folder_with_recipes();
    let table = |out: &str, protocol: &str, more: &[&str]| {
        let mut command = fiedler(folder.path());
        command.args(["reproduce", "node", "--datasets", "citation", "--methods", "GCL-SPAN,R-GCN", "--seeds", "2"]);
        json_of(command.args(["--recipes", "recipes", "--protocol", protocol, "--out", out]).args(more))
    };
    table("lean", "random", &["--lean"]);
    let kept = |name: &str| files(&folder.path().join("lean/runs")).keys().filter(|path| path.ends_with(name)).count();
    assert_eq!((kept("embeddings.npy"), kept("encoder.safetensors")), (0, 4));
    assert_eq!(means(&table("lean", "public", &["--lean"])), means(&table("whole", "public", &[])));
}

#[test]
fn every_experiment_makes_its_table() {
    let folder = folder_with_recipes();
    let data = "sbm:nodes=200,classes=3";
    for (experiment, rows) in
        [("ablation", 5), ("strength", 18), ("eigenvalues", 2), ("convergence", 3), ("time", 3), ("preanalysis", 20)]
    {
        let mut command = fiedler(folder.path());
        command.args(["reproduce", experiment, "--datasets", data, "--seeds", "2", "--epochs", "2"]);
        let table = json_of(command.args(["--recipes", "recipes", "--out", "out"]));
        assert_eq!(table["rows"].as_array().unwrap().len(), rows, "{experiment}");
        assert_eq!(means(&table).len(), rows, "{experiment}");
        assert!(folder.path().join(format!("out/{experiment}-random.md")).exists());
    }
    let steps = fs::read_to_string(folder.path().join("out/convergence-sbm-nodes-200-classes-3.csv")).unwrap();
    assert_eq!(steps.lines().count(), 1 + 2 * 6, "{steps}");
    let ablation: Value =
        serde_json::from_slice(&fs::read(folder.path().join("out/ablation-random.json")).unwrap()).unwrap();
    assert_eq!(ablation["entries"][4]["against"], "uniform");
}

/// The program running by itself.
fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("fiedler"));
    command.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[cfg(unix)]
#[test]
fn stopped_by_ctrl_c_it_goes_on_to_the_same_bytes() {
    let folder = folder_with_recipes();
    let arguments = |out: &'static str| {
        let mut arguments =
            vec!["reproduce", "node", "--datasets", "citation", "--methods", "GCL-SPAN", "--seeds", "2"];
        arguments.extend(["--epochs", "120", "--recipes", "recipes", "--out", out]);
        arguments
    };
    let child = spawn(folder.path(), &arguments("stopped"));
    let out = folder.path().join("stopped");
    let started = Instant::now();
    while !(out.exists() && files(&out).keys().any(|path| path.ends_with("checkpoint.safetensors"))) {
        assert!(started.elapsed() < Duration::from_secs(120), "no checkpoint was written");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("the same command goes on: fiedler reproduce node"), "{message}");

    fiedler(folder.path()).args(arguments("stopped")).assert().success();
    fiedler(folder.path()).args(arguments("whole")).assert().success();
    let whole = folder.path().join("whole");
    for path in files(&whole.join("runs")).keys() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let other = out.join(path.strip_prefix(&whole).unwrap());
        if ["embeddings.npy", "encoder.safetensors", "losses.csv"].contains(&name) {
            assert!(fs::read(path).unwrap() == fs::read(other).unwrap(), "{name} differs");
        }
    }
    assert_eq!(csv_column(&out, "values"), csv_column(&whole, "values"));
}

#[test]
fn two_processes_do_not_fill_one_folder_at_a_time() {
    let folder = folder_with_recipes();
    let long = ["reproduce", "node", "--datasets", "citation", "--methods", "GCL-SPAN", "--epochs", "1000000"];
    let mut child = spawn(folder.path(), &[&long[..], &["--recipes", "recipes", "--out", "out"]].concat());
    let out = folder.path().join("out");
    let started = Instant::now();
    while !(out.exists() && files(&out).keys().any(|path| path.ends_with("run.json"))) {
        assert!(started.elapsed() < Duration::from_secs(120), "no run was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Another table, of another dataset, with a scheme of its own: it would share nothing but the folder.
    for arguments in [
        &["reproduce", "strength", "--datasets", "sbm:nodes=200,classes=3", "--seeds", "1", "--out", "out"][..],
        &["reproduce", "case-study", "--datasets", "geometric:nodes=40,radius=0.25", "--seeds", "1", "--out", "out"],
        &["tune", "sbm:nodes=200", "--budget", "1", "--epochs", "1", "--out", "out"],
    ] {
        let message = failure(fiedler(folder.path()).args(arguments), 8);
        let holder = format!("out is in use by process {} on ", child.id());
        assert!(message.contains(&holder) && message.contains(" since "), "{arguments:?}: {message}");
        assert!(message.contains("wait for it, or choose another folder"), "{message}");
    }
    let strangers = |path: &&PathBuf| path.to_string_lossy().contains("sbm") || path.ends_with("trials.csv");
    let found = files(&out);
    assert_eq!(found.keys().find(strangers), None);
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock of a process that is gone is taken over, and given back at the end.
    assert!(out.join("run.lock").exists());
    let short = ["reproduce", "node", "--datasets", "citation", "--methods", "Raw-X", "--seeds", "1", "--out", "out"];
    fiedler(folder.path()).args(short).assert().success();
    assert!(!out.join("run.lock").exists());
}

#[test]
fn mistakes_are_explained() {
    let folder = TempDir::new().unwrap();
    let reproduce =
        |arguments: &[&str], code: i32| failure(fiedler(folder.path()).arg("reproduce").args(arguments), code);
    assert!(reproduce(&["node", "--datasets", "corra"], 4).contains("did you mean cora"));
    let message = reproduce(&["node", "--datasets", "cora,pubmed"], 4);
    assert!(message.contains("left out: Cora") && message.contains("fiedler data fetch pubmed"), "{message}");
    let message = reproduce(&["node", "--datasets", "citation", "--methods", "GCL"], 2);
    assert!(message.contains("GCL-SPAN") && message.contains("Raw-X"), "{message}");
    reproduce(&["nodes"], 2);
    reproduce(&[], 2);
    reproduce(&["node", "--seeds", "0"], 2);
    assert!(reproduce(&["--report", "page.md", "--out", "nowhere"], 4).contains("no table"));
}

#[test]
fn graphs_of_a_set_are_judged_by_folds() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let graph = ["reproduce", "graph", "--datasets", "./RINGS", "--seeds", "2", "--epochs", "2"];
    let table = json_of(fiedler(folder.path()).args(graph));
    assert_eq!(table["protocol"], "kfold");
    assert_eq!(means(&table).len(), 24);
    assert_eq!(table["entries"][0]["splits"].as_array().unwrap().len(), 20);
    let reference =
        json_of(fiedler(folder.path()).args(graph).args(["--ledger", "reference", "--methods", "GCL-SPAN"]));
    assert_eq!(reference["entries"][0]["recipe"], "reference-graphs");
    assert_eq!(reference["entries"][0]["splits"].as_array().unwrap().len(), 1);
}

#[test]
fn a_case_study_draws_and_counts() {
    let folder = TempDir::new().unwrap();
    let study = |out: &str, more: &[&str]| {
        let mut command = fiedler(folder.path());
        let datasets = "geometric:nodes=40,radius=0.25,clusters=2,spread=0.18,mutag";
        command.args(["reproduce", "case-study", "--datasets", datasets, "--seeds", "3", "--out", out]).args(more);
        command
    };
    let output = study("out", &["--json"]).assert().success().get_output().clone();
    assert!(String::from_utf8_lossy(&output.stderr).contains("left out: mutag"));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    // Two claims, each with all eigenvalues and with some.
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "{found}");
    assert!(rows.iter().all(|row| row["graphs"] == 3 && row["of_pairs"].as_f64().unwrap() > 0.0), "{found}");

    let read = |out: &str, name: &str| fs::read_to_string(folder.path().join(out).join(name)).unwrap();
    let picture = read("out", "case-study-geometric.svg");
    for words in ["Graph as it is", "norm up", "norm down", "first-order effect"] {
        assert!(picture.contains(words), "{words}");
    }
    // Expected flips are within the budget, three in ten edges, and the picture tells the probabilities of the table.
    let mut pairs = csv::Reader::from_path(folder.path().join("out/case-study-geometric-pairs.csv")).unwrap();
    let (mut edges, mut removed) = (0.0, 0.0);
    for row in pairs.records().map(Result::unwrap) {
        let probability: f64 = row[5].parse().unwrap();
        edges += f64::from(u8::from(&row[2] == "yes"));
        removed += probability;
        let hint = format!("{} (class {})", &row[0], row[0].parse::<u32>().unwrap() % 2);
        assert!(picture.contains(&hint), "{hint}");
    }
    assert!(removed > 0.0 && removed < 0.3 * edges + 0.01, "{removed} {edges}");

    let text = String::from_utf8(study("again", &["--threads", "1"]).assert().success().get_output().stdout.clone());
    assert!(text.unwrap().contains("max removes"));
    for name in ["case-study-geometric.svg", "case-study-geometric-pairs.csv", "case-study.csv"] {
        assert_eq!(read("out", name), read("again", name), "{name}");
    }
    let alone = ["reproduce", "case-study", "--datasets", "mutag"];
    assert!(failure(fiedler(folder.path()).args(alone), 4).contains("none of the datasets"));
    assert!(failure(&mut study("out", &["--epochs", "3"]), 2).contains("trains nothing"));
}
