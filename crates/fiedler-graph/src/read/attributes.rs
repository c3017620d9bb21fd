//! What formats with named attributes know of nodes, made into features and labels.
//!
//! **Labels** are the attribute `class`, `y`, `target` or `label`, in this order; failing that, the only attribute of words, as long
//! as some nodes share one. (`label` with a different word for each node is what Gephi shows beside it, and `y` beside `x` is where it
//! draws it: neither is a label.) **Features** are all other attributes that are numbers, in the order of the file, provided every
//! node has them. Everything else is left out, with a note.

use std::collections::{BTreeMap, HashSet};

use super::table::labels_from_columns;
use crate::error::Result;
use crate::features::{Dense, Features, Sparse};
use crate::input::File;
use crate::labels::Labels;

const LABEL_NAMES: [&str; 4] = ["class", "y", "target", "label"];
/// What Gephi adds to say how a node is drawn.
const DRAWING: [&str; 6] = ["r", "g", "b", "x", "y", "size"];
/// Features are kept sparse when at most one value in this many is not zero.
const SPARSE_BELOW: usize = 4;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Word(String),
}

/// One attribute and the nodes that have it.
#[derive(Debug)]
struct Attribute {
    name: String,
    default: Option<Value>,
    of_nodes: Vec<(u32, Value)>,
}

/// The attributes of all nodes, in the order in which they first occur.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    list: Vec<Attribute>,
    place: BTreeMap<String, usize>,
}

/// What the attributes come to.
#[derive(Debug, Default)]
pub(super) struct Understood {
    pub(super) features: Option<Features>,
    pub(super) labels: Option<Labels>,
    pub(super) notes: Vec<String>,
}

impl Attributes {
    /// Announces an attribute, with the value of the nodes that do not have it; gives its place.
    pub(super) fn declare(&mut self, name: &str, default: Option<Value>) -> usize {
        if let Some(place) = self.place.get(name) {
            return *place;
        }
        let place = self.list.len();
        self.place.insert(name.to_owned(), place);
        self.list.push(Attribute { name: name.to_owned(), default, of_nodes: Vec::new() });
        place
    }

    /// Gives a node a value; nodes come in ascending order, and of two values for one node the last stays.
    pub(super) fn set(&mut self, place: usize, node: u32, value: Value) {
        let of_nodes = &mut self.list[place].of_nodes;
        match of_nodes.last_mut() {
            Some(last) if last.0 == node => last.1 = value,
            _ => of_nodes.push((node, value)),
        }
    }

    /// Takes out an attribute of words of which every node has its own: names.
    pub(super) fn take_names(&mut self, name: &str, nodes: usize) -> Option<Vec<String>> {
        let attribute = &self.list[*self.place.get(name)?];
        if !attribute.is_distinct(nodes) {
            return None;
        }
        let taken = self.list.remove(self.place.remove(name)?);
        Some(taken.of_nodes.into_iter().map(|(_, value)| value.into_text()).collect())
    }

    /// Sorts the attributes into features, labels and what is left out.
    pub(super) fn understand(mut self, nodes: usize, file: &File) -> Result<Understood> {
        let mut understood = Understood::default();
        if nodes == 0 {
            return Ok(understood);
        }
        let has = |list: &[Attribute], name: &str| list.iter().any(|attribute| attribute.name == name);
        let drawn = DRAWING.iter().all(|name| has(&self.list, name));
        if drawn {
            self.list.retain(|attribute| !DRAWING.contains(&attribute.name.as_str()));
        }
        if let Some(at) = self.find_labels(nodes) {
            let attribute = self.list.remove(at);
            let name = attribute.name.clone();
            let default = attribute.default_length();
            file.plausible((nodes as u64).saturating_mul(default as u64), "characters of default labels")?;
            let labels = labels_from_columns(vec![name.clone()], vec![attribute.into_texts(nodes)]);
            understood.labels = Some(labels.map_err(|found| file.malformed(found, "classes or numbers"))?);
            if !LABEL_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
                understood.notes.push(format!("the attribute {name:?} was read as labels"));
            }
        }
        let (columns, others): (Vec<_>, Vec<_>) =
            self.list.into_iter().partition(|attribute| attribute.is_complete_number(nodes));
        if !columns.is_empty() {
            understood.features = Some(features(&columns, nodes, file)?);
        }
        understood.notes.extend(left_out(&others));
        Ok(understood)
    }

    fn find_labels(&self, nodes: usize) -> Option<usize> {
        let named = |wanted: &str| self.list.iter().position(|attribute| attribute.name.eq_ignore_ascii_case(wanted));
        let is_coordinate = |name: &str| name == "y" && named("x").is_some();
        let is_caption = |at: &usize| self.list[*at].is_distinct(nodes);
        for name in LABEL_NAMES.into_iter().filter(|name| !is_coordinate(name)) {
            if let Some(at) = named(name).filter(|at| name != "label" || !is_caption(at)) {
                return Some(at);
            }
        }
        let mut words = (0..self.list.len()).filter(|at| self.list[*at].has_words());
        match (words.next(), words.next()) {
            (Some(only), None) if !is_caption(&only) => Some(only),
            _ => None,
        }
    }
}

