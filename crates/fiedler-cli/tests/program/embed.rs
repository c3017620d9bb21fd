//! `fiedler embed` as a user meets it: run folders, killing and resuming, encoders on other data, mistakes.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

use super::{explained, failure, fiedler, json_of, write_rings};

/// A small encoder and few epochs, with many checkpoints.
const SMALL: [&str; 8] = ["--hidden", "32", "--epochs", "40", "--checkpoint-every", "3", "--ratio", "0.2"];

/// The program running by itself.
fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("fiedler"));
    command.current_dir(folder).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn record(run: &Path) -> Value {
    serde_json::from_slice(&fs::read(run.join("run.json")).unwrap()).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Asserts that two runs left the same bytes, but for times.
fn assert_same_run(one: &Path, other: &Path) {
    for name in ["embeddings.npy", "encoder.safetensors", "scheme.safetensors", "losses.csv"] {
        assert!(fs::read(one.join(name)).unwrap() == fs::read(other.join(name)).unwrap(), "{name} differs");
    }
}

#[test]
fn without_data_it_learns_the_built_in_graph_better_than_features_alone() {
    let folder = TempDir::new().unwrap();
    let summary = json_of(fiedler(folder.path()).arg("embed"));
    let run = folder.path().join("citation-span");
    let expected = [
        "embeddings.ids.csv",
        "embeddings.npy",
        "encoder.safetensors",
        "losses.csv",
        "report.html",
        "run.json",
        "scheme.safetensors",
    ];
    assert_eq!(names(&run), expected);
    assert_eq!((&summary["finished"], &summary["recipe"]), (&true.into(), &"span-small".into()));
    let result = &summary["result"];
    assert_eq!((&result["rows"], &result["columns"], &result["epochs"]), (&1000.into(), &128.into(), &100.into()));
    assert!(result["last_loss"].as_f64() < result["first_loss"].as_f64());
    let scores = result["scores"].as_array().unwrap();
    let accuracy = |of: &str| {
        let score = scores.iter().find(|score| score["of"] == of);
        score.unwrap_or_else(|| panic!("no {of} in {scores:?}"))["value"].as_f64().unwrap()
    };
    assert!(accuracy("span") > accuracy("raw features") + 0.05, "{scores:?}");
    assert_eq!(fs::read_to_string(run.join("losses.csv")).unwrap().lines().count(), 101);
    let npy = fs::read(run.join("embeddings.npy")).unwrap();
    assert_eq!(npy.len() % 64, 0);
    assert_eq!(npy.len() - 128, 1000 * 128 * 4);
    // A second run does not touch the first.
    fiedler(folder.path()).args(["embed", "--method", "raw"]).assert().success();
    fiedler(folder.path()).args(["embed", "--method", "raw"]).assert().success();
    assert!(folder.path().join("citation-raw-2/run.json").exists());
}

#[test]
fn results_do_not_depend_on_threads_and_a_run_can_be_repeated_from_its_record() {
    let folder = TempDir::new().unwrap();
    for threads in ["1", "2"] {
        fiedler(folder.path()).args(["embed", "--threads", threads, "--out", threads]).args(SMALL).assert().success();
    }
    let (one, two) = (folder.path().join("1"), folder.path().join("2"));
    assert_same_run(&one, &two);
    assert_eq!(record(&one)["result"]["threads"], 1);
    let repeat = ["embed", "--settings", "1/run.json", "--out", "again"];
    fiedler(folder.path()).args(repeat).assert().success();
    assert_same_run(&one, &folder.path().join("again"));
    assert_eq!(record(&one)["settings"], record(&folder.path().join("again"))["settings"]);
}

#[test]
fn killed_at_any_moment_and_resumed_a_run_ends_with_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["embed", "--out", "whole"]).args(SMALL).assert().success();
    let started = Instant::now();
    let start: Vec<&str> = ["embed", "--out", "killed"].into_iter().chain(SMALL).collect();
    let resume = ["embed", "--resume", "--out", "killed"];
    let run = folder.path().join("killed");
    let mut kills = 0;
    while kills < 6 && started.elapsed() < Duration::from_secs(60) {
        let arguments = if run.join("run.json").exists() { &resume[..] } else { &start[..] };
        let mut child = spawn(folder.path(), arguments);
        let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos() % 900;
        std::thread::sleep(Duration::from_millis(100 + u64::from(moment)));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    assert!(run.join("run.json").exists(), "never got as far as that");
    fiedler(folder.path()).args(resume).assert().success();
    assert_same_run(&folder.path().join("whole"), &run);
    assert_eq!(names(&run), names(&folder.path().join("whole")), "nothing half-written is left");
    // Once it is finished there is nothing left to do.
    let before = fs::read(run.join("run.json")).unwrap();
    assert_eq!(json_of(fiedler(folder.path()).args(resume))["finished"], true);
    assert_eq!(before, fs::read(run.join("run.json")).unwrap());
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_and_says_how_to_go_on() {
    let folder = TempDir::new().unwrap();
    let arguments = ["embed", "--out", "run", "--hidden", "32", "--epochs", "5000", "--checkpoint-every", "5000"];
    let child = spawn(folder.path(), &arguments);
    let run = folder.path().join("run");
    while !run.join("scheme.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("fiedler embed --resume --out run"), "{message}");
    assert!(run.join("checkpoint.safetensors").exists());
    assert_eq!(record(&run)["finished"], false);
    let message = failure(fiedler(folder.path()).args(["embed", "--out", "run"]), 5);
    assert!(message.contains("--resume") && message.contains("--force"), "{message}");
    let message = failure(fiedler(folder.path()).args(["embed", "--resume", "--out", "run", "--epochs", "9"]), 2);
    assert!(message.contains("training.epochs is 5000 there and 9 here"), "{message}");
    let message = failure(fiedler(folder.path()).args(["embed", "karate", "--resume", "--out", "run"]), 2);
    assert!(message.contains("karate"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_second_ctrl_c_stops_at_once_and_leaves_the_last_checkpoint() {
    let folder = TempDir::new().unwrap();
    let arguments = ["embed", "--out", "run", "--hidden", "32", "--epochs", "5000", "--checkpoint-every", "2"];
    let child = spawn(folder.path(), &arguments);
    let run = folder.path().join("run");
    while !run.join("checkpoint.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    // Whatever it is at, a step or the writing of a checkpoint.
    std::process::Command::new("sh").args(["-c", &format!("kill -INT {pid}; kill -INT {pid}")]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("stopping after this step; press Ctrl-C again to stop at once"), "{message}");
    assert!(run.join("checkpoint.safetensors").exists() && record(&run)["finished"] == false);
    // The checkpoint is whole: a run with other settings is told from it, which takes reading it.
    let message = failure(fiedler(folder.path()).args(["embed", "--resume", "--out", "run", "--epochs", "3"]), 2);
    assert!(message.contains("training.epochs is 5000 there"), "{message}");
    // A batch system's request to terminate is as polite as the first Ctrl-C.
    let child = spawn(folder.path(), &["embed", "--resume", "--out", "run"]);
    std::thread::sleep(Duration::from_millis(1500));
    std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{message}");
    assert!(message.contains("fiedler embed --resume --out run"), "{message}");
}

#[test]
fn a_run_is_resumed_from_any_folder() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("edges.csv"), "source,target\nann,bob\nbob,cid\ncid,dot\n").unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("edges.csv"), "source,target\nx,y\n").unwrap();
    fiedler(folder.path()).args(["embed", "edges.csv", "--out", "run"]).args(SMALL).assert().success();
    let run = folder.path().join("run");
    let embeddings = fs::read(run.join("embeddings.npy")).unwrap();
    unfinish(&run);
    fs::remove_file(run.join("embeddings.npy")).unwrap();
    fiedler(&elsewhere).args(["embed", "--resume", "--out", "../run"]).assert().success();
    assert!(fs::read(run.join("embeddings.npy")).unwrap() == embeddings);
}

/// A run as it was before its last step, so that it can be resumed.
fn unfinish(run: &Path) {
    let mut record = record(run);
    record["finished"] = false.into();
    fs::write(run.join("run.json"), record.to_string()).unwrap();
}

#[test]
fn a_scheme_that_was_changed_is_not_used() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["embed", "--out", "run"]).args(SMALL).assert().success();
    let run = folder.path().join("run");
    let (scheme, npy) = (run.join("scheme.safetensors"), run.join("embeddings.npy"));
    let (bytes, embeddings) = (fs::read(&scheme).unwrap(), fs::read(&npy).unwrap());
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let mut changed = bytes.clone();
    let middle = (header + bytes.len()) / 2;
    changed[middle] ^= 1;
    fs::write(&scheme, &changed).unwrap();
    unfinish(&run);
    let output = fiedler(folder.path()).args(["embed", "--resume", "--out", "run"]).assert().success();
    let notes = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("the scheme is computed again") && notes.contains("checksum"), "{notes}");
    assert!(fs::read(&npy).unwrap() == embeddings && fs::read(&scheme).unwrap() == bytes);
    // An encoder that was changed is refused.
    let encoder = run.join("encoder.safetensors");
    let mut bytes = fs::read(&encoder).unwrap();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    fs::write(&encoder, bytes).unwrap();
    let arguments = ["embed", "--encoder", "run/encoder.safetensors", "--out", "other"];
    let message = failure(fiedler(folder.path()).args(arguments), 3);
    assert!(message.contains("encoder.safetensors") && message.contains("changed or damaged"), "{message}");
}

