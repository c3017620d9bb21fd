//! `fiedler augment` and `fiedler inspect --spectrum` as a user meets them.

use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::{failure, fiedler, json, stdout};

/// Three small graphs in the format of the TU collection.
fn write_set(folder: &Path) {
    let set = folder.join("TOYS");
    fs::create_dir(&set).unwrap();
    fs::write(set.join("TOYS_A.txt"), "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n4, 6\n6, 4\n7, 8\n8, 7\n")
        .unwrap();
    fs::write(set.join("TOYS_graph_indicator.txt"), "1\n1\n1\n2\n2\n2\n3\n3\n").unwrap();
    fs::write(set.join("TOYS_graph_labels.txt"), "0\n1\n0\n").unwrap();
}

#[test]
fn the_summary_tells_what_the_scheme_does() {
    let folder = TempDir::new().unwrap();
    let text = stdout(fiedler(folder.path()).arg("augment"));
    for word in ["citation", "opposite", "max", "min", "norm", "removed", "added", "between classes", "took"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

#[test]
fn json_has_what_scripts_need() {
    let folder = TempDir::new().unwrap();
    let scheme = json(fiedler(folder.path()).args(["augment", "karate", "--json", "--ratio", "0.2"]));
    let keys = [
        "norm_before",
        "norm_after",
        "relative_norm",
        "mass_added",
        "mass_removed",
        "budget",
        "support",
        "steps",
        "seconds",
    ];
    let [max, min] = scheme["views"].as_array().unwrap().as_slice() else { panic!("{scheme}") };
    assert_eq!((&max["name"], &min["name"], &scheme["scheme"]), (&"max".into(), &"min".into(), &"opposite".into()));
    for view in [max, min] {
        for key in keys {
            assert!(!view[key].is_null(), "no {key} in {view}");
        }
    }
    assert!(max["relative_norm"].as_f64() > Some(1.0) && min["relative_norm"].as_f64() < Some(1.0));
    assert!((max["budget"].as_f64().unwrap() - 15.6).abs() < 1e-9);
    assert!(cfg!(not(target_os = "linux")) || scheme["peak_bytes"].as_u64() > Some(1 << 20));
}

#[test]
fn the_folder_holds_scheme_curve_edges_and_views() {
    let folder = TempDir::new().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = fiedler(folder.path());
        command.args(["augment", "karate", "--out", "scheme", "--views", "2"]).args(arguments);
        command
    };
    stdout(&mut run(&[]));
    let read = |name: &str| fs::read_to_string(folder.path().join("scheme").join(name)).unwrap();
    // Steps end when there is little left to gain: one point before each and one after the last, whatever their number.
    let curve = read("convergence.csv");
    for view in ["max", "min"] {
        let steps: Vec<&str> = curve.lines().filter(|line| line.starts_with(view)).collect();
        assert!(steps.len() > 2, "{curve}");
        for (step, line) in steps.iter().enumerate() {
            assert!(line.starts_with(&format!("{view},{step},")), "{line}");
        }
    }
    let sensitive = read("sensitive_edges.csv");
    assert!(sensitive.starts_with("source,target,edge,norm_change,probability_max,probability_min\n"), "{sensitive}");
    let view = json(fiedler(folder.path()).args(["inspect", "scheme/views/max-1.csv", "--json"]));
    assert!(view["edges"].as_u64() < Some(78));

    let before = fs::read(folder.path().join("scheme/scheme.safetensors")).unwrap();
    assert!(failure(&mut run(&["--seed", "4"]), 5).contains("exists already"));
    assert!(fs::read(folder.path().join("scheme/scheme.safetensors")).unwrap() == before);
    stdout(&mut run(&["--force", "--threads", "1"]));
    assert!(fs::read(folder.path().join("scheme/scheme.safetensors")).unwrap() == before, "with one thread");
}

#[test]
fn every_scheme_runs_on_one_graph_and_on_many() {
    let folder = TempDir::new().unwrap();
    write_set(folder.path());
    let help = stdout(fiedler(folder.path()).args(["augment", "--help"]));
    for (scheme, _) in fiedler_augment::SchemeSettings::ALL {
        assert!(help.contains(&format!("- {scheme}:")), "{scheme} is not explained");
        for data in ["karate", "TOYS"] {
            let out = format!("{scheme}-{data}");
            let arguments = ["augment", data, "--scheme", scheme, "--out", &out, "--views", "1", "--json"];
            let summary = json(fiedler(folder.path()).args(arguments));
            assert_eq!(summary["graphs"], if data == "karate" { 1 } else { 3 });
            assert_eq!((&summary["scheme"], summary["views"].as_array().map(Vec::len)), (&(*scheme).into(), Some(2)));
            assert!(summary["views"][0]["name"].is_string() && summary["views"][1]["budget"].is_number(), "{summary}");
            let views = fs::read_dir(folder.path().join(&out).join("views")).unwrap().count();
            assert_eq!(views, 2, "{scheme} on {data}");
        }
    }
}

#[test]
fn the_summary_speaks_of_what_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let told = |scheme: &str| stdout(fiedler(folder.path()).args(["augment", "karate", "--scheme", scheme]));
    let removal = told("uniform-removal");
    assert!(removal.contains("karate: scheme uniform-removal") && removal.contains(" removed, budget"), "{removal}");
    for scheme in ["uniform-node-dropping", "node-dropping", "subgraph"] {
        let dropping = told(scheme);
        assert!(dropping.contains("of 34 nodes dropped") && !dropping.contains("edges added"), "{dropping}");
    }
    // A ring has no edge whose addition makes the norm larger, so that a large budget is not used up.
    let ring: String = (0..12).map(|node| format!("{node},{}\n", (node + 1) % 12)).collect();
    fs::write(folder.path().join("ring.csv"), format!("source,target\n{ring}")).unwrap();
    let unused = stdout(fiedler(folder.path()).args(["augment", "ring.csv", "--ratio", "4"]));
    assert!(unused.contains("of it is not used"), "{unused}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let folder = TempDir::new().unwrap();
    let refused = |arguments: &[&str]| failure(fiedler(folder.path()).arg("augment").args(arguments), 2);
    assert!(refused(&["--scheme", "subgraph", "--eigenvalues", "3"]).contains("--eigenvalues"));
    assert!(refused(&["--scheme", "diffusion", "--ratio", "0.1"]).contains("--ratio"));
    assert!(refused(&["--scheme", "opposite", "--heat", "2", "--clusters", "3"]).contains("--clusters, --heat"));
    assert!(refused(&["--operator", "cake"]).contains("laplacian"));
    assert!(refused(&["--memory", "0"]).contains("GiB"));
    assert!(refused(&["--scheme", "custom"]).contains("uniform-removal"));
    assert!(refused(&["--ratio", "-1"]).contains("ratio"));
    assert!(refused(&["--eigenvalues", "many"]).contains("whole number or `all`"));
    assert!(refused(&["--scheme", "single", "--start", "zero"]).contains("start"));
    assert!(refused(&["karate", "--views", "2"]).contains("--out"));
    let large = refused(&["sbm:nodes=3000", "--support", "all", "--memory", "0.001"]);
    assert!(large.contains("MB") && large.contains("hint"), "{large}");
}

#[test]
fn flags_are_assigned_to_the_settings_of_the_scheme() {
    let folder = TempDir::new().unwrap();
    let settings = |out: &str, arguments: &[&str]| {
        stdout(fiedler(folder.path()).args(["augment", "karate", "--out", out]).args(arguments));
        let bytes = fs::read(folder.path().join(out).join("scheme.safetensors")).unwrap();
        let dataset = fiedler_graph::generate::karate_club();
        let scheme = fiedler_augment::Scheme::from_bytes(&bytes, &dataset.graphs).unwrap();
        serde_json::to_value(scheme.settings()).unwrap()
    };
    let spectral = ["--scheme", "double", "--step-size", "3", "--eigenvalues", "4", "--steps", "2", "--seed", "9"];
    let spectral = settings("double", &spectral);
    assert_eq!(spectral["step_size"], serde_json::json!({ "name": "rate", "value": 3.0 }));
    assert_eq!((&spectral["k"], &spectral["steps"], &spectral["seed"]), (&4.into(), &2.into(), &9.into()));
    assert_eq!(settings("all", &["--eigenvalues", "all", "--steps", "2"])["k"], serde_json::Value::Null);
    let removal = settings("removal", &["--scheme", "uniform-removal", "--ratio", "0.25"]);
    assert_eq!(removal, serde_json::json!({ "name": "uniform-removal", "ratio": 0.25 }));
    let uniform = settings("uniform", &["--scheme", "uniform", "--ratio", "0.25"]);
    assert_eq!((&uniform["first"]["remove"], &uniform["second"]["remove"]), (&0.25.into(), &0.25.into()));
    let centrality = settings("centrality", &["--scheme", "centrality", "--ratio", "0.1", "--centrality", "page-rank"]);
    assert_eq!((&centrality["first"], &centrality["second"]), (&0.1.into(), &0.1.into()));
    assert_eq!(centrality["centrality"], "page-rank");
    let heat = settings("heat", &["--scheme", "diffusion", "--heat", "2", "--memory", "0.5"]);
    assert_eq!(heat["kernel"], serde_json::json!({ "name": "heat", "time": 2.0 }));
    assert_eq!(heat["memory"], 1u64 << 29);
}

#[cfg(unix)]
#[test]
fn interrupting_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let program = assert_cmd::cargo::cargo_bin!("fiedler");
    let mut child = Process::new(program)
        .args([
            "augment",
            "sbm:nodes=3000",
            "--support",
            "all",
            "--steps",
            "1000000",
            "--step-size",
            "0.01",
            "--out",
            "scheme",
        ])
        .current_dir(folder.path())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_spectrum_is_told_in_words_and_in_json() {
    let folder = TempDir::new().unwrap();
    write_set(folder.path());
    let text = stdout(fiedler(folder.path()).args(["inspect", "karate", "--spectrum"]));
    for word in ["normalized Laplacian", "norm", "density", "connectivity", "best cut", "diameter", "clusters"] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
    let karate = json(fiedler(folder.path()).args(["inspect", "karate", "--spectrum", "--json"]));
    assert_eq!(karate["spectrum"]["components_by_spectrum"], 1);
    assert!(failure(fiedler(folder.path()).args(["inspect", "TOYS", "--spectrum"]), 2).contains("--graph"));
    let one = json(fiedler(folder.path()).args(["inspect", "TOYS", "--graph", "1", "--spectrum", "--json"]));
    assert!((one["spectrum"]["norm"].as_f64().unwrap() - 4.5f64.sqrt()).abs() < 1e-9, "{one}");
}
