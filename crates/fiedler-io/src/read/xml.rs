//! What formats in XML have in common: events with their line, values by their declared type, and edges whose ends may come later.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::attributes::Value;
use crate::error::{Error, Malformed, Result};
use crate::input::File;

/// A file of XML, event by event.
pub(super) struct Xml<'a> {
    file: &'a File,
    text: &'a str,
    reader: Reader<&'a [u8]>,
}

/// What an attribute's values are, as the file declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Boolean,
    Word,
}

impl Kind {
    pub(super) fn of(declared: Option<&str>) -> Kind {
        match declared {
            Some("int" | "integer" | "long" | "short" | "byte" | "float" | "double") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            _ => Kind::Word,
        }
    }
}

/// An edge whose ends may come later in the file.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) source: String,
    pub(super) target: String,
    pub(super) weight: Option<f32>,
    /// Where in the text it stands.
    pub(super) at: usize,
}

/// Pairs of nodes, and one weight for each, if any has one.
pub(super) type Joined = (Vec<(u32, u32)>, Option<Vec<f32>>);

impl<'a> Xml<'a> {
    pub(super) fn new(file: &'a File) -> Result<Xml<'a>> {
        let text = file.text()?;
        Ok(Xml { file, text, reader: Reader::from_str(text) })
    }

    pub(super) fn next(&mut self) -> Result<Event<'a>> {
        self.reader.read_event().map_err(|error| self.not_xml(&error.to_string()).into())
    }

    /// The text that a reference such as `&amp;` stands for.
    pub(super) fn resolve(&self, reference: &BytesRef) -> Result<String> {
        let character = reference.resolve_char_ref().map_err(|error| self.not_xml(&error.to_string()))?;
        if let Some(character) = character {
            return Ok(character.into());
        }
        if let Some(text) = resolve_predefined_entity(reference) {
            return Ok(text.into());
        }
        let found = format!("the entity &{};", reference.as_ref() as &str);
        let malformed = self.here(found, "only &lt; &gt; &amp; &apos; &quot; and characters by number");
        Err(malformed.hint("entities are not expanded; write out what they stand for").into())
    }

    pub(super) fn attribute<'e>(&self, element: &'e BytesStart, name: &str) -> Result<Option<Cow<'e, str>>> {
        let attribute = element.try_get_attribute(name).map_err(|error| self.not_xml(&error.to_string()))?;
        let Some(attribute) = attribute else { return Ok(None) };
        let value = attribute.normalized_value(XmlVersion::Explicit1_0);
        value.map(Some).map_err(|error| self.not_xml(&error.to_string()).into())
    }

    pub(super) fn required(&self, element: &BytesStart, name: &str) -> Result<String> {
        match self.attribute(element, name)? {
            Some(value) => Ok(value.into_owned()),
            None => {
                let found = format!("an element {} without {name}", element.name().as_ref());
                Err(Error::from(self.here(found, format!("the attribute {name}"))))
            }
        }
    }

    /// A value of the kind that was declared for the attribute of this name.
    pub(super) fn value(&self, kind: Kind, name: &str, text: &str) -> Result<Value> {
        let trimmed = text.trim();
        let number = match kind {
            Kind::Word => return Ok(Value::Word(text.to_owned())),
            Kind::Number => trimmed.parse().ok(),
            Kind::Boolean => match trimmed {
                "true" | "True" | "1" => Some(1.0),
                "false" | "False" | "0" => Some(0.0),
                _ => None,
            },
        };
        number.map(Value::Number).ok_or_else(|| {
            let found = format!("{trimmed:?} as {name:?}");
            self.here(found, if kind == Kind::Boolean { "true or false" } else { "a number" }).into()
        })
    }

    pub(super) fn weight(&self, text: &str) -> Result<f32> {
        match text.trim().parse::<f32>() {
            Ok(weight) if weight.is_finite() && weight > 0.0 => Ok(weight),
            _ => {
                let malformed = self.here(format!("the weight {:?}", text.trim()), "a positive finite number");
                Err(malformed.hint("pass --unweighted to read the edges without their weights").into())
            }
        }
    }

    /// Puts numbers in the place of ids, and the default or 1 in that of weights that are missing.
    pub(super) fn join(
        &self,
        edges: &[Edge],
        number_of: &HashMap<String, u32>,
        default: Option<f32>,
    ) -> Result<Joined> {
        let weighted = default.is_some() || edges.iter().any(|edge| edge.weight.is_some());
        let mut pairs = Vec::with_capacity(edges.len());
        let mut weights = Vec::with_capacity(if weighted { edges.len() } else { 0 });
        for edge in edges {
            let number = |id: &String| {
                number_of.get(id).copied().ok_or_else(|| {
                    let found = format!("an edge of node {id:?}, which is not in the file");
                    Error::from(self.at(edge.at, found, "edges between the file's nodes"))
                })
            };
            pairs.push((number(&edge.source)?, number(&edge.target)?));
            if weighted {
                weights.push(edge.weight.or(default).unwrap_or(1.0));
            }
        }
        Ok((pairs, weighted.then_some(weights)))
    }

    pub(super) fn position(&self) -> usize {
        self.reader.buffer_position() as usize
    }

    pub(super) fn at(&self, position: usize, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        let before = &self.text.as_bytes()[..position.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.file.malformed_at(line, found, expected)
    }

    pub(super) fn here(&self, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        self.at(self.position(), found, expected)
    }

    pub(super) fn malformed(&self, found: &str, expected: &str) -> Malformed {
        self.file.malformed(found, expected)
    }

    pub(super) fn not_xml(&self, found: &str) -> Malformed {
        self.here(found, "well-formed XML").hint("the file may be truncated or damaged")
    }
}
