//! Bounds of time and memory that `fiedler embed` is given, what it says of them, and what scripts can rely on.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use fiedler_experiment::recipe;
use fiedler_learn::method::MethodSettings;
use serde_json::Value;
use tempfile::TempDir;

use super::{explained, failure, fiedler, json_of, stdout};

#[test]
fn epochs_are_fitted_to_a_time_and_a_record_repeats_them() {
    let folder = TempDir::new().unwrap();
    let run = ["embed", "karate", "--method", "span", "--hidden", "8", "--epochs", "1000000", "--time", "1s"];
    let summary = json_of(fiedler(folder.path()).args(run).args(["--out", "timed"]));
    let (limit, epochs) = (&summary["time_limit"], summary["result"]["epochs"].as_u64().unwrap());
    assert!((1..1_000_000).contains(&epochs), "{summary}");
    assert_eq!((&limit["wanted_epochs"], &limit["seconds"]), (&1_000_000.into(), &1.0.into()));
    assert_eq!(
        (limit["epochs"].as_u64(), summary["settings"]["training"]["epochs"].as_u64()),
        (Some(epochs), Some(epochs))
    );
    let text = stdout(fiedler(folder.path()).args(["embed", "--resume", "--out", "timed"]));
    assert!(text.contains("of 1000000 epochs, which is what 1 second allow"), "{text}");

    let again = ["embed", "--settings", "timed/run.json", "--out", "again"];
    fiedler(folder.path()).args(again).assert().success();
    let read = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
    assert!(read("timed") == read("again"), "the number of epochs is all that the time decides");

    let enough =
        ["embed", "karate", "--method", "span", "--hidden", "8", "--epochs", "3", "--time", "10m", "--out", "all"];
    assert_eq!(json_of(fiedler(folder.path()).args(enough))["result"]["epochs"], 3);
    explained(
        folder.path(),
        &[
            (&["embed", "karate", "--method", "hops", "--time", "1m", "--out", "no"], 2, &["hops", "--time"]),
            (&["embed", "karate", "--time", "soon", "--out", "no"], 2, &["5m"]),
            (&["embed", "karate", "--time", "-3", "--out", "no"], 2, &["--time"]),
            (&["embed", "--resume", "--time", "1m", "--out", "timed"], 2, &["--time", "--resume"]),
        ],
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_limit_of_memory_is_that_of_the_whole_run() {
    let folder = TempDir::new().unwrap();
    let message =
        failure(fiedler(folder.path()).args(["embed", "--hidden", "4096", "--memory", "0.2", "--out", "large"]), 2);
    for word in ["held by the data", "go to training", "it may have 215 MB", "--memory", "--hidden"] {
        assert!(message.contains(word), "no {word} in {message}");
    }
    assert!(!folder.path().join("large").exists(), "a run that is refused leaves nothing");
    // A scheme without pairs to hold has no limit of its own, and the flag is no mistake there.
    let small =
        ["embed", "--scheme", "uniform-removal", "--epochs", "2", "--hidden", "8", "--memory", "1", "--out", "small"];
    let result = json_of(fiedler(folder.path()).args(small))["result"].clone();
    let (expected, peak) = (result["expected_bytes"].as_f64().unwrap(), result["peak_bytes"].as_f64().unwrap());
    assert!(expected > 2e7 && peak > 2e7 && peak < 1.1e9, "{result}");
    // What a run can do without is left out where memory does not suffice.
    let tight = ["embed", "--method", "raw", "--memory", "0.001", "--no-report", "--out", "tight"];
    assert!(failure(fiedler(folder.path()).args(tight), 2).contains("it may have 1 MB"));
}

#[test]
fn failures_are_json_where_json_was_asked_for() {
    let folder = TempDir::new().unwrap();
    let error = |arguments: &[&str], code: i32| -> Value {
        let text = failure(fiedler(folder.path()).args(arguments), code);
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["error"]["exit_code"], code, "{text}");
        last["error"].clone()
    };
    let missing = error(&["inspect", "nowhere.csv", "--json"], 4);
    assert!(
        missing["kind"] == "not-found" && missing["message"].as_str().unwrap().contains("nowhere.csv"),
        "{missing}"
    );
    let usage = error(&["embed", "--method", "cake", "--json"], 2);
    assert!(usage["kind"] == "usage" && usage["message"].as_str().unwrap().contains("cake"), "{usage}");
    // What the arguments themselves get wrong too.
    let unknown = error(&["embed", "--json", "--epoks", "3"], 2);
    assert!(unknown["message"].as_str().unwrap().contains("--epoks"), "{unknown}");
    assert!(unknown["hint"].as_str().unwrap().contains("--epochs"), "{unknown}");
    let help = stdout(fiedler(folder.path()).args(["embed", "--json", "--help"]));
    assert!(help.contains("Usage"), "help is no failure");
}

#[test]
fn short_help_lists_methods_and_recipes() {
    let folder = TempDir::new().unwrap();
    let help = stdout(fiedler(folder.path()).args(["embed", "-h"]));
    let words: Vec<&str> = help.split([' ', ',', '\n']).collect();
    let methods = MethodSettings::ALL.iter().map(|method| method.name.to_owned());
    for name in methods.chain(recipe::list().into_iter().map(|(name, _)| name.to_owned())) {
        assert!(words.contains(&name.as_str()), "no {name} in {help}");
    }
}

#[test]
fn a_log_hears_of_progress_now_and_then() {
    let folder = TempDir::new().unwrap();
    let mut process = std::process::Command::new(assert_cmd::cargo::cargo_bin("fiedler"));
    process.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = process.args(["embed", "--epochs", "1000000", "--out", "run"]).spawn().unwrap();
    let lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let told = lines.map_while(Result::ok).find(|line| line.starts_with("epoch "));
    process.kill().unwrap();
    process.wait().unwrap();
    let told = told.unwrap_or_default();
    assert!(told.contains(" of 1000000: loss ") && told.ends_with(" left"), "{told}");
}
