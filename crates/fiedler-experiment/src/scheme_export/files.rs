//! A scheme as files: the scheme itself, its convergence, its likeliest changes, drawn views.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::scheme::{Augmentation, Scheme, SchemeSettings, View, ViewKey};
use fiedler_augment::support::Pairs;
use fiedler_graph::{Batch, Dataset, GraphSet};
use fiedler_io::{AtomicFiles, write};
use fiedler_spectral::Operator;

use super::SchemeExport;
use crate::error::{Error, Result};

/// Names of the files.
const SCHEME: &str = "scheme.safetensors";
const CONVERGENCE: &str = "convergence.csv";
const SENSITIVE: &str = "sensitive_edges.csv";

/// Refuses before anything is computed what would be refused after it.
pub fn check(folder: &Path, force: bool) -> Result<()> {
    for name in [SCHEME, CONVERGENCE, SENSITIVE, "views"] {
        let path = folder.join(name);
        if !force && path.exists() {
            return Err(Error::exists(path));
        }
    }
    Ok(())
}

/// Writes everything under temporary names, then gives all files their own.
pub fn write_all(folder: &Path, scheme: &Scheme, dataset: &Dataset, asked: &SchemeExport) -> Result<()> {
    let views = folder.join("views");
    fs::create_dir_all(if asked.views > 0 { &views } else { folder }).map_err(Error::io("create", folder))?;
    let mut targets = AtomicFiles::new(asked.force);
    let bytes = scheme.to_bytes()?;
    targets.write(&folder.join(SCHEME), |file| file.write_all(&bytes))?;
    if scheme.report().views.iter().any(|view| !view.curve.is_empty()) {
        targets.write(&folder.join(CONVERGENCE), |file| convergence(scheme, file))?;
    }
    if scheme.views().iter().any(|view| matches!(view, Augmentation::Pairs(_))) {
        targets.write(&folder.join(SENSITIVE), |file| sensitive_edges(scheme, &dataset.graphs, asked.top, file))?;
    }
    let batch = dataset.graphs.whole();
    for epoch in 0..asked.views {
        for view in 0..scheme.views().len() {
            let drawn = scheme.draw(&batch, ViewKey::new(asked.seed, epoch, view as u32))?;
            let name = &scheme.report().views[view].name;
            targets
                .write(&views.join(format!("{name}-{epoch}.csv")), |file| edge_list(&drawn, &batch, dataset, file))?;
        }
    }
    targets.finish()?;
    Ok(())
}

fn convergence(scheme: &Scheme, file: &mut impl Write) -> io::Result<()> {
    writeln!(file, "view,step,relative_norm,mass")?;
    for view in &scheme.report().views {
        for point in &view.curve {
            writeln!(file, "{},{},{},{}", view.name, point.step, point.relative_norm, point.mass)?;
        }
    }
    Ok(())
}

/// Edges of a view; of several graphs, with the graph before them.
fn edge_list(view: &View, batch: &Batch, dataset: &Dataset, file: &mut impl Write) -> io::Result<()> {
    if let Some(graph) = dataset.graph().filter(|graph| graph.num_nodes() == view.graph.num_nodes()) {
        // Nodes that a view leaves without edges are nodes of it all the same.
        let view = match graph.names() {
            Some(names) => view.graph.clone().with_names(names.clone()).map_err(io::Error::other)?,
            None => view.graph.clone(),
        };
        return write::edges(file, &view, ',');
    }
    let names = Names::of(&dataset.graphs);
    let weights = view.graph.edge_weights();
    let mut rows = csv::Writer::from_writer(file);
    let mut header = names.header();
    header.extend(weights.is_some().then_some("weight"));
    rows.write_record(header)?;
    for (at, (low, high)) in view.graph.edge_pairs().enumerate() {
        let mut row = names.row(batch.node_rows[low as usize], batch.node_rows[high as usize]);
        row.extend(weights.as_ref().map(|weights| weights[at].to_string()));
        rows.write_record(row)?;
    }
    rows.flush()
}