/// An encoder sees the columns of features that it was trained on, wherever they stand.
#[test]
fn columns_of_features_are_matched_by_name() {
    let folder = TempDir::new().unwrap();
    let nodes = 40;
    let edges: String = (1..nodes).map(|node| format!("{},{node}\n", node / 2)).collect();
    fs::write(folder.path().join("edges.csv"), format!("source,target\n{edges}")).unwrap();
    let write = |name: &str, columns: [usize; 3]| {
        let value = |node: usize, column: usize| ((node * 7 + column * 13) % 10) as f32 / (column + 1) as f32;
        let header: Vec<&str> = columns.iter().map(|&column| ["red", "green", "blue"][column]).collect();
        let rows = (0..nodes).map(|node| columns.map(|column| value(node, column).to_string()).join(","));
        let table: Vec<String> = std::iter::once(header.join(",")).chain(rows).collect();
        fs::write(folder.path().join(name), table.join("\n")).unwrap();
    };
    write("one.csv", [0, 1, 2]);
    write("other.csv", [2, 0, 1]);
    let data = ["embed", "edges.csv", "--features"];
    let flags = ["one.csv", "--out", "run", "--epochs", "2", "--hidden", "8"];
    fiedler(folder.path()).args(data).args(flags).assert().success();
    let encoder = ["--encoder", "run/encoder.safetensors"];
    let embeddings = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
    let output =
        fiedler(folder.path()).args(data).args(["other.csv", "--out", "moved"]).args(encoder).assert().success();
    let notes = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("matched by name; 3 stand elsewhere"), "{notes}");
    assert!(embeddings("moved") == embeddings("run"));

    let table = fs::read_to_string(folder.path().join("one.csv")).unwrap();
    fs::write(folder.path().join("unknown.csv"), table.replace("green", "violet")).unwrap();
    let message = failure(fiedler(folder.path()).args(data).args(["unknown.csv", "--out", "x"]).args(encoder), 3);
    assert!(message.contains("\"green\""), "{message}");
    fs::write(folder.path().join("nameless.csv"), table.split_once('\n').unwrap().1).unwrap();
    let output =
        fiedler(folder.path()).args(data).args(["nameless.csv", "--out", "n"]).args(encoder).assert().success();
    let notes = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("matched by their numbers: those of the data have no names"), "{notes}");
    assert!(embeddings("n") == embeddings("run"));
}

