//! What formats with named attributes know of nodes, made into features and labels.
//!
//! **Labels** are the attribute `class`, `y`, `target` or `label`, in this order; failing that, the only attribute of
//! words, as long as some nodes share one. (`label` with a different word for each node is what Gephi shows beside it,
//! and a number `y` beside a number `x` is where it draws it: neither is a label.) **Features** are all other
//! attributes that are numbers, in the order of the file or of the first node, provided every node has them. **Splits** are attributes called `split` or
//! `split:NAME` with the words of [`split_words`](crate::split_words). Everything else is left out, with a note.

use std::collections::{BTreeMap, HashSet};

use fiedler_graph::{Dataset, Dense, Features, Labels, Sparse, Split};

use super::Fill;
use super::separated::whole_number;
use super::table::labels_from_columns;
use crate::error::Result;
use crate::input::File;
use crate::split_words;

const LABEL_NAMES: [&str; 4] = ["class", "y", "target", "label"];
/// What Gephi adds to say how a node is drawn.
const DRAWING: [&str; 6] = ["r", "g", "b", "x", "y", "size"];
/// What else means something to readers of ours.
const OTHER_NAMES: [&str; 4] = ["", "id", "name", "weight"];

/// Whether an attribute of this name would not be a feature, or not always.
pub(crate) fn is_special(name: &str) -> bool {
    let among = |names: &[&str]| names.iter().any(|special| special.eq_ignore_ascii_case(name));
    among(&LABEL_NAMES) || among(&DRAWING) || among(&OTHER_NAMES) || split_words::announced(name).is_some()
}

/// What a list of features without names is called.
const UNNAMED: &str = "x";

/// Features are kept sparse when at most one value in this many is not zero.
const SPARSE_BELOW: u64 = 4;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// Several numbers under one name.
    Numbers(Vec<f32>),
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
    /// Names of the first node's attributes, in its order: networkx announces attributes in the reverse of it.
    of_first: Vec<String>,
}

/// What the attributes come to.
#[derive(Debug, Default)]
pub(super) struct Understood {
    pub(super) features: Option<Features>,
    pub(super) feature_names: Option<Vec<String>>,
    pub(super) labels: Option<Labels>,
    pub(super) splits: Vec<Split>,
    pub(super) notes: Vec<String>,
}

impl Understood {
    /// Gives the nodes of a dataset what is known of them.
    pub(super) fn describe_nodes(self, dataset: &mut Dataset) {
        dataset.features = self.features;
        dataset.feature_names = self.feature_names;
        dataset.node_labels = self.labels;
        dataset.splits = self.splits;
        dataset.report.notes.extend(self.notes);
    }
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
        if node == 0 {
            self.of_first.push(self.list[place].name.clone());
        }
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
    pub(super) fn understand(mut self, nodes: usize, file: &File, fill: Option<Fill>) -> Result<Understood> {
        let mut understood = Understood::default();
        if nodes == 0 {
            return Ok(understood);
        }
        let has = |list: &[Attribute], name: &str| list.iter().any(|attribute| attribute.name == name);
        let drawn = DRAWING.iter().all(|name| has(&self.list, name));
        if drawn {
            self.list.retain(|attribute| !DRAWING.contains(&attribute.name.as_str()));
        }
        understood.splits = self.take_splits(nodes);
        if let Some(at) = self.find_labels(nodes) {
            let attribute = self.list.remove(at);
            let name = attribute.name.clone();
            let default = attribute.default_word().len();
            file.plausible((nodes as u64).saturating_mul(default as u64), "characters of default labels")?;
            let labels = labels_from_columns(vec![name.clone()], vec![attribute.into_texts(nodes)]);
            understood.labels = Some(labels.map_err(|found| file.malformed(found, "classes or numbers"))?);
            if !LABEL_NAMES.contains(&name.to_ascii_lowercase().as_str()) {
                understood.notes.push(format!("the attribute {name:?} was read as labels"));
            }
        }
        if let Some(fill) = fill {
            let gaps: usize = self.list.iter_mut().map(|attribute| attribute.fill_gaps(nodes, fill)).sum();
            understood.notes.extend((gaps > 0).then(|| fill.note(gaps)));
        }
        let (mut columns, others): (Vec<_>, Vec<_>) =
            self.list.into_iter().partition(|attribute| attribute.is_complete_number(nodes));
        if !columns.is_empty() {
            let counted = in_order(&mut columns, &self.of_first);
            understood.features = Some(features(&columns, nodes, file)?);
            let names = || columns.iter().flat_map(Attribute::column_names).collect();
            understood.feature_names = (!counted).then(names);
        }
        understood.notes.extend(left_out(&others));
        Ok(understood)
    }

