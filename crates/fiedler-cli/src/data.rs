//! `fiedler data`: known datasets, where they lie, and downloading them.

use std::cell::RefCell;
use std::fmt::Write;

use anstyle::Style;
use clap::{Args, Subcommand};
use fiedler_graph::generate;
use fiedler_io::catalogue::{self, Entry, FetchSettings, Kind, Progress};
use fiedler_io::transform::{NAMED, TRANSFORMS};
use indicatif::ProgressBar;
use serde::Serialize;

use super::output::Output;
use super::table::count;
use fiedler_experiment::{Error, ErrorKind, Result};

/// Known datasets: which there are, where they lie on this machine, how to get them
///
/// Datasets are looked for in the folders of FIEDLER_DATA, laid out as PyTorch Geometric or OGB lay out theirs, and in the cache
/// folder, FIEDLER_CACHE or the system's own.
#[derive(Debug, Args)]
pub struct Data {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every known dataset, every generator and every transform
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
        /// Take files from MIRROR/DATASET/FILE instead of their published addresses
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
    },
}

impl Data {
    pub fn run(&self, output: &Output) -> Result<()> {
        match &self.action {
            Action::List { json: true } => {
                output.json(&catalogue::entries().iter().map(Listed::new).collect::<Vec<_>>())
            }
            Action::List { json: false } => output.result(&list()),
            Action::Where { name } => {
                let located = catalogue::locate(name)?;
                output.result(&format!("{}\n", located.path.display()))
            }
            Action::Fetch { name, mirror } => fetch(name, mirror.clone(), output),
        }
    }
}

/// An entry as `--json` shows it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    name: &'a str,
    aliases: &'a [String],
    title: &'a str,
    kind: &'static str,
    format: Option<&'a str>,
    homepage: &'a str,
    licence: Option<&'a str>,
    addresses: Vec<&'a str>,
    path: Option<String>,
}

impl<'a> Listed<'a> {
    fn new(entry: &'a Entry) -> Listed<'a> {
        Listed {
            name: &entry.name,
            aliases: &entry.aliases,
            title: &entry.title,
            kind: kind(entry),
            format: entry.format.as_deref(),
            homepage: &entry.homepage,
            licence: entry.licence.as_deref(),
            addresses: entry.files.iter().map(|file| file.url.as_str()).collect(),
            path: catalogue::locate(&entry.name).ok().map(|located| located.path.display().to_string()),
        }
    }
}

fn kind(entry: &Entry) -> &'static str {
    match entry.kind {
        Kind::Nodes => "nodes",
        Kind::Graphs => "graphs",
    }
}

fn list() -> String {
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let width = catalogue::entries().iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (wanted, heading) in
        [(Kind::Nodes, "One graph, its nodes labelled"), (Kind::Graphs, "Many graphs, each labelled")]
    {
        let _ = writeln!(text, "{bold}{heading}{bold:#}");
        for entry in catalogue::entries().iter().filter(|entry| entry.kind == wanted) {
            let here = if catalogue::locate(&entry.name).is_ok() { "*" } else { " " };
            let _ = writeln!(text, "{here} {:width$}  {:>18}  {dim}{}{dim:#}", entry.name, size(entry), entry.title);
        }
    }
    let _ = writeln!(text, "* is on this machine: `fiedler data where NAME`; others: `fiedler data fetch NAME`\n");
    let _ = writeln!(text, "{bold}Made on the spot, with any of the settings shown{bold:#}");
    for spec in generate::SPECS {
        let _ = writeln!(text, "  {}\n      {dim}{}{dim:#}", spec.usage(), spec.about);
    }
    let _ = writeln!(text, "\n{bold}Made of any DATA, with any of the settings shown{bold:#}");
    for transform in TRANSFORMS {
        let _ = writeln!(text, "  {}\n      {dim}{}{dim:#}", transform.usage, transform.about);
    }
    for named in NAMED {
        let _ = writeln!(text, "  {} = {}\n      {dim}{}{dim:#}", named.name, named.line, named.title);
    }
    text
}

fn size(entry: &Entry) -> String {
    let counts = &entry.counts;
    match (counts.graphs, counts.nodes) {
        (Some(graphs), _) => format!("{} graphs", count(graphs as usize)),
        (None, Some(nodes)) => format!("{} nodes", count(nodes as usize)),
        (None, None) => String::new(),
    }
}

fn fetch(name: &str, mirror: Option<String>, output: &Output) -> Result<()> {
    let entry = catalogue::find(name)?;
    let Some(cache) = catalogue::cache_folder() else {
        let hint = "set FIEDLER_CACHE to a folder that may be written to".to_owned();
        return Err(Error::new(ErrorKind::NotFound, "this machine has no cache folder", hint));
    };
    if let Some(note) = &entry.note {
        output.note(&format!("note: {note}"));
    }
    let bars = Bars { output, bar: RefCell::new(ProgressBar::hidden()) };
    let path = catalogue::fetch(entry, &FetchSettings { mirror, progress: &bars, ..FetchSettings::new(cache) })?;
    output.result(&format!("{}\n", path.display()))
}

/// A bar for each file.
struct Bars<'a> {
    output: &'a Output,
    bar: RefCell<ProgressBar>,
}

impl Progress for Bars<'_> {
    fn start(&self, file: &str, size: Option<u64>, done: u64) {
        let bar = self.output.bytes_bar(size, file);
        bar.set_position(done);
        self.bar.replace(bar).finish_and_clear();
    }

    fn advance(&self, bytes: u64) {
        self.bar.borrow().inc(bytes);
    }

    fn finish(&self) {
        self.bar.borrow().finish_and_clear();
    }
}
