//! What a scheme would change: how probabilities are distributed, and which changes are the likeliest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use fiedler_augment::kernel::PairKernel;
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::scheme::{Augmentation, Scheme, ViewReport};
use fiedler_augment::support::Pairs;
use fiedler_graph::GraphSet;
use fiedler_spectral::Operator;

use crate::plot::Bin;
use crate::table::{Cell, Table};

const BINS: usize = 20;
/// Pairs in the table of those most likely to change.
const MOST_LIKELY: usize = 20;

/// How probabilities of one view are distributed.
#[derive(Debug, Clone, PartialEq)]
pub struct Probabilities {
    /// Of removing an edge, in even bins.
    pub removal: Vec<Bin>,
    /// Of adding one, in bins of equal ratios: pairs are many, and most probabilities small.
    pub addition: Vec<Bin>,
    /// Of dropping a node, in even bins.
    pub dropping: Vec<Bin>,
}

impl Probabilities {
    /// Of a view of a set of graphs.
    pub(crate) fn of(view: &Augmentation, set: &GraphSet) -> Probabilities {
        let (mut removal, mut addition, mut dropping) = (even_bins(), ratio_bins(), even_bins());
        match view {
            Augmentation::Pairs(pairs) => {
                for (graph, flips) in pairs.graphs().iter().enumerate() {
                    flips.visit_in(set.block_diagonal(), set.node_range(graph).start, |_, edge, probability| {
                        add(if edge { &mut removal } else { &mut addition }, probability, 1.0);
                    });
                }
            }
            Augmentation::Nodes(nodes) => {
                nodes.of_nodes().iter().for_each(|&probability| add(&mut dropping, probability, 1.0))
            }
            Augmentation::Uniform(rates) => {
                add(&mut removal, rates.remove as f32, set.num_edges() as f64);
                let nodes = (0..set.len()).map(|graph| set.node_range(graph).len() as f64);
                let free = nodes.map(|nodes| nodes * (nodes - 1.0) / 2.0).sum::<f64>() - set.num_edges() as f64;
                let each = if free > 0.0 { (rates.add * set.num_edges() as f64 / free).min(1.0) } else { 0.0 };
                add(&mut addition, each as f32, free);
            }
            Augmentation::Unchanged | Augmentation::Static(_) | Augmentation::DropNodes(_) => {}
        }
        Probabilities { removal, addition, dropping }
    }
}

/// Bins of the same width from 0 to 1.
fn even_bins() -> Vec<Bin> {
    (0..BINS).map(|at| Bin { from: at as f64 / BINS as f64, to: (at + 1) as f64 / BINS as f64, count: 0.0 }).collect()
}

/// Bins of the same ratio up to 1, four for each power of ten; the lowest holds whatever is less.
fn ratio_bins() -> Vec<Bin> {
    let edge = |quarter: i32| 10f64.powf(f64::from(quarter) / 4.0);
    (-24..0).map(|quarter| Bin { from: edge(quarter), to: edge(quarter + 1), count: 0.0 }).collect()
}

/// Bins without empty ones at the ends.
pub fn trimmed(bins: &[Bin]) -> Vec<Bin> {
    let full = |bin: &Bin| bin.count > 0.0;
    let (first, last) = (bins.iter().position(full).unwrap_or(0), bins.iter().rposition(full).unwrap_or(0));
    bins.get(first..=last).map_or(Vec::new(), <[Bin]>::to_vec)
}

fn add(bins: &mut [Bin], probability: f32, times: f64) {
    let place = bins.partition_point(|bin| bin.to <= probability.into()).min(bins.len() - 1);
    if probability > 0.0 {
        bins[place].count += times;
    }
}

/// The pairs most likely to change in either view, with what one change does to the norm to first order.
pub fn likely(scheme: &Scheme, set: &GraphSet, operator: Operator) -> Table {
    let of_pairs: Vec<(&ViewReport, &Augmentation)> = scheme
        .report()
        .views
        .iter()
        .zip(scheme.views())
        .filter(|(_, view)| matches!(view, Augmentation::Pairs(_)))
        .collect();
    let mut table = Table::new(
        "likely-changes",
        "The likeliest changes",
        &["view", "change", "between", "and", "probability", "effect on the norm"],
    );
    table.caption =
        "The effect is that of this change alone, to first order, relative to the norm of the spectrum.".into();
    table.folded = true;
    if of_pairs.is_empty() {
        return table;
    }
    let evaluation = full_spectrum(&Pairs::new(set.block_diagonal(), &[]), operator, SpectralObjective::Expected);
    for (report, view) in of_pairs {
        for ((low, high), probability) in most_likely(view, set) {
            let edge = set.block_diagonal().has_edge(low, high);
            let effect = effect(&evaluation.kernel, evaluation.squared_norm, (low, high), edge);
            let [a, b] = [low, high].map(|node| name(set, node));
            table.push(vec![
                report.name.clone().into(),
                if edge { "remove" } else { "add" }.into(),
                a.into(),
                b.into(),
                Cell::number(probability.into(), format!("{probability:.3}")),
                Cell::number(effect, format!("{:+.3} %", 100.0 * effect)),
            ]);
        }
    }
    table
}

/// What flipping a pair does to the norm to first order, relative to the norm.
fn effect(kernel: &PairKernel, squared_norm: f64, (low, high): (u32, u32), edge: bool) -> f64 {
    let (weight, change) = if edge { (1.0, -1.0) } else { (0.0, 1.0) };
    change * kernel.at(low as usize, high as usize, weight) / (2.0 * squared_norm)
}

fn name(set: &GraphSet, node: u32) -> String {
    match set.len() {
        1 => set.block_diagonal().name(node),
        _ => {
            let graph = set.graph_of(node);
            format!("{} of graph {graph}", node - set.node_range(graph).start)
        }
    }
}

/// The likeliest pairs of a view, by the arena's ids.
fn most_likely(view: &Augmentation, set: &GraphSet) -> Vec<((u32, u32), f32)> {
    let Augmentation::Pairs(pairs) = view else { return Vec::new() };
    // Probabilities are not negative, so that their bits are in the order of their values.
    let mut best = BinaryHeap::new();
    for (graph, flips) in pairs.graphs().iter().enumerate() {
        let first = set.node_range(graph).start;
        flips.visit(|(low, high), probability| {
            let entry = Reverse((probability.to_bits(), Reverse((low + first, high + first))));
            if best.len() < MOST_LIKELY {
                best.push(entry);
            } else if best.peek().is_some_and(|least| entry < *least) {
                best.pop();
                best.push(entry);
            }
        });
    }
    let mut pairs: Vec<_> =
        best.into_iter().map(|Reverse((bits, Reverse(pair)))| (pair, f32::from_bits(bits))).collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    pairs
}
