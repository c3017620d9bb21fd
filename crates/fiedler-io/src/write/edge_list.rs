//! Edge lists, and beside them what they cannot hold.
//!
//! Nodes without edges are written as comments `# node: NAME`; all nodes are, when their order could not be told
//! otherwise. Features go to `NAME.features.npy`, one row a node in the order of nodes; labels to `NAME.labels.csv`,
//! whose first column has the nodes' names. Reading takes them where `features` and `labels` name them.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use fiedler_graph::{Dataset, Graph};

use super::{MAX_DENSE_VALUES, label_names, label_texts, names, npy};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};
use crate::read::edge_list::{NODE_DIRECTIVE, UNIX_TIMES};
use crate::read::separated::{quote, whole_number};

pub(super) fn write(dataset: &Dataset, graph: &Graph, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    check_names(graph)?;
    if graph.num_nodes() == 0 {
        return Err(Error::setting("number of nodes", 0, "at least one for an edge list"));
    }
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let gzipped = file_name.to_ascii_lowercase().ends_with(".gz");
    let name = if gzipped { &file_name[..file_name.len() - 3] } else { file_name.as_str() };
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let separator = match extension.to_ascii_lowercase().as_str() {
        "csv" => ',',
        "tsv" => '\t',
        _ => ' ',
    };
    files.write(path, |writer| {
        if gzipped {
            let mut encoder = GzEncoder::new(writer, Compression::default());
            write_edges(graph, separator, &mut encoder)?;
            encoder.finish().map(drop)
        } else {
            write_edges(graph, separator, writer)
        }
    })?;
    if let Some(features) = &dataset.features {
        let values = features.rows().saturating_mul(features.columns());
        if values > MAX_DENSE_VALUES {
            let expected = format!("at most {MAX_DENSE_VALUES} beside an edge list; npz keeps them sparse");
            return Err(Error::setting("number of feature values", values, expected));
        }
        let companion = path.with_file_name(format!("{stem}.features.npy"));
        let dense = features.to_dense();
        let shape = [features.rows(), features.columns()];
        files.write(&companion, |writer| npy::write(writer, npy::FLOAT32, &shape, npy::floats(dense.values())))?;
        files.note(format!("features are in {}", companion.display()));
    }
    if let Some(labels) = &dataset.node_labels {
        let companion = path.with_file_name(format!("{stem}.labels.csv"));
        files.write(&companion, |writer| {
            let header = [vec!["node".to_owned()], label_names(labels)].concat();
            write_row(writer, &header)?;
            for (node, name) in names(graph).enumerate() {
                write_row(writer, &[vec![name], label_texts(labels, node)].concat())?;
            }
            Ok(())
        })?;
        files.note(format!("labels are in {}", companion.display()));
    }
    Ok(())
}

fn write_edges(graph: &Graph, separator: char, writer: &mut impl Write) -> io::Result<()> {
    let fields: Vec<String> = names(graph).map(|name| quote(&name).into_owned()).collect();
    let integers: Option<Vec<i64>> = names(graph).map(|name| whole_number(&name)).collect();
    let weights = graph.edge_weights();
    let like_dates = |weights: &Vec<f32>| weights.iter().all(|weight| UNIX_TIMES.contains(&f64::from(*weight)));
    // Lines of numbers separated by spaces have no header by custom, unless they would be misunderstood without one.
    if separator != ' ' || integers.is_none() || weights.as_ref().is_some_and(like_dates) {
        let weight = if graph.weights().is_some() { format!("{separator}weight") } else { String::new() };
        writeln!(writer, "source{separator}target{weight}")?;
    }
    let in_order = match &integers {
        Some(integers) => integers.is_sorted(),
        None => appear_in_order(graph),
    };
    for (node, field) in (0..).zip(&fields) {
        if !in_order || graph.degree(node) == 0 {
            writeln!(writer, "{NODE_DIRECTIVE} {field}")?;
        }
    }
    for (at, (low, high)) in graph.edge_pairs().enumerate() {
        write!(writer, "{}{separator}{}", fields[low as usize], fields[high as usize])?;
        match &weights {
            Some(weights) => writeln!(writer, "{separator}{}", weights[at])?,
            None => writeln!(writer)?,
        }
    }
    Ok(())
}

/// Whether nodes numbered by first appearance get their own numbers: those without edges first, then edge by edge.
fn appear_in_order(graph: &Graph) -> bool {
    let isolated = (0..graph.num_nodes() as u32).filter(|node| graph.degree(*node) == 0);
    let mut seen = HashSet::new();
    let mut expected = 0..;
    isolated
        .chain(graph.edge_pairs().flat_map(|(low, high)| [low, high]))
        .filter(|node| seen.insert(*node))
        .all(|node| expected.next() == Some(node))
}

fn check_names(graph: &Graph) -> Result<()> {
    match names(graph).find(|name| name.contains('\n')) {
        Some(name) => Err(Error::setting("node name", format!("{name:?}"), "a name without line breaks, or GraphML")),
        None => Ok(()),
    }
}

fn write_row(writer: &mut impl Write, cells: &[String]) -> io::Result<()> {
    // An empty cell is a missing one; a quoted empty cell would be the same, but is longer.
    let fields: Vec<_> = cells.iter().map(|cell| if cell.is_empty() { "".into() } else { quote(cell) }).collect();
    writeln!(writer, "{}", fields.join(","))
}
