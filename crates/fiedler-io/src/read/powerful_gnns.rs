//! The text format of the "How Powerful are Graph Neural Networks?" datasets: one file with all graphs, and ten folds.
//!
//! The first line counts the graphs. Each graph opens with `nodes class`, then has a line a node:
//! `tag degree neighbors… attributes…`, neighbors counted from zero within the graph.

use fiedler_graph::{Classes, Dataset, Labels, Split};

use super::assemble::Assembly;
use super::numbers::{Row, Rows, Table, rows};
use super::sole::sole;
use super::{Format, ReadOptions, columns};
use crate::error::Result;
use crate::input::{DataSource, File, base_name};

const NAME: &str = "powerful-gnns";
const FOLDS: &str = "10fold_idx";

/// powerful-gnns text, one file with all graphs, and its folds
pub const FORMAT: Format =
    Format { name: NAME, about: "powerful-gnns text, one file with all graphs, and its folds", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    match &texts(input)[..] {
        // The folds say it all; a large archive need not be unpacked twice.
        [_] if input.file_name().is_none() && has_folds(input) => true,
        [name] => input.read(name).is_ok_and(|file| looks_right(&file)),
        _ => false,
    }
}

/// The text file that the path names, else every one that could hold the graphs.
fn texts(input: &DataSource) -> Vec<String> {
    let mut names = input.file_name().map_or_else(|| input.names(), |name| vec![name.to_owned()]);
    names.retain(|name| {
        let base = base_name(name);
        base.ends_with(".txt") && !base.contains("_idx-") && !base.to_ascii_lowercase().starts_with("readme")
    });
    names
}

fn has_folds(input: &DataSource) -> bool {
    input.has(&format!("{FOLDS}/train_idx-1.txt"))
}

/// Whether the first graphs of a file can be read. A list of edges may pass for a tiny graph, not for all that it announces.
fn looks_right(file: &File) -> bool {
    const ENOUGH: u32 = 3;
    let mut lines = rows(file);
    let Ok(count) = count_of_graphs(&mut lines) else { return false };
    let mut graphs = Graphs::default();
    (0..count.min(ENOUGH)).all(|_| graphs.read_graph(&mut lines).is_ok())
        && (count > ENOUGH || lines.next().is_none())
        && graphs.assembly.pairs() > 0
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let name = sole(input, texts(input), "NAME.txt", NAME)?;
    let file = input.read(&name)?;
    let mut lines = rows(&file);
    let count = count_of_graphs(&mut lines)?;
    let mut graphs = Graphs::default();
    for _ in 0..count {
        graphs.read_graph(&mut lines)?;
    }
    if let Some(row) = lines.next() {
        return Err(row.malformed("one more line", format!("the end of the file after {count} graphs")).into());
    }
    // The text may be larger than the graphs, whose building takes memory too.
    drop(file);
    let stem = base_name(&name);
    let mut dataset = graphs.into_dataset(stem.strip_suffix(".txt").unwrap_or(stem), options)?;
    dataset.splits = read_folds(input, count)?;
    Ok(dataset)
}

fn count_of_graphs(lines: &mut Rows) -> Result<u32> {
    let expected = "the number of graphs, alone on the first line";
    let mut row = lines.require(expected)?;
    let count = row.natural(expected)?;
    row.end(expected)?;
    if count == 0 {
        return Err(row.malformed("0", "at least one graph").into());
    }
    Ok(count)
}

/// All that the lines say, graph after graph.
#[derive(Default)]
struct Graphs {
    assembly: Assembly,
    classes: Vec<i64>,
    tags: Vec<i64>,
    attributes: Vec<f32>,
    attribute_columns: Option<usize>,
}

impl Graphs {
    fn read_graph(&mut self, lines: &mut Rows) -> Result<()> {
        let mut row = lines.require("a graph's `nodes class`")?;
        let nodes = row.natural("a graph's number of nodes")?;
        self.classes.push(row.whole("the class of a graph")?);
        row.end("only `nodes class` where a graph begins")?;
        self.assembly.begin_graph(nodes).map_err(|error| error.at(&row.place()))?;
        for node in 0..nodes {
            self.read_node(lines.require("another node of the last graph")?, node, nodes)?;
        }
        Ok(())
    }

    fn read_node(&mut self, mut row: Row, node: u32, nodes: u32) -> Result<()> {
        self.tags.push(row.whole("the tag of a node")?);
        for _ in 0..row.natural("the degree of a node")? {
            let neighbor = row.natural("as many neighbors as the degree says")?;
            if neighbor >= nodes {
                let found = format!("node {node} joined to {neighbor}");
                return Err(row.malformed(found, format!("neighbors below {nodes}, the nodes of the graph")).into());
            }
            self.assembly.join(node, neighbor)?;
        }
        let before = self.attributes.len();
        while !row.is_at_end() {
            self.attributes.push(row.real("a node attribute after the neighbors")?);
        }
        let columns = self.attributes.len() - before;
        let expected = *self.attribute_columns.get_or_insert(columns);
        if columns != expected {
            let found = format!("{columns} attributes after the neighbors");
            return Err(row.malformed(found, format!("{expected} as at the nodes before")).into());
        }
        Ok(())
    }

    fn into_dataset(self, name: &str, options: &ReadOptions) -> Result<Dataset> {
        // Where all tags are the same they only fill the column.
        let informative = self.tags.windows(2).any(|pair| pair[0] != pair[1]);
        let tags = informative.then_some(Table { columns: 1, values: self.tags });
        let columns = self.attribute_columns.filter(|columns| *columns > 0);
        let attributes = columns.map(|columns| Table { columns, values: self.attributes });
        let features = columns::features(tags, attributes, options.attributes)?;
        let mut dataset = self.assembly.into_dataset(name, None)?;
        dataset.features = features;
        dataset.graph_labels = Some(Labels::Classes(Classes::from_integers(self.classes.into_iter().map(Some))));
        Ok(dataset)
    }
}

fn read_folds(input: &DataSource, graphs: u32) -> Result<Vec<Split>> {
    let mut folds = Vec::new();
    while input.has(&format!("{FOLDS}/train_idx-{}.txt", folds.len() + 1)) {
        let fold = folds.len() + 1;
        folds.push(Split {
            name: format!("fold-{fold}"),
            train: read_fold(input, &format!("{FOLDS}/train_idx-{fold}.txt"), graphs)?,
            test: read_fold(input, &format!("{FOLDS}/test_idx-{fold}.txt"), graphs)?,
            ..Split::default()
        });
    }
    Ok(folds)
}

fn read_fold(input: &DataSource, name: &str, graphs: u32) -> Result<Vec<u32>> {
    let file = input.require(name, NAME)?;
    let mut ids = Vec::new();
    for mut row in rows(&file) {
        let id = row.natural("the number of a graph")?;
        row.end("one graph a line")?;
        if id >= graphs {
            return Err(row.malformed(format!("graph {id}"), format!("a number below {graphs}")).into());
        }
        ids.push(id);
    }
    Ok(ids)
}
