//! The DATA argument, and how it is read.

use std::path::PathBuf;

use clap::Args;
use fiedler_experiment::{BUILT_IN, ReadOptions, Result, open_observed};
use fiedler_graph::Dataset;
use fiedler_io::read;

use super::output::Output;

/// How DATA is read.
#[derive(Debug, Clone, Default, Args)]
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
    /// Columns to predict, of a table with a molecule or a node in each row; of nodes they stand in --labels, or else in --features
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    targets: Vec<String>,
    /// Use continuous node attributes beside node labels, where a dataset has both
    #[arg(long)]
    attributes: bool,
    /// Leave edge weights out
    #[arg(long)]
    unweighted: bool,
    /// Weight of an edge that is given several times with different ones
    #[arg(long, value_name = "RULE", value_parser = read::Duplicates::NAMES)]
    duplicates: Option<String>,
    /// What stands for missing features
    #[arg(long, value_name = "WITH", value_parser = read::Fill::NAMES)]
    fill: Option<String>,
    /// What labels are, where their words or numbers do not tell
    #[arg(long, value_name = "KIND", value_parser = read::TargetKind::NAMES)]
    target: Option<String>,
}

impl Reading {
    /// What the flags ask for.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format.clone(),
            features: self.features.clone(),
            labels: self.labels.clone(),
            columns: self.targets.clone(),
            attributes: self.attributes,
            unweighted: self.unweighted,
            // The parser admits no other names.
            duplicates: self.duplicates.as_deref().and_then(|rule| rule.parse().ok()).unwrap_or_default(),
            fill: self.fill.as_deref().and_then(|fill| fill.parse().ok()),
            target: self.target.as_deref().and_then(|kind| kind.parse().ok()),
            stream_features: false,
            sample: None,
        }
    }

    /// Reads, finds or makes the dataset; without `data`, the built-in example.
    pub fn load(&self, data: Option<&str>, seed: u64, output: &Output) -> Result<Dataset> {
        open_observed(data.unwrap_or(BUILT_IN), &self.options(), seed, output)
    }
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
