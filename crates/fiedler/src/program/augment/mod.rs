//! `fiedler augment`: computes a scheme, tells what it does, and writes it with what a user may want to see of it.

mod files;
mod flags;
mod summary;

use std::path::PathBuf;

use fiedler_augment::scheme::{Scheme, Stage};
use fiedler_graph::Dataset;

use super::Common;
use super::failure::Failure;
use super::output::Output;
use super::reading::Reading;
use super::{interrupt, memory};
use flags::SchemeFlags;
use summary::Summary;

/// Computes an augmentation scheme: for every node pair the probability of flipping it, such that the graph's spectrum changes
/// most. One view pushes the norm of the spectrum up, the other down; other schemes are there to compare with.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub struct Augment {
    /// A path, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    /// [default: citation, a built-in graph]
    data: Option<String>,
    #[command(flatten)]
    scheme: SchemeFlags,
    /// Folder for the scheme and what goes with it; without it, only the summary is printed
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files that are in the folder already
    #[arg(long, requires = "out")]
    force: bool,
    /// Also write this many sampled graphs of each view, as edge lists
    #[arg(long, value_name = "N", default_value_t = 0, requires = "out")]
    views: u32,
    /// Rows in sensitive_edges.csv
    #[arg(long, value_name = "N", default_value_t = 1000)]
    top: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
In the folder: scheme.safetensors, convergence.csv, sensitive_edges.csv and, on request, views/.

Examples:
  fiedler augment cora --ratio 0.2 --out cora-scheme
  fiedler augment edges.csv --views 3 --out my-scheme
  fiedler augment cora --scheme single --eigenvalues 100
  fiedler augment mutag --json | jq .max.relative_norm";

impl Augment {
    pub fn run(&self, common: &Common, output: &Output) -> Result<(), Failure> {
        let settings = self.scheme.settings(common.seed)?;
        if let Some(folder) = &self.out {
            files::check(folder, self.force)?;
        }
        let dataset = self.reading.load(self.data.as_deref(), common, output)?;
        interrupt::listen();
        let bar = output.steps_bar(settings.name());
        let watch = |stage: &Stage<'_>| {
            bar.set_length(stage.of as u64);
            bar.set_position(stage.done as u64);
            bar.set_message(match stage.relative_norm {
                Some(norm) => format!("{}: {norm:.4} of the norm,", stage.view),
                None => format!("{}:", stage.view),
            });
            !interrupt::asked()
        };
        let scheme = settings.compute(&dataset.graphs, &watch);
        bar.finish_and_clear();
        let scheme = scheme?;
        let summary = Summary::of(&scheme, &dataset);
        if let Some(folder) = &self.out {
            files::write(folder, &scheme, &dataset, self, common.seed)?;
            output.note(&format!("wrote {}", folder.display()));
        }
        self.tell(&scheme, &dataset, &summary, output)
    }

    fn tell(&self, scheme: &Scheme, dataset: &Dataset, summary: &Summary, output: &Output) -> Result<(), Failure> {
        if self.json {
            return output.json(&summary.json(scheme, dataset, memory::peak_bytes()));
        }
        output.result(&summary.describe(scheme, dataset, memory::peak_bytes()))
    }
}