    /// Takes out the attributes that say which part of a split a node is in.
    fn take_splits(&mut self, nodes: usize) -> Vec<Split> {
        let mut splits = Vec::new();
        self.list.retain(|attribute| {
            let Some(name) = split_words::announced(&attribute.name) else { return true };
            let mut words = vec![attribute.default_word(); nodes];
            for (node, value) in &attribute.of_nodes {
                match value {
                    Value::Word(word) => words[*node as usize] = word,
                    Value::Number(_) | Value::Numbers(_) => return true,
                }
            }
            let split = split_words::from_words(name, words);
            let understood = split.is_ok();
            splits.extend(split);
            !understood
        });
        splits
    }

    fn find_labels(&self, nodes: usize) -> Option<usize> {
        let named = |wanted: &str| self.list.iter().position(|attribute| attribute.name.eq_ignore_ascii_case(wanted));
        let is_coordinate = |name: &str| name == "y" && named("x").is_some_and(|at| self.list[at].width() == 1);
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
                Value::Number(_) | Value::Numbers(_) => None,
            })
            .collect();
        words.len() == nodes
    }

    /// Whether every node has as many finite numbers as the others.
    fn is_complete_number(&self, nodes: usize) -> bool {
        let width = self.width();
        let is_finite = |value: &Value| match value {
            Value::Number(number) => (*number as f32).is_finite(),
            Value::Numbers(numbers) => numbers.iter().all(|number| number.is_finite()),
            Value::Word(_) => false,
        };
        let fits = |value: &Value| value.width() == width && is_finite(value);
        let complete = self.default.is_some() || self.of_nodes.len() == nodes;
        width > 0 && complete && self.default.iter().chain(self.values()).all(fits)
    }

    /// Gives the nodes that lack a number one; gives how many values that were.
    fn fill_gaps(&mut self, nodes: usize, fill: Fill) -> usize {
        let width = self.width();
        let fits = |value: &Value| value.width() == width;
        if width == 0 || self.default.is_some() || self.of_nodes.len() == nodes || !self.values().all(fits) {
            return 0;
        }
        let mut values = vec![f32::NAN; nodes * width];
        for (node, value) in &self.of_nodes {
            let row = &mut values[*node as usize * width..];
            row.iter_mut().zip(value.numbers()).for_each(|(cell, number)| *cell = number);
        }
        let gaps = fill.apply(&mut values, width);
        let rows = values.chunks_exact(width).map(|row| match row {
            [one] => Value::Number(f64::from(*one)),
            several => Value::Numbers(several.to_vec()),
        });
        self.of_nodes = (0..).zip(rows).collect();
        gaps
    }

    /// Number of columns.
    fn width(&self) -> usize {
        self.values().next().or(self.default.as_ref()).map_or(0, Value::width)
    }

    /// The name, or one for each of several columns.
    fn column_names(&self) -> Vec<String> {
        match self.width() {
            1 => vec![self.name.clone()],
            width => (0..width).map(|column| format!("{}.{column}", self.name)).collect(),
        }
    }

    fn default_number(&self) -> f32 {
        match self.default {
            Some(Value::Number(number)) => number as f32,
            _ => 0.0,
        }
    }

    /// The word of a node without a value.
    fn default_word(&self) -> &str {
        match &self.default {
            Some(Value::Word(word)) => word,
            Some(Value::Number(_) | Value::Numbers(_)) | None => "",
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
            Value::Numbers(numbers) => format!("{numbers:?}"),
            Value::Word(word) => word,
        }
    }

    fn width(&self) -> usize {
        match self {
            Value::Number(_) => 1,
            Value::Numbers(numbers) => numbers.len(),
            Value::Word(_) => 0,
        }
    }

    fn numbers(&self) -> impl Iterator<Item = f32> {
        let (one, several) = match self {
            Value::Number(number) => (Some(*number as f32), [].as_slice()),
            Value::Numbers(numbers) => (None, numbers.as_slice()),
            Value::Word(_) => (None, [].as_slice()),
        };
        one.into_iter().chain(several.iter().copied())
    }
}

