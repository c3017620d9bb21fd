//! Node-link JSON, as networkx and d3 write it.
//!
//! An object with the lists `nodes` and `links` (or `edges`); a set of graphs is a list of such objects, and what is known of a graph stands in its object `graph`.
//! Nodes have an `id` (or `name`) of any kind and are
//! numbered in the order of the list; links name them as `source` and `target`, or, in old files, give their places in
//! the list. `weight` is an edge's weight; an edge without one weighs 1. A list of numbers is as many features; see
//! [`attributes`](super::attributes) for what becomes of node attributes. Directed graphs are made undirected, which
//! the report says.

mod value;

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use fiedler_graph::{Dataset, GraphSet, GraphSource};

use super::attributes::{Attributes, Value};
use super::{Format, ReadOptions, duplicates, json, names_from_text};
use crate::error::{Error, Place, Result};
use crate::input::{DataSource, File};
use value::{Json, Object, ObjectIfAny};

/// Node-link JSON.
pub const FORMAT: Format = Format {
    name: "node-link",
    about: "node-link JSON, as networkx and d3 write it; or a list of such graphs",
    recognizes,
    read,
};

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
    /// What is known of the graph as a whole.
    #[serde(default)]
    graph: ObjectIfAny,
    nodes: Vec<Object>,
    #[serde(alias = "edges")]
    links: Vec<Link>,
}

/// A link, of which only this is of use.
#[derive(Deserialize)]
struct Link {
    #[serde(alias = "from")]
    source: Json,
    #[serde(alias = "to")]
    target: Json,
    weight: Option<Json>,
}

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".json")
        && input.read_named().is_ok_and(|file| {
            let has = |key: &str| file.text().is_ok_and(|text| text.contains(key));
            has("\"nodes\"") && (has("\"links\"") || has("\"edges\""))
        })
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = input.read_named()?;
    let listed = file.text()?.trim_start().starts_with('[');
    let documents: Vec<Document> = if listed {
        json::parse(&file, "a list of node-link graphs: objects with the lists \"nodes\" and \"links\" or \"edges\"")?
    } else {
        vec![json::parse(&file, "node-link JSON: an object with the lists \"nodes\" and \"links\" or \"edges\"")?]
    };
    if documents.is_empty() {
        return Err(file.malformed("an empty list", "at least one graph").into());
    }
    let directed = documents.iter().any(|document| document.directed);
    let weighted = documents.iter().flat_map(|document| &document.links).any(|link| link.weight.is_some());
    let mut all = Graphs::default();
    for (at, document) in documents.into_iter().enumerate() {
        let place = if listed { file.place().member(format!("graph {at}")) } else { file.place().clone() };
        all.add(document, &place, weighted && !options.unweighted)?;
    }
    all.into_dataset(input, &file, directed, options)
}

/// Graphs side by side.
#[derive(Default)]
struct Graphs {
    sizes: Vec<u32>,
    ids: Vec<String>,
    of_nodes: Attributes,
    of_graphs: Attributes,
    names: Vec<Option<String>>,
    pairs: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
}

impl Graphs {
    fn add(&mut self, document: Document, place: &Place, weighted: bool) -> Result<()> {
        let first = self.ids.len();
        let graph = self.sizes.len() as u32;
        for (at, mut node) in document.nodes.into_iter().enumerate() {
            let Some(id) = node.take("id").or_else(|| node.take("name")) else {
                return Err(place.member(format!("nodes[{at}]")).malformed("no id", "an id for every node").into());
            };
            self.ids.push(id.to_string());
            set_all(&mut self.of_nodes, (first + at) as u32, node);
        }
        let ids = &self.ids[first..];
        let shift = first as u32;
        let pairs = pairs(&document.links, ids, place)?;
        self.pairs.extend(pairs.into_iter().map(|(a, b)| (a + shift, b + shift)));
        if weighted {
            self.weights.get_or_insert_default().extend(weights(&document.links, place)?);
        }
        let mut about = document.graph.0;
        self.names.push(about.take("name").map(|name| name.to_string()));
        set_all(&mut self.of_graphs, graph, about);
        self.sizes.push(ids.len() as u32);
        Ok(())
    }

