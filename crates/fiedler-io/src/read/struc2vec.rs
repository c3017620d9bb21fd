//! The airport networks of struc2vec: `NAME.edgelist` with the classes of its nodes in `labels-NAME.txt` beside it.

use std::collections::HashMap;

use fiedler_graph::{Classes, Dataset, Graph, Labels, MAX_NODES, Names};

use super::edge_list::declared_name;
use super::numbers::{Row, rows};
use super::separated::whole_number;
use super::sole::sole;
use super::{Format, ReadOptions};
use crate::error::Result;
use crate::input::{DataSource, File};

const NAME: &str = "struc2vec";

/// struc2vec edge list with labels beside it
pub const FORMAT: Format = Format { name: NAME, about: "struc2vec edge list with labels beside it", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    !edge_lists(input).is_empty()
}

/// The lists of edges that have labels: the one that the path names, by itself or by its labels, else every one there is.
fn edge_lists(input: &DataSource) -> Vec<String> {
    let mut names = match input.file_name() {
        Some(name) => match name.strip_prefix("labels-").and_then(|name| name.strip_suffix(".txt")) {
            Some(stem) => vec![format!("{stem}.edgelist")],
            None => vec![name.to_owned()],
        },
        None => input.names(),
    };
    names.retain(|name| {
        input.has(name) && name.strip_suffix(".edgelist").is_some_and(|stem| input.has(&labels_of(stem)))
    });
    names
}

fn labels_of(stem: &str) -> String {
    format!("labels-{stem}.txt")
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    if let Some(stem) = input.file_name().and_then(|name| name.strip_suffix(".edgelist"))
        && !input.has(&labels_of(stem))
    {
        return Err(input.missing(&labels_of(stem), NAME));
    }
    let edges = sole(input, edge_lists(input), "NAME.edgelist with labels-NAME.txt", NAME)?;
    let stem = edges.strip_suffix(".edgelist").unwrap_or(&edges);
    let mut nodes = Nodes::default();
    let labels = read_labels(&input.read(&labels_of(stem))?, &mut nodes)?;
    let pairs = read_pairs(&input.read(&edges)?, &mut nodes)?;

    let (mut graph, report) = Graph::from_pairs(nodes.names.len(), pairs)?;
    let unlabelled = nodes.names.len() - labels.len();
    if let Some(names) = Names::Integers(nodes.names).unless_counting() {
        graph = graph.with_names(names)?;
    }
    let mut dataset = Dataset::single(stem, graph);
    let labels = labels.into_iter().map(Some).chain(std::iter::repeat_n(None, unlabelled));
    dataset.node_labels = Some(Labels::Classes(Classes::from_integers(labels)));
    dataset.report.edges = report;
    Ok(dataset)
}

/// Node ids by name, counted in the order the names first occur: labelled nodes, then those that only edges mention.
#[derive(Default)]
struct Nodes {
    ids: HashMap<i64, u32>,
    names: Vec<i64>,
}

impl Nodes {
    fn id(&mut self, name: i64, row: &Row) -> Result<u32> {
        if self.names.len() > MAX_NODES {
            return Err(row.malformed("one more node", format!("at most {MAX_NODES}")).into());
        }
        let next = self.names.len() as u32;
        Ok(*self.ids.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        }))
    }
}

fn read_labels(file: &File, nodes: &mut Nodes) -> Result<Vec<i64>> {
    let mut labels = Vec::new();
    for (at, mut row) in rows(file).enumerate() {
        if at == 0 && row.clone().whole("").is_err() {
            continue; // The header, `node label`.
        }
        let name = row.whole("a node, by its number")?;
        labels.push(row.whole("the class of the node")?);
        row.end("`node label` and nothing more")?;
        if nodes.id(name, &row)? as usize + 1 != labels.len() {
            return Err(row.malformed(format!("node {name} again"), "one label a node").into());
        }
    }
    Ok(labels)
}

fn read_pairs(file: &File, nodes: &mut Nodes) -> Result<Vec<(u32, u32)>> {
    let mut pairs = Vec::new();
    for mut row in rows(file) {
        if row.begins_with(b'#') {
            // A node without edges may be declared, as in any edge list.
            if let Some(name) = declared_name(&row.text()).and_then(|name| whole_number(name.trim())) {
                nodes.id(name, &row)?;
            }
            continue;
        }
        let (a, b) = (row.whole("a node, by its number")?, row.whole("a second node")?);
        row.end("two nodes a line")?;
        pairs.push((nodes.id(a, &row)?, nodes.id(b, &row)?));
    }
    Ok(pairs)
}
