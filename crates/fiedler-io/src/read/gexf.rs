//! GEXF, as Gephi and networkx write it.
//!
//! `attributes` announce what nodes know, `attvalue` says it of a node. Nodes are numbered in the order of the file and called by their `label` where all are different,
//! else by their id. An edge's `weight` is its weight; one without weighs 1. See [`attributes`](super::attributes) for what becomes of node attributes. Directed
//! graphs are made undirected, which the report says; what is said of how nodes are drawn, and when they were there, is left out.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};

use fiedler_graph::Dataset;

use super::attributes::{Attributes, Value};
use super::xml::{Edge, Kind, Xml};
use super::{Format, ReadOptions, duplicates, names_from_text};
use crate::error::Result;
use crate::input::{DataSource, File};

/// Bytes in which the element `gexf` must begin.
const HEAD: usize = 4096;
/// What a node's label is called among its attributes.
const LABEL: &str = "label";

/// GEXF.
pub const FORMAT: Format = Format { name: "gexf", about: "GEXF, as Gephi and networkx write it", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let lower = name.to_ascii_lowercase();
    let unpacked = lower.strip_suffix(".gz").unwrap_or(&lower);
    let is_gexf = || input.head(name, HEAD).is_ok_and(|head| head.windows(5).any(|window| window == b"<gexf"));
    unpacked.ends_with(".gexf") || unpacked.ends_with(".xml") && is_gexf()
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = input.read_named()?;
    let mut parser = Parser::new(&file, options.unweighted)?;
    parser.parse()?;
    let (pairs, weights) = parser.xml.join(&parser.edges, &parser.number_of, None)?;
    let Parser { ids, mut attributes, directed, .. } = parser;
    let nodes = ids.len();
    let names = attributes.take_names(LABEL, nodes).unwrap_or(ids);
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

/// An attribute that the file announces.
struct Key {
    title: String,
    kind: Kind,
    default: Option<String>,
}

struct Parser<'a> {
    xml: Xml<'a>,
    unweighted: bool,
    keys: HashMap<String, Key>,
    /// Whether what is announced is of nodes.
    of_nodes: bool,
    announced: Option<String>,
    collected: String,
    graphs: usize,
    /// The node that values belong to.
    node: Option<u32>,
    ids: Vec<String>,
    number_of: HashMap<String, u32>,
    attributes: Attributes,
    edges: Vec<Edge>,
    directed: bool,
}

impl<'a> Parser<'a> {
    fn new(file: &'a File, unweighted: bool) -> Result<Parser<'a>> {
        Ok(Parser {
            xml: Xml::new(file)?,
            unweighted,
            keys: HashMap::new(),
            of_nodes: false,
            announced: None,
            collected: String::new(),
            graphs: 0,
            node: None,
            ids: Vec::new(),
            number_of: HashMap::new(),
            attributes: Attributes::default(),
            edges: Vec::new(),
            directed: false,
        })
    }

    fn parse(&mut self) -> Result<()> {
        let mut depth = 0usize;
        loop {
            match self.xml.next()? {
                Event::Start(element) => {
                    depth += 1;
                    self.open(&element)?;
                }
                Event::Empty(element) => {
                    self.open(&element)?;
                    self.close(element.local_name().as_ref())?;
                }
                Event::End(element) => {
                    depth = depth.saturating_sub(1);
                    self.close(element.local_name().as_ref())?;
                }
                Event::Text(text) => self.collected.push_str(&text.xml10_content()),
                Event::CData(text) => self.collected.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => self.collected.push_str(&self.xml.resolve(&reference)?),
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        if depth > 0 {
            return Err(self.xml.not_xml("the file ends inside an element").into());
        }
        if self.graphs == 0 {
            return Err(self.xml.malformed("no graph element", "GEXF with one graph").into());
        }
        Ok(())
    }

    fn open(&mut self, element: &BytesStart) -> Result<()> {
        self.collected.clear();
        match element.local_name().as_ref() {
            "graph" => {
                self.graphs += 1;
                if self.graphs > 1 {
                    let malformed = self.xml.here("a second graph", "one graph");
                    return Err(malformed.hint("save each graph to a file of its own").into());
                }
                self.directed = self.xml.attribute(element, "defaultedgetype")?.as_deref() == Some("directed");
                Ok(())
            }
            "attributes" => {
                self.of_nodes = self.xml.attribute(element, "class")?.as_deref() != Some("edge");
                Ok(())
            }
            "attribute" if self.of_nodes => self.announce(element),
            "node" => self.open_node(element),
            "attvalue" => self.open_value(element),
            "edge" => self.open_edge(element),
            _ => Ok(()),
        }
    }

    fn close(&mut self, name: &str) -> Result<()> {
        match name {
            "default" => {
                if let Some(key) = self.announced.as_ref().and_then(|id| self.keys.get_mut(id)) {
                    key.default = Some(std::mem::take(&mut self.collected));
                }
            }
            "attribute" => {
                if let Some(key) = self.announced.take().and_then(|id| self.keys.get(&id)) {
                    let default = key.default.as_ref().map(|text| self.xml.value(key.kind, &key.title, text));
                    self.attributes.declare(&key.title, default.transpose()?);
                }
            }
            "attributes" => self.of_nodes = false,
            "node" => self.node = None,
            _ => {}
        }
        Ok(())
    }

    fn announce(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.xml.required(element, "id")?;
        let title = self.xml.attribute(element, "title")?.map_or_else(|| id.clone(), Into::into);
        let kind = Kind::of(self.xml.attribute(element, "type")?.as_deref());
        self.keys.insert(id.clone(), Key { title, kind, default: None });
        self.announced = Some(id);
        Ok(())
    }

    fn open_node(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.xml.required(element, "id")?;
        let number = self.ids.len() as u32;
        if self.number_of.insert(id.clone(), number).is_some() {
            return Err(self.xml.here(format!("node {id:?} once more"), "each node once").into());
        }
        if let Some(label) = self.xml.attribute(element, LABEL)? {
            let place = self.attributes.declare(LABEL, None);
            self.attributes.set(place, number, Value::Word(label.into_owned()));
        }
        self.ids.push(id);
        self.node = Some(number);
        Ok(())
    }

    fn open_value(&mut self, element: &BytesStart) -> Result<()> {
        let Some(node) = self.node else { return Ok(()) };
        // Version 1.1 said `id` for what is called `for` since.
        let id = match self.xml.attribute(element, "for")? {
            Some(id) => id.into_owned(),
            None => self.xml.required(element, "id")?,
        };
        let Some(key) = self.keys.get(&id) else { return Ok(()) };
        let value = self.xml.value(key.kind, &key.title, &self.xml.required(element, "value")?)?;
        let place = self.attributes.declare(&key.title, None);
        self.attributes.set(place, node, value);
        Ok(())
    }

    fn open_edge(&mut self, element: &BytesStart) -> Result<()> {
        let weight = self.xml.attribute(element, "weight")?.filter(|_| !self.unweighted);
        let edge = Edge {
            source: self.xml.required(element, "source")?,
            target: self.xml.required(element, "target")?,
            weight: weight.map(|weight| self.xml.weight(&weight)).transpose()?,
            at: self.xml.position(),
        };
        self.directed |= self.xml.attribute(element, "type")?.as_deref() == Some("directed");
        self.edges.push(edge);
        Ok(())
    }
}
