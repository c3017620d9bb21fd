//! Node-link JSON as networkx reads it: an object for one graph, a list of objects for a set.
//!
//! Features are node attributes, called as their columns are; without names they are the list `x`. Labels are the attribute `class`, splits `split:NAME`: of nodes, or
//! in a set of graphs attributes of the graph, beside its `name`.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use fiedler_graph::{Dataset, Labels};

use super::graphml::attribute_titles;
use super::text::{changed_labels, label_names, label_texts};
use super::{Format, check_dense, features, leaves_out, left_out_of_text};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};
use crate::split_words;

/// Node-link JSON.
pub(super) const FORMAT: Format = Format {
    name: "node-link",
    endings: &[".json"],
    about: "node-link JSON of networkx: a graph, or a list of graphs",
    holds_sets: true,
    left_out,
    write,
};

fn left_out(dataset: &Dataset) -> Vec<String> {
    let mut notes = left_out_of_text(dataset);
    if dataset.edge_features.is_some() {
        notes.push(leaves_out("edge features are", FORMAT.name));
    }
    if dataset.feature_names.is_some() && features(dataset).is_some() && attribute_titles(dataset).is_none() {
        notes.push("feature names are left out: two are equal, or one would be taken for something else".into());
    }
    notes.extend(dataset.node_labels.as_ref().and_then(changed_labels));
    notes.extend(dataset.graph_labels.as_ref().and_then(changed_labels));
    notes
}

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    for labels in [&dataset.node_labels, &dataset.graph_labels].into_iter().flatten() {
        if label_names(labels).len() > 1 {
            let expected = "one for node-link JSON; npz holds several";
            return Err(Error::setting("number of label columns", label_names(labels).len(), expected));
        }
    }
    if let Some(features) = features(dataset).filter(|_| attribute_titles(dataset).is_none()) {
        check_dense(features, "in JSON")?;
    }
    let document = Document::of(dataset);
    files.write(path, |writer| {
        if dataset.graphs.len() == 1 {
            document.write_graph(writer, 0)?;
            return writeln!(writer);
        }
        write!(writer, "[")?;
        for graph in 0..dataset.graphs.len() {
            writeln!(writer, "{}", if graph > 0 { "," } else { "" })?;
            document.write_graph(writer, graph)?;
        }
        writeln!(writer, "\n]")
    })
}

struct Document<'a> {
    dataset: &'a Dataset,
    /// Header and words of each split.
    splits: Vec<(String, Vec<String>)>,
    /// One for each edge of all graphs.
    weights: Option<Vec<f32>>,
    /// Where the edges of each graph begin.
    first_edges: Vec<usize>,
}

