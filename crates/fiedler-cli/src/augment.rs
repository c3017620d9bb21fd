//! `fiedler augment`: computes a scheme, tells what it does, and writes it with what a user may want to see of it.

use std::path::PathBuf;

use fiedler_augment::ascent::Stop;
use fiedler_augment::scheme::{Scheme, SchemeSettings, ViewReport};
use fiedler_experiment::scheme_export::{BetweenClasses, SchemeExport, SchemeSummary};
use fiedler_experiment::{Result, compute_scheme, memory};
use fiedler_graph::Dataset;

use super::Common;
use super::output::Output;
use super::reading::Reading;
use super::scheme_flags::{SchemeFlags, parse_bytes};
use super::table::{Table, count, figure, percent};

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
    /// Memory that all pairs, or a dense spectrum, may take, in GiB [default: 1]
    #[arg(long, value_name = "GIB", value_parser = parse_bytes)]
    memory: Option<u64>,
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
  fiedler augment mutag --json | jq .views[0].relative_norm";

impl Augment {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let settings = self.scheme.settings(&SchemeSettings::default(), common.seed(), self.memory)?;
        let export = self.out.as_ref().map(|folder| SchemeExport {
            folder: folder.clone(),
            force: self.force,
            views: self.views,
            top: self.top,
            seed: common.seed(),
        });
        if let Some(export) = &export {
            export.check()?;
        }
        let dataset = self.reading.load(self.data.as_deref(), common.seed(), output)?;
        output.listen();
        let scheme = compute_scheme(&settings, &dataset.graphs, output)?;
        let summary = SchemeSummary::of(&scheme, &dataset);
        if let Some(export) = &export {
            export.write(&scheme, &dataset)?;
            output.note(&format!("wrote {}", export.folder.display()));
        }
        if self.json {
            return output.json(&summary.json(&scheme, &dataset, memory::peak_bytes()));
        }
        output.result(&describe(&summary, &scheme, &dataset))
    }
}

/// A table for people.
fn describe(summary: &SchemeSummary, scheme: &Scheme, dataset: &Dataset) -> String {
    let mut table = Table::new(format!("{}: scheme {}", dataset.name, scheme.settings().name()));
    for (view, between) in scheme.report().views.iter().zip(&summary.flips_between) {
        describe_view(&mut table, view, *between);
    }
    if let Some(between) = summary.edges_between {
        table.row("edges", format!("{} of them join different classes", percent(between)));
    }
    for warning in &scheme.report().warnings {
        table.row("warning", warning.clone());
    }
    for note in &scheme.report().notes {
        table.row("note", note.clone());
    }
    let seconds: f64 = scheme.report().views.iter().map(|view| view.seconds).sum();
    let memory = memory::peak_bytes().map_or(String::new(), |bytes| format!(", {:.0} MB at most", bytes as f64 / 1e6));
    table.row("took", format!("{}{memory}", duration(seconds)));
    table.to_string()
}

fn describe_view(table: &mut Table, view: &ViewReport, between: BetweenClasses) {
    let name = view.name.clone();
    if view.support == "none" {
        return table.row(name, "the graph itself");
    }
    let places = match (view.support.as_str(), &view.reason) {
        ("edges", None) => "edges only".to_owned(),
        ("edges", Some(reason)) => format!("edges only: {reason}"),
        ("all", None) => "all pairs".to_owned(),
        ("all", Some(reason)) => reason.clone(),
        ("candidates", reason) => {
            let reason = reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
            format!("edges and candidates, {} pairs{reason}", count(view.places as usize))
        }
        (other, _) => format!("{other}, {}", count(view.places as usize)),
    };
    table.row(name, places);
    if let Some(norm) = view.norm {
        let factor = format!("{} → {}, {:.4} of it", figure(norm.before), figure(norm.after), norm.relative());
        let distance = norm.distance.map_or(String::new(), |distance| format!(", moved by {distance:.4}"));
        table.row(format!("  {}", norm.of.name()), factor + &distance);
    }
    if let Some(drawn) = view.drawn_norm {
        let relative = format!("{:.4} of it", drawn.relative());
        table.row(
            "  norm of drawn views",
            format!("{} ± {}, {relative}, {} drawn", figure(drawn.mean), figure(drawn.std), drawn.views),
        );
    }
    table.row("  expected", expected(view, between));
    if let Some(unused) = unused_budget(view) {
        table.row("  budget", unused);
    }
    if let Some(diversity) = view.diversity {
        table.row("  diversity", format!("two draws differ in {} of their flips", percent(diversity)));
    }
    if let (Some(gap), Some(stop)) = (view.gap, view.stop) {
        table.row("  steps", convergence(view.steps, gap, stop));
    }
}

/// The expected number of changes, and of what.
fn expected(view: &ViewReport, between: BetweenClasses) -> String {
    let (mass, budget) = (view.mass, figure(view.budget));
    if view.changes() == "nodes" {
        return format!("{} of {} nodes dropped, budget {budget}", figure(mass.removed), count(view.places as usize));
    }
    let share =
        |share: Option<f64>| share.map_or(String::new(), |share| format!(" ({} between classes)", percent(share)));
    format!(
        "{} edges added{}, {} removed{}, budget {budget}",
        figure(mass.added),
        share(between.added.filter(|_| mass.added > 0.0)),
        figure(mass.removed),
        share(between.removed.filter(|_| mass.removed > 0.0)),
    )
}

/// Share of a budget below which what is left of it needs no word.
const ALL_BUT_USED: f64 = 0.99;

/// Why a part of the budget is left over, where an optimized view does not use it.
fn unused_budget(view: &ViewReport) -> Option<String> {
    let stop = view.stop?;
    let used = (view.mass.added + view.mass.removed) / view.budget;
    let left = percent(1.0 - used);
    // Of an empty budget nothing can be left.
    (used < ALL_BUT_USED).then(|| match stop {
        Stop::NoGainLeft => format!("{left} of it is not used: no further flip moves the spectrum that way"),
        Stop::NoBetterStep => format!("{left} of it is not used: no step that uses more of it is better"),
        Stop::StepLimit => format!("{left} of it is not used: the steps ended before; allow more with --steps"),
        Stop::FixedSteps => format!("{left} of it is not used: steps of the given size and number do not reach it"),
    })
}

/// How an ascent ended, and what a linear model has left to gain.
fn convergence(steps: usize, gap: f64, stop: Stop) -> String {
    let left = format!("first-order gap {gap:.2e} of the norm");
    match stop {
        Stop::NoGainLeft => format!("{steps}, no first-order gain left ({left})"),
        Stop::NoBetterStep => format!("{steps}, no better step found; {left}"),
        Stop::StepLimit => format!("{steps}, the most allowed; {left}"),
        Stop::FixedSteps => format!("{steps} of the given size; {left}"),
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 1.0 => format!("{:.1} ms", 1e3 * seconds),
        seconds if seconds < 100.0 => format!("{seconds:.2} s"),
        seconds => format!("{:.0} s", seconds),
    }
}
