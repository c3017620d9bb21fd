//! How a failure reaches the user: one message, one hint, one exit code.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use fiedler_experiment::{Error, ErrorKind};

/// The exit code of a kind of failure, as `fiedler --help` documents it.
fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage => 2,
        ErrorKind::Data => 3,
        ErrorKind::NotFound => 4,
        ErrorKind::Output => 5,
        ErrorKind::Network => 6,
        ErrorKind::Training => 7,
        ErrorKind::Busy => 8,
        ErrorKind::Interrupted => 130,
        _ => 1,
    }
}

/// Prints a failure to standard error and gives the exit code.
pub fn report(error: &Error) -> ExitCode {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let bold = Style::new().bold();
    anstream::eprintln!("{red}error:{red:#} {error}");
    let hint = match error {
        Error::Stopped { folder: Some(folder), .. } => {
            Some(format!("go on with: fiedler embed --resume --out {}", folder.display()))
        }
        other => other.hint(),
    };
    if let Some(hint) = hint {
        anstream::eprintln!(" {bold}hint:{bold:#} {hint}");
    }
    ExitCode::from(code(error.kind()))
}