impl Document<'_> {
    fn of(dataset: &Dataset) -> Document<'_> {
        let graphs = &dataset.graphs;
        let items = if graphs.len() == 1 { graphs.num_nodes() } else { graphs.len() };
        let splits = dataset.splits.iter();
        let mut first_edges = vec![0];
        for graph in 0..graphs.len() {
            first_edges.push(first_edges[graph] + graphs.graph_edges(graph));
        }
        Document {
            dataset,
            splits: splits.map(|split| (split_words::header(&split.name), split_words::words(split, items))).collect(),
            weights: graphs.block_diagonal().edge_weights(),
            first_edges,
        }
    }

    fn write_graph(&self, writer: &mut impl Write, graph: usize) -> io::Result<()> {
        let graphs = &self.dataset.graphs;
        write!(writer, "{{\"directed\": false, \"multigraph\": false, \"graph\": {{")?;
        let mut members = Members::default();
        if let Some(names) = self.dataset.graph_source.as_ref().and_then(|source| source.names.as_ref()) {
            members.text(writer, "name", &names[graph])?;
        }
        if let Some(labels) = &self.dataset.graph_labels {
            members.label(writer, labels, graph)?;
        }
        if graphs.len() > 1 {
            members.splits(writer, &self.splits, graph)?;
        }
        write!(writer, "}}, \"nodes\": [")?;
        let nodes = graphs.node_range(graph);
        for node in nodes.clone() {
            writeln!(writer, "{}", if node > nodes.start { "," } else { "" })?;
            self.write_node(writer, node, &nodes)?;
        }
        write!(writer, "], \"links\": [")?;
        self.write_links(writer, graph, &nodes)?;
        write!(writer, "]}}")
    }

    /// The id of a node: its name, or its number in its graph.
    fn id(&self, node: u32, nodes: &Range<u32>) -> String {
        let graph = self.dataset.graphs.block_diagonal();
        match graph.names().map(|names| names.get(node as usize)) {
            Some(fiedler_graph::Name::String(name)) => quoted(name),
            Some(fiedler_graph::Name::Integer(name)) => name.to_string(),
            None => (node - nodes.start).to_string(),
        }
    }

    fn write_node(&self, writer: &mut impl Write, node: u32, nodes: &Range<u32>) -> io::Result<()> {
        let dataset = self.dataset;
        write!(writer, "{{\"id\": {}", self.id(node, nodes))?;
        let mut members = Members { any: true };
        if let Some(features) = features(dataset) {
            let row = features.gather(&[node]).to_dense();
            match attribute_titles(dataset) {
                Some(titles) => {
                    for (title, value) in titles.iter().zip(row.values()) {
                        members.name(writer, title)?;
                        write!(writer, "{value}")?;
                    }
                }
                None => {
                    let values: Vec<String> = row.values().iter().map(ToString::to_string).collect();
                    members.name(writer, "x")?;
                    write!(writer, "[{}]", values.join(", "))?;
                }
            }
        }
        if let Some(labels) = &dataset.node_labels {
            members.label(writer, labels, node as usize)?;
        }
        if dataset.graphs.len() == 1 {
            members.splits(writer, &self.splits, node as usize)?;
        }
        write!(writer, "}}")
    }

    fn write_links(&self, writer: &mut impl Write, graph: usize, nodes: &Range<u32>) -> io::Result<()> {
        let alone = self.dataset.graphs.graph(graph);
        for (at, (low, high)) in alone.edge_pairs().enumerate() {
            let (source, target) = (self.id(nodes.start + low, nodes), self.id(nodes.start + high, nodes));
            writeln!(writer, "{}", if at > 0 { "," } else { "" })?;
            write!(writer, "{{\"source\": {source}, \"target\": {target}")?;
            if let Some(weights) = &self.weights {
                write!(writer, ", \"weight\": {}", weights[self.first_edges[graph] + at])?;
            }
            write!(writer, "}}")?;
        }
        Ok(())
    }
}

/// The members of an object, with commas between them.
#[derive(Default)]
struct Members {
    any: bool,
}

impl Members {
    fn name(&mut self, writer: &mut impl Write, name: &str) -> io::Result<()> {
        write!(writer, "{}{}: ", if self.any { ", " } else { "" }, quoted(name))?;
        self.any = true;
        Ok(())
    }

    fn text(&mut self, writer: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
        self.name(writer, name)?;
        write!(writer, "{}", quoted(text))
    }

    /// The one column of labels; nothing where the label is missing.
    fn label(&mut self, writer: &mut impl Write, labels: &Labels, item: usize) -> io::Result<()> {
        for text in label_texts(labels, item).iter().filter(|text| !text.is_empty()) {
            match labels {
                Labels::Classes(_) => self.text(writer, "class", text)?,
                Labels::MultiLabel(_) | Labels::Regression(_) => {
                    self.name(writer, "class")?;
                    write!(writer, "{text}")?;
                }
            }
        }
        Ok(())
    }

    fn splits(&mut self, writer: &mut impl Write, splits: &[(String, Vec<String>)], item: usize) -> io::Result<()> {
        for (header, words) in splits {
            self.text(writer, header, &words[item])?;
        }
        Ok(())
    }
}

/// Text as JSON has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
