//! GML, as networkx, igraph and Gephi write it.
//!
//! A file is a list of keys with values: numbers, quoted strings, or lists in brackets. Of the first `graph`, every `node` has an `id`, and every
//! `edge` the ids of its ends as `source` and `target`; `weight` or `value` is its weight. Nodes are numbered in the order of the file and called by
//! their `label` where all are different, else by their id. A key that a node has several times is a list of numbers. See
//! [`attributes`](super::attributes) for what becomes of node attributes. Directed graphs are made undirected, which the report says.

use std::collections::HashMap;

use fiedler_graph::Dataset;

use super::attributes::{Attributes, Value};
use super::{Format, ReadOptions, duplicates, names_from_text};
use crate::error::{Error, Malformed, Result};
use crate::input::{DataSource, File};

/// Bytes in which `graph [` must begin for a file to be GML.
const HEAD: usize = 4096;

/// GML.
pub const FORMAT: Format =
    Format { name: "gml", about: "GML, as networkx, igraph and Gephi write it", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = input.file_name() else { return false };
    let Ok(head) = input.head(name, HEAD) else { return false };
    let text = String::from_utf8_lossy(&head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    // Keys that may come before the graph, which opens a bracket on its line or on the next.
    let before = ["Creator", "Version", "comment", "label"];
    let first = lines.find(|line| !before.iter().any(|key| line.starts_with(&format!("{key} "))));
    let words = first.into_iter().chain(lines.take(1)).flat_map(str::split_ascii_whitespace);
    let words: String = words.take(2).collect();
    words == "graph[" || words.starts_with("graph[")
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let file = input.read_named()?;
    let mut document = Document::default();
    let text = file.text()?;
    Parser { file: &file, text, at: 0 }.document(&mut document)?;
    let Document { ids, mut attributes, edges, directed, several, .. } = document;
    let nodes = ids.len();
    let number_of = numbers(&ids, &file, text)?;
    let weighted = !options.unweighted && edges.iter().any(|edge| edge.weight.is_some());
    let (mut pairs, mut weights) = (Vec::with_capacity(edges.len()), Vec::new());
    for edge in &edges {
        let number = |end: Option<i64>| {
            let found = match end {
                Some(id) => match number_of.get(&id) {
                    Some(number) => return Ok(*number),
                    None => format!("an edge of node {id}, which is not in the file"),
                },
                None => "an edge without source or target".to_owned(),
            };
            Err(Error::from(file.malformed_at(line(text, edge.at), found, "edges between the file's nodes")))
        };
        pairs.push((number(edge.source)?, number(edge.target)?));
        if weighted {
            weights.push(weight(edge, &file, text)?);
        }
    }
    let (graph, report, note) = duplicates::build(nodes, pairs, weighted.then_some(weights), options)?;
    let names = attributes.take_names("label", nodes);
    let names = names.unwrap_or_else(|| ids.iter().map(|(id, _)| id.to_string()).collect());
    let graph = match names_from_text(names).unless_counting() {
        Some(names) => graph.with_names(names)?,
        None => graph,
    };
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = report;
    dataset.report.notes.extend(note);
    if directed {
        dataset.report.notes.push("the graph is directed; its edges were made undirected".into());
    }
    if several {
        dataset.report.notes.push("the file has several graphs, of which the first was read".into());
    }
    attributes.understand(nodes, &file, options.fill)?.describe_nodes(&mut dataset);
    Ok(dataset)
}

/// The number of each node by its id.
fn numbers(ids: &[(i64, usize)], file: &File, text: &str) -> Result<HashMap<i64, u32>> {
    let mut number_of = HashMap::with_capacity(ids.len());
    for (number, &(id, at)) in (0..).zip(ids) {
        if number_of.insert(id, number).is_some() {
            return Err(file.malformed_at(line(text, at), format!("node {id} once more"), "each node once").into());
        }
    }
    Ok(number_of)
}

fn weight(edge: &Edge, file: &File, text: &str) -> Result<f32> {
    let weight = edge.weight.unwrap_or(1.0) as f32;
    if weight.is_finite() && weight > 0.0 {
        return Ok(weight);
    }
    let malformed = file.malformed_at(line(text, edge.at), format!("the weight {weight}"), "a positive finite number");
    Err(malformed.hint("pass --unweighted to read the edges without their weights").into())
}

/// What a file says, before it becomes a graph.
#[derive(Debug, Default)]
struct Document {
    /// Ids of nodes, and where in the text they stand.
    ids: Vec<(i64, usize)>,
    attributes: Attributes,
    edges: Vec<Edge>,
    directed: bool,
    has_graph: bool,
    several: bool,
}

#[derive(Debug, Default)]
struct Edge {
    source: Option<i64>,
    target: Option<i64>,
    weight: Option<f64>,
    /// Where in the text it stands.
    at: usize,
}

/// A word of the file.
#[derive(Debug, Clone, PartialEq)]
enum Token<'a> {
    Key(&'a str),
    Number(f64),
    /// Between quotes, entities resolved.
    String(String),
    Open,
    Close,
    End,
}

struct Parser<'a> {
    file: &'a File,
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn document(&mut self, document: &mut Document) -> Result<()> {
        loop {
            match self.next()? {
                Token::End => break,
                Token::Key("graph") if !document.has_graph => {
                    self.open("graph")?;
                    document.has_graph = true;
                    self.graph(document)?;
                }
                Token::Key(key) => {
                    document.several |= key == "graph";
                    self.skip()?;
                }
                other => return Err(self.unexpected(&other, "a key such as graph").into()),
            }
        }
        match document.has_graph {
            true => Ok(()),
            false => Err(self.file.malformed("no graph", "graph [ … ]").into()),
        }
    }

    fn graph(&mut self, document: &mut Document) -> Result<()> {
        while let Some(key) = self.key_in_list()? {
            match key {
                "node" => {
                    self.open("node")?;
                    self.node(document)?;
                }
                "edge" => {
                    self.open("edge")?;
                    self.edge(document)?;
                }
                "directed" => document.directed = self.number("0 or 1")? != 0.0,
                _ => self.skip()?,
            }
        }
        Ok(())
    }

    fn node(&mut self, document: &mut Document) -> Result<()> {
        let at = self.at;
        let node = document.ids.len() as u32;
        let mut id = None;
        let mut values: Vec<(&str, Value)> = Vec::new();
        while let Some(key) = self.key_in_list()? {
            if key == "id" {
                id = Some(self.whole("a whole number as id")?);
                continue;
            }
            let value = match self.next()? {
                Token::Number(number) => Value::Number(number),
                Token::String(text) => Value::Word(text),
                // How a node is drawn, mostly.
                Token::Open => {
                    self.close_list(1)?;
                    continue;
                }
                other => return Err(self.unexpected(&other, "a number, a string or a list").into()),
            };
            match values.iter_mut().find(|(name, _)| *name == key) {
                Some((_, earlier)) => append(earlier, value),
                None => values.push((key, value)),
            }
        }
        let Some(id) = id else {
            return Err(self
                .file
                .malformed_at(line(self.text, at), "a node without id", "an id for every node")
                .into());
        };
        document.ids.push((id, at));
        for (name, value) in values {
            let place = document.attributes.declare(name, None);
            document.attributes.set(place, node, value);
        }
        Ok(())
    }

    fn edge(&mut self, document: &mut Document) -> Result<()> {
        let mut edge = Edge { at: self.at, ..Edge::default() };
        let mut value = None;
        while let Some(key) = self.key_in_list()? {
            match key {
                "source" => edge.source = Some(self.whole("the id of a node")?),
                "target" => edge.target = Some(self.whole("the id of a node")?),
                "weight" => edge.weight = Some(self.number("a weight")?),
                // Newman's collection calls weights so.
                "value" => match self.next()? {
                    Token::Number(number) => value = Some(number),
                    Token::Open => self.close_list(1)?,
                    Token::String(_) => {}
                    other => return Err(self.unexpected(&other, "a number, a string or a list").into()),
                },
                _ => self.skip()?,
            }
        }
        edge.weight = edge.weight.or(value);
        document.edges.push(edge);
        Ok(())
    }

    /// The next key of a list; `None` at its end.
    fn key_in_list(&mut self) -> Result<Option<&'a str>> {
        match self.next()? {
            Token::Key(key) => Ok(Some(key)),
            Token::Close => Ok(None),
            other => Err(self.unexpected(&other, "a key or ]").into()),
        }
    }

    fn open(&mut self, key: &str) -> Result<()> {
        match self.next()? {
            Token::Open => Ok(()),
            other => Err(self.unexpected(&other, &format!("[ after {key}")).into()),
        }
    }

    fn number(&mut self, expected: &str) -> Result<f64> {
        match self.next()? {
            Token::Number(number) => Ok(number),
            // Some programs put numbers in quotes.
            Token::String(text) if text.trim().parse::<f64>().is_ok() => Ok(text.trim().parse().unwrap_or(0.0)),
            other => Err(self.unexpected(&other, expected).into()),
        }
    }

    fn whole(&mut self, expected: &str) -> Result<i64> {
        let number = self.number(expected)?;
        if number.fract() == 0.0 && number.abs() < (1u64 << 53) as f64 {
            return Ok(number as i64);
        }
        Err(self.here(format!("{number}"), expected).into())
    }

    /// Passes over a value.
    fn skip(&mut self) -> Result<()> {
        match self.next()? {
            Token::Open => self.close_list(1),
            Token::Number(_) | Token::String(_) | Token::Key(_) => Ok(()),
            other => Err(self.unexpected(&other, "a value").into()),
        }
    }

    /// Passes over the rest of a list, and of those around it up to a depth. A loop, so that no nesting is too deep.
    fn close_list(&mut self, mut depth: usize) -> Result<()> {
        while depth > 0 {
            match self.next()? {
                Token::Open => depth += 1,
                Token::Close => depth -= 1,
                Token::End => return Err(self.unexpected(&Token::End, "]").into()),
                Token::Key(_) | Token::Number(_) | Token::String(_) => {}
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Result<Token<'a>> {
        let rest = self.skip_blanks();
        let Some(first) = rest.chars().next() else { return Ok(Token::End) };
        match first {
            '[' | ']' => {
                self.at += 1;
                Ok(if first == '[' { Token::Open } else { Token::Close })
            }
            '"' => {
                let Some(length) = rest[1..].find('"') else {
                    let malformed = self.here("a string without an end", "a closing quote");
                    return Err(malformed.hint("the file may be truncated").into());
                };
                self.at += length + 2;
                Ok(Token::String(unescaped(&rest[1..=length])))
            }
            _ => {
                let length =
                    rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"')).unwrap_or(rest.len());
                let word = &rest[..length];
                self.at += length;
                if first.is_ascii_alphabetic() || first == '_' {
                    // networkx writes infinities as words, which no attribute here has a use for.
                    return Ok(if word == "NAN" || word == "INF" { Token::Number(f64::NAN) } else { Token::Key(word) });
                }
                match word.parse() {
                    Ok(number) => Ok(Token::Number(number)),
                    Err(_) => Err(self.here(format!("{:?}", shortened(word)), "a key, a number or a string").into()),
                }
            }
        }
    }

    /// What follows after blanks and comments.
    fn skip_blanks(&mut self) -> &'a str {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return trimmed;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn here(&self, found: impl Into<String>, expected: &str) -> Malformed {
        self.file.malformed_at(line(self.text, self.at), found, expected)
    }

    fn unexpected(&self, token: &Token, expected: &str) -> Malformed {
        let found = match token {
            Token::Key(key) => format!("the key {:?}", shortened(key)),
            Token::Number(number) => format!("the number {number}"),
            Token::String(text) => format!("the string {:?}", shortened(text)),
            Token::Open => "[".to_owned(),
            Token::Close => "]".to_owned(),
            Token::End => "the end of the file".to_owned(),
        };
        let malformed = self.here(found, expected);
        if *token == Token::End { malformed.hint("the file may be truncated") } else { malformed }
    }
}

/// The line of a byte, counted from one.
fn line(text: &str, at: usize) -> u64 {
    1 + text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A further value of a key that a node has several times.
fn append(earlier: &mut Value, value: Value) {
    match (&mut *earlier, value) {
        (Value::Numbers(numbers), Value::Number(number)) => numbers.push(number as f32),
        (Value::Number(first), Value::Number(second)) => {
            *earlier = Value::Numbers(vec![*first as f32, second as f32]);
        }
        (_, Value::Word(word)) => *earlier = Value::Word(word),
        _ => {}
    }
}

/// Text with the entities that GML has for what is not ASCII.
fn unescaped(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        unescaped.push_str(&rest[..start]);
        rest = &rest[start..];
        let entity = rest.find(';').filter(|end| *end <= 10).and_then(|end| Some((entity(&rest[1..end])?, end)));
        match entity {
            Some((character, end)) => {
                unescaped.push(character);
                rest = &rest[end + 1..];
            }
            None => {
                unescaped.push('&');
                rest = &rest[1..];
            }
        }
    }
    unescaped + rest
}

fn entity(name: &str) -> Option<char> {
    match name {
        "quot" => Some('"'),
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "apos" => Some('\''),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => digits.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
