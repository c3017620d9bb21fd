//! The program as a user meets it, a module for each command or two.
#![allow(clippy::unwrap_used)]

mod augment;
mod data;
mod embed;
mod evaluate;
mod report;
mod reproduce;
mod tune;

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
