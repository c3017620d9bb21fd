//! `fiedler report`: pages that people would rather look at than read.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use fiedler_experiment::Result;
use fiedler_experiment::pages::PageRequest;

use super::Common;
use super::output::Output;
use super::reading::Reading;

/// Makes one HTML page that needs no network and no server: of a run, of several runs side by side, of a scheme, of a graph, or of the tables
/// that `fiedler reproduce` wrote.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Report {
    /// Run folders, a scheme, DATA, or a folder or csv file of `fiedler reproduce` [default: citation, a built-in graph]
    #[arg(value_name = "WHAT")]
    what: Vec<String>,
    /// The data that a scheme was computed for
    #[arg(long, value_name = "DATA")]
    data: Option<String>,
    /// The page [default: report.html in the folder, or NAME.html here]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also write every picture as SVG and PNG, and every table as csv, markdown and LaTeX
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Draw the surroundings of this node of a large graph
    #[arg(long, value_name = "NODE")]
    around: Option<String>,
    /// Show the page in a browser
    #[arg(long)]
    open: bool,
    /// Replace files that are there already
    #[arg(long)]
    force: bool,
    /// Print one JSON object: what was written
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

const EXAMPLES: &str = "\
A page that stands under its default name in a folder and was made by fiedler is made anew without --force.

Examples:
  fiedler report citation-span --open
  fiedler report run-1 run-2 run-3 --out comparison.html
  fiedler report cora
  fiedler report cora-scheme --data cora --around 1358
  fiedler report results --figures pictures";

impl Report {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let request = PageRequest {
            what: &self.what,
            data: self.data.as_deref(),
            options: &self.reading.options(),
            around: self.around.as_deref(),
            seed: common.seed(),
        };
        let written = request.plan(output)?.write(self.out.as_deref(), self.figures.as_deref(), self.force)?;
        if self.open {
            open(&written.page, output);
        }
        match self.json {
            true => output.json(&written),
            false => output.result(&written.in_words()),
        }
    }
}

/// Shows a page in the browser of the system; that there is none is no failure.
fn open(page: &Path, output: &Output) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let page = page.canonicalize().unwrap_or_else(|_| page.into());
    let started = std::process::Command::new(program)
        .arg(&page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        output.note(&format!("no browser was found; open {} yourself", page.display()));
    }
}
