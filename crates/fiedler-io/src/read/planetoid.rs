//! Planetoid citation networks: the eight files `ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}`.
//!
//! `graph` maps every node to its neighbors. `allx` and `ally` are features and labels of the first nodes, of which `x` and
//! `y` are the very first; row `k` of `tx` and `ty` belongs to the node in line `k` of `test.index`. The public split trains
//! on the rows of `y`, chooses on the 500 that follow and tests on `test.index`. `x` is never read: `allx` starts with it.

use std::collections::BTreeSet;

use fiedler_graph::{Classes, Dataset, Features, Graph, Labels, Split};

use super::npz::{Array, Matrix};
use super::pickle::{Pickle, Value};
use super::{Format, ReadOptions};
use crate::error::{Place, Result};
use crate::input::{DataSource, File, base_name};

/// Planetoid citation networks.
pub const FORMAT: Format = Format {
    name: "planetoid",
    about: "Planetoid citation networks: a folder of ind.NAME.{x,tx,allx,y,ty,ally,graph,test.index}, or one of these files",
    recognizes,
    read,
};

const PARTS: [&str; 8] = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];

/// Nodes after the training nodes that settings are chosen on.
const VALIDATION_NODES: usize = 500;

fn recognizes(input: &DataSource) -> bool {
    match input.file_name() {
        Some(name) => prefix(name).is_some(),
        None => !datasets(input).is_empty(),
    }
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let prefix = choose(input)?;
    let part = |part: &str| input.require(&format!("{prefix}{part}"), FORMAT.name);

    let known = Known::read(&part("allx")?, &part("ally")?)?;
    let tested = Known::read(&part("tx")?, &part("ty")?)?;
    let (training_file, index_file, graph_file) = (part("y")?, part("test.index")?, part("graph")?);

    let neighbors = Pickle::read(&graph_file)?;
    let Some(neighbors) = neighbors.root().entries() else {
        let malformed = graph_file.malformed(neighbors.root().to_string(), "a dictionary of neighbors");
        return Err(malformed.into());
    };
    let first = known.features.rows();
    let training = array(&training_file)?.rows_and_columns()?.0;
    if training > first {
        let malformed =
            training_file.malformed(format!("{training} rows"), format!("at most {first}, the rows of ally"));
        return Err(malformed.into());
    }
    let test = test_index(&index_file, first, &tested, neighbors.len())?;
    let highest = test.iter().max().map_or(0, |&id| id as usize + 1);
    let nodes = first.max(highest).max(neighbors.len());
    let (graph, edges) = Graph::from_pairs(nodes, pairs(&graph_file, neighbors.iter(), nodes)?)?;
    let mut dataset = Dataset::single(name(&prefix), graph);
    dataset.report.edges = edges;
    dataset.splits.push(public_split(training, first, &test));
    let undescribed = nodes - first - test.len();
    if undescribed > 0 {
        dataset.report.notes.push(format!(
            "nodes with neither features nor a label, as they are missing from {}: {undescribed}",
            base_name(&format!("{prefix}test.index"))
        ));
    }
    dataset.node_labels = Some(Labels::Classes(labels(nodes, &known, &tested, &test)));
    dataset.features = Some(features(index_file.place(), nodes, known, tested, &test)?);
    Ok(dataset)
}

/// Features and classes of some nodes.
struct Known {
    features: Matrix,
    classes: Vec<Option<i64>>,
}

impl Known {
    fn read(features: &File, labels: &File) -> Result<Known> {
        let matrix = Matrix::from_pickle(Pickle::read(features)?.root(), features.place())?;
        let classes = array(labels)?.to_one_hot()?;
        if classes.len() != matrix.rows() {
            let found = format!("{} rows", classes.len());
            let malformed = labels.malformed(found, format!("{}, the rows of the features", matrix.rows()));
            return Err(malformed.hint("the files may belong to different datasets").into());
        }
        Ok(Known { features: matrix, classes })
    }
}

/// What comes before the part's name in a file's name: `raw/ind.cora.` of `raw/ind.cora.test.index`.
fn prefix(file: &str) -> Option<&str> {
    let prefix = PARTS.iter().find_map(|part| file.strip_suffix(part)?.strip_suffix('.'))?;
    let dataset = base_name(prefix).strip_prefix("ind.")?;
    (!dataset.is_empty()).then(|| &file[..=prefix.len()])
}

/// The prefixes of all datasets of a folder.
fn datasets(input: &DataSource) -> BTreeSet<String> {
    let names = input.names();
    names.iter().filter(|name| name.ends_with(".graph")).filter_map(|name| prefix(name)).map(Into::into).collect()
}

