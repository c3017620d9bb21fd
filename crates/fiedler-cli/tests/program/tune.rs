//! `fiedler tune` as a user meets it: resumable, and blind to the test part.

use std::fs;
use std::path::Path;

use fiedler_evaluate::{Protocol, Target};
use fiedler_graph::generate;
use fiedler_io::write;
use serde_json::Value;
use tempfile::TempDir;

use super::fiedler;

fn tune(folder: &Path, data: &[&str], out: &str) -> Value {
    let mut command = fiedler(folder);
    command.arg("tune").args(data).args([
        "--budget",
        "6",
        "--epochs",
        "2",
        "--recipe",
        "span-small",
        "--json",
        "--out",
        out,
    ]);
    serde_json::from_slice(&command.assert().success().get_output().stdout).unwrap()
}

/// What the trials came to, without the time they took.
fn outcomes(folder: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(folder.join("trials.csv")).unwrap();
    let timed = reader.headers().unwrap().iter().position(|name| name == "seconds").unwrap();
    let row = |record: csv::StringRecord| {
        let cells = record.iter().enumerate().filter(|(at, _)| *at != timed);
        cells.map(|(_, cell)| cell.to_owned()).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

#[test]
fn a_search_can_be_repeated_resumed_and_used() {
    let folder = TempDir::new().unwrap();
    let found = tune(folder.path(), &["sbm:nodes=200"], "out");
    assert_eq!((&found["trials"], &found["runs"]), (&4.into(), &6.into()));
    assert_eq!(found["validation"]["seeds"], 3);
    let out = folder.path().join("out");
    let first = outcomes(&out);
    assert_eq!(first.len(), 4);

    // As if it had been stopped before the last runs.
    let runs: Vec<_> = fs::read_dir(out.join("runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    for run in &runs {
        let _ = fs::remove_dir_all(run.join("seed-1002"));
    }
    let written = fs::metadata(runs[0].join("seed-1000/valid.json")).unwrap().modified().unwrap();
    tune(folder.path(), &["sbm:nodes=200"], "out");
    assert_eq!(outcomes(&out), first);
    assert_eq!(fs::metadata(runs[0].join("seed-1000/valid.json")).unwrap().modified().unwrap(), written);

    let summary = fs::read_to_string(out.join("summary.md")).unwrap();
    assert!(
        summary.contains("| scheme.ratio | 0.05, 0.1") && summary.contains("fiedler tune sbm:nodes=200"),
        "{summary}"
    );
    fs::create_dir(folder.path().join("recipes")).unwrap();
    fs::copy(out.join("best.toml"), folder.path().join("recipes/sbm-nodes-200.toml")).unwrap();
    let reproduce = ["reproduce", "node", "--datasets", "sbm:nodes=200", "--methods", "GCL-SPAN", "--seeds", "1"];
    fiedler(folder.path()).args(reproduce).args(["--recipes", "recipes", "--out", "tables"]).assert().success();
    fiedler(folder.path())
        .args(["embed", "sbm:nodes=200", "--settings", "out/best.toml", "--out", "run"])
        .assert()
        .success();
}

#[test]
fn any_method_and_scheme_can_be_searched() {
    let folder = TempDir::new().unwrap();
    let dgi = tune(folder.path(), &["sbm:nodes=150", "--method", "dgi"], "dgi");
    assert_eq!(dgi["settings"]["method"]["name"], "dgi");
    let choices = dgi["choices"].as_object().unwrap();
    assert!(choices.contains_key("method.encoder.num_layers") && !choices.contains_key("scheme.ratio"), "{choices:?}");
    assert!(dgi["settings"]["training"]["epochs"].as_u64() <= Some(2));
    let centrality = tune(folder.path(), &["sbm:nodes=150", "--scheme", "centrality"], "centrality");
    assert_eq!(centrality["settings"]["scheme"]["name"], "centrality");
    assert!(centrality["choices"].as_object().unwrap().contains_key("scheme.first = scheme.second"));
    let best = ["embed", "sbm:nodes=150", "--settings", "dgi/best.toml", "--out", "run"];
    fiedler(folder.path()).args(best).assert().success();
}

#[test]
fn labels_of_the_test_part_change_nothing() {
    let folder = TempDir::new().unwrap();
    let dataset = generate::from_spec("sbm:nodes=500,classes=3", 0).unwrap();
    write::write(&dataset, folder.path().join("graph.csv"), &write::WriteOptions::default()).unwrap();
    let [features, labels] = ["graph.features.npy", "graph.labels.csv"];
    let data = |labels: &str| ["graph.csv", "--features", features, "--labels", labels].map(str::to_owned);
    let text = fs::read_to_string(folder.path().join(labels)).unwrap();

    // Those that no run may learn from or choose on: in the test part of every split that is used.
    let target = Target::of(&dataset).unwrap();
    let protocol = Protocol::RANDOM.with_splits(20).unwrap();
    let parts: Vec<Vec<u32>> =
        (1000..1010).map(|seed| protocol.splits(&target, seed).unwrap().swap_remove(seed as usize % 20).test).collect();
    let hidden: Vec<u32> = (0..500).filter(|item| parts.iter().all(|test| test.contains(item))).collect();
    assert!(hidden.len() > 30, "{hidden:?}");
    let changed = |line: (usize, &str)| match line.0.checked_sub(1).is_some_and(|item| hidden.contains(&(item as u32)))
    {
        true => {
            let [id, _, split] = line.1.split(',').collect::<Vec<_>>()[..] else { panic!("{}", line.1) };
            format!("{id},other,{split}")
        }
        false => line.1.to_owned(),
    };
    let other: Vec<String> = text.lines().enumerate().map(changed).collect();
    fs::write(folder.path().join("other.csv"), other.join("\n")).unwrap();
    assert_ne!(other.join("\n").trim(), text.trim());

    let search = |labels: &str, out: &str| {
        let mut command = fiedler(folder.path());
        let budget = ["--budget", "3", "--epochs", "2", "--recipe", "span-small", "--out", out];
        command.arg("tune").args(data(labels)).args(budget).assert().success();
        // Of the first round only: later ones look at splits that have other test parts.
        let runs = fs::read_dir(folder.path().join(out).join("runs")).unwrap();
        let mut found: Vec<String> = runs
            .map(|run| {
                let value: Value =
                    serde_json::from_slice(&fs::read(run.unwrap().path().join("seed-1000/valid.json")).unwrap())
                        .unwrap();
                format!("{} {}", value["judged_by"], value["validation"].as_f64().unwrap())
            })
            .collect();
        found.sort();
        found
    };
    assert_eq!(search(labels, "one"), search("other.csv", "two"));
}

#[test]
fn mistakes_are_explained() {
    let folder = TempDir::new().unwrap();
    let tune = |arguments: &[&str], code: i32| {
        let output = fiedler(folder.path()).arg("tune").args(arguments).assert().code(code).get_output().clone();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(tune(&["citation", "--ledger", "reference", "--out", "a"], 2).contains("random, public"));
    assert!(tune(&["barabasi-albert", "--out", "b"], 3).contains("labels"));
    tune(&["corra", "--out", "c"], 4);
    tune(&["citation"], 2);
    assert!(tune(&["citation", "--recipe", "cake", "--out", "d"], 2).contains("cake"));
    assert!(tune(&["citation", "--method", "dig", "--out", "e"], 2).contains("dgi"));
    assert!(tune(&["citation", "--method", "dgi", "--scheme", "single", "--out", "f"], 2).contains("draws no views"));
    assert!(tune(&["citation", "--scheme", "cake", "--out", "g"], 2).contains("uniform-removal"));
    for out in ["a", "b", "c", "d", "e", "f", "g"] {
        assert!(!folder.path().join(out).exists(), "{out}");
    }
}

#[test]
fn parts_share_a_search_and_come_to_the_same_trials() {
    let folder = TempDir::new().unwrap();
    let arguments = |out: &'static str| {
        ["tune", "sbm:nodes=120", "--budget", "20", "--epochs", "1", "--recipe", "span-small", "--out", out]
    };
    fiedler(folder.path()).args(arguments("alone")).assert().success();
    let list = || -> Value {
        let output = fiedler(folder.path()).args(arguments("shared")).arg("--list").assert().success();
        serde_json::from_slice(&output.get_output().stdout).unwrap()
    };
    let runs = list()["runs"].as_array().unwrap().clone();
    assert_eq!(runs.len(), 8, "a generation");
    assert!(runs.iter().all(|run| run["finished"] == false && run["seed"] == 1000));

    // One is killed, and leaves a lock that nobody holds any more.
    let spawn = |part: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fiedler"));
        let command = command.current_dir(folder.path()).args(arguments("shared")).args(["--part", part]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
    };
    let mut first = spawn("0/3");
    std::thread::sleep(std::time::Duration::from_millis(700));
    first.kill().unwrap();
    first.wait().unwrap();
    let others: Vec<_> = ["1/3", "2/3", "2/3"].into_iter().map(spawn).collect();
    for mut other in others {
        assert!(other.wait().unwrap().success());
    }
    assert!(!folder.path().join("shared/trials.csv").exists(), "parts write no results");
    assert_eq!(list()["runs"], serde_json::json!([]));
    fiedler(folder.path()).args(arguments("shared")).assert().success();
    assert_eq!(outcomes(&folder.path().join("shared")), outcomes(&folder.path().join("alone")));
    let recipe = |out: &str| {
        let text = fs::read_to_string(folder.path().join(out).join("best.toml")).unwrap();
        text.lines().filter(|line| !line.contains("Searched by")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(recipe("shared"), recipe("alone"));
}
