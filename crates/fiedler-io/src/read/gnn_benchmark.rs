//! npz files of gnn-benchmark and of what grew from it.
//!
//! The adjacency matrix stands in `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape`, attributes likewise in `attr_*` or
//! written out in `attr_matrix`, classes in `labels`; names of nodes and classes in `node_names` and `class_names` or, as
//! graph2gauss and Nettack have them, in the dictionaries `idx_to_node` and `idx_to_class`. A younger variant keeps pickled
//! scipy matrices as `adj_matrix` and `node_attr`, classes as `node_label`, names in the dictionary `metadata`.
//!
//! Every entry of the adjacency matrix is an edge without a weight, as in the loaders of those who publish in this format:
//! where an entry is 2, two links were found. Only a member `weighted`, which our own writer adds, makes the entries weights. It also adds `graph_sizes` for sets of
//! graphs, `graph_labels`, `edge_attr_*`, and what labels, splits and graphs are called.

use std::collections::BTreeMap;

use fiedler_graph::{Classes, Dataset, Features, GraphSet, GraphSource, Labels, MultiLabel, Names, Regression, Split};

use super::npz::{Array, Arrays, Matrix};
use super::pickle::Value;
use super::{Format, ReadOptions};
use crate::error::Result;
use crate::input::DataSource;

/// npz files of gnn-benchmark.
pub const FORMAT: Format = Format {
    name: "gnn-benchmark",
    about: "npz of gnn-benchmark, graph2gauss or Nettack (adj_*, attr_*, labels), or with pickled scipy matrices",
    recognizes,
    read,
};

fn recognizes(input: &DataSource) -> bool {
    match open(input) {
        Ok(Some(arrays)) => is_ours(&arrays),
        Ok(None) => false,
        // A damaged npz: reading it will say what is wrong, which nobody else would.
        Err(_) => true,
    }
}

fn is_ours(arrays: &Arrays) -> bool {
    arrays.has("adj_indptr") || arrays.has("adj_matrix")
}

/// The npz that the input names, or the only one of its folder.
fn open(input: &DataSource) -> Result<Option<Arrays>> {
    if input.file_name().is_some() {
        return Arrays::named_by(input);
    }
    let names = input.names();
    let mut archives = names.iter().filter(|name| name.to_ascii_lowercase().ends_with(".npz"));
    match (archives.next(), archives.next()) {
        (Some(only), None) => Ok(Some(Arrays::open(input.read(only)?)?).filter(is_ours)),
        _ => Ok(None),
    }
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let Some(arrays) = open(input)? else { return Err(input.missing("one .npz file", FORMAT.name)) };
    let adjacency = adjacency(&arrays)?;
    let weighted = arrays.has("weighted");
    let counted = adjacency.values().iter().filter(|value| !weighted && **value != 0.0 && **value != 1.0).count();
    let (graph, edges) = match weighted && !options.unweighted {
        true => adjacency.into_weighted_graph()?,
        false => adjacency.into_unweighted_graph()?,
    };
    let nodes = graph.num_nodes();
    let graph = match node_names(&arrays, nodes).and_then(Names::unless_counting) {
        Some(names) => graph.with_names(names)?,
        None => graph,
    };
    let num_edges = graph.num_edges();
    let graphs = match arrays.find("graph_sizes")? {
        Some(sizes) => GraphSet::from_block_diagonal(graph, sizes.to_u32()?)?,
        None => GraphSet::single(graph),
    };
    let num_graphs = graphs.len();
    let mut dataset = Dataset::set(input.stem(), graphs);
    dataset.report.edges = edges;
    if counted > 0 {
        dataset
            .report
            .notes
            .push(format!("entries of the adjacency matrix other than 1, each taken as one edge: {counted}"));
    }
    dataset.features = features(&arrays, nodes)?;
    let columns = dataset.features.as_ref().map_or(0, Features::columns);
    dataset.feature_names = feature_names(&arrays, columns);
    dataset.splits = splits(&arrays)?;
    dataset.node_labels = labels(&arrays, nodes)?;
    if arrays.has("edge_attr_indptr") {
        dataset.edge_features = Some(Matrix::from_prefixed(&arrays, "edge_attr")?.into_features(num_edges)?);
    }
    if let Some(array) = arrays.find("graph_labels")? {
        dataset.graph_labels = Some(labels_of(&array, &arrays, "graph_", (num_graphs, "graph"))?);
    }
    if let Some(names) = arrays.find("graph_names")? {
        dataset.graph_source =
            Some(GraphSource { lines: (1..=num_graphs as u64).collect(), names: Some(names.to_strings()?) });
    }
    Ok(dataset)
}

fn adjacency(arrays: &Arrays) -> Result<Matrix> {
    if arrays.has("adj_indptr") {
        return Matrix::from_prefixed(arrays, "adj");
    }
    let array = arrays.get("adj_matrix")?;
    match array.object() {
        Some(value) => Matrix::from_pickle(value, array.place()),
        None => Err(array.malformed(format!("an array of {}", array.of()), "a pickled sparse matrix of scipy").into()),
    }
}

/// The first of several members that is there and is not `None`.
fn first_of(arrays: &Arrays, names: &[&str]) -> Result<Option<Array>> {
    for name in names {
        if let Some(array) = arrays.find(name)?
            && !matches!(array.object(), Some(Value::None))
        {
            return Ok(Some(array));
        }
    }
    Ok(None)
}