fn choose(input: &DataSource) -> Result<String> {
    if let Some(prefix) = input.file_name().and_then(prefix) {
        return Ok(prefix.to_owned());
    }
    let mut found = datasets(input).into_iter();
    match (found.next(), found.next()) {
        (Some(prefix), None) => Ok(prefix),
        (Some(one), Some(other)) => {
            let found = format!("several datasets: {}, {}", name(&one), name(&other));
            let malformed = Place::file(input.path()).malformed(found, "one");
            Err(malformed.hint(format!("name one of the files of the one you mean, such as {one}graph")).into())
        }
        (None, _) => Err(input.missing("ind.NAME.graph", FORMAT.name)),
    }
}

fn name(prefix: &str) -> String {
    base_name(prefix).trim_start_matches("ind.").trim_end_matches('.').to_owned()
}

fn array(file: &File) -> Result<Array> {
    Array::from_pickle(Pickle::read(file)?.root(), file.place())
}

/// The nodes that are tested, in the order of the rows of `tx`.
fn test_index(file: &File, first: usize, tested: &Known, listed: usize) -> Result<Vec<u32>> {
    // A few ids are missing in Citeseer; most missing is a damaged file.
    let limit = first.saturating_add(tested.features.rows()).saturating_mul(2).max(listed);
    let mut seen = BTreeSet::new();
    let mut test = Vec::new();
    for (line, text) in file.lines()? {
        let id = text.parse::<u32>().ok().filter(|id| (first..limit).contains(&(*id as usize)) && seen.insert(*id));
        let Some(id) = id else {
            let expected = format!("a node id from {first}, where allx ends, below {limit}, each once");
            return Err(file.malformed_at(line, format!("{text:?}"), expected).into());
        };
        test.push(id);
    }
    let rows = tested.features.rows();
    if test.len() != rows {
        let malformed = file.malformed(format!("{} ids", test.len()), format!("{rows}, one for each row of tx"));
        return Err(malformed.hint("the files may belong to different datasets").into());
    }
    Ok(test)
}

fn pairs<'a>(
    file: &File,
    neighbors: impl Iterator<Item = (Value<'a>, Value<'a>)>,
    nodes: usize,
) -> Result<Vec<(u32, u32)>> {
    let id = |value: Value<'_>| -> Result<u32> {
        let id = value.integer().and_then(|id| u32::try_from(id).ok()).filter(|id| (*id as usize) < nodes);
        id.ok_or_else(|| file.malformed(format!("{value} as a node"), format!("a node id below {nodes}")).into())
    };
    let mut pairs = Vec::new();
    for (node, others) in neighbors {
        let node = id(node)?;
        let Some(others) = others.items() else {
            return Err(file.malformed(format!("{others} for node {node}"), "a list of neighbors").into());
        };
        // One long list can stand in a pickle once and be used for every node.
        if pairs.len() + others.len() > file.bytes().len() {
            let found = format!("more neighbors than bytes, of which it has {}", file.bytes().len());
            return Err(file.malformed(found, "a list of its own for every node").into());
        }
        for other in others.iter() {
            pairs.push((node, id(other)?));
        }
    }
    Ok(pairs)
}

fn public_split(training: usize, first: usize, test: &[u32]) -> Split {
    let chosen = training.saturating_add(VALIDATION_NODES).min(first);
    let mut test = test.to_vec();
    test.sort_unstable();
    Split {
        name: "public".into(),
        train: (0..training as u32).collect(),
        validation: (training as u32..chosen as u32).collect(),
        test,
        stopping: Vec::new(),
    }
}

fn labels(nodes: usize, known: &Known, tested: &Known, test: &[u32]) -> Classes {
    let mut classes = known.classes.clone();
    classes.resize(nodes, None);
    for (&node, class) in test.iter().zip(&tested.classes) {
        classes[node as usize] = *class;
    }
    Classes::from_integers(classes)
}

fn features(place: &Place, nodes: usize, known: Known, tested: Known, test: &[u32]) -> Result<Features> {
    let (known, tested) = (known.features, tested.features);
    if known.columns() != tested.columns() {
        let found = format!("{} columns in tx", tested.columns());
        return Err(place.malformed(found, format!("{}, the columns of allx", known.columns())).into());
    }
    let mut entries = known.entries().to_vec();
    entries.extend(tested.entries().iter().map(|&(row, column)| (test[row as usize], column)));
    let values = [known.values(), tested.values()].concat();
    Matrix::from_entries(place, (nodes, known.columns()), entries, values)?.into_features(nodes)
}
