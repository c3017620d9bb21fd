//! The general path: ids of any kind, line by line, and every error with its line.

use std::borrow::Cow;
use std::collections::HashMap;

use fiedler_graph::{Names, PairChunk};

use super::super::separated::{Separator, is_comment, lines, whole_number};
use super::layout::{Layout, Weight};
use super::numbering::{arranged, declared_places};
use super::{Edges, NODE_DIRECTIVE, declared_name};
use crate::error::{Malformed, Result};
use crate::input::File;

const UNWEIGHTED_HINT: &str = "pass --unweighted to read the edges without their weights";

/// Names numbered by first appearance.
#[derive(Default)]
struct Appearances {
    number: HashMap<Box<str>, u32>,
}

impl Appearances {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.number.get(name) {
            return *number;
        }
        let next = self.number.len() as u32;
        self.number.insert(name.into(), next);
        next
    }

    fn into_names(self) -> Vec<Box<str>> {
        let mut names = vec![Box::default(); self.number.len()];
        for (name, number) in self.number {
            names[number as usize] = name;
        }
        names
    }
}

/// Parses the whole file.
pub(super) fn parse(file: File, layout: &Layout) -> Result<Edges> {
    let mut nodes = Appearances::default();
    let mut declared = Vec::new();
    let mut pairs = Vec::new();
    let mut weights = (layout.weight != Weight::None).then(Vec::new);
    for (line, text) in lines(file.text()?) {
        if is_comment(text) {
            if let Some(name) = declared_name(text) {
                let name = Separator::Tab.split(name).next().unwrap_or_default();
                declared.push(nodes.number(&name));
            }
            continue;
        }
        if layout.header == Some(line) {
            continue;
        }
        let edge = Edge::parse(text, layout).map_err(|fault| fault.at(&file, line, text))?;
        pairs.push((nodes.number(&edge.source), nodes.number(&edge.target)));
        if let Some(weights) = &mut weights {
            weights.push(edge.weight);
        }
    }
    if nodes.number.is_empty() {
        return Err(file
            .malformed("no edge", "one edge a line, its two ends separated by a comma, a tab or spaces")
            .into());
    }
    drop(file);
    Ok(number(nodes.into_names(), pairs, weights, declared))
}

/// Integers in their order, words by first appearance; in the order of declaration when every node is declared.
fn number(names: Vec<Box<str>>, mut pairs: Vec<(u32, u32)>, weights: Option<Vec<f32>>, declared: Vec<u32>) -> Edges {
    let integers: Option<Vec<i64>> = names.iter().map(|name| whole_number(name)).collect();
    let place = declared_places(names.len(), &declared).or_else(|| integers.as_deref().map(ascending_places));
    if let Some(place) = &place {
        for pair in &mut pairs {
            *pair = (place[pair.0 as usize], place[pair.1 as usize]);
        }
    }
    let nodes = names.len();
    let names = match integers {
        Some(integers) => Names::Integers(place.map_or(integers.clone(), |place| arranged(&integers, &place))),
        None => Names::Strings(place.map_or(names.clone(), |place| arranged(&names, &place))),
    };
    let weighted = weights.is_some();
    let chunk = PairChunk { pairs, weights: weights.unwrap_or_default() };
    Edges { nodes, names: names.unless_counting(), weighted, chunks: vec![chunk] }
}

fn ascending_places(integers: &[i64]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..integers.len() as u32).collect();
    order.sort_unstable_by_key(|node| integers[*node as usize]);
    let mut place = vec![0; integers.len()];
    for (rank, node) in (0..).zip(order) {
        place[node as usize] = rank;
    }
    place
}

/// One line.
struct Edge<'a> {
    source: Cow<'a, str>,
    target: Cow<'a, str>,
    weight: f32,
}

/// Why a line is no edge.
enum Fault {
    OneEnd,
    EmptyEnd,
    NoWeight,
    NotANumber(String),
    NotPositive(String),
}

impl<'a> Edge<'a> {
    fn parse(text: &'a str, layout: &Layout) -> Result<Edge<'a>, Fault> {
        let mut fields = layout.separator.split(text);
        let (mut source, mut target, mut weight) = (None, None, None);
        let last = layout.source.max(layout.target);
        let last = if let Weight::Column(column) = layout.weight { last.max(column) } else { last };
        for column in 0..=last {
            let Some(field) = fields.next() else { break };
            if column == layout.source {
                source = Some(field);
            } else if column == layout.target {
                target = Some(field);
            } else if layout.weight == Weight::Column(column) {
                weight = Some(field);
            }
        }
        let (Some(source), Some(target)) = (source, target) else { return Err(Fault::OneEnd) };
        // An empty name may be written, but only in quotes: without them a field was forgotten.
        if (source.is_empty() || target.is_empty()) && !text.contains("\"\"") {
            return Err(Fault::EmptyEnd);
        }
        let weight = match layout.weight {
            Weight::None => 1.0,
            Weight::Column(_) => number_of(&weight.filter(|field| !field.is_empty()).ok_or(Fault::NoWeight)?)?,
            Weight::Dictionary => number_of(weight_in(fields.rest()).ok_or(Fault::NoWeight)?)?,
        };
        Ok(Edge { source, target, weight })
    }
}

fn number_of(field: &str) -> Result<f32, Fault> {
    let weight: f32 = field.parse().map_err(|_| Fault::NotANumber(field.into()))?;
    if weight.is_finite() && weight > 0.0 { Ok(weight) } else { Err(Fault::NotPositive(field.into())) }
}

/// The weight in a Python dictionary such as `{'weight': 2.0, 'since': 1999}`.
fn weight_in(dictionary: &str) -> Option<&str> {
    let (_, after) = dictionary.split_once("'weight'")?;
    let value = after.trim_start().strip_prefix(':')?;
    value.split([',', '}']).next().map(str::trim)
}

impl Fault {
    fn at(self, file: &File, line: u64, text: &str) -> Malformed {
        match self {
            Fault::OneEnd => file.malformed_at(line, shown(text), "two node ids").hint(format!(
                "a node without edges is written as a comment, `{NODE_DIRECTIVE} NAME`; if columns are separated by \
                 something else than commas, semicolons, tabs or spaces, replace it"
            )),
            Fault::EmptyEnd => file.malformed_at(line, format!("an empty node id in {}", shown(text)), "two node ids"),
            Fault::NoWeight => file
                .malformed_at(line, format!("no weight in {}", shown(text)), "a weight, as on the first lines")
                .hint(UNWEIGHTED_HINT),
            Fault::NotANumber(weight) => file
                .malformed_at(line, format!("the weight {}", shown(&weight)), "a number, as on the first lines")
                .hint(UNWEIGHTED_HINT),
            Fault::NotPositive(weight) => file
                .malformed_at(line, format!("the weight {weight}"), "a positive finite number")
                .hint(format!("remove the edge if it is none; or {UNWEIGHTED_HINT}")),
        }
    }
}

/// A line as an error shows it: quoted, and not without end.
fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
