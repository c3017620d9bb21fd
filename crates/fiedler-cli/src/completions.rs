//! `fiedler completions`: a shell's completion script.

use clap::CommandFactory;
use clap_complete::Shell;

use super::output::Output;
use fiedler_experiment::Result;

/// Prints a script that completes commands and options, for your shell to load:
///
///   fiedler completions bash > ~/.local/share/bash-completion/completions/fiedler
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Completions {
    /// The shell you use
    shell: Shell,
}

impl Completions {
    pub fn run(&self, output: &Output) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "fiedler", &mut script);
        output.result(&String::from_utf8_lossy(&script))
    }
}