#[test]
fn a_graph_without_features_and_with_names() {
    let folder = TempDir::new().unwrap();
    let output = fiedler(folder.path())
        .args(["embed", "karate", "--recipe", "paper", "--out", "run"])
        .args(SMALL)
        .assert()
        .success()
        .get_output()
        .clone();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("one-hot degree (capped at 100)") && notes.contains("paper-nodes"), "{notes}");

    fs::write(folder.path().join("edges.csv"), "source,target\nann,bob\nbob,cid\ncid,dot\n").unwrap();
    let mut command = fiedler(folder.path());
    command
        .args(["embed", "edges.csv", "--method", "span", "--embeddings", "csv,npy", "--out", "named"])
        .args(SMALL)
        .assert()
        .success();
    let table = fs::read_to_string(folder.path().join("named/embeddings.csv")).unwrap();
    let rows: Vec<&str> = table.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(rows, ["node", "ann", "bob", "cid", "dot"]);
    assert_eq!(table.lines().next().unwrap().split(',').count(), 33);
}

#[test]
fn a_set_of_graphs() {
    let folder = TempDir::new().unwrap();
    write_rings(folder.path());
    let arguments = ["embed", "RINGS", "--method", "span", "--epochs", "10", "--batch-size", "8", "--out", "run"];
    let summary = json_of(fiedler(folder.path()).args(arguments));
    assert_eq!(summary["recipe"], "paper-graphs");
    let result = &summary["result"];
    assert_eq!((&result["rows"], &result["columns"]), (&40.into(), &32.into()));
    assert!(result["scores"][0]["value"].as_f64().unwrap() > 0.9, "{result}");
    let arguments = ["embed", "RINGS", "--encoder", "run/encoder.safetensors", "--out", "applied"];
    let applied = json_of(fiedler(folder.path()).args(arguments));
    assert_eq!(applied["rows"], 40);
    let embeddings = |run: &str| fs::read(folder.path().join(run).join("embeddings.npy")).unwrap();
    assert!(embeddings("run") == embeddings("applied"));
}

