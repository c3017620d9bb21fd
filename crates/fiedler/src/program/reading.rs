//! The DATA argument: a path, a known name or a generator becomes a dataset.

use std::path::{Path, PathBuf};

use clap::Args;
use fiedler_graph::read::{self, Options};
use fiedler_graph::{Dataset, catalogue, generate};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::output::Output;

/// What is read when no DATA is given.
pub const BUILT_IN: &str = "citation";

/// How DATA is read.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Reading DATA")]
pub struct Reading {
    /// Format of the path, where looking at it does not tell
    #[arg(long, value_name = "NAME", value_parser = format_names(), hide_possible_values = true, long_help = format_help())]
    format: Option<String>,
    /// Node features: a csv, npy or parquet file
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Node labels: a csv, npy or parquet file
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Columns to predict, of a table with a molecule in each row
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    targets: Vec<String>,
    /// Use continuous node attributes beside node labels, where a dataset has both
    #[arg(long)]
    attributes: bool,
    /// Leave edge weights out
    #[arg(long)]
    unweighted: bool,
}

impl Reading {
    /// Reads, finds or makes the dataset; without `data`, the built-in example.
    pub fn load(&self, data: Option<&str>, seed: u64, output: &Output) -> Result<Dataset, Failure> {
        let data = data.unwrap_or(BUILT_IN);
        let spinner = output.spinner(&format!("reading {data}"));
        let dataset = open(data, &self.options(), seed);
        spinner.finish_and_clear();
        let dataset = dataset?;
        for note in &dataset.report.notes {
            output.note(&format!("note: {note}"));
        }
        Ok(dataset)
    }

    fn options(&self) -> Options {
        Options {
            format: self.format.clone(),
            features: self.features.clone(),
            labels: self.labels.clone(),
            targets: self.targets.clone(),
            attributes: self.attributes,
            unweighted: self.unweighted,
        }
    }
}

/// Reads, finds or makes a dataset.
pub fn open(data: &str, options: &Options, seed: u64) -> Result<Dataset, Failure> {
    if generate::is_spec(data) && !Path::new(data).exists() {
        return Ok(generate::from_spec(data, seed)?);
    }
    if Path::new(data).exists() || looks_like_path(data) {
        return Ok(read::read(data, options)?);
    }
    Ok(catalogue::open(data, options)?)
}

/// Names have neither folders nor extensions; what has them was meant as a path, even if nothing is there.
fn looks_like_path(data: &str) -> bool {
    data.contains(std::path::is_separator) || Path::new(data).extension().is_some()
}

fn format_names() -> clap::builder::PossibleValuesParser {
    read::FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().into()
}

fn format_help() -> String {
    let mut help = String::from("Format of the path, where looking at it does not tell:");
    for format in read::FORMATS {
        help.push_str(&format!("\n  {:15} {}", format.name, format.about));
    }
    help
}
