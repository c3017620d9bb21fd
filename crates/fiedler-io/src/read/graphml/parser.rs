//! A walk through the elements of a GraphML file.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::super::attributes::{Attributes, Value};
use crate::error::{Error, Malformed, Result};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Boolean,
    Word,
}

impl Key {
    fn is_weight(&self) -> bool {
        self.of_edges && self.name.eq_ignore_ascii_case("weight")
    }
}

/// An edge whose ends may come later in the file.
#[derive(Debug)]
struct Edge {
    source: String,
    target: String,
    weight: Option<f32>,
    /// Where in the text it stands.
    at: usize,
}

/// What the data that comes next belongs to.
#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Nothing,
    Node(u32),
    Edge,
}

pub(super) struct Parser<'a> {
    file: &'a File,
    text: &'a str,
    xml: Reader<&'a [u8]>,
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
        let text = file.text()?;
        Ok(Parser {
            file,
            text,
            xml: Reader::from_str(text),
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
            let event = self.xml.read_event().map_err(|error| self.not_xml(&error.to_string()))?;
            match event {
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
                Event::GeneralRef(reference) => self.resolve(&reference)?,
                Event::Eof => break,
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            }
        }
        if depth > 0 {
            return Err(self.not_xml("the file ends inside an element").into());
        }
        if self.graphs == 0 {
            return Err(self.file.malformed("no graph element", "GraphML with one graph").into());
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
            "hyperedge" => {
                Err(self.here("a hyperedge", "edges of two nodes").hint("write each hyperedge as edges first").into())
            }
            "data" => {
                self.data = Some(self.required(element, "key")?);
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
        let id = self.required(element, "id")?;
        let of = self.attribute(element, "for")?.unwrap_or("all".into());
        let kind = match self.attribute(element, "attr.type")?.as_deref() {
            Some("int" | "long" | "float" | "double") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            _ => Kind::Word,
        };
        // yEd's keys for what it draws have no name and are not ours.
        if let Some(name) = self.attribute(element, "attr.name")? {
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
            let default = key.default.as_ref().map(|text| self.value(key, text)).transpose()?;
            self.document.attributes.declare(&key.name, default);
        }
        Ok(())
    }

    fn open_graph(&mut self, element: &BytesStart) -> Result<()> {
        if self.open_graphs > 0 {
            let malformed = self.here("a graph inside a node or edge", "one flat graph");
            return Err(malformed.hint("ungroup nested graphs before saving the file").into());
        }
        if self.graphs > 0 {
            let malformed = self.here("a second graph", "one graph");
            return Err(malformed.hint("save each graph to a file of its own").into());
        }
        self.graphs += 1;
        self.open_graphs += 1;
        self.document.directed = self.attribute(element, "edgedefault")?.as_deref() == Some("directed");
        Ok(())
    }

    fn open_node(&mut self, element: &BytesStart) -> Result<()> {
        let id = self.required(element, "id")?;
        let number = self.document.ids.len() as u32;
        if self.number_of.insert(id.clone(), number).is_some() {
            return Err(self.here(format!("node {id:?} once more"), "each node once").into());
        }
        self.document.ids.push(id);
        self.owner = Owner::Node(number);
        Ok(())
    }

    fn open_edge(&mut self, element: &BytesStart) -> Result<()> {
        let edge = Edge {
            source: self.required(element, "source")?,
            target: self.required(element, "target")?,
            weight: None,
            at: self.position(),
        };
        self.document.directed |= self.attribute(element, "directed")?.as_deref() == Some("true");
        self.edges.push(edge);
        self.owner = Owner::Edge;
        Ok(())
    }

    fn close_data(&mut self) -> Result<()> {
        let Some(id) = self.data.take() else { return Ok(()) };
        let Some(key) = self.keys.get(&id) else { return Ok(()) };
        match self.owner {
            Owner::Node(node) if key.of_nodes && !key.is_weight() => {
                let value = self.value(key, &self.collected)?;
                let place = self.document.attributes.declare(&key.name, None);
                self.document.attributes.set(place, node, value);
            }
            Owner::Edge if key.is_weight() && !self.unweighted => {
                let weight = self.weight(&self.collected)?;
                if let Some(edge) = self.edges.last_mut() {
                    edge.weight = Some(weight);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts numbers in the place of ids, and 1 in that of weights that are missing.
    fn join_edges(&mut self) -> Result<()> {
        let default = match self.keys.values().find(|key| key.is_weight()).and_then(|key| key.default.as_deref()) {
            Some(text) if !self.unweighted => Some(self.weight(text)?),
            _ => None,
        };
        let weighted = default.is_some() || self.edges.iter().any(|edge| edge.weight.is_some());
        let mut weights = Vec::with_capacity(if weighted { self.edges.len() } else { 0 });
        for edge in &self.edges {
            let number = |id: &String| {
                self.number_of.get(id).copied().ok_or_else(|| {
                    let found = format!("an edge of node {id:?}, which is not in the file");
                    Error::from(self.at(edge.at, found, "edges between the file's nodes"))
                })
            };
            self.document.pairs.push((number(&edge.source)?, number(&edge.target)?));
            if weighted {
                weights.push(edge.weight.or(default).unwrap_or(1.0));
            }
        }
        self.document.weights = weighted.then_some(weights);
        Ok(())
    }

    fn value(&self, key: &Key, text: &str) -> Result<Value> {
        let trimmed = text.trim();
        let number = match key.kind {
            Kind::Word => return Ok(Value::Word(text.to_owned())),
            Kind::Number => trimmed.parse().ok(),
            Kind::Boolean => match trimmed {
                "true" | "True" | "1" => Some(1.0),
                "false" | "False" | "0" => Some(0.0),
                _ => None,
            },
        };
        number.map(Value::Number).ok_or_else(|| {
            let found = format!("{trimmed:?} as {:?}", key.name);
            self.here(found, if key.kind == Kind::Boolean { "true or false" } else { "a number" }).into()
        })
    }

    fn weight(&self, text: &str) -> Result<f32> {
        match text.trim().parse::<f32>() {
            Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
            _ => {
                let malformed = self.here(format!("the weight {:?}", text.trim()), "a positive finite number");
                Err(malformed.hint("pass --unweighted to read the edges without their weights").into())
            }
        }
    }

    fn resolve(&mut self, reference: &BytesRef) -> Result<()> {
        let character = reference.resolve_char_ref().map_err(|error| self.not_xml(&error.to_string()))?;
        if let Some(character) = character {
            self.collected.push(character);
        } else if let Some(text) = resolve_predefined_entity(reference) {
            self.collected.push_str(text);
        } else {
            let found = format!("the entity &{};", reference.as_ref() as &str);
            let malformed = self.here(found, "only &lt; &gt; &amp; &apos; &quot; and characters by number");
            return Err(malformed.hint("entities are not expanded; write out what they stand for").into());
        }
        Ok(())
    }

    fn attribute<'e>(&self, element: &'e BytesStart, name: &str) -> Result<Option<Cow<'e, str>>> {
        let attribute = element.try_get_attribute(name).map_err(|error| self.not_xml(&error.to_string()))?;
        let Some(attribute) = attribute else { return Ok(None) };
        let value = attribute.normalized_value(XmlVersion::Explicit1_0);
        value.map(Some).map_err(|error| self.not_xml(&error.to_string()).into())
    }

    fn required(&self, element: &BytesStart, name: &str) -> Result<String> {
        match self.attribute(element, name)? {
            Some(value) => Ok(value.into_owned()),
            None => {
                let found = format!("an element {} without {name}", element.name().as_ref());
                Err(Error::from(self.here(found, format!("the attribute {name}"))))
            }
        }
    }

    fn position(&self) -> usize {
        self.xml.buffer_position() as usize
    }

    fn at(&self, position: usize, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        let before = &self.text.as_bytes()[..position.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.file.malformed_at(line, found, expected)
    }

    fn here(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.at(self.position(), found, expected)
    }

    fn not_xml(&self, found: &str) -> Malformed {
        self.here(found, "well-formed XML").hint("the file may be truncated or damaged")
    }
}
