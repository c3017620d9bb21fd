//! Folders of the Open Graph Benchmark: csv files under `raw`, `split` and `mapping`, usually gzipped.
//!
//! Edges, features and labels of all graphs stand one after the other; `num-node-list` and `num-edge-list` say where one
//! graph ends and the next begins. A single graph with labelled nodes is laid out in the same way.

use fiedler_graph::{Categorical, Classes, Dataset, Features, Labels, MultiLabel, Regression, Split};

use super::assemble::Assembly;
use super::numbers::{Row, Table, rows, table};
use super::{Format, ReadOptions, columns};
use crate::error::Result;
use crate::input::{DataSource, File};
use crate::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES};

const NAME: &str = "OGB";
/// Nodes that may be there without a list of edges that speaks for them.
const FREE_NODES: u64 = 1 << 16;
/// The names that OGB's datasets give their divisions.
const SPLITS: [&str; 7] = ["scaffold", "species", "project", "time", "sales_ranking", "random", "study_subject"];

/// Open Graph Benchmark folders of csv.gz files
pub const FORMAT: Format =
    Format { name: "ogb", about: "Open Graph Benchmark folders of csv.gz files", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    input.file_name().is_none() && find(input, "raw/edge").is_some() && find(input, "raw/num-node-list").is_some()
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let assembly = read_graphs(input)?;
    let (graphs, nodes, pairs) = (assembly.len(), assembly.num_nodes(), assembly.pairs());
    let mut notes = Vec::new();

    let features = read_features(input, "raw/node-feat", (nodes, "node"), &ATOM_CARDINALITIES, &mut notes)?;
    let edge_features = read_features(input, "raw/edge-feat", (pairs, "edge"), &BOND_CARDINALITIES, &mut notes)?;
    let mut dataset = assembly.into_dataset(input.stem(), edge_features)?;
    dataset.features = features;
    dataset.graph_labels = read_labels(input, "raw/graph-label", (graphs, "graph"))?;
    dataset.node_labels =
        read_labels(input, "raw/node-label", (nodes, "node"))?.map(|labels| class_names(input, labels));
    dataset.splits = read_splits(input, if graphs == 1 { nodes } else { graphs })?;
    dataset.report.notes = notes;
    Ok(dataset)
}

fn find(input: &DataSource, name: &str) -> Option<String> {
    [format!("{name}.csv.gz"), format!("{name}.csv")].into_iter().find(|name| input.has(name))
}

fn require(input: &DataSource, name: &str) -> Result<File> {
    match find(input, name) {
        Some(name) => input.read(&name),
        None => Err(input.missing(&format!("{name}.csv.gz"), NAME)),
    }
}

fn optional(input: &DataSource, name: &str) -> Result<Option<File>> {
    find(input, name).map(|name| input.read(&name)).transpose()
}

fn read_graphs(input: &DataSource) -> Result<Assembly> {
    let node_counts = require(input, "raw/num-node-list")?;
    let edges = require(input, "raw/edge")?;
    let graphs = rows(&node_counts).count();
    // Of a single graph all edges are, whether they are counted or not.
    let counts = match optional(input, "raw/num-edge-list")? {
        None if graphs != 1 => return Err(input.missing("raw/num-edge-list.csv.gz", NAME)),
        counts => counts,
    };
    let mut assembly = Assembly::default();
    let (mut edge_counts, mut lines) = (counts.as_ref().map(rows), rows(&edges));
    for mut row in rows(&node_counts) {
        let nodes = row.natural("a graph's number of nodes")?;
        let edge_count = match &mut edge_counts {
            Some(counts) => {
                counts.require("a number of edges for each graph")?.natural("a graph's number of edges")? as usize
            }
            None => usize::MAX,
        };
        // A node without edges takes no room in the file: what a few digits claim must stay within reason.
        let all_nodes = assembly.num_nodes() as u64 + u64::from(nodes);
        if all_nodes > (edges.bytes().len() as u64).max(FREE_NODES) {
            let found = format!("{all_nodes} nodes so far");
            let expected = format!("fewer, beside a list of edges of {} bytes", edges.bytes().len());
            return Err(row.malformed(found, expected).hint("one of the files may be damaged").into());
        }
        assembly.begin_graph(nodes).map_err(|error| error.at(&row.place()))?;
        for _ in 0..edge_count {
            let mut edge = match lines.next() {
                Some(edge) => edge,
                None if edge_counts.is_none() => break,
                None => lines.require("as many edges as raw/num-edge-list counts")?,
            };
            let (a, b) = (edge.natural("a node of the edge")?, edge.natural("the other node of the edge")?);
            edge.end("two nodes a line")?;
            if a.max(b) >= nodes {
                let expected = format!("nodes below {nodes}, the nodes of graph {}", assembly.len() - 1);
                return Err(edge.malformed(format!("nodes {a} and {b}"), expected).into());
            }
            assembly.join(a, b)?;
        }
    }
    if assembly.len() == 0 {
        return Err(node_counts.malformed("no lines", "one line a graph").into());
    }
    if let Some(row) = edge_counts.and_then(|mut counts| counts.next()) {
        return Err(row.malformed("one more line", format!("{} graphs", assembly.len())).into());
    }
    if let Some(row) = lines.next() {
        return Err(row.malformed("one more edge", format!("the {} of raw/num-edge-list", assembly.pairs())).into());
    }
    Ok(assembly)
}

