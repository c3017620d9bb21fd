//! Graphs out of the tensors that are known of them.

use std::collections::BTreeSet;

use fiedler_graph::{Dataset, Dense, Features, GraphSet, GraphSource, Labels, Split};

use super::super::assemble::Assembly;
use super::super::npz::Array;
use super::super::pickle::{Entries, Value};
use super::super::torch::Tensors;
use super::super::{ReadOptions, duplicates};
use super::Mapping;
use crate::error::{Place, Result};

/// What is used of a graph; everything else is named in a note.
const USED: [&str; 12] = [
    "x",
    "edge_index",
    "edge_weight",
    "edge_attr",
    "y",
    "num_nodes",
    "_num_nodes",
    "train_mask",
    "val_mask",
    "test_mask",
    "stopping_mask",
    "name",
];

/// Nodes that may be there without edges or features that speak for them.
const FREE_NODES: u64 = 1 << 20;

/// Several graphs side by side.
#[derive(Default)]
pub(super) struct Graphs {
    sizes: Vec<u32>,
    /// Nodes counted over all graphs.
    pairs: Vec<(u32, u32)>,
    x: Option<Rows>,
    edge_weight: Option<Rows>,
    edge_attr: Option<Rows>,
    y: Vec<Array>,
    /// Masks of a single graph: train, validation, test, stopping.
    masks: [Option<Rows>; 4],
    names: Option<Vec<String>>,
    left_out: BTreeSet<String>,
}

/// Row after row of numbers.
#[derive(Clone, Default)]
struct Rows {
    columns: usize,
    values: Vec<f32>,
}

impl Rows {
    fn of(array: &Array) -> Result<Rows> {
        let (_, columns) = array.rows_and_columns()?;
        Ok(Rows { columns, values: array.to_f32()? })
    }

    fn rows(&self) -> usize {
        self.values.len().checked_div(self.columns).unwrap_or(0)
    }

    fn features(self, place: &Place) -> Result<Features> {
        if let Some(at) = self.values.iter().position(|value| !value.is_finite()) {
            let found = format!("{} in row {}", self.values[at], at / self.columns.max(1));
            return Err(place.malformed(found, "finite numbers").into());
        }
        Ok(Features::Dense(Dense::new(self.rows(), self.columns, self.values)?))
    }
}

