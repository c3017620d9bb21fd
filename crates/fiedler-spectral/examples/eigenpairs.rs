//! Times the partial eigensolver on an edge list: `eigenpairs EDGES K TOLERANCE`.
//!
//! Prints one line for a cold solve and one for a warm start after every weight moved by about one per cent.

use std::error::Error;
use std::time::Instant;

use fiedler_graph::Graph;
use fiedler_graph::random::stream;
use fiedler_spectral::{Normalized, Operator, Partial, PartialSettings, Rows, partial};
use rand::RngExt;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, path, pairs, tolerance] = arguments.as_slice() else {
        return Err("usage: eigenpairs EDGES K TOLERANCE".into());
    };
    let graph = read(path)?;
    let settings = PartialSettings {
        lowest: pairs.parse()?,
        highest: pairs.parse()?,
        tolerance: tolerance.parse()?,
        dense_limit: 0,
        ..Default::default()
    };
    let mut numbers = stream(1, "weights", 0);
    let of_edges: Vec<f64> = (0..graph.num_edges()).map(|_| 1.0 - 0.02 * numbers.random::<f64>()).collect();
    let values = graph.spread_to_entries(&of_edges);
    let rows = Rows { offsets: graph.indptr(), neighbors: graph.indices(), values: &values, self_loops: None };
    let before = Normalized::of(&graph, Operator::Laplacian);
    let after = Normalized::from_rows(rows, Operator::Laplacian)?;
    let first = timed("cold", || partial(&before, &settings, None))?;
    timed("warm", || partial(&after, &settings, Some(&first)))?;
    timed("cold, moved", || partial(&after, &settings, None))?;
    Ok(())
}

fn timed<E>(name: &str, solve: impl FnOnce() -> Result<Partial, E>) -> Result<Partial, E> {
    let (start, work) = (Instant::now(), processor_seconds());
    let found = solve()?;
    println!(
        "{name}: {:.3} s ({:.3} s of processor), rounds {} and {}, residual {:.1e}, ends at {:.6} and {:.6}, peak {} MB",
        start.elapsed().as_secs_f64(),
        processor_seconds() - work,
        found.lowest.rounds,
        found.highest.rounds,
        found.lowest.worst_residual().max(found.highest.worst_residual()),
        found.lowest.values.last().copied().unwrap_or(f64::NAN),
        found.highest.values.last().copied().unwrap_or(f64::NAN),
        peak_megabytes(),
    );
    Ok(found)
}

fn read(path: &str) -> Result<Graph, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let numbers: Vec<u32> = text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let pairs: Vec<(u32, u32)> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let nodes = numbers.iter().max().map_or(0, |&id| id as usize + 1);
    Ok(Graph::from_pairs(nodes, pairs)?.0)
}

/// Seconds all threads of this process have worked, where the system tells.
fn processor_seconds() -> f64 {
    let read = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some(ticks / 100.0)
    };
    read().unwrap_or(f64::NAN)
}

/// The most memory this process has held, where the system tells.
fn peak_megabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1000
}
