//! GraphML: features are node attributes, called as their columns are or `f0`, `f1` …, labels the attribute `class`, splits `split:NAME`.
//!
//! Of sparse features only those are written that are not zero; zero is then the attribute's default, which we apply
//! but networkx does not.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use fiedler_graph::{Dataset, Features, Graph, Labels};

use super::text::{changed_labels, label_names, label_texts};
use super::{Format, class_names, features, leaves_out, left_out_of_text, names, stored};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};
use crate::read::attributes;
use crate::split_words;

/// GraphML.
pub(super) const FORMAT: Format = Format {
    name: "graphml",
    endings: &[".graphml"],
    about: "GraphML; features, labels and splits are node attributes",
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
    if dataset.feature_names.is_some() && features(dataset).is_some() && attribute_titles(dataset).is_none() {
        notes.push("feature names are left out: two are equal, or one would be taken for something else".into());
    }
    notes.extend(dataset.node_labels.as_ref().and_then(changed_labels));
    notes
}

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let graph = dataset.graphs.block_diagonal();
    check(dataset, graph)?;
    let splits: Vec<Vec<String>> =
        dataset.splits.iter().map(|split| split_words::words(split, graph.num_nodes())).collect();
    files.write(path, |writer| {
        writeln!(writer, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(writer, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
        write_keys(writer, graph, dataset)?;
        writeln!(writer, "<graph edgedefault=\"undirected\">")?;
        for (node, name) in names(graph).enumerate() {
            write!(writer, "<node id=\"{}\">", escaped(&name))?;
            write_values(writer, node, dataset)?;
            for (at, words) in splits.iter().enumerate().filter(|(_, words)| !words[node].is_empty()) {
                write!(writer, "<data key=\"split{at}\">{}</data>", words[node])?;
            }
            writeln!(writer, "</node>")?;
        }
        write_edges(writer, graph)?;
        writeln!(writer, "</graph>\n</graphml>")
    })
}

/// Several columns of labels would be features to any reader, and some characters cannot be in XML at all.
fn check(dataset: &Dataset, graph: &Graph) -> Result<()> {
    let labels = dataset.node_labels.as_ref();
    if let Some(columns) = labels.map(|labels| label_names(labels).len()).filter(|columns| *columns > 1) {
        return Err(Error::setting("number of label columns", columns, "one for GraphML; npz and csv hold several"));
    }
    let forbidden = |c: char| c < ' ' && !matches!(c, '\t' | '\n' | '\r') || matches!(c, '\u{fffe}' | '\u{ffff}');
    let splits = dataset.splits.iter().map(|split| split.name.clone());
    match names(graph).chain(class_names(labels).iter().cloned()).chain(splits).find(|name| name.contains(forbidden)) {
        Some(name) => Err(Error::setting("name", format!("{name:?}"), "a name without control characters for GraphML")),
        None => Ok(()),
    }
}

fn write_keys(writer: &mut impl Write, graph: &Graph, dataset: &Dataset) -> io::Result<()> {
    let (features, labels) = (features(dataset), dataset.node_labels.as_ref());
    let titles = attribute_titles(dataset);
    let default = if matches!(features, Some(Features::Sparse(_))) { "<default>0</default>" } else { "" };
    for column in 0..features.map_or(0, Features::columns) {
        let title = titles.map_or_else(|| format!("f{column}"), |titles| escaped(&titles[column]));
        let key = format!("id=\"f{column}\" for=\"node\" attr.name=\"{title}\" attr.type=\"float\"");
        writeln!(writer, "<key {key}>{default}</key>")?;
    }
    if let Some(labels) = labels {
        let kind = if matches!(labels, Labels::Classes(_)) { "string" } else { "double" };
        writeln!(writer, "<key id=\"class\" for=\"node\" attr.name=\"class\" attr.type=\"{kind}\"/>")?;
    }
    for (at, split) in dataset.splits.iter().enumerate() {
        let title = escaped(&split_words::header(&split.name));
        writeln!(writer, "<key id=\"split{at}\" for=\"node\" attr.name=\"{title}\" attr.type=\"string\"/>")?;
    }
    if graph.weights().is_some() {
        writeln!(writer, "<key id=\"weight\" for=\"edge\" attr.name=\"weight\" attr.type=\"float\"/>")?;
    }
    Ok(())
}

/// Names of the feature columns, where readers of attributes would take none of them for something else.
pub(super) fn attribute_titles(dataset: &Dataset) -> Option<&[String]> {
    let titles = dataset.feature_names.as_deref()?;
    let different: HashSet<&str> = titles.iter().map(String::as_str).collect();
    let plain =
        |title: &String| !attributes::is_special(title) && !title.contains(char::is_control) && title.trim() == title;
    (different.len() == titles.len() && titles.iter().all(plain)).then_some(titles)
}

fn write_values(writer: &mut impl Write, node: usize, dataset: &Dataset) -> io::Result<()> {
    for (column, value) in features(dataset).map_or_else(Vec::new, |features| stored(features, node)) {
        write!(writer, "<data key=\"f{column}\">{value}</data>")?;
    }
    let texts = dataset.node_labels.as_ref().map_or_else(Vec::new, |labels| label_texts(labels, node));
    for text in texts.iter().filter(|text| !text.is_empty()) {
        write!(writer, "<data key=\"class\">{}</data>", escaped(text))?;
    }
    Ok(())
}

fn write_edges(writer: &mut impl Write, graph: &Graph) -> io::Result<()> {
    let ids: Vec<String> = names(graph).map(|name| escaped(&name)).collect();
    let weights = graph.edge_weights();
    for (at, (low, high)) in graph.edge_pairs().enumerate() {
        write!(writer, "<edge source=\"{}\" target=\"{}\"", ids[low as usize], ids[high as usize])?;
        match &weights {
            Some(weights) => writeln!(writer, "><data key=\"weight\">{}</data></edge>", weights[at])?,
            None => writeln!(writer, "/>")?,
        }
    }
    Ok(())
}

/// Text that stays the same in attributes and in elements; readers turn bare line ends and tabs into spaces.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' | '\u{85}' | '\u{2028}' => escaped.push_str(&format!("&#{};", u32::from(c))),
            c => escaped.push(c),
        }
    }
    escaped
}
