//! `fiedler data`: known datasets, where they lie, and downloading them.

use std::fmt::Write;

use clap::{Args, Subcommand};
use fiedler_graph::catalogue::fetch::{self, FetchSettings};
use fiedler_graph::catalogue::{self, Entry};
use indicatif::ProgressBar;
use serde::Serialize;

use super::failure::{Exit, Failure};
use super::output::Output;

/// Known datasets: which there are, where they lie on this machine, how to get them
#[derive(Debug, Args)]
pub struct Data {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every known dataset
    List {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Print where a dataset lies on this machine
    Where {
        /// Name of the dataset
        name: String,
    },
    /// Download a dataset to the cache folder
    Fetch {
        /// Name of the dataset
        name: String,
    },
}

impl Data {
    pub fn run(&self, output: &Output) -> Result<(), Failure> {
        match &self.action {
            Action::List { json } => list(*json, output),
            Action::Where { name } => {
                let located = catalogue::locate(name)?;
                output.result(&format!("{}\n", located.path.display()))
            }
            Action::Fetch { name } => fetch(name, output),
        }
    }
}