/// Category codes, when the columns are those of atoms or bonds and every number is a code; otherwise plain numbers.
fn read_features(
    input: &DataSource,
    name: &str,
    (count, of): (usize, &str),
    cardinalities: &[u16],
    notes: &mut Vec<String>,
) -> Result<Option<Features>> {
    let Some(file) = optional(input, name)? else { return Ok(None) };
    let numbers = table(&file, |row| row.real("a feature"))?;
    numbers.check_rows(&file, count, of)?;
    if numbers.columns == cardinalities.len() {
        match codes(&numbers, cardinalities) {
            Ok(codes) => return Ok(Some(Features::Categorical(Categorical::new(cardinalities.into(), codes)?))),
            Err(number) => notes.push(format!(
                "{name} has as many columns as a molecule's {of}s, but {number} is no code of OGB's: read as numbers"
            )),
        }
    }
    Ok(Some(Features::Dense(columns::dense(numbers)?)))
}

/// The numbers as codes below the columns' cardinalities, or the first that is none.
fn codes(numbers: &Table<f32>, cardinalities: &[u16]) -> Result<Vec<u8>, f32> {
    let limits = cardinalities.iter().cycle();
    let code = |(&number, &limit): (&f32, &u16)| {
        let code = number as u8;
        if f32::from(code) == number && u16::from(code) < limit { Ok(code) } else { Err(number) }
    };
    numbers.values.iter().zip(limits).map(code).collect()
}

fn read_labels(input: &DataSource, name: &str, (count, of): (usize, &str)) -> Result<Option<Labels>> {
    let Some(file) = optional(input, name)? else { return Ok(None) };
    let labels = table(&file, |row| row.real_or_missing("a label"))?;
    labels.check_rows(&file, count, of)?;
    let names = label_names(input, labels.columns)?;
    let present = || labels.values.iter().flatten();
    Ok(Some(if present().all(|&label| label == 0.0 || label == 1.0) {
        let answers = labels.values.iter().map(|label| label.map(|label| label == 1.0)).collect();
        Labels::MultiLabel(MultiLabel::new(names, answers)?)
    } else if labels.columns == 1 && present().all(|label| label.fract() == 0.0 && *label >= 0.0) {
        Labels::Classes(Classes::from_integers(labels.values.iter().map(|label| label.map(|label| label as i64))))
    } else {
        Labels::Regression(Regression::new(names, labels.values)?)
    }))
}

/// The names that a table of `mapping` called `labelidx2…` gives classes, where it has one for each.
///
/// Names are an ornament: those that cannot be read are left out rather than refused.
fn class_names(input: &DataSource, labels: Labels) -> Labels {
    let Labels::Classes(classes) = &labels else { return labels };
    let tables = ["mapping/labelidx2arxivcategeory", "mapping/labelidx2productcategory"];
    let Some(file) = tables.iter().find_map(|name| optional(input, name).ok().flatten()) else { return labels };
    let mut reader = csv::Reader::from_reader(file.bytes());
    let mut name_of = std::collections::HashMap::new();
    for record in reader.records().flatten() {
        if let (Some(class), Some(name)) = (record.get(0), record.get(1)) {
            name_of.insert(class.to_owned(), name.to_owned());
        }
    }
    let names: Option<Vec<String>> = classes.names().iter().map(|class| name_of.get(class).cloned()).collect();
    match names.and_then(|names| classes.clone().with_names(names).ok()) {
        Some(named) => Labels::Classes(named),
        None => labels,
    }
}

/// The columns of `mapping/mol.csv` before the SMILES, when there are as many as labels.
fn label_names(input: &DataSource, columns: usize) -> Result<Vec<String>> {
    if let Some(file) = optional(input, "mapping/mol")? {
        let mut reader = csv::Reader::from_reader(file.bytes());
        if let Ok(header) = reader.headers() {
            let names: Vec<String> = header.iter().take_while(|name| *name != "smiles").map(Into::into).collect();
            if names.len() == columns {
                return Ok(names);
            }
        }
    }
    Ok((1..=columns).map(|column| format!("task-{column}")).collect())
}

fn read_splits(input: &DataSource, items: usize) -> Result<Vec<Split>> {
    let mut splits = Vec::new();
    for name in SPLITS {
        if find(input, &format!("split/{name}/train")).is_some() {
            splits.push(Split {
                name: name.into(),
                train: read_part(input, name, "train", items)?,
                validation: read_part(input, name, "valid", items)?,
                test: read_part(input, name, "test", items)?,
                ..Split::default()
            });
        }
    }
    Ok(splits)
}

fn read_part(input: &DataSource, split: &str, part: &str, items: usize) -> Result<Vec<u32>> {
    let file = require(input, &format!("split/{split}/{part}"))?;
    let id = |mut row: Row| {
        let id = row.natural("the number of a graph or node")?;
        row.end("one number a line")?;
        if id as usize >= items {
            return Err(row.malformed(id.to_string(), format!("a number below {items}")).into());
        }
        Ok(id)
    };
    rows(&file).map(id).collect()
}
