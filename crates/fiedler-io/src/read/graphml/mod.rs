//! GraphML, as networkx, igraph, Gephi and yEd write it.
//!
//! Nodes are numbered in the order of the file; their names are their ids, or, in igraph's files, the attribute `name`.
//! The edge attribute `weight` is the weight; an edge without one weighs 1. See [`attributes`](super::attributes) for
//! what becomes of node attributes. Directed graphs are made undirected, which the report says. Entities other than
//! those of XML itself are an error: nothing is expanded, and nothing else is read. So are nested graphs, hyperedges
//! and several graphs in one file.

mod parser;

use fiedler_graph::Dataset;

use super::{Format, ReadOptions, duplicates, names_from_text};
use crate::error::Result;
use crate::input::DataSource;
use parser::{Document, Parser};

/// GraphML.
pub const FORMAT: Format =
    Format { name: "graphml", about: "GraphML, as networkx, igraph, Gephi and yEd write it", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let is_graphml = |bytes: &[u8]| bytes.windows(8).take(4096).any(|window| window == b"<graphml");
    name.ends_with(".graphml")
        || name.ends_with(".xml") && input.read_named().is_ok_and(|file| is_graphml(file.bytes()))
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = input.read_named()?;
    let document = Parser::new(&file, options.unweighted)?.parse()?;
    let Document { ids, mut attributes, pairs, weights, directed } = document;
    let nodes = ids.len();
    // igraph calls its nodes n0, n1, n2 … and puts their names into an attribute.
    let counted = ids.iter().enumerate().all(|(at, id)| *id == format!("n{at}"));
    let names = if counted { attributes.take_names("name", nodes).unwrap_or(ids) } else { ids };
    let (graph, edges, note) = duplicates::build(nodes, pairs, weights, options)?;
    let graph = match names_from_text(names).unless_counting() {
        Some(names) => graph.with_names(names)?,
        None => graph,
    };
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    dataset.report.notes.extend(note);
    if directed {
        dataset.report.notes.push("the graph is directed; its edges were made undirected".into());
    }
    attributes.understand(nodes, &file, options.fill)?.describe_nodes(&mut dataset);
    Ok(dataset)
}