impl Attribute {
    fn values(&self) -> impl Iterator<Item = &Value> {
        self.of_nodes.iter().map(|(_, value)| value)
    }

    fn has_words(&self) -> bool {
        self.values().any(|value| matches!(value, Value::Word(_)))
    }

    /// Whether every node has a word of its own.
    fn is_distinct(&self, nodes: usize) -> bool {
        let words: HashSet<&str> = self
            .values()
            .filter_map(|value| match value {
                Value::Word(word) => Some(word.as_str()),
                Value::Number(_) => None,
            })
            .collect();
        words.len() == nodes
    }

    fn is_complete_number(&self, nodes: usize) -> bool {
        let is_number = |value: &Value| matches!(value, Value::Number(number) if (*number as f32).is_finite());
        let complete = match &self.default {
            Some(default) => is_number(default),
            None => self.of_nodes.len() == nodes,
        };
        complete && self.values().all(is_number)
    }

    fn default_number(&self) -> f32 {
        match self.default {
            Some(Value::Number(number)) => number as f32,
            _ => 0.0,
        }
    }

    /// Bytes of the text that stands for a node without a value.
    fn default_length(&self) -> usize {
        match &self.default {
            Some(Value::Word(word)) => word.len(),
            Some(Value::Number(_)) | None => 0,
        }
    }

    fn into_texts(self, nodes: usize) -> Vec<String> {
        let default = self.default.map(Value::into_text).unwrap_or_default();
        let mut texts = vec![default; nodes];
        for (node, value) in self.of_nodes {
            texts[node as usize] = value.into_text();
        }
        texts
    }
}

impl Value {
    fn into_text(self) -> String {
        match self {
            Value::Number(number) => number.to_string(),
            Value::Word(word) => word,
        }
    }

    fn number(&self) -> f32 {
        match self {
            Value::Number(number) => *number as f32,
            Value::Word(_) => 0.0,
        }
    }
}

fn features(columns: &[Attribute], nodes: usize, file: &File) -> Result<Features> {
    let stored: usize = columns.iter().map(|column| column.of_nodes.len()).sum();
    let zero_unless_stored = columns.iter().all(|column| column.default_number() == 0.0);
    let cells = nodes as u64 * columns.len() as u64;
    if zero_unless_stored && (stored as u64).saturating_mul(SPARSE_BELOW as u64) <= cells {
        return sparse(columns, nodes);
    }
    // Values that all nodes have by default are not in the file.
    let mut values = vec![0.0; file.plausible(cells, "feature values")?];
    for (at, column) in columns.iter().enumerate() {
        let default = column.default_number();
        values.iter_mut().skip(at).step_by(columns.len()).for_each(|value| *value = default);
        for (node, value) in &column.of_nodes {
            values[*node as usize * columns.len() + at] = value.number();
        }
    }
    Ok(Features::Dense(Dense::new(nodes, columns.len(), values)?))
}

fn sparse(columns: &[Attribute], nodes: usize) -> Result<Features> {
    let mut offsets = vec![0usize; nodes + 1];
    for (node, _) in columns.iter().flat_map(|column| &column.of_nodes) {
        offsets[*node as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut indices = vec![0; offsets[nodes]];
    let mut values = vec![0.0; offsets[nodes]];
    for (at, column) in (0..).zip(columns) {
        for (node, value) in &column.of_nodes {
            let slot = &mut next[*node as usize];
            (indices[*slot], values[*slot]) = (at, value.number());
            *slot += 1;
        }
    }
    Ok(Features::Sparse(Sparse::new(columns.len(), offsets, indices, values)?))
}

fn left_out(attributes: &[Attribute]) -> Option<String> {
    let shown: Vec<_> = attributes.iter().take(5).map(|attribute| format!("{:?}", attribute.name)).collect();
    let more = match attributes.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let reason = "not numbers that every node has";
    match attributes.len() {
        0 => None,
        1 => Some(format!("the node attribute {} was left out: {reason}", shown.join(", "))),
        _ => Some(format!("the node attributes {}{more} were left out: {reason}", shown.join(", "))),
    }
}
