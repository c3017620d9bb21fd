//! Edge lists, and beside them what they cannot hold.
//!
//! Nodes without edges are written as comments `# node: NAME`; all nodes are, when their order could not be told
//! otherwise. Features go to `NAME.features.npy`, one row a node in the order of nodes, or, where their columns have names, to
//! `NAME.features.csv`; labels and splits to `NAME.labels.csv`,
//! whose first column has the nodes' names. Reading finds them there.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use fiedler_graph::{Dataset, Features, Graph, Labels};

use super::text::{changed_labels, label_names, label_texts};
use super::{Format, MAX_DENSE_VALUES, check_dense, class_names, features, leaves_out, left_out_of_text, names, npy};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};
use crate::read::edge_list::{CSV_FEATURES, LABELS, NODE_DIRECTIVE, NPY_FEATURES, UNIX_TIMES};
use crate::read::separated::{quote, whole_number};
use crate::{role, split_words};

/// The header of the column with the names of nodes.
const NODE: &str = "node";

/// Edge lists.
pub(super) const FORMAT: Format = Format {
    name: "edge-list",
    endings: &[".csv", ".tsv", ".txt", ".edgelist", ".csv.gz", ".tsv.gz", ".txt.gz", ".edgelist.gz"],
    about: "edge list; features beside it in NAME.features.npy or .csv, labels and splits in NAME.labels.csv",
    holds_sets: false,
    left_out,
    write,
};

fn left_out(dataset: &Dataset) -> Vec<String> {
    let mut notes = left_out_of_text(dataset);
    if dataset.edge_features.is_some() {
        notes.push(leaves_out("edge features are", FORMAT.name));
    }
    if dataset.graph_labels.is_some() {
        notes.push(leaves_out("labels of graphs are", FORMAT.name));
    }
    if dataset.feature_names.is_some() && features(dataset).is_some() && csv_titles(dataset).is_none() {
        notes.push(
            "feature names are left out: one would be taken for an id, or there are too many values for csv".into(),
        );
    }
    notes.extend(dataset.node_labels.as_ref().and_then(changed_labels));
    if dataset.node_labels.as_ref().is_some_and(|labels| label_titles(labels) != label_names(labels)) {
        notes.push("names of label columns are left out: one would be taken for an id or a split".into());
    }
    notes
}

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let graph = dataset.graphs.block_diagonal();
    check_names(graph, dataset)?;
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
    let stem = path.with_file_name(stem);
    let features = features(dataset);
    let titles = csv_titles(dataset);
    // What lies beside the list is read with it: nothing may be left there of another.
    for (ending, written) in [
        (NPY_FEATURES, features.is_some() && titles.is_none()),
        (CSV_FEATURES, features.is_some() && titles.is_some()),
        (LABELS, dataset.node_labels.is_some() || !dataset.splits.is_empty()),
    ] {
        let beside = companion(&stem, ending);
        if !written && beside != path {
            files.remove(&beside)?;
        }
    }
    if let Some(features) = features {
        write_features(features, titles, graph, &stem, files)?;
    }
    if dataset.node_labels.is_some() || !dataset.splits.is_empty() {
        write_labels(dataset, graph, &companion(&stem, LABELS), files)?;
    }
    Ok(())
}

/// The file beside an edge list with an ending such as `.labels.csv`.
fn companion(stem: &Path, ending: &str) -> PathBuf {
    let name = stem.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    stem.with_file_name(name + ending)
}

fn write_features(
    features: &Features,
    titles: Option<Vec<String>>,
    graph: &Graph,
    stem: &Path,
    files: &mut AtomicFiles,
) -> Result<()> {
    check_dense(features, "beside an edge list")?;
    let dense = features.to_dense();
    let path = match titles {
        Some(titles) => {
            let path = companion(stem, CSV_FEATURES);
            files.write(&path, |writer| {
                write_row(writer, &[vec![NODE.to_owned()], titles].concat())?;
                for (node, name) in names(graph).enumerate() {
                    let cells = dense.row(node).iter().map(ToString::to_string);
                    write_row(writer, &std::iter::once(name).chain(cells).collect::<Vec<_>>())?;
                }
                Ok(())
            })?;
            path
        }
        None => {
            let path = companion(stem, NPY_FEATURES);
            let shape = [features.rows(), features.columns()];
            files.write(&path, |writer| npy::write(writer, npy::FLOAT32, &shape, npy::floats(dense.values())))?;
            path
        }
    };
    files.note(format!("features are in {}", path.display()));
    Ok(())
}

/// Labels and splits, a row for each node.
fn write_labels(dataset: &Dataset, graph: &Graph, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let labels = dataset.node_labels.as_ref();
    let splits: Vec<Vec<String>> =
        dataset.splits.iter().map(|split| split_words::words(split, graph.num_nodes())).collect();
    files.write(path, |writer| {
        let of_splits = dataset.splits.iter().map(|split| split_words::header(&split.name)).collect();
        write_row(writer, &[vec![NODE.to_owned()], labels.map_or_else(Vec::new, label_titles), of_splits].concat())?;
        for (node, name) in names(graph).enumerate() {
            let of_labels = labels.map_or_else(Vec::new, |labels| label_texts(labels, node));
            let of_splits = splits.iter().map(|words| words[node].clone()).collect();
            write_row(writer, &[vec![name], of_labels, of_splits].concat())?;
        }
        Ok(())
    })?;
    let what = match (labels, dataset.splits.is_empty()) {
        (Some(_), true) => "labels are",
        (Some(_), false) => "labels and splits are",
        (None, _) => "splits are",
    };
    files.note(format!("{what} in {}", path.display()));
    Ok(())
}

/// Writes the edges of a graph with its nodes' names, one a line; nodes without edges as comments that say so, which our reader
/// understands and others pass over.
///
/// # Errors
/// When the writer fails, or a name has a line break in it.
pub fn edges(writer: &mut impl Write, graph: &Graph, separator: char) -> io::Result<()> {
    check_lines(names(graph), "node name").map_err(io::Error::other)?;
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

/// Names of label columns, or numbers where one would be taken for something else.
fn label_titles(labels: &Labels) -> Vec<String> {
    let names = label_names(labels);
    let headers: Vec<&str> = std::iter::once(NODE).chain(names.iter().map(String::as_str)).collect();
    let plain = role::id_columns(&headers) == [0] && names.iter().all(|name| split_words::announced(name).is_none());
    if plain { names } else { (1..=names.len()).map(|column| format!("target-{column}")).collect() }
}

/// A name with a line break in it would be two lines.
fn check_names(graph: &Graph, dataset: &Dataset) -> Result<()> {
    check_lines(names(graph), "node name")?;
    check_lines(class_names(dataset.node_labels.as_ref()).iter().cloned(), "class name")?;
    check_lines(dataset.node_labels.iter().flat_map(label_names), "label name")?;
    check_lines(dataset.splits.iter().map(|split| split.name.clone()), "split name")
}

fn check_lines(mut names: impl Iterator<Item = String>, of: &str) -> Result<()> {
    match names.find(|name| name.contains(['\n', '\r'])) {
        Some(name) => Err(Error::setting(of, format!("{name:?}"), "a name without line breaks, or GraphML")),
        None => Ok(()),
    }
}

fn write_row(writer: &mut impl Write, cells: &[String]) -> io::Result<()> {
    // An empty cell is a missing one; a quoted empty cell would be the same, but is longer.
    let fields: Vec<_> = cells.iter().map(|cell| if cell.is_empty() { "".into() } else { quote(cell) }).collect();
    writeln!(writer, "{}", fields.join(","))
}