#[test]
fn labels_can_teach_an_encoder_to_compare_with() {
    let folder = TempDir::new().unwrap();
    let arguments = ["embed", "--method", "supervised", "--out", "run", "--embeddings", "npy,csv,parquet"];
    let summary = json_of(fiedler(folder.path()).args(arguments));
    let result = &summary["result"];
    assert_eq!((&result["rows"], &result["columns"]), (&1000.into(), &7.into()));
    let scores = result["scores"].as_array().unwrap();
    let value = |of: &str| scores.iter().find(|score| score["of"] == of).unwrap()["value"].as_f64().unwrap();
    assert_eq!(scores[0]["of"], "the supervised encoder");
    assert!(value("the supervised encoder") > value("raw features") + 0.05, "{result}");
    // A probe that learns from other labels finds the same in every format.
    let judged = ["npy", "csv", "parquet"].map(|format| {
        let file = format!("run/embeddings.{format}");
        json_of(fiedler(folder.path()).args(["evaluate", &file, "--labels", "citation"]))["mean"].as_f64().unwrap()
    });
    assert!(judged[0] > 0.8 && judged.iter().all(|mean| *mean == judged[0]), "{judged:?}");
    assert!(!folder.path().join("run/scheme.safetensors").exists());
}

#[test]
fn a_method_with_defaults_of_its_own_needs_no_other_flag() {
    let folder = TempDir::new().unwrap();
    let arguments = ["embed", "--method", "cca-ssg", "--hidden", "32", "--out", "run"];
    let output = fiedler(folder.path()).args(arguments).assert().success().get_output().clone();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(notes.contains("settings: defaults of the method cca-ssg"), "{notes}");
    let record = record(&folder.path().join("run"));
    assert_eq!(record["recipe"], "cca-ssg");
    let settings = &record["settings"];
    assert_eq!((&settings["training"]["epochs"], &settings["training"]["weight_decay"]), (&50.into(), &0.0.into()));
    assert_eq!((&settings["scheme"]["name"], &settings["scheme"]["first"]["remove"]), (&"uniform".into(), &0.4.into()));
    assert_eq!(settings["method"]["encoder"]["last_activation"], "identity");
    // The name of the method is a recipe; other encoders and rates can be set.
    let arguments = ["embed", "karate", "--recipe", "cca-ssg", "--epochs", "3", "--ratio", "0.2", "--out", "other"];
    let encoder = ["--set", "method.encoder.name=decoupled", "--set", "method.encoder.hidden_channels=8"];
    let summary = json_of(fiedler(folder.path()).args(arguments).args(encoder));
    assert_eq!(summary["result"]["columns"], 8);
    let settings = &self::record(&folder.path().join("other"))["settings"];
    assert_eq!(settings["scheme"]["second"]["remove"], 0.2);
    assert_eq!(settings["method"]["encoder"]["name"], "decoupled");
    let listed = super::stdout(fiedler(folder.path()).args(["settings", "cca-ssg"]));
    for line in ["training.epochs = 50  # ", "method.lambda = 0.001  # "] {
        assert!(listed.lines().any(|listed| listed.starts_with(line)), "{listed}");
    }
    for (arguments, words) in
        [(["--set", "method.lambda=-1"], "lambda"), (["--loss", "info-nce"], "--loss"), (["--scheme", "cake"], "cake")]
    {
        let embed = ["embed", "karate", "--method", "cca-ssg", "--out", "never"];
        let message = failure(fiedler(folder.path()).args(embed).args(arguments), 2);
        assert!(message.contains(words), "{message}");
    }
    assert!(!folder.path().join("never").exists());
}

