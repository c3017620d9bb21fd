//! Where words go: results to standard output, everything else to standard error.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::failure::{Exit, Failure};

/// The two streams, and whether the second is to be used at all.
#[derive(Debug)]
pub struct Output {
    quiet: bool,
    terminal: bool,
}

impl Output {
    /// `terminal`: whether a person watches standard error.
    pub fn new(quiet: bool, terminal: bool) -> Output {
        Output { quiet, terminal }
    }

    /// Prints a result. A reader that has gone away, as `head` does, is no failure.
    pub fn result(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = anstream::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::new(Exit::Output, format!("cannot write to standard output: {error}"), None))
            }
            _ => Ok(()),
        }
    }

    /// Prints a value as one line of JSON.
    pub fn json(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        match serde_json::to_string(value) {
            Ok(json) => self.result(&format!("{json}\n")),
            Err(error) => {
                Err(Failure::new(Exit::Unexpected, format!("cannot express the result as JSON: {error}"), None))
            }
        }
    }

    /// Tells the user something beside the result.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            anstream::eprintln!("{text}");
        }
    }

    /// Whether a person watches standard error, and wants to.
    pub fn is_watched(&self) -> bool {
        self.terminal && !self.quiet
    }

    /// A bar for work of a known length in bytes; invisible where nobody watches.
    pub fn bytes_bar(&self, length: Option<u64>, what: &str) -> ProgressBar {
        let template = match length {
            Some(_) => "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
            None => "{msg} {spinner} {bytes} {bytes_per_sec}",
        };
        self.bar(length, what, template)
    }

    /// A bar for work of a known number of steps; invisible where nobody watches.
    pub fn steps_bar(&self, what: &str) -> ProgressBar {
        self.bar(Some(0), what, "{msg} {wide_bar} {pos}/{len} {eta}")
    }

    /// A spinner for work of unknown length; invisible where nobody watches.
    pub fn spinner(&self, what: &str) -> ProgressBar {
        self.bar(None, what, "{spinner} {msg} {elapsed}")
    }

    fn bar(&self, length: Option<u64>, what: &str, template: &str) -> ProgressBar {
        if self.quiet || !self.terminal {
            return ProgressBar::hidden();
        }
        let bar = match length {
            Some(length) => ProgressBar::new(length),
            None => ProgressBar::new_spinner(),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        bar.set_message(what.to_owned());
        bar
    }
}
