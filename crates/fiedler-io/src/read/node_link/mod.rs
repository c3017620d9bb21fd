//! Node-link JSON, as networkx and d3 write it.
//!
//! An object with the lists `nodes` and `links` (or `edges`). Nodes have an `id` (or `name`) of any kind and are
//! numbered in the order of the list; links name them as `source` and `target`, or, in old files, give their places in
//! the list. `weight` is an edge's weight; an edge without one weighs 1. A list of numbers is as many features; see
//! [`attributes`](super::attributes) for what becomes of node attributes. Directed graphs are made undirected, which
//! the report says.

mod value;

use std::collections::HashMap;

use serde::Deserialize;

use fiedler_graph::Dataset;

use super::attributes::{Attributes, Value};
use super::{Format, ReadOptions, duplicates, json, names_from_text};
use crate::error::{Error, Result};
use crate::input::{DataSource, File};
use value::{Json, Object};

/// Node-link JSON.
pub const FORMAT: Format =
    Format { name: "node-link", about: "node-link JSON, as networkx and d3 write it", recognizes, read };

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
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
    let document: Document =
        json::parse(&file, "node-link JSON: an object with the lists \"nodes\" and \"links\" or \"edges\"")?;
    let (ids, attributes) = nodes(document.nodes, &file)?;
    let pairs = pairs(&document.links, &ids, &file)?;
    let nodes = ids.len();
    let (graph, edges, note) = duplicates::build(nodes, pairs, weights(&document.links, options, &file)?, options)?;
    let graph = match names_from_text(ids).unless_counting() {
        Some(names) => graph.with_names(names)?,
        None => graph,
    };
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    dataset.report.notes.extend(note);
    if document.directed {
        dataset.report.notes.push("the graph is directed; its edges were made undirected".into());
    }
    let understood = attributes.understand(nodes, &file)?;
    dataset.features = understood.features;
    dataset.feature_names = understood.feature_names;
    dataset.node_labels = understood.labels;
    dataset.report.notes.extend(understood.notes);
    Ok(dataset)
}

/// Ids as text, and everything else that is known of the nodes.
fn nodes(nodes: Vec<Object>, file: &File) -> Result<(Vec<String>, Attributes)> {
    let mut ids = Vec::with_capacity(nodes.len());
    let mut attributes = Attributes::default();
    for (at, mut node) in (0..).zip(nodes) {
        let Some(id) = node.take("id").or_else(|| node.take("name")) else {
            let place = file.place().member(format!("nodes[{at}]"));
            return Err(place.malformed("no id", "an id for every node").into());
        };
        ids.push(id.to_string());
        for (name, json) in node.0 {
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
            attributes.set(place, at, value);
        }
    }
    Ok((ids, attributes))
}

fn pairs(links: &[Link], ids: &[String], file: &File) -> Result<Vec<(u32, u32)>> {
    let mut number_of: HashMap<&str, u32> = HashMap::with_capacity(ids.len());
    for (number, id) in (0..).zip(ids) {
        if number_of.insert(id, number).is_some() {
            let place = file.place().member(format!("nodes[{number}]"));
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
                let place = file.place().member(format!("links[{at}]"));
                let found = format!("node {end}, which is not in the list");
                Error::from(place.malformed(found, "ids of nodes in the list"))
            })
        };
        pairs.push((number(&link.source)?, number(&link.target)?));
    }
    Ok(pairs)
}

fn weights(links: &[Link], options: &ReadOptions, file: &File) -> Result<Option<Vec<f32>>> {
    if options.unweighted || links.iter().all(|link| link.weight.is_none()) {
        return Ok(None);
    }
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
        let place = file.place().member(format!("links[{at}]"));
        let found = format!("the weight {}", link.weight.as_ref().unwrap_or(&Json::Null));
        let malformed = place.malformed(found, "a positive finite number");
        Err(malformed.hint("pass --unweighted to read the edges without their weights").into())
    };
    links.iter().enumerate().map(weight).collect::<Result<_>>().map(Some)
}
