//! `fiedler inspect`: a graph or a set of graphs in figures.

use fiedler_attack::{Suspect, suspicious_edges};
use fiedler_graph::measure::{self, Range, Summary};
use fiedler_graph::{BuildReport, Dataset, Event, Observer};
use fiedler_spectral::Operator;
use fiedler_spectral::properties::{self, Summary as Spectrum, SummarySettings};
use serde::Serialize;

use super::Common;
use super::output::Output;
use super::reading::Reading;
use super::spectrum;
use super::table::{Table, count, figure, percent, several};
use fiedler_experiment::{Error, ErrorKind, Result, weights_in_words};

/// Describes a graph or a set of graphs: size, connectedness, clustering, features, classes, and what reading it merged or dropped
#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A path, - for standard input, a name from `fiedler data list`, or a generator such as sbm:nodes=2000
    /// [default: citation, a built-in graph]
    data: Option<String>,
    /// Also tell what the spectrum says: connectivity, cuts, diameter, clusters
    #[arg(long)]
    spectrum: bool,
    /// Whose spectrum: laplacian or propagation
    #[arg(long, requires = "spectrum", default_value_t, hide_default_value = true)]
    operator: Operator,
    /// Also list this many edges that look added: their ends, and the neighbors of these, have unlike features
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20")]
    suspicious: Option<usize>,
    /// Only this graph of a set, counted from 0
    #[arg(long, value_name = "N")]
    graph: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// What `--json` prints: the summary, and what reading made of the source.
#[derive(Debug, Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    format: &'a str,
    read: BuildReport,
    skipped: u64,
    notes: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    spectrum: Option<&'a Spectrum>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspicious: Option<&'a [Suspect]>,
}

impl Inspect {
    pub fn run(&self, common: &Common, output: &Output) -> Result<()> {
        let mut dataset = self.reading.load(self.data.as_deref(), common.seed(), output)?;
        if let Some(graph) = self.graph {
            dataset = alone(&dataset, graph)?;
        }
        let summary = measure::summarize(&dataset);
        let spectrum = self.spectrum.then(|| self.look_at_spectrum(&dataset, common, output)).transpose()?;
        let suspects = self.suspicious.map(|count| suspects(&dataset, count)).transpose()?;
        if self.json {
            let report = &dataset.report;
            return output.json(&Report {
                summary: &summary,
                format: report.format,
                read: report.edges,
                skipped: report.skipped,
                notes: &report.notes,
                spectrum: spectrum.as_ref(),
                suspicious: suspects.as_deref(),
            });
        }
        let mut text = describe(&summary, &dataset, spectrum.as_ref());
        if let Some(suspects) = &suspects {
            text += &describe_suspects(suspects, &dataset);
        }
        output.result(&text)
    }

    fn look_at_spectrum(&self, dataset: &Dataset, common: &Common, output: &Output) -> Result<Spectrum> {
        let Some(graph) = dataset.graph() else {
            let message = format!("{} has {} graphs, and a spectrum is of one", dataset.name, dataset.graphs.len());
            return Err(Error::new(ErrorKind::Usage, message, "choose one with --graph N".to_owned()));
        };
        let settings = SummarySettings { operator: self.operator, seed: common.seed(), ..Default::default() };
        // What has been found by then is told where somebody stops it.
        output.listen();
        let stage = "spectrum";
        let _ = output.event(&Event::Begin { stage, total: None });
        let spectrum = properties::summarize_watched(graph, &settings, output);
        let _ = output.event(&Event::End { stage });
        Ok(spectrum?)
    }
}

/// The edges that look most as if they were added.
fn suspects(dataset: &Dataset, count: usize) -> Result<Vec<Suspect>> {
    let Some(graph) = dataset.graph() else {
        let message = format!("{} has {} graphs, and suspicious edges are of one", dataset.name, dataset.graphs.len());
        return Err(Error::new(ErrorKind::Usage, message, "choose one with --graph N".to_owned()));
    };
    let mut suspects = suspicious_edges(graph, dataset.features.as_ref());
    suspects.truncate(count);
    Ok(suspects)
}

fn describe_suspects(suspects: &[Suspect], dataset: &Dataset) -> String {
    let graph = dataset.graphs.block_diagonal();
    let mut table = Table::new("edges that look added, the most suspicious first".to_owned());
    for suspect in suspects {
        let likeness = match (suspect.similarity, suspect.neighborhood_similarity) {
            (Some(ends), Some(around)) => format!("likeness {ends:.3}, of neighborhoods {around:.3}, "),
            _ => String::new(),
        };
        let ends = format!("{} – {}", graph.name(suspect.low), graph.name(suspect.high));
        let effect = suspect.spectral_effect;
        table.row(ends, format!("suspicion {:.3}  ({likeness}effect on the spectrum {effect:.3})", suspect.score));
    }
    table.to_string()
}