fn features(arrays: &Arrays, nodes: usize) -> Result<Option<Features>> {
    if arrays.has("attr_indptr") {
        return Matrix::from_prefixed(arrays, "attr")?.into_features(nodes).map(Some);
    }
    let Some(array) = first_of(arrays, &["attr_matrix", "node_attr"])? else { return Ok(None) };
    match array.object() {
        Some(Value::Object(object)) if object.class().0.starts_with("scipy.") => {
            Matrix::from_pickle(Value::Object(object), array.place())?.into_features(nodes).map(Some)
        }
        Some(value) => Array::from_pickle(value, array.place())?.to_features().map(Some),
        None => array.to_features().map(Some),
    }
}

fn labels(arrays: &Arrays, nodes: usize) -> Result<Option<Labels>> {
    if arrays.has("labels_indptr") {
        let malformed = arrays.place().member("labels").malformed("labels as a sparse matrix", "an array of classes");
        return Err(malformed.hint("write the labels out in Python with .toarray()").into());
    }
    let Some(array) = first_of(arrays, &["labels", "node_label"])? else { return Ok(None) };
    match array.object() {
        Some(value) => labels_of(&Array::from_pickle(value, array.place())?, arrays, "", (nodes, "node")),
        None => labels_of(&array, arrays, "", (nodes, "node")),
    }
    .map(Some)
}

/// Labels of the kind that names beside them tell, or else their numbers.
fn labels_of(array: &Array, arrays: &Arrays, prefix: &str, (count, of): (usize, &str)) -> Result<Labels> {
    let titles = |what: &str| match arrays.find(&format!("{prefix}{what}_names"))? {
        Some(names) => names.to_strings().map(Some),
        None => Ok(None),
    };
    let known = |value: f64| (!value.is_nan()).then_some(value);
    let labels = if let Some(names) = titles("task")? {
        let answers = array.to_f64()?.into_iter().map(|value| known(value).map(|value| value != 0.0)).collect();
        Labels::MultiLabel(MultiLabel::new(names, answers)?)
    } else if let Some(names) = titles("value")? {
        let values = array.to_f64()?.into_iter().map(|value| known(value).map(|value| value as f32)).collect();
        Labels::Regression(Regression::new(names, values)?)
    } else {
        match array.to_labels()? {
            Labels::Classes(classes) => Labels::Classes(named(classes, arrays, prefix)),
            other => other,
        }
    };
    if labels.len() != count {
        return Err(array.malformed(format!("{} labels", labels.len()), format!("{count}, one a {of}")).into());
    }
    Ok(labels)
}

/// The classes under the names that the file has for them; as they are where it has none that fit.
fn named(classes: Classes, arrays: &Arrays, prefix: &str) -> Classes {
    let Some(names) = class_names(arrays, prefix) else { return classes };
    let name_of = |class: &String| names.get(&class.parse::<i64>().ok()?).cloned();
    match classes.names().iter().map(name_of).collect::<Option<Vec<_>>>() {
        Some(names) => classes.clone().with_names(names).unwrap_or(classes),
        None => classes,
    }
}

/// Names are an ornament: those that cannot be read are left out rather than refused.
fn class_names(arrays: &Arrays, prefix: &str) -> Option<BTreeMap<i64, String>> {
    if let Some(array) = arrays.find("idx_to_class").ok()? {
        return dictionary(&array);
    }
    let names = match arrays.find(&format!("{prefix}class_names")).ok()? {
        Some(array) => array.to_strings().ok()?,
        None => {
            let metadata = arrays.find("metadata").ok()??;
            let names = metadata.object()?.entries()?.get("class_names")?;
            Array::from_pickle(names, metadata.place()).ok()?.to_strings().ok()?
        }
    };
    Some((0..).zip(names).collect())
}

/// Names of the feature columns, where the file has one for each.
fn feature_names(arrays: &Arrays, columns: usize) -> Option<Vec<String>> {
    let names = arrays.find("attr_names").ok()??.to_strings().ok()?;
    (columns > 0 && names.len() == columns).then_some(names)
}

/// The splits that our own writer keeps.
fn splits(arrays: &Arrays) -> Result<Vec<Split>> {
    let Some(names) = arrays.find("split_names")? else { return Ok(Vec::new()) };
    let part = |at: usize, part: &str| arrays.get(&format!("split_{at}_{part}"))?.to_u32();
    let split = |(at, name): (usize, String)| {
        Ok(Split {
            name,
            train: part(at, "train")?,
            validation: part(at, "validation")?,
            test: part(at, "test")?,
            stopping: part(at, "stopping")?,
        })
    };
    names.to_strings()?.into_iter().enumerate().map(split).collect()
}

fn node_names(arrays: &Arrays, nodes: usize) -> Option<Names> {
    let names = match arrays.find("node_names").ok()? {
        Some(array) => array.to_strings().ok()?,
        None => dictionary(&arrays.find("idx_to_node").ok()??)?.into_values().collect(),
    };
    if names.len() != nodes {
        return None;
    }
    let is_plain = |name: &String| name.parse::<i64>().is_ok_and(|number| number.to_string() == *name);
    Some(if names.iter().all(is_plain) {
        Names::Integers(names.iter().filter_map(|name| name.parse().ok()).collect())
    } else {
        Names::Strings(names.into_iter().map(Into::into).collect())
    })
}

/// A dictionary from 0, 1, 2 … to names.
fn dictionary(array: &Array) -> Option<BTreeMap<i64, String>> {
    let entries = array.object()?.entries()?;
    // One long name can stand in a pickle once and be used for every node.
    let mut budget = entries.len().saturating_mul(64).max(1 << 24);
    let mut names = BTreeMap::new();
    for (number, name) in entries.iter() {
        let name = name.text()?;
        budget = budget.checked_sub(name.len())?;
        names.insert(number.integer()?, name.to_owned());
    }
    names.keys().copied().eq(0..names.len() as i64).then_some(names)
}
