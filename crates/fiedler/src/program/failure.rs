//! How a failure reaches the user: one message, one hint, one exit code.

use std::io::ErrorKind;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use fiedler_graph::Error;

/// What the program ends with, as `fiedler --help` documents it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Something that should not happen.
    Unexpected = 1,
    /// The command line asks for something impossible.
    Usage = 2,
    /// The data are not what their format promises.
    Data = 3,
    /// A file or dataset is not there.
    NotFound = 4,
    /// A result could not be written.
    Output = 5,
    /// A download failed.
    Network = 6,
    /// Training did not lead anywhere.
    Training = 7,
    /// The user asked to stop.
    Interrupted = 130,
}

/// A failure as the user sees it.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    exit: Exit,
}

impl Failure {
    /// A failure with its own message, hint and exit code.
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<Option<String>>) -> Failure {
        Failure { message: message.into(), hint: hint.into(), exit }
    }

    /// What the program would end with.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// The message with its hint, for a list of what went wrong.
    pub fn in_one_line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }

    /// Prints the failure to standard error and gives the exit code.
    pub fn report(self) -> ExitCode {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let bold = Style::new().bold();
        anstream::eprintln!("{red}error:{red:#} {}", self.message);
        if let Some(hint) = self.hint {
            anstream::eprintln!(" {bold}hint:{bold:#} {hint}");
        }
        ExitCode::from(self.exit as u8)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let exit = match &error {
            Error::Io { action: "read", source, .. } if source.kind() == ErrorKind::NotFound => Exit::NotFound,
            Error::Io { action: "read", .. } => Exit::Data,
            Error::Io { .. } | Error::Exists { .. } => Exit::Output,
            Error::UnknownDataset { .. } | Error::NotFound { .. } => Exit::NotFound,
            Error::Fetch { .. } => Exit::Network,
            Error::Setting { .. } | Error::UnknownName { .. } => Exit::Usage,
            _ => Exit::Data,
        };
        Failure::new(exit, error.to_string(), error.hint())
    }
}

impl From<fiedler_spectral::Error> for Failure {
    fn from(error: fiedler_spectral::Error) -> Failure {
        Failure::new(Exit::Usage, error.to_string(), error.hint())
    }
}

impl From<fiedler_learn::Error> for Failure {
    fn from(error: fiedler_learn::Error) -> Failure {
        use fiedler_learn::Error;
        let exit = match &error {
            Error::Graph(_) | Error::Augment(_) => {
                return match error {
                    Error::Graph(error) => error.into(),
                    Error::Augment(error) => error.into(),
                    _ => unreachable!("one of the two"),
                };
            }
            Error::Setting { .. } | Error::OtherRun { .. } | Error::Memory { .. } => Exit::Usage,
            Error::Io { action: "read", source, .. } if source.kind() == ErrorKind::NotFound => Exit::NotFound,
            Error::Io { action: "read", .. } => Exit::Data,
            Error::Io { .. } => Exit::Output,
            Error::Stopped { .. } => Exit::Interrupted,
            Error::NotFinite { .. } | Error::Collapsed { .. } => Exit::Training,
            _ => Exit::Data,
        };
        Failure::new(exit, error.to_string(), error.hint())
    }
}

impl From<fiedler_augment::Error> for Failure {
    fn from(error: fiedler_augment::Error) -> Failure {
        use fiedler_augment::Error;
        match error {
            Error::Graph(error) => error.into(),
            Error::Spectral(error) => error.into(),
            Error::Stopped => Failure::new(Exit::Interrupted, "stopped; nothing was written", None),
            Error::Setting { .. } => Failure::new(Exit::Usage, error.to_string(), error.hint()),
            _ => Failure::new(Exit::Data, error.to_string(), error.hint()),
        }
    }
}

impl From<fiedler_evaluate::Error> for Failure {
    fn from(error: fiedler_evaluate::Error) -> Failure {
        use fiedler_evaluate::Error;
        match error {
            Error::Graph(error) => error.into(),
            Error::Stopped => Failure::new(Exit::Interrupted, "stopped before the evaluation was finished", None),
            Error::Setting { .. } => Failure::new(Exit::Usage, error.to_string(), error.hint()),
            _ => Failure::new(Exit::Data, error.to_string(), error.hint()),
        }
    }
}