#[test]
fn an_encoder_on_other_data() {
    let folder = TempDir::new().unwrap();
    fiedler(folder.path()).args(["embed", "--out", "run"]).args(SMALL).assert().success();
    let arguments = ["embed", "citation:seed=7", "--encoder", "run/encoder.safetensors", "--out", "other"];
    let applied = json_of(fiedler(folder.path()).args(arguments));
    assert_eq!((&applied["rows"], &applied["columns"]), (&1000.into(), &32.into()));
    let message = failure(fiedler(folder.path()).args(["embed", "karate", "--encoder", "run/encoder.safetensors"]), 3);
    assert!(message.contains("500 columns of features") && message.contains("karate"), "{message}");
    let message = failure(fiedler(folder.path()).args(["embed", "karate", "--encoder", "run/scheme.safetensors"]), 3);
    assert!(message.contains("encoder"), "{message}");
    failure(fiedler(folder.path()).args(["embed", "karate", "--encoder", "nowhere.safetensors"]), 4);
    failure(fiedler(folder.path()).args(["embed", "--encoder", "run/encoder.safetensors", "--epochs", "3"]), 2);
}

#[test]
fn what_is_recognized_across_views_can_be_chosen_and_stays_as_it_was_set() {
    let folder = TempDir::new().unwrap();
    let text = "[method]\nkind = \"span\"\npairs = { kind = \"node-node\", at-once = 9 }\n[training]\nepochs = 2\n";
    fs::write(folder.path().join("nodes.toml"), text).unwrap();
    let embed = ["embed", "karate", "--settings", "nodes.toml", "--pairs"];
    for (choice, expected) in [("node-node", Some(9)), ("node-graph", None)] {
        fiedler(folder.path()).args(embed).args([choice, "--out", choice]).assert().success();
        let record = fs::read_to_string(folder.path().join(choice).join("run.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let anchors = &record["settings"]["method"]["contrast"]["anchors"];
        assert_eq!(anchors.as_u64(), expected, "{choice}");
    }
}

#[test]
fn mistakes_are_explained_with_documented_exit_codes() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("wrong.toml"), "[training]\nepoch = 3\n").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    fs::write(
        folder.path().join("pairs.toml"),
        "[method]\nname = \"span\"\ncontrast = { name = \"local-local\", anchorz = 9 }\n",
    )
    .unwrap();
    let cases: [(&[&str], i32, &[&str]); 15] = [
        (&["embed", "--settings", "pairs.toml"], 2, &["pairs.toml", "anchorz", "anchors"]),
        (&["embed", "--method", "raw", "--pairs", "node-node"], 2, &["--contrast", "raw"]),
        (
            &["embed", "karate", "--method", "span", "--pairs", "graph-graph", "--out", "f"],
            2,
            &["contrast is global-global", "local-local", "one graph"],
        ),
        (&["embed", "--settings", "wrong.toml"], 2, &["wrong.toml", "epoch", "epochs"]),
        (&["embed", "--settings", "nowhere.toml"], 4, &["nowhere.toml"]),
        (&["embed", "--recipe", "cake"], 2, &["cake", "paper-nodes"]),
        (&["embed", "--resume", "--out", "nowhere"], 4, &["nowhere", "--resume"]),
        (&["embed", "--out", "file/run"], 5, &["file/run"]),
        (&["embed", "--method", "raw", "--epochs", "3"], 2, &["--epochs", "raw"]),
        (&["embed", "--hidden", "0", "--out", "a"], 2, &["hidden"]),
        (&["embed", "--mask", "1.5", "--out", "b"], 2, &["1.5"]),
        (&["embed", "--encoders", "3", "--out", "c"], 2, &["encoders"]),
        (&["embed", "--learning-rate", "1e30", "--out", "d"], 7, &["learning rate", "not a finite number"]),
        (&["embed", "--embeddings", "xlsx"], 2, &["xlsx", "npy", "csv", "parquet"]),
        (&["embed", "barabasi-albert", "--method", "supervised", "--out", "e"], 3, &["no labels", "span"]),
    ];
    explained(folder.path(), &cases);
    for never_begun in ["a", "b", "c", "e", "f"] {
        assert!(!folder.path().join(never_begun).exists(), "{never_begun}");
    }
}

