//! A walk through the elements of a GraphML file.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};

use super::super::attributes::Attributes;
use super::super::xml::{Edge, Kind, Xml};
use crate::error::Result;
use crate::input::File;

/// What a file says, before it becomes a graph.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) ids: Vec<String>,
    pub(super) attributes: Attributes,
    pub(super) pairs: Vec<(u32, u32)>,
    /// One for each pair, if any edge has one.
    pub(super) weights: Option<Vec<f32>>,
    pub(super) directed: bool,
}

/// An attribute that the file announces.
#[derive(Debug)]
struct Key {
    name: String,
    of_nodes: bool,
    of_edges: bool,
    kind: Kind,
    default: Option<String>,
}

impl Key {
    fn is_weight(&self) -> bool {
        self.of_edges && self.name.eq_ignore_ascii_case("weight")
    }
}

/// What the data that comes next belongs to.
#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Nothing,
    Node(u32),
    Edge,
}

pub(super) struct Parser<'a> {
    xml: Xml<'a>,
    unweighted: bool,
    keys: HashMap<String, Key>,
    /// The key that is being announced, whose default may follow.
    announced: Option<String>,
    graphs: usize,
    open_graphs: usize,
    owner: Owner,
    /// The key of the data element that is open, and the text in it.
    data: Option<String>,
    collected: String,
    number_of: HashMap<String, u32>,
    edges: Vec<Edge>,
    document: Document,
}

impl<'a> Parser<'a> {
    pub(super) fn new(file: &'a File, unweighted: bool) -> Result<Parser<'a>> {
        Ok(Parser {
            xml: Xml::new(file)?,
            unweighted,
            keys: HashMap::new(),
            announced: None,
            graphs: 0,
            open_graphs: 0,
            owner: Owner::Nothing,
            data: None,
            collected: String::new(),
            number_of: HashMap::new(),
            edges: Vec::new(),
            document: Document::default(),
        })
    }

    pub(super) fn parse(mut self) -> Result<Document> {
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
            return Err(self.xml.malformed("no graph element", "GraphML with one graph").into());
        }
        self.join_edges()?;
        Ok(self.document)
    }

    fn open(&mut self, element: &BytesStart) -> Result<()> {
        self.collected.clear();
        match element.local_name().as_ref() {
            "key" => self.open_key(element),
            "graph" => self.open_graph(element),
            "node" => self.open_node(element),
            "edge" => self.open_edge(element),
            "hyperedge" => Err(self
                .xml
                .here("a hyperedge", "edges of two nodes")
                .hint("write each hyperedge as edges first")
                .into()),
            "data" => {
                self.data = Some(self.xml.required(element, "key")?);
                Ok(())
            }
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
            "key" => self.close_key()?,
            "data" => self.close_data()?,
            "graph" => self.open_graphs = self.open_graphs.saturating_sub(1),
            "node" | "edge" => self.owner = Owner::Nothing,
            _ => {}
        }
        Ok(())
    }

    fn open_key(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.xml.required(element, "id")?;
        let of = self.xml.attribute(element, "for")?.unwrap_or("all".into());
        let kind = Kind::of(self.xml.attribute(element, "attr.type")?.as_deref());
        // yEd's keys for what it draws have no name and are not ours.
        if let Some(name) = self.xml.attribute(element, "attr.name")? {
            let key = Key {
                name: name.into_owned(),
                of_nodes: of == "node" || of == "all",
                of_edges: of == "edge" || of == "all",
                kind,
                default: None,
            };
            self.keys.insert(id.clone(), key);
        }
        self.announced = Some(id);
        Ok(())
    }

    fn close_key(&mut self) -> Result<()> {
        let Some(key) = self.announced.take().and_then(|id| self.keys.get(&id)) else { return Ok(()) };
        if key.of_nodes && !key.is_weight() {
            let default = key.default.as_ref().map(|text| self.xml.value(key.kind, &key.name, text)).transpose()?;
            self.document.attributes.declare(&key.name, default);
        }
        Ok(())
    }

    fn open_graph(&mut self, element: &BytesStart) -> Result<()> {
        if self.open_graphs > 0 {
            let malformed = self.xml.here("a graph inside a node or edge", "one flat graph");
            return Err(malformed.hint("ungroup nested graphs before saving the file").into());
        }
        if self.graphs > 0 {
            let malformed = self.xml.here("a second graph", "one graph");
            return Err(malformed.hint("save each graph to a file of its own").into());
        }
        self.graphs += 1;
        self.open_graphs += 1;
        self.document.directed = self.xml.attribute(element, "edgedefault")?.as_deref() == Some("directed");
        Ok(())
    }

    fn open_node(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.xml.required(element, "id")?;
        let number = self.document.ids.len() as u32;
        if self.number_of.insert(id.clone(), number).is_some() {
            return Err(self.xml.here(format!("node {id:?} once more"), "each node once").into());
        }
        self.document.ids.push(id);
        self.owner = Owner::Node(number);
        Ok(())
    }

    fn open_edge(&mut self, element: &BytesStart) -> Result<()> {
        let edge = Edge {
            source: self.xml.required(element, "source")?,
            target: self.xml.required(element, "target")?,
            weight: None,
            at: self.xml.position(),
        };
        self.document.directed |= self.xml.attribute(element, "directed")?.as_deref() == Some("true");
        self.edges.push(edge);
        self.owner = Owner::Edge;
        Ok(())
    }

    fn close_data(&mut self) -> Result<()> {
        let Some(id) = self.data.take() else { return Ok(()) };
        let Some(key) = self.keys.get(&id) else { return Ok(()) };
        match self.owner {
            Owner::Node(node) if key.of_nodes && !key.is_weight() => {
                let value = self.xml.value(key.kind, &key.name, &self.collected)?;
                let place = self.document.attributes.declare(&key.name, None);
                self.document.attributes.set(place, node, value);
            }
            Owner::Edge if key.is_weight() && !self.unweighted => {
                let weight = self.xml.weight(&self.collected)?;
                if let Some(edge) = self.edges.last_mut() {
                    edge.weight = Some(weight);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn join_edges(&mut self) -> Result<()> {
        let default = match self.keys.values().find(|key| key.is_weight()).and_then(|key| key.default.as_deref()) {
            Some(text) if !self.unweighted => Some(self.xml.weight(text)?),
            _ => None,
        };
        (self.document.pairs, self.document.weights) = self.xml.join(&self.edges, &self.number_of, default)?;
        Ok(())
    }
}