/// Puts the columns into the order of whoever wrote the file. Columns called `f0`, `f1` … are those without names of our own writer,
/// which is given back; others are as the first node has them, if it has all of them.
fn in_order(columns: &mut [Attribute], of_first: &[String]) -> bool {
    let number = |attribute: &Attribute| whole_number(attribute.name.strip_prefix('f')?);
    let mut numbers: Vec<i64> = columns.iter().filter_map(number).collect();
    numbers.sort_unstable();
    if numbers.len() == columns.len() && numbers.iter().copied().eq(0..columns.len() as i64) {
        columns.sort_by_key(number);
        return true;
    }
    // So is a single list.
    if let [only] = columns
        && only.name == UNNAMED
        && only.values().all(|value| matches!(value, Value::Numbers(_)))
    {
        return true;
    }
    let place: BTreeMap<&str, usize> = of_first.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    if columns.iter().all(|attribute| place.contains_key(attribute.name.as_str())) {
        columns.sort_by_key(|attribute| place.get(attribute.name.as_str()).copied());
    }
    false
}

fn features(attributes: &[Attribute], nodes: usize, file: &File) -> Result<Features> {
    let columns: usize = attributes.iter().map(Attribute::width).sum();
    let stored: usize = attributes.iter().map(|attribute| attribute.width() * attribute.of_nodes.len()).sum();
    let zero_unless_stored = attributes.iter().all(|attribute| attribute.default_number() == 0.0);
    let cells = nodes as u64 * columns as u64;
    if zero_unless_stored && (stored as u64).saturating_mul(SPARSE_BELOW) <= cells {
        return sparse(attributes, columns, nodes);
    }
    // Values that all nodes have by default are not in the file.
    let mut values = vec![0.0; file.plausible(cells, "feature values")?];
    let mut first = 0;
    for attribute in attributes {
        let default = attribute.default_number();
        values.iter_mut().skip(first).step_by(columns).for_each(|value| *value = default);
        for (node, value) in &attribute.of_nodes {
            let row = &mut values[*node as usize * columns + first..];
            row.iter_mut().zip(value.numbers()).for_each(|(cell, number)| *cell = number);
        }
        first += attribute.width();
    }
    Ok(Features::Dense(Dense::new(nodes, columns, values)?))
}

fn sparse(attributes: &[Attribute], columns: usize, nodes: usize) -> Result<Features> {
    let mut offsets = vec![0usize; nodes + 1];
    for attribute in attributes {
        attribute.of_nodes.iter().for_each(|(node, _)| offsets[*node as usize + 1] += attribute.width());
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    let mut next = offsets.clone();
    let mut indices = vec![0; offsets[nodes]];
    let mut values = vec![0.0; offsets[nodes]];
    let mut first = 0;
    for attribute in attributes {
        for (node, value) in &attribute.of_nodes {
            for (column, number) in (first..).zip(value.numbers()) {
                let slot = &mut next[*node as usize];
                (indices[*slot], values[*slot]) = (column, number);
                *slot += 1;
            }
        }
        first += attribute.width() as u32;
    }
    Ok(Features::Sparse(Sparse::new(columns, offsets, indices, values)?))
}

fn left_out(attributes: &[Attribute]) -> Option<String> {
    let shown: Vec<_> = attributes.iter().take(5).map(|attribute| format!("{:?}", attribute.name)).collect();
    let more = match attributes.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let gaps = attributes.iter().any(|attribute| attribute.width() > 0 && !attribute.has_words());
    let hint = if gaps { " (--fill zeros or --fill mean fills gaps)" } else { "" };
    let reason = format!("not numbers that every node has{hint}");
    match attributes.len() {
        0 => None,
        1 => Some(format!("the node attribute {} was left out: {reason}", shown.join(", "))),
        _ => Some(format!("the node attributes {}{more} were left out: {reason}", shown.join(", "))),
    }
}