/// The pairs most likely to flip, with what one flip does to the norm to first order.
fn sensitive_edges(scheme: &Scheme, set: &GraphSet, top: usize, file: &mut impl Write) -> io::Result<()> {
    let views: Vec<&Augmentation> =
        scheme.views().iter().filter(|view| matches!(view, Augmentation::Pairs(_))).collect();
    let mut likely: BTreeMap<(u32, u32), Vec<f32>> = BTreeMap::new();
    for (view, augmentation) in views.iter().enumerate() {
        for (pair, probability) in most_likely(augmentation, set, top) {
            likely.entry(pair).or_insert_with(|| vec![0.0; views.len()])[view] = probability;
        }
    }
    let mut pairs: Vec<((u32, u32), Vec<f32>)> = likely.into_iter().collect();
    let largest = |of: &[f32]| of.iter().copied().fold(0.0, f32::max);
    pairs.sort_by(|(a, first), (b, second)| largest(second).total_cmp(&largest(first)).then(a.cmp(b)));
    pairs.truncate(top);

    let kernel =
        full_spectrum(&Pairs::new(set.block_diagonal(), &[]), operator(scheme.settings()), SpectralObjective::Expected);
    let norm = kernel.squared_norm.sqrt();
    let names = Names::of(set);
    let mut rows = csv::Writer::from_writer(file);
    let mut header = names.header().into_iter().map(str::to_owned).collect::<Vec<_>>();
    header.extend(["edge".to_owned(), "norm_change".to_owned()]);
    let drawn = scheme.report().views.iter().zip(scheme.views());
    let names_of_views =
        drawn.filter(|(_, view)| matches!(view, Augmentation::Pairs(_))).map(|(report, _)| &report.name);
    header.extend(names_of_views.map(|name| format!("probability_{name}")));
    rows.write_record(header)?;
    for ((low, high), probabilities) in pairs {
        let edge = set.block_diagonal().has_edge(low, high);
        let (weight, change) = if edge { (1.0, -1.0) } else { (0.0, 1.0) };
        let change = change * kernel.kernel.at(low as usize, high as usize, weight) / (2.0 * norm);
        let mut row = names.row(low, high);
        row.extend([if edge { "yes" } else { "no" }.to_owned(), format!("{change:.6e}")]);
        row.extend(probabilities.iter().map(f32::to_string));
        rows.write_record(row)?;
    }
    rows.flush()
}

fn operator(settings: &SchemeSettings) -> Operator {
    match settings {
        SchemeSettings::Opposite(spectral) | SchemeSettings::Single(spectral) | SchemeSettings::Double(spectral) => {
            spectral.operator
        }
        _ => Operator::default(),
    }
}

/// The likeliest pairs of a view, by the arena's ids.
fn most_likely(augmentation: &Augmentation, set: &GraphSet, top: usize) -> Vec<((u32, u32), f32)> {
    let Augmentation::Pairs(pairs) = augmentation else { return Vec::new() };
    // Probabilities are not negative, so that their bits are in the order of their values.
    let mut best = BinaryHeap::new();
    for (graph, flips) in pairs.graphs().iter().enumerate() {
        let first = set.node_range(graph).start;
        flips.visit(|(low, high), probability| {
            let entry = Reverse((probability.to_bits(), Reverse((low + first, high + first))));
            if best.len() < top {
                best.push(entry);
            } else if let Some(mut least) = best.peek_mut()
                && entry < *least
            {
                *least = entry;
            }
        });
    }
    best.into_iter().map(|Reverse((bits, Reverse(pair)))| (pair, f32::from_bits(bits))).collect()
}

/// How nodes are named in a table: by the user's names; of several graphs, by the graph and the node's place in it.
struct Names<'a> {
    set: &'a GraphSet,
}

impl<'a> Names<'a> {
    fn of(set: &'a GraphSet) -> Names<'a> {
        Names { set }
    }

    fn header(&self) -> Vec<&'static str> {
        if self.set.len() == 1 { vec!["source", "target"] } else { vec!["graph", "source", "target"] }
    }

    fn row(&self, low: u32, high: u32) -> Vec<String> {
        if self.set.len() == 1 {
            return vec![self.set.block_diagonal().name(low), self.set.block_diagonal().name(high)];
        }
        let graph = self.set.graph_of(low);
        let first = self.set.node_range(graph).start;
        vec![graph.to_string(), (low - first).to_string(), (high - first).to_string()]
    }
}
