//! The TU layout: `NAME_A.txt` and its kin, side by side in a folder or in a zip archive.
//!
//! Features are node attributes; where each row is a single 1 and every column occurs, they are node labels, as most of the collection has them. Real values
//! of graphs are graph attributes, classes are graph labels.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use fiedler_graph::{Dataset, Features, Labels};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Format, check_dense, class_names, features, leaves_out, left_out_of_text};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};
use crate::read::separated::whole_number;

/// The TU layout.
pub(super) const FORMAT: Format = Format {
    name: "tu",
    endings: &["_a.txt", ".zip"],
    about: "TU graph classification: files NAME_A.txt and its kin, or a zip archive of them",
    holds_sets: true,
    left_out,
    write,
};

fn left_out(dataset: &Dataset) -> Vec<String> {
    let arena = dataset.graphs.block_diagonal();
    let parts = [
        (arena.names().is_some(), "names of nodes are"),
        (arena.weights().is_some(), "edge weights are"),
        (dataset.feature_names.is_some(), "feature names are"),
        (dataset.node_labels.is_some(), "classes of nodes are"),
        (!dataset.splits.is_empty(), "splits are"),
        (dataset.graph_source.as_ref().is_some_and(|source| source.names.is_some()), "names of graphs are"),
    ];
    let mut notes = left_out_of_text(dataset);
    notes.extend(parts.iter().filter(|part| part.0).map(|(_, what)| leaves_out(what, "the TU layout")));
    let classes = class_names(dataset.graph_labels.as_ref());
    if !are_numbers(classes) {
        let numbered: Vec<String> =
            (0..).zip(classes).take(5).map(|(number, name): (usize, _)| format!("{number} is {name:?}")).collect();
        let more = if classes.len() > 5 { " …" } else { "" };
        notes.push(format!(
            "names of classes are left out, since the TU layout numbers them: {}{more}",
            numbered.join(", ")
        ));
    }
    notes
}

fn are_numbers(names: &[String]) -> bool {
    names.iter().all(|name| whole_number(name).is_some())
}

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let file_name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let texts = texts(dataset)?;
    if file_name.to_ascii_lowercase().ends_with(".zip") {
        let name = &file_name[..file_name.len() - ".zip".len()];
        return files.write(path, |writer| archive(writer, name, &texts));
    }
    let name = &file_name[..file_name.len() - "_a.txt".len()];
    for (suffix, text) in &texts {
        files.write(&path.with_file_name(format!("{name}{suffix}")), |writer| writer.write_all(text.as_bytes()))?;
    }
    Ok(())
}

fn archive(writer: impl Write + io::Seek, name: &str, texts: &[(&str, String)]) -> io::Result<()> {
    let mut zip = ZipWriter::new(writer);
    for (suffix, text) in texts {
        zip.start_file(format!("{name}/{name}{suffix}"), SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    zip.finish().map(drop).map_err(io::Error::other)
}

/// Every file by what follows the common name, the list of pairs first.
fn texts(dataset: &Dataset) -> Result<Vec<(&'static str, String)>> {
    let graphs = &dataset.graphs;
    if let Some(empty) = (0..graphs.len()).find(|graph| graphs.node_range(*graph).is_empty()) {
        return Err(Error::setting(
            "number of nodes",
            0,
            format!("at least one in graph {empty}: TU counts graphs by their nodes"),
        ));
    }
    // Both directions, as the collection has them, each with the features of its edge.
    let pairs: Vec<(u32, u32, usize)> = graphs
        .block_diagonal()
        .edge_pairs()
        .enumerate()
        .flat_map(|(edge, (low, high))| [(low, high, edge), (high, low, edge)])
        .collect();
    let lines = |rows: &mut dyn Iterator<Item = String>| {
        rows.fold(String::new(), |mut text, row| {
            let _ = writeln!(text, "{row}");
            text
        })
    };
    let mut texts = vec![
        ("_A.txt", lines(&mut pairs.iter().map(|(a, b, _)| format!("{}, {}", a + 1, b + 1)))),
        (
            "_graph_indicator.txt",
            lines(&mut (0..graphs.num_nodes() as u32).map(|node| (graphs.graph_of(node) + 1).to_string())),
        ),
    ];
    texts.extend(graph_labels(dataset)?);
    if let Some(features) = features(dataset) {
        let rows = 0..features.rows();
        match one_hot(features) {
            Some(labels) => texts.push(("_node_labels.txt", lines(&mut labels.iter().map(ToString::to_string)))),
            None => {
                check_dense(features, "in the TU layout")?;
                let dense = features.to_dense();
                texts.push(("_node_attributes.txt", lines(&mut rows.map(|row| numbers(dense.row(row))))));
            }
        }
    }
    if let Some(features) = dataset.edge_features.as_ref().filter(|features| features.columns() > 0) {
        check_dense(features, "in the TU layout")?;
        let dense = features.to_dense();
        let rows = &mut pairs.iter().map(|(.., edge)| numbers(dense.row(*edge)));
        texts.push(("_edge_attributes.txt", lines(rows)));
    }
    Ok(texts)
}

fn numbers(row: &[f32]) -> String {
    row.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The column of the 1 in each row of zeros, when every column occurs: reading makes a column of each value that does.
fn one_hot(features: &Features) -> Option<Vec<u32>> {
    let Features::Sparse(sparse) = features else { return None };
    let one = |row: usize| match sparse.row(row) {
        (&[column], &[1.0]) => Some(column),
        _ => None,
    };
    let columns: Vec<u32> = (0..sparse.rows()).map(one).collect::<Option<_>>()?;
    let mut occurs = vec![false; sparse.columns()];
    columns.iter().for_each(|column| occurs[*column as usize] = true);
    occurs.iter().all(|occurs| *occurs).then_some(columns)
}

fn graph_labels(dataset: &Dataset) -> Result<Option<(&'static str, String)>> {
    let Some(labels) = &dataset.graph_labels else { return Ok(None) };
    let missing = labels.missing();
    if missing > 0 {
        let expected = "none in the TU layout, which has a label for every graph; npz and JSON hold gaps";
        return Err(Error::setting("number of missing graph labels", missing, expected));
    }
    let mut text = String::new();
    let suffix = match labels {
        Labels::Classes(classes) => {
            let by_name = are_numbers(classes.names());
            for class in classes.of().iter().flatten() {
                let _ = match by_name {
                    true => writeln!(text, "{}", classes.names()[*class as usize]),
                    false => writeln!(text, "{class}"),
                };
            }
            "_graph_labels.txt"
        }
        Labels::Regression(values) => {
            for graph in 0..labels.len() {
                let row: Vec<f32> = values.row(graph).iter().flatten().copied().collect();
                let _ = writeln!(text, "{}", numbers(&row));
            }
            "_graph_attributes.txt"
        }
        Labels::MultiLabel(tasks) => {
            let expected = "none in the TU layout; npz holds them";
            return Err(Error::setting("number of yes-or-no tasks", tasks.names().len(), expected));
        }
    };
    Ok(Some((suffix, text)))
}
