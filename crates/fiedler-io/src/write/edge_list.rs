//! Edge lists, and beside them what they cannot hold.
//!
//! Nodes without edges are written as comments `# node: NAME`; all nodes are, when their order could not be told
//! otherwise. Features go to `NAME.features.npy`, one row a node in the order of nodes, or, where their columns have names, to
//! `NAME.features.csv`; labels to `NAME.labels.csv`,
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
use crate::role;

/// The header of the column with the names of nodes.
const NODE: &str = "node";

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
    if let (Some(features), Some(titles)) = (&dataset.features, csv_titles(dataset)) {
        let companion = path.with_file_name(format!("{stem}.features.csv"));
        let dense = features.to_dense();
        files.write(&companion, |writer| {
            write_row(writer, &[vec![NODE.to_owned()], titles].concat())?;
            for (node, name) in names(graph).enumerate() {
                let cells = dense.row(node).iter().map(ToString::to_string);
                write_row(writer, &std::iter::once(name).chain(cells).collect::<Vec<_>>())?;
            }
            Ok(())
        })?;
        files.note(format!("features are in {}", companion.display()));
    } else if let Some(features) = &dataset.features {
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
            let header = [vec![NODE.to_owned()], label_names(labels)].concat();
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

/// Writes the edges of a graph with its nodes' names, one a line; nodes without edges as comments that say so, which our reader
/// understands and others pass over.
///
/// # Errors
/// When the writer fails, or a name has a line break in it.
pub fn edges(writer: &mut impl Write, graph: &Graph, separator: char) -> io::Result<()> {
    check_names(graph).map_err(io::Error::other)?;
    write_edges(graph, separator, writer)
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

/// Names of feature columns, where a csv file can hold them: none that would be taken for ids, and not too many values.
fn csv_titles(dataset: &Dataset) -> Option<Vec<String>> {
    let titles = dataset.feature_names.as_ref()?;
    let headers: Vec<&str> = std::iter::once(NODE).chain(titles.iter().map(String::as_str)).collect();
    let plain = titles.iter().all(|title| !title.contains(['\n', '\r']));
    let values = dataset.graphs.num_nodes().saturating_mul(titles.len());
    (plain && values <= MAX_DENSE_VALUES && role::id_columns(&headers) == [0]).then(|| titles.clone())
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
