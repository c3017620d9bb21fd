//! How a failure reaches the user: one message, one hint, one exit code.

use anstyle::{AnsiColor, Style};
use fiedler_experiment::{Error, ErrorKind};
use serde_json::json;

use super::args::asks_for_json;

/// The exit code of a kind of failure, as `fiedler --help` documents it, and its name in JSON.
fn code(kind: ErrorKind) -> (u8, &'static str) {
    match kind {
        ErrorKind::Usage | ErrorKind::Memory => (2, "usage"),
        ErrorKind::Data => (3, "data"),
        ErrorKind::NotFound => (4, "not-found"),
        ErrorKind::Output => (5, "output"),
        ErrorKind::Network => (6, "network"),
        ErrorKind::Training => (7, "training"),
        ErrorKind::Busy => (8, "busy"),
        ErrorKind::Interrupted => (130, "interrupted"),
        _ => (1, "unexpected"),
    }
}

/// Prints a failure to standard error, as one line of JSON where that was asked for, and gives the exit code.
pub fn report(error: &Error) -> u8 {
    let hint = match error {
        Error::Stopped { folder: Some(folder), .. } => {
            Some(format!("go on with: fiedler embed --resume --out {}", folder.display()))
        }
        other => other.hint(),
    };
    let (code, kind) = code(error.kind());
    if asks_for_json() {
        let fields = json!({ "kind": kind, "message": error.to_string(), "hint": hint, "exit_code": code });
        anstream::eprintln!("{}", json!({ "error": fields }));
        return code;
    }
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let bold = Style::new().bold();
    anstream::eprintln!("{red}error:{red:#} {error}");
    if let Some(hint) = hint {
        anstream::eprintln!(" {bold}hint:{bold:#} {hint}");
    }
    code
}
