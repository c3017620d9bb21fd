//! The TU collection of graph sets: several text files with a common prefix, in a zip or a folder.
//!
//! `DS_A.txt` lists pairs of nodes, `DS_graph_indicator.txt` the graph of each node; both count from one, over all graphs.
//! Labels and attributes of graphs, nodes and edges stand in files of their own, a line each. A node or edge label becomes
//! one column for each value that occurs, in ascending order: no column stays empty where values are left out.

use fiedler_graph::{Classes, Dataset, Features, Labels, Regression};

use super::assemble::Assembly;
use super::numbers::{Table, rows, table};
use super::sole::sole;
use super::{Format, ReadOptions, columns};
use crate::error::Result;
use crate::input::{DataSource, File, base_name};

const NAME: &str = "TU";
const PAIRS: &str = "_A.txt";
const CLASSES: &str = "_graph_labels.txt";
const TARGETS: &str = "_graph_attributes.txt";
/// Graphs that may be there without nodes that speak for them.
const FREE_GRAPHS: usize = 1 << 16;

/// TU graph classification, zip or folder
pub const FORMAT: Format = Format { name: "tu", about: "TU graph classification, zip or folder", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let mut prefixes = lists_of_pairs(input).into_iter().filter_map(|name| Some(name.strip_suffix(PAIRS)?.to_owned()));
    prefixes.any(|prefix| input.has(&format!("{prefix}_graph_indicator.txt")))
}

/// The lists of pairs: the file that the path names if it is one, else every one there is.
fn lists_of_pairs(input: &DataSource) -> Vec<String> {
    let mut names = input.file_name().map_or_else(|| input.names(), |name| vec![name.to_owned()]);
    names.retain(|name| name.ends_with(PAIRS));
    names
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let pairs = sole(input, lists_of_pairs(input), "NAME_A.txt", NAME)?;
    let files = Files { input, prefix: pairs.strip_suffix(PAIRS).unwrap_or(&pairs).into() };
    let (order, sizes) = graphs_of_nodes(&files)?;
    let pairs = read_pairs(&files.require(PAIRS)?, &order)?;
    let (nodes, graphs) = (order.graph_of.len(), sizes.len());

    let edge_features = columns::features(
        files.whole_numbers("_edge_labels.txt", "an edge label", pairs.len(), "pair in the list of edges")?,
        files.real_numbers("_edge_attributes.txt", "an edge attribute", pairs.len(), "pair in the list of edges")?,
        options.attributes,
    )?;
    let node_labels = files.whole_numbers("_node_labels.txt", "a node label", nodes, "node")?;
    let attributes = files.real_numbers("_node_attributes.txt", "a node attribute", nodes, "node")?;
    let unused = match (&node_labels, &attributes) {
        (Some(_), Some(attributes)) if !options.attributes => Some(attributes.columns),
        _ => None,
    };
    let features = columns::features(node_labels, attributes, options.attributes)?;
    let mut dataset = Assembly::of(sizes, pairs)?.into_dataset(base_name(&files.prefix), edge_features)?;
    dataset.features = features.map(|features| order.sort_rows(features));
    dataset.graph_labels = graph_labels(&files, graphs)?;
    if let Some(columns) = unused {
        let note =
            format!("{columns} continuous attributes of nodes are left out beside node labels; --attributes uses both");
        dataset.report.notes.push(note);
    }
    if files.has(TARGETS) && files.has(CLASSES) {
        let name = &dataset.name;
        let note = format!("{name}{CLASSES} is left out: the values of {name}{TARGETS} are the labels");
        dataset.report.notes.push(note);
    }
    Ok(dataset)
}

/// The files of one dataset, by what follows their common prefix.
struct Files<'a> {
    input: &'a DataSource,
    prefix: String,
}

impl Files<'_> {
    fn name(&self, suffix: &str) -> String {
        format!("{}{suffix}", self.prefix)
    }

    fn has(&self, suffix: &str) -> bool {
        self.input.has(&self.name(suffix))
    }

    fn require(&self, suffix: &str) -> Result<File> {
        self.input.require(&self.name(suffix), NAME)
    }

    fn optional(&self, suffix: &str) -> Result<Option<File>> {
        self.has(suffix).then(|| self.input.read(&self.name(suffix))).transpose()
    }

    fn whole_numbers(&self, suffix: &str, expected: &str, count: usize, of: &str) -> Result<Option<Table<i64>>> {
        let Some(file) = self.optional(suffix)? else { return Ok(None) };
        let numbers = table(&file, |row| row.whole(expected))?;
        numbers.check_rows(&file, count, of)?;
        Ok(Some(numbers))
    }

    fn real_numbers(&self, suffix: &str, expected: &str, count: usize, of: &str) -> Result<Option<Table<f32>>> {
        let Some(file) = self.optional(suffix)? else { return Ok(None) };
        let numbers = table(&file, |row| row.real(expected))?;
        numbers.check_rows(&file, count, of)?;
        Ok(Some(numbers))
    }
}

