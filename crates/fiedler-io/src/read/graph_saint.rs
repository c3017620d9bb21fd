//! GraphSAINT's folders: Yelp, Flickr, Reddit, PPI and others in its layout.
//!
//! - `adj_full.npz`: the adjacency matrix, saved by scipy;
//! - `feats.npy`: one row of features a node;
//! - `class_map.json`: for each node id its class, or a list of yes-or-no answers;
//! - `role.json`: the split, `{"tr": […], "va": […], "te": […]}`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use fiedler_graph::{Classes, Dataset, Labels, MultiLabel, Split};

use super::npz::{Array, Arrays, Matrix};
use super::{Format, ReadOptions, json};
use crate::error::{Error, Result};
use crate::input::{DataSource, File};

/// GraphSAINT's folders.
pub const FORMAT: Format = Format {
    name: "graph-saint",
    about: "GraphSAINT's folder: adj_full.npz, feats.npy, class_map.json, role.json",
    recognizes,
    read,
};

const ADJACENCY: &str = "adj_full.npz";
const FEATURES: &str = "feats.npy";
const LABELS: &str = "class_map.json";
const SPLIT: &str = "role.json";
const OTHER_DATASET: &str = "this file and the adjacency matrix may be of different datasets";

fn recognizes(input: &DataSource) -> bool {
    let named = input.file_name().is_none_or(|name| name == ADJACENCY);
    named && [ADJACENCY, SPLIT].iter().all(|name| place_of(input, name).is_some())
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let adjacency = require(input, ADJACENCY)?;
    let (graph, edges) = Matrix::from_scipy(&Arrays::open(adjacency)?)?.into_graph()?;
    let nodes = graph.num_nodes();
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    if let Some(name) = place_of(input, FEATURES) {
        let array = Array::from_npy(input.read(&name)?)?;
        let features = array.to_features()?;
        if features.rows() != nodes {
            let malformed = array.malformed(format!("{} rows", features.rows()), format!("{nodes}, one a node"));
            return Err(malformed.hint(OTHER_DATASET).into());
        }
        dataset.features = Some(features);
    }
    if let Some(name) = place_of(input, LABELS) {
        dataset.node_labels = Some(labels(&input.read(&name)?, nodes)?);
    }
    dataset.splits.push(split(&require(input, SPLIT)?, nodes)?);
    Ok(dataset)
}

/// Where a file is: here, or in the folder `raw` that PyTorch Geometric makes.
fn place_of(input: &DataSource, name: &str) -> Option<String> {
    [name.to_owned(), format!("raw/{name}")].into_iter().find(|name| input.has(name))
}

fn require(input: &DataSource, name: &str) -> Result<File> {
    match place_of(input, name) {
        Some(name) => input.read(&name),
        None => Err(input.missing(name, FORMAT.name)),
    }
}

#[derive(serde::Deserialize)]
struct Roles {
    tr: Vec<u32>,
    #[serde(default)]
    va: Vec<u32>,
    te: Vec<u32>,
}

fn split(file: &File, nodes: usize) -> Result<Split> {
    let roles: Roles = json::parse(file, r#"{"tr": [ids], "va": [ids], "te": [ids]}"#)?;
    let split =
        Split { name: "public".into(), train: roles.tr, validation: roles.va, test: roles.te, stopping: Vec::new() };
    split.check(nodes).map_err(|error| Error::from(error).at(file.place()))?;
    Ok(split)
}

fn labels(file: &File, nodes: usize) -> Result<Labels> {
    let map: BTreeMap<Node, Label> =
        json::parse(file, r#"a class or a list of 0 and 1 for each node: {"0": …, "1": …}"#)?;
    if let Some((Node(node), _)) = map.last_key_value()
        && *node as usize >= nodes
    {
        let malformed = file.malformed(format!("a label of node {node}"), format!("node ids below {nodes}"));
        return Err(malformed.hint(OTHER_DATASET).into());
    }
    match map.values().next() {
        Some(Label::Answers(first)) => tasks(file, nodes, first.len(), &map),
        _ => classes(file, nodes, &map),
    }
}

fn classes(file: &File, nodes: usize, map: &BTreeMap<Node, Label>) -> Result<Labels> {
    let mut of = vec![None; nodes];
    for (Node(node), label) in map {
        let Label::Class(class) = label else { return Err(mixed(file, *node)) };
        of[*node as usize] = Some(*class);
    }
    Ok(Labels::Classes(Classes::from_integers(of)))
}

fn tasks(file: &File, nodes: usize, tasks: usize, map: &BTreeMap<Node, Label>) -> Result<Labels> {
    let answers = file.plausible((nodes as u64).saturating_mul(tasks as u64), "answers")?;
    let mut all = vec![None; answers];
    for (Node(node), label) in map {
        let Label::Answers(answers) = label else { return Err(mixed(file, *node)) };
        if answers.len() != tasks {
            let found = format!("{} answers for node {node}", answers.len());
            return Err(file.malformed(found, format!("{tasks}, as for the first node")).into());
        }
        let start = *node as usize * tasks;
        for (slot, answer) in all[start..start + tasks].iter_mut().zip(answers) {
            *slot = Some(*answer);
        }
    }
    let names = (0..tasks).map(|task| task.to_string()).collect();
    Ok(Labels::MultiLabel(MultiLabel::new(names, all)?))
}

fn mixed(file: &File, node: u32) -> Error {
    let found = format!("another kind of label for node {node} than for the first");
    file.malformed(found, "a class for every node, or a list for every node").into()
}

/// A node id, which JSON writes as text where it is a key.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Node(u32);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map(Node).map_err(|_| de::Error::custom(format!("{text:?} is no node id")))
    }
}

/// What a node is labelled with.
enum Label {
    Class(i64),
    Answers(Box<[bool]>),
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Label, D::Error> {
        deserializer.deserialize_any(LabelVisitor)
    }
}

struct LabelVisitor;

impl<'de> Visitor<'de> for LabelVisitor {
    type Value = Label;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a whole number or a list of 0 and 1")
    }

    fn visit_u64<E: de::Error>(self, class: u64) -> Result<Label, E> {
        i64::try_from(class).map(Label::Class).map_err(|_| E::custom(format!("the class {class} is too large")))
    }

    fn visit_i64<E: de::Error>(self, class: i64) -> Result<Label, E> {
        Ok(Label::Class(class))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Label, A::Error> {
        let mut answers = Vec::new();
        while let Some(answer) = list.next_element::<f64>()? {
            match answer {
                0.0 => answers.push(false),
                1.0 => answers.push(true),
                _ => return Err(de::Error::custom(format!("the answer {answer} is neither 0 nor 1"))),
            }
        }
        if answers.is_empty() {
            return Err(de::Error::custom("a list of no answers"));
        }
        Ok(Label::Answers(answers.into()))
    }
}