    fn into_dataset(self, input: &DataSource, file: &File, directed: bool, options: &ReadOptions) -> Result<Dataset> {
        let (nodes, graphs) = (self.ids.len(), self.sizes.len());
        let counted = is_counted(&self.ids, &self.sizes);
        let (graph, edges, note) = duplicates::build(nodes, self.pairs, self.weights, options)?;
        let mut notes: Vec<String> = note.into_iter().collect();
        if directed {
            notes.push("the graph is directed; its edges were made undirected".into());
        }
        let different = graphs == 1 || self.ids.iter().collect::<HashSet<_>>().len() == nodes;
        if !counted && !different {
            notes.push("ids of nodes were left out: several graphs have the same".into());
        }
        let graph = match names_from_text(self.ids).unless_counting().filter(|_| !counted && different) {
            Some(names) => graph.with_names(names)?,
            None => graph,
        };
        let mut dataset = Dataset::set(input.stem(), GraphSet::from_block_diagonal(graph, self.sizes)?);
        dataset.report.edges = edges;
        dataset.report.notes = notes;
        self.of_nodes.understand(nodes, file, options.fill)?.describe_nodes(&mut dataset);
        if graphs > 1 {
            if !dataset.splits.is_empty() {
                dataset.report.notes.push("splits of nodes were left out: those of a set are of graphs".into());
            }
            let understood = self.of_graphs.understand(graphs, file, None)?;
            dataset.graph_labels = understood.labels;
            dataset.splits = understood.splits;
            if understood.features.is_some() {
                dataset.report.notes.push("numbers that graphs have beside their label were left out".into());
            }
            dataset.report.notes.extend(understood.notes.iter().map(|note| note.replace("node", "graph")));
            let names: Option<Vec<String>> = self.names.into_iter().collect();
            let source = |names| GraphSource { lines: (1..=graphs as u64).collect(), names: Some(names) };
            dataset.graph_source = names.map(source);
        }
        Ok(dataset)
    }
}

/// Whether the ids of every graph count from zero.
fn is_counted(ids: &[String], sizes: &[u32]) -> bool {
    let mut rest = ids.iter();
    sizes.iter().all(|size| (0..*size).all(|number| rest.next().is_some_and(|id| *id == number.to_string())))
}

/// Gives a node or graph all members of its object.
fn set_all(attributes: &mut Attributes, item: u32, object: Object) {
    for (name, json) in object.0 {
        let value = match json {
            Json::Null => continue,
            Json::Bool(value) => Value::Number(value.into()),
            Json::Integer(number) => Value::Number(number as f64),
            Json::Real(number) => Value::Number(number),
            Json::Numbers(numbers) => Value::Numbers(numbers.into_iter().map(|number| number as f32).collect()),
            Json::String(word) => Value::Word(word),
            other @ (Json::List(_) | Json::Object) => Value::Word(other.to_string()),
        };
        let place = attributes.declare(&name, None);
        attributes.set(place, item, value);
    }
}

fn pairs(links: &[Link], ids: &[String], place: &Place) -> Result<Vec<(u32, u32)>> {
    let mut number_of: HashMap<&str, u32> = HashMap::with_capacity(ids.len());
    for (number, id) in (0..).zip(ids) {
        if number_of.insert(id, number).is_some() {
            let place = place.member(format!("nodes[{number}]"));
            return Err(place.malformed(format!("the id {id:?} once more"), "an id of its own for every node").into());
        }
    }
    let by_id = |end: &Json| match end {
        Json::String(id) => number_of.get(id.as_str()).copied(),
        other => number_of.get(other.to_string().as_str()).copied(),
    };
    let by_place = |end: &Json| match end {
        Json::Integer(place) => u32::try_from(*place).ok().filter(|place| (*place as usize) < ids.len()),
        _ => None,
    };
    // Old files count through the list of nodes; then not every end is an id.
    let counted = links.iter().any(|link| by_id(&link.source).is_none() || by_id(&link.target).is_none())
        && links.iter().all(|link| by_place(&link.source).is_some() && by_place(&link.target).is_some());
    let mut pairs = Vec::with_capacity(links.len());
    for (at, link) in links.iter().enumerate() {
        let number = |end: &Json| {
            let number = if counted { by_place(end) } else { by_id(end) };
            number.ok_or_else(|| {
                let place = place.member(format!("links[{at}]"));
                let found = format!("node {end}, which is not in the list");
                Error::from(place.malformed(found, "ids of nodes in the list"))
            })
        };
        pairs.push((number(&link.source)?, number(&link.target)?));
    }
    Ok(pairs)
}

fn weights(links: &[Link], place: &Place) -> Result<Vec<f32>> {
    let weight = |(at, link): (usize, &Link)| {
        let weight = match &link.weight {
            None => 1.0,
            Some(Json::Integer(weight)) => *weight as f32,
            Some(Json::Real(weight)) => *weight as f32,
            Some(_) => f32::NAN,
        };
        if weight.is_finite() && weight > 0.0 {
            return Ok(weight);
        }
        let place = place.member(format!("links[{at}]"));
        let found = format!("the weight {}", link.weight.as_ref().unwrap_or(&Json::Null));
        let malformed = place.malformed(found, "a positive finite number");
        Err(malformed.hint("pass --unweighted to read the edges without their weights").into())
    };
    links.iter().enumerate().map(weight).collect()
}