/// Where the nodes of the files stand in the arena, which has the nodes of a graph side by side.
struct NodeOrder {
    graph_of: Vec<u32>,
    /// The arena's place of each node; `None` when the files have the same order, as nearly all do.
    place_of: Option<Vec<u32>>,
}

impl NodeOrder {
    fn place(&self, node: u32) -> u32 {
        self.place_of.as_ref().map_or(node, |place_of| place_of[node as usize])
    }

    fn sort_rows(&self, features: Features) -> Features {
        let Some(place_of) = &self.place_of else { return features };
        let mut node_at = vec![0; place_of.len()];
        for (node, &place) in place_of.iter().enumerate() {
            node_at[place as usize] = node as u32;
        }
        features.gather(&node_at)
    }
}

/// Reads which graph each node belongs to, and counts the nodes of each graph.
fn graphs_of_nodes(files: &Files) -> Result<(NodeOrder, Vec<u32>)> {
    let file = files.require("_graph_indicator.txt")?;
    let most = file.bytes().len().max(FREE_GRAPHS);
    let mut graph_of = Vec::new();
    let mut sizes: Vec<u32> = Vec::new();
    for mut row in rows(&file) {
        let number = row.natural("the number of a graph")?;
        row.end("one graph number a line")?;
        let Some(graph) = number.checked_sub(1) else {
            return Err(row.malformed("graph 0", "graphs counted from 1").into());
        };
        if number as usize > most {
            let expected = format!("a number of at most {most} in a file of {} bytes", file.bytes().len());
            return Err(row.malformed(format!("graph {number}"), expected).hint("the file may be damaged").into());
        }
        if number as usize > sizes.len() {
            sizes.resize(number as usize, 0);
        }
        sizes[graph as usize] += 1;
        graph_of.push(graph);
    }
    if graph_of.is_empty() {
        return Err(file.malformed("no lines", "one line a node").into());
    }
    let place_of = (!graph_of.is_sorted()).then(|| places(&graph_of, &sizes));
    Ok((NodeOrder { graph_of, place_of }, sizes))
}

/// Counts nodes on graph by graph; within a graph they keep the order of the file.
fn places(graph_of: &[u32], sizes: &[u32]) -> Vec<u32> {
    let mut next = Vec::with_capacity(sizes.len());
    let mut start = 0;
    for size in sizes {
        next.push(start);
        start += size;
    }
    let mut place = |graph: &u32| {
        let place = next[*graph as usize];
        next[*graph as usize] += 1;
        place
    };
    graph_of.iter().map(&mut place).collect()
}

fn read_pairs(file: &File, order: &NodeOrder) -> Result<Vec<(u32, u32)>> {
    let mut pairs = Vec::new();
    for mut row in rows(file) {
        let (a, b) = (row.natural("a node number")?, row.natural("a second node number")?);
        row.end("two node numbers a line")?;
        let graph_of = |node: u32| order.graph_of.get((node as usize).checked_sub(1)?);
        match (graph_of(a), graph_of(b)) {
            (Some(one), Some(other)) if one == other => pairs.push((order.place(a - 1), order.place(b - 1))),
            (Some(one), Some(other)) => {
                let found = format!("nodes {a} and {b} of graphs {} and {}", one + 1, other + 1);
                return Err(row.malformed(found, "two nodes of one graph").into());
            }
            _ => {
                let found = format!("nodes {a} and {b}");
                let expected = format!("numbers from 1 to {}, the lines of the graph indicator", order.graph_of.len());
                return Err(row.malformed(found, expected).into());
            }
        }
    }
    Ok(pairs)
}

fn graph_labels(files: &Files, graphs: usize) -> Result<Option<Labels>> {
    if let Some(targets) = files.real_numbers(TARGETS, "a value to predict", graphs, "graph")? {
        let names = (1..=targets.columns).map(|column| format!("target-{column}")).collect();
        return Ok(Some(Labels::Regression(Regression::new(names, targets.values.into_iter().map(Some).collect())?)));
    }
    let Some(file) = files.optional(CLASSES)? else { return Ok(None) };
    let labels = table(&file, |row| row.real("the class of a graph"))?;
    labels.check_rows(&file, graphs, "graph of the graph indicator")?;
    if labels.columns != 1 {
        return Err(file.malformed(format!("{} labels a line", labels.columns), "one class a line").into());
    }
    // Values with fractions are to be predicted as such.
    if labels.values.iter().any(|label| label.fract() != 0.0) {
        let values = labels.values.into_iter().map(Some).collect();
        return Ok(Some(Labels::Regression(Regression::new(vec!["target-1".into()], values)?)));
    }
    let labels = table(&file, |row| row.whole("the class of a graph"))?;
    Ok(Some(Labels::Classes(Classes::from_integers(labels.values.into_iter().map(Some)))))
}
