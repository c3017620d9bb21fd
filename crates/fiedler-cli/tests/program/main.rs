//! The program as a user meets it, a module for each command or two.
#![allow(clippy::unwrap_used)]

mod attack;
mod augment;
mod baselines;
mod bounds;
mod data;
mod embed;
mod evaluate;
mod finetune;
mod formats;
mod judging;
mod matching;
mod own_files;
mod report;
mod reproduce;
mod settings;
mod special_cases;
mod tune;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// The program with nothing of this machine's own data.
fn fiedler(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("fiedler").unwrap();
    command.current_dir(folder).env_remove("FIEDLER_DATA").env("FIEDLER_CACHE", folder.join("cache"));
    command
}

fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

/// What the program says when it fails, after checking its exit code and that it printed no result.
fn failure(command: &mut Command, code: i32) -> String {
    let output = command.assert().code(code).get_output().clone();
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

/// The object that a command prints which was asked for JSON.
fn json(command: &mut Command) -> Value {
    serde_json::from_str(&stdout(command)).unwrap()
}

/// The object that a command prints when it is asked for JSON.
fn json_of(command: &mut Command) -> Value {
    json(command.arg("--json"))
}

/// Each of these commands fails with its exit code and names what the reader needs.
fn explained(folder: &Path, cases: &[(&[&str], i32, &[&str])]) {
    for (arguments, code, words) in cases {
        let message = failure(fiedler(folder).args(*arguments), *code);
        for word in *words {
            assert!(message.contains(word), "{arguments:?} says nothing of {word}:\n{message}");
        }
        assert!(!message.contains("panicked"), "{message}");
    }
}

/// Twenty rings and twenty stars as a TU dataset, RINGS.
fn write_rings(folder: &Path) {
    let data = folder.join("RINGS");
    fs::create_dir(&data).unwrap();
    let (mut pairs, mut indicator, mut labels, mut first) = (String::new(), String::new(), String::new(), 1);
    for graph in 0..40 {
        let size = 5 + graph % 4;
        for node in 0..size {
            let other = if graph % 2 == 0 { (node + 1) % size } else { 0 };
            if node != other {
                pairs += &format!("{}, {}\n", first + node, first + other);
            }
        }
        indicator += &format!("{}\n", graph + 1).repeat(size);
        labels += &format!("{}\n", graph % 2);
        first += size;
    }
    for (name, text) in [("A", pairs), ("graph_indicator", indicator), ("graph_labels", labels)] {
        fs::write(data.join(format!("RINGS_{name}.txt")), text).unwrap();
    }
}