#[test]
fn a_finished_run_is_replaced_only_by_force() {
    let folder = TempDir::new().unwrap();
    let raw = ["embed", "karate", "--method", "raw", "--out", "run"];
    fiedler(folder.path()).args(raw).assert().success();
    let message = failure(fiedler(folder.path()).args(raw), 5);
    assert!(message.contains("finished") && message.contains("--force"), "{message}");
    failure(fiedler(folder.path()).args(["embed", "--hidden", "0", "--out", "run", "--force"]), 2);
    assert_eq!(record(&folder.path().join("run"))["data"]["name"], "karate");
    fiedler(folder.path()).args(["embed", "--method", "untrained", "--out", "run", "--force"]).assert().success();
    assert_eq!(record(&folder.path().join("run"))["data"]["name"], "citation");
}

#[test]
fn any_setting_can_be_changed_and_unknown_ones_are_refused_before_a_folder_is_begun() {
    let folder = TempDir::new().unwrap();
    let embed = ["embed", "karate", "--epochs", "2", "--hidden", "8", "--recipe", "paper", "--out"];
    let mut command = fiedler(folder.path());
    command.args(embed).args(["run", "--set", "training.patience=2", "--set", "scheme.steps=3"]).assert().success();
    let record = record(&folder.path().join("run"));
    assert_eq!((&record["format"], &record["recipe"]), (&2.into(), &"paper-nodes".into()));
    let settings = &record["settings"];
    assert_eq!((&settings["training"]["patience"], &settings["scheme"]["steps"]), (&2.into(), &3.into()));
    for (assignment, words) in
        [("training.patient=2", "training.patience"), ("training.epochs=many", "many"), ("epochs", "key=value")]
    {
        let message = failure(fiedler(folder.path()).args(embed).args(["never", "--set", assignment]), 2);
        assert!(message.contains(words), "{message}");
    }
    assert!(!folder.path().join("never").exists());
    let listed = super::stdout(fiedler(folder.path()).args(["settings", "untrained"]));
    let epochs = "training.epochs = 1000  # Epochs: how often training goes through all graphs, N in the paper";
    assert!(listed.lines().any(|line| line == epochs), "{listed}");
    assert!(!listed.contains("method.encoders") && listed.contains("method.encoder.name = gcn  # "), "{listed}");
    let listed = super::stdout(fiedler(folder.path()).args(["settings", "span", "--scheme", "graphcl"]));
    let first = listed.lines().find(|line| line.starts_with("scheme.first = ")).unwrap();
    assert!(first.ends_with(" [identical | node-dropping | subgraph | edge-perturbation]"), "{first}");
    assert!(!listed.contains("scheme.steps") && listed.contains("scheme.name = graphcl  # "), "{listed}");
    assert!(failure(fiedler(folder.path()).args(["settings", "dgi", "--scheme", "single"]), 2).contains("dgi"));
}

#[test]
fn two_processes_do_not_work_in_one_folder_and_what_is_not_ours_stays() {
    let folder = TempDir::new().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::create_dir(run.join(".tmpdir")).unwrap();
    for name in [".tmpnotes", ".fiedler-a1b2c3d4.part"] {
        fs::write(run.join(name), "").unwrap();
    }
    let arguments = ["embed", "--out", "run", "--hidden", "32", "--epochs", "100000", "--checkpoint-every", "100000"];
    let mut child = spawn(folder.path(), &arguments);
    while !run.join("scheme.safetensors").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let message = failure(fiedler(folder.path()).args(["embed", "--out", "run", "--method", "raw", "--force"]), 8);
    assert!(message.contains(&format!("process {}", child.id())) && message.contains(" since "), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock of a process that is gone is taken over.
    assert!(run.join("run.lock").exists());
    fiedler(folder.path()).args(["embed", "--out", "run", "--method", "raw", "--force"]).assert().success();
    assert_eq!(
        names(&run),
        [
            ".tmpdir",
            ".tmpnotes",
            "embeddings.ids.csv",
            "embeddings.npy",
            "encoder.safetensors",
            "report.html",
            "run.json"
        ]
    );
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_fit_into_memory_is_refused_at_once() {
    let folder = TempDir::new().unwrap();
    let message = failure(fiedler(folder.path()).args(["embed", "--hidden", "1000000", "--out", "run"]), 2);
    assert!(message.contains("GiB of memory") && message.contains("hidden"), "{message}");
}