impl Graphs {
    /// Graphs with tensors of their own.
    pub(super) fn separate(list: &[Mapping<'_>], tensors: &Tensors<'_>) -> Result<Graphs> {
        let mut graphs = Graphs::default();
        let mut names = Vec::with_capacity(list.len());
        for (at, data) in list.iter().enumerate() {
            let name = |key: &str| if list.len() > 1 { format!("graph {at}, {key}") } else { key.to_owned() };
            let array = |key: &str| data.get(key).map(|value| tensors.array(value, &name(key))).transpose();
            let x = array("x")?;
            let ends = ends(array("edge_index")?, &tensors.place(&name("edge_index")))?;
            let nodes = number_of_nodes(data, x.as_ref(), &ends, tensors)?;
            let shift = graphs.begin(nodes)?;
            graphs.join(&ends, shift, nodes, &tensors.place(&name("edge_index")))?;
            let place = tensors.place(&name("x"));
            append(&mut graphs.x, x.as_ref(), at, &place)?;
            append(&mut graphs.edge_weight, array("edge_weight")?.as_ref(), at, &tensors.place(&name("edge_weight")))?;
            append(&mut graphs.edge_attr, array("edge_attr")?.as_ref(), at, &tensors.place(&name("edge_attr")))?;
            graphs.y.extend(array("y")?);
            graphs.note_names(data);
            names.push(data.get("name").and_then(Value::text).map(str::to_owned));
            if list.len() == 1 {
                graphs.masks = masks(data, tensors)?;
            }
        }
        graphs.names = names.into_iter().collect();
        Ok(graphs)
    }

    /// Graphs whose tensors stand one after the other; `slices` says where each begins.
    pub(super) fn collated(data: Mapping<'_>, slices: Entries<'_>, tensors: &Tensors<'_>) -> Result<Graphs> {
        let mut graphs = Graphs::default();
        let array = |key: &str| data.get(key).map(|value| tensors.array(value, key)).transpose();
        let slice = |key: &str| -> Result<Option<Vec<usize>>> {
            match slices.get(key) {
                None | Some(Value::None) => Ok(None),
                Some(value) => tensors.array(value, &format!("slices of {key}"))?.to_usize().map(Some),
            }
        };
        let place = tensors.place("edge_index");
        let ends = ends(array("edge_index")?, &place)?;
        let of_edges = match slice("edge_index")? {
            Some(starts) => starts,
            None => {
                return Err(tensors
                    .place("slices")
                    .malformed("no slices of edge_index", "where each graph begins")
                    .into());
            }
        };
        let count = of_edges.len().saturating_sub(1);
        let x = array("x")?;
        let sizes = match (slice("x")?, data.get("_num_nodes").and_then(Value::items)) {
            (Some(starts), _) => starts.windows(2).map(|ends| ends[1].checked_sub(ends[0])).collect::<Option<Vec<_>>>(),
            (None, Some(sizes)) => {
                sizes.iter().map(|size| size.integer().and_then(|size| usize::try_from(size).ok())).collect()
            }
            // Without either, a graph has the nodes that its edges name.
            (None, None) => Some(
                of_edges
                    .windows(2)
                    .map(|range| {
                        let own = ends.get(range[0]..range[1]).unwrap_or_default();
                        own.iter().map(|(a, b)| *a.max(b) as usize + 1).max().unwrap_or(0)
                    })
                    .collect(),
            ),
        };
        let Some(sizes) = sizes.filter(|sizes| sizes.len() == count) else {
            return Err(tensors
                .place("slices")
                .malformed("other numbers of graphs for nodes and edges", format!("{count}"))
                .into());
        };
        for (range, size) in of_edges.windows(2).zip(sizes) {
            let size = u32::try_from(size).unwrap_or(u32::MAX);
            let shift = graphs.begin(size)?;
            let Some(own) = ends.get(range[0]..range[1]) else {
                let expected = format!("at most {}, the edges there are", ends.len());
                return Err(tensors.place("slices of edge_index").malformed(range[1].to_string(), expected).into());
            };
            graphs.join(own, shift, size, &place)?;
        }
        graphs.x = x.as_ref().map(Rows::of).transpose()?;
        graphs.edge_weight = array("edge_weight")?.as_ref().map(Rows::of).transpose()?;
        graphs.edge_attr = array("edge_attr")?.as_ref().map(Rows::of).transpose()?;
        graphs.y.extend(array("y")?);
        if count == 1 {
            graphs.masks = masks(&data, tensors)?;
        }
        graphs.names = data
            .get("name")
            .and_then(Value::items)
            .and_then(|names| names.iter().map(|name| name.text().map(Into::into)).collect::<Option<Vec<String>>>());
        graphs.note_names(&data);
        Ok(graphs)
    }

    fn begin(&mut self, nodes: u32) -> Result<u32> {
        let shift: u64 = self.sizes.iter().map(|size| u64::from(*size)).sum();
        self.sizes.push(nodes);
        u32::try_from(shift + u64::from(nodes)).map(|end| end - nodes).map_err(|_| {
            crate::Error::setting("number of nodes", shift + u64::from(nodes), format!("at most {}", u32::MAX))
        })
    }

    fn join(&mut self, ends: &[(u32, u32)], shift: u32, nodes: u32, place: &Place) -> Result<()> {
        if let Some((a, b)) = ends.iter().find(|(a, b)| *a.max(b) >= nodes) {
            let expected = format!("nodes below {nodes}, as many as graph {} has", self.sizes.len() - 1);
            return Err(place.malformed(format!("an edge of {a} and {b}"), expected).into());
        }
        self.pairs.extend(ends.iter().map(|(a, b)| (a + shift, b + shift)));
        Ok(())
    }

    /// A node without features and edges takes no room in the file: what a few digits claim must stay within reason.
    fn check_sizes(&self, file: &Place) -> Result<()> {
        let nodes: u64 = self.sizes.iter().map(|size| u64::from(*size)).sum();
        let most = (self.pairs.len() as u64).saturating_mul(64).max(self.x.as_ref().map_or(0, Rows::rows) as u64);
        let most = most.max(FREE_NODES);
        if nodes > most {
            let malformed = file.malformed(format!("{nodes} nodes"), format!("at most {most} beside so few edges"));
            return Err(malformed.hint("the file may be damaged").into());
        }
        Ok(())
    }

    fn note_names(&mut self, data: &Mapping<'_>) {
        self.left_out.extend(data.names().filter(|name| !USED.contains(name)).map(Into::into));
    }

    pub(super) fn into_dataset(self, name: String, options: &ReadOptions, file: &Place) -> Result<Dataset> {
        let graphs = self.sizes.len();
        self.check_sizes(file)?;
        let mut notes: Vec<String> = Vec::new();
        let weights = self.edge_weight.filter(|_| !options.unweighted);
        let mut dataset = match weights {
            Some(weights) => {
                let place = file.member("edge_weight");
                if let Some(weight) = weights.values.iter().find(|weight| !weight.is_finite() || **weight <= 0.0) {
                    let malformed = place.malformed(format!("the weight {weight}"), "positive finite numbers");
                    return Err(malformed.hint("pass --unweighted to read the edges without their weights").into());
                }
                if weights.values.len() != self.pairs.len() {
                    let expected = format!("{}, one for each column of edge_index", self.pairs.len());
                    return Err(place.malformed(format!("{} weights", weights.values.len()), expected).into());
                }
                if self.edge_attr.is_some() {
                    notes.push("edge_attr was left out, since there is edge_weight".into());
                }
                let nodes = self.sizes.iter().map(|size| *size as usize).sum();
                let (graph, edges, note) = duplicates::build(nodes, self.pairs, Some(weights.values), options)?;
                notes.extend(note);
                let mut dataset = Dataset::set(name, GraphSet::from_block_diagonal(graph, self.sizes)?);
                dataset.report.edges = edges;
                dataset
            }
            None => {
                let features = self.edge_attr.map(|rows| rows.features(&file.member("edge_attr"))).transpose()?;
                Assembly::of(self.sizes, self.pairs)?.into_dataset(name, features)?
            }
        };
        let nodes = dataset.graphs.num_nodes();
        dataset.features = self.x.map(|rows| rows.features(&file.member("x"))).transpose()?;
        if let Some(labels) = labels(&self.y, &file.member("y"))? {
            match labels.len() {
                rows if rows == nodes && (graphs == 1 || rows != graphs) => dataset.node_labels = Some(labels),
                rows if rows == graphs && graphs > 1 => dataset.graph_labels = Some(labels),
                1 if graphs == 1 => notes.push("y was left out: one label for one graph".into()),
                rows => {
                    let expected = format!("{nodes}, one a node, or {graphs}, one a graph");
                    return Err(file.member("y").malformed(format!("{rows} rows"), expected).into());
                }
            }
        }
        dataset.splits = splits(self.masks, nodes, file)?;
        if let Some(names) = self.names.filter(|names| names.len() == graphs && graphs > 1) {
            dataset.graph_source = Some(GraphSource { lines: (1..=graphs as u64).collect(), names: Some(names) });
        }
        if !self.left_out.is_empty() {
            let shown: Vec<String> = self.left_out.iter().take(8).cloned().collect();
            let more = self.left_out.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            notes.push(format!("left out: {}{more}", shown.join(", ")));
        }
        dataset.report.notes.extend(notes);
        Ok(dataset)
    }
}

/// Nodes as `num_nodes` counts them, or rows of `x`, or what the edges name.
fn number_of_nodes(data: &Mapping<'_>, x: Option<&Array>, ends: &[(u32, u32)], tensors: &Tensors<'_>) -> Result<u32> {
    let rows = x.map(|x| x.rows_and_columns()).transpose()?.map(|(rows, _)| rows);
    let counted = match data.get("num_nodes") {
        Some(value) => tensors.array(value, "num_nodes")?.to_usize()?.first().copied(),
        None => None,
    };
    let named = || ends.iter().map(|(a, b)| *a.max(b) as usize + 1).max().unwrap_or(0);
    // More than an id can be is refused with the sum of all.
    Ok(u32::try_from(rows.or(counted).unwrap_or_else(named)).unwrap_or(u32::MAX))
}

/// The columns of `edge_index`.
fn ends(array: Option<Array>, place: &Place) -> Result<Vec<(u32, u32)>> {
    let Some(array) = array else {
        let malformed = place.malformed("no edge_index", "two rows of nodes");
        return Err(malformed.hint("heterogeneous graphs and sparse adjacency matrices are not read").into());
    };
    let shape = array.shape().to_vec();
    let ids = array.to_u32()?;
    match *shape {
        [2, columns] => Ok(ids[..columns].iter().copied().zip(ids[columns..].iter().copied()).collect()),
        // What PyG makes of no edges.
        [0] => Ok(Vec::new()),
        _ => Err(array.malformed(format!("an array of {} dimensions", shape.len()), "two rows of nodes").into()),
    }
}

/// Adds the rows of one more graph; all graphs have them, or none has.
fn append(rows: &mut Option<Rows>, more: Option<&Array>, graph: usize, place: &Place) -> Result<()> {
    match (rows.as_mut(), more) {
        (None, None) => {}
        (None, Some(array)) if graph == 0 => *rows = Some(Rows::of(array)?),
        (Some(rows), Some(array)) => {
            let more = Rows::of(array)?;
            if more.columns != rows.columns {
                let expected = format!("{}, as in the graphs before", rows.columns);
                return Err(place.malformed(format!("{} columns", more.columns), expected).into());
            }
            rows.values.extend(more.values);
        }
        (None, Some(_)) | (Some(_), None) => {
            return Err(place.malformed("something that only some graphs have", "all or none to have it").into());
        }
    }
    Ok(())
}

/// Labels of one array, or of one for each graph, row after row.
fn labels(arrays: &[Array], place: &Place) -> Result<Option<Labels>> {
    match arrays {
        [] => Ok(None),
        [array] => array.to_labels().map(Some),
        several => {
            let mut values = Vec::new();
            let mut columns = None;
            for array in several {
                let (rows, width) = match array.shape() {
                    [] => (1, 1),
                    _ => array.rows_and_columns()?,
                };
                if rows > 0 && *columns.get_or_insert(width) != width {
                    return Err(place.malformed(format!("{width} columns"), "as many as in the graphs before").into());
                }
                values.extend(array.to_f64()?);
            }
            let columns = columns.unwrap_or(1);
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let shape = vec![values.len() / columns.max(1), columns];
            let all = Array::from_bytes(place.clone(), super::super::npz::Type::FLOAT64, shape, false, bytes, 0)?;
            all.to_labels().map(Some)
        }
    }
}

fn masks(data: &Mapping<'_>, tensors: &Tensors<'_>) -> Result<[Option<Rows>; 4]> {
    let mask = |key: &str| data.get(key).map(|value| Rows::of(&tensors.array(value, key)?)).transpose();
    Ok([mask("train_mask")?, mask("val_mask")?, mask("test_mask")?, mask("stopping_mask")?])
}

/// A split for each column of the masks; a mask of one column is the same in all.
fn splits(masks: [Option<Rows>; 4], nodes: usize, file: &Place) -> Result<Vec<Split>> {
    if let Some(mask) = masks.iter().flatten().find(|mask| mask.rows() != nodes) {
        let expected = format!("{nodes}, one a node");
        return Err(file.member("train_mask").malformed(format!("a mask of {} rows", mask.rows()), expected).into());
    }
    let count = masks.iter().flatten().map(|mask| mask.columns).max().unwrap_or(0);
    if let Some(mask) = masks.iter().flatten().find(|mask| mask.columns != count && mask.columns != 1) {
        let found = format!("masks of {} and of {count} columns", mask.columns);
        return Err(file.member("train_mask").malformed(found, "as many in all").into());
    }
    let [train, validation, test, stopping] = masks;
    let part = |mask: &Option<Rows>, column: usize| {
        let Some(mask) = mask else { return Vec::new() };
        let column = if mask.columns == 1 { 0 } else { column };
        let marks = mask.values.iter().skip(column).step_by(mask.columns.max(1));
        (0..).zip(marks).filter(|(_, mark)| **mark != 0.0).map(|(node, _)| node).collect()
    };
    let split = |column: usize| Split {
        name: if count == 1 { "public".into() } else { format!("split-{}", column + 1) },
        train: part(&train, column),
        validation: part(&validation, column),
        test: part(&test, column),
        stopping: part(&stopping, column),
    };
    Ok((0..count).map(split).collect())
}