/// One graph of a set by itself, with what is known of its nodes.
fn alone(dataset: &Dataset, graph: usize) -> Result<Dataset> {
    if graph >= dataset.graphs.len() {
        let message = format!("there is no graph {graph}; {} has {}", dataset.name, dataset.graphs.len());
        return Err(Error::new(ErrorKind::Usage, message, "graphs are counted from 0".to_owned()));
    }
    Ok(dataset.alone(graph)?)
}

fn describe(summary: &Summary, dataset: &Dataset, spectrum: Option<&Spectrum>) -> String {
    let mut table = Table::new(match summary.graphs {
        1 => format!("{}: one graph", summary.name),
        graphs => format!("{}: {} graphs", summary.name, count(graphs)),
    });
    size(&mut table, summary);
    structure(&mut table, summary);
    knowledge(&mut table, summary);
    if let Some(weights) = weights_in_words(dataset) {
        table.row("weights", weights);
    }
    if !dataset.splits.is_empty() {
        table.row("splits", splits(&summary.splits));
    }
    reading(&mut table, dataset);
    if let Some(spectrum) = spectrum {
        spectrum::describe(&mut table, spectrum);
    }
    table.to_string()
}

fn size(table: &mut Table, summary: &Summary) {
    let ranges = summary.per_graph.as_ref();
    let spread = |range: Option<&Range>| range.map_or(String::new(), |range| format!("  ({} a graph)", span(range)));
    table.row("nodes", count(summary.nodes) + &spread(ranges.map(|ranges| &ranges.nodes)));
    table.row("edges", count(summary.edges) + &spread(ranges.map(|ranges| &ranges.edges)));
    if let Some(degree) = &summary.degree {
        table.row(
            "degree",
            format!(
                "{} on average  ({} to {}, median {})",
                figure(degree.mean),
                degree.min,
                count(degree.max),
                degree.median
            ),
        );
    }
}

fn structure(table: &mut Table, summary: &Summary) {
    table.row("components", format!("{}  ({})", count(summary.components), several(summary.isolated, "isolated node")));
    if summary.bipartite == Some(true) {
        table.row("bipartite", "yes: every edge joins two sides, neither of which has edges of its own");
    }
    if let Some(density) = summary.density {
        table.row("density", figure(density));
    }
    if let Some(clustering) = summary.clustering {
        let transitivity =
            summary.transitivity.map_or(String::new(), |value| format!("  (transitivity {})", figure(value)));
        table.row("clustering", figure(clustering) + &transitivity);
    }
}

fn knowledge(table: &mut Table, summary: &Summary) {
    match (summary.features, summary.feature_kind, summary.feature_density) {
        (Some(columns), Some("categorical"), _) => {
            table.row("features", format!("{} categories a node", count(columns)))
        }
        (Some(columns), Some(kind), Some(density)) => {
            table.row("features", format!("{} a node, {kind}, {} not zero", count(columns), percent(density)));
        }
        _ => table.row("features", "none"),
    }
    if let Some(columns) = summary.edge_features {
        table.row("edge features", count(columns));
    }
    let of = if summary.labels_of == Some("graphs") { "graph" } else { "node" };
    match (summary.classes, summary.tasks) {
        (Some(classes), _) => table.row(format!("{of} classes"), count(classes) + &class_sizes(summary)),
        (None, Some(tasks)) => {
            let kind = if summary.label_kind == Some("values") { "value" } else { "yes-or-no task" };
            table.row(format!("{of} labels"), several(tasks, kind));
        }
        (None, None) => table.row("labels", "none"),
    }
    if let Some(homophily) = summary.homophily {
        table.row("edge homophily", figure(homophily));
    }
}

/// Sizes of the classes, where they are few enough to read.
fn class_sizes(summary: &Summary) -> String {
    match (&summary.class_names, &summary.class_counts) {
        (Some(names), Some(counts)) if names.len() <= 12 => {
            let sizes: Vec<_> =
                names.iter().zip(counts).map(|(name, &size)| format!("{name}: {}", count(size))).collect();
            format!("  ({})", sizes.join(", "))
        }
        _ => String::new(),
    }
}

fn splits(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 3 => format!("{}: {first} to {last}", names.len()),
        _ => names.join(", "),
    }
}

fn reading(table: &mut Table, dataset: &Dataset) {
    let report = &dataset.report;
    if report.format.is_empty() {
        return;
    }
    table.row("read as", report.format);
    let edges = &report.edges;
    let made = [
        (edges.mirrored, "given in both directions, merged"),
        (edges.repeated, "given more than once, merged"),
        (edges.self_loops, "self-loops, dropped"),
    ];
    let mut first = "of pairs";
    for (pairs, what) in made.into_iter().filter(|(pairs, _)| *pairs > 0) {
        table.row(std::mem::take(&mut first), format!("{} {what}", count(pairs as usize)));
    }
    if report.skipped > 0 {
        table.row("skipped", format!("{} that could not be read", several(report.skipped as usize, "record")));
    }
}

fn span(range: &Range) -> String {
    format!("{} on average, {} to {}", figure(range.mean), count(range.min as usize), count(range.max as usize))
}
