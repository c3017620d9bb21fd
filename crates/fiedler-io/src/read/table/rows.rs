//! Which row of a table belongs to which node.

use std::collections::{HashMap, HashSet};

use fiedler_graph::{Dataset, Graph, GraphSet, Names};

use super::super::edge_list;
use super::Table;
use crate::error::{Place, Result};
use crate::role;

/// Which row of a table belongs to which node, and which columns say something of it.
pub(super) struct Matched {
    /// The row of each node; `None` when row k belongs to node k.
    pub(super) row_of: Option<Vec<Option<u32>>>,
    /// The columns that are no ids.
    pub(super) values: Vec<usize>,
}

/// What becomes of rows whose id is no node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    /// An edge list does not name the nodes without edges: rows of features do. Elsewhere they are left out.
    JoinEdgeList,
    /// They are left out.
    LeaveOut,
}

/// Matches the rows of a table to the nodes of a dataset.
pub(super) fn matched(dataset: &mut Dataset, table: &dyn Table, unknown: Unknown) -> Result<Matched> {
    let (columns, ids) = id_columns(dataset, table)?;
    let values = (0..table.columns()).filter(|column| !columns.contains(column)).collect();
    let Some(ids) = ids else {
        by_number(dataset, table.rows(), &table.place(None))?;
        return Ok(Matched { row_of: None, values });
    };
    let mut row_of_id: HashMap<&str, u32> = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if row_of_id.insert(id, row as u32).is_some() {
            let malformed = table.place(Some(row)).malformed(format!("node {id:?} once more"), "one row a node");
            return Err(malformed.into());
        }
    }
    let arena = dataset.graphs.block_diagonal();
    let mut row_of: Vec<Option<u32>> =
        (0..arena.num_nodes() as u32).map(|node| row_of_id.remove(arena.name(node).as_str())).collect();
    if row_of.iter().all(Option::is_none) && arena.num_nodes() > 0 {
        let found = format!("ids such as {:?}, none of which is a node", ids.first().map_or("", String::as_str));
        let expected = format!("ids of nodes such as {:?}", arena.name(0));
        return Err(table.place(None).malformed(found, expected).into());
    }
    let mut extra: Vec<u32> = row_of_id.into_values().collect();
    extra.sort_unstable();
    let id_of = |row: &u32| ids[*row as usize].as_str();
    if let Some(first) = extra.first().map(id_of) {
        let joins = unknown == Unknown::JoinEdgeList && dataset.report.format == edge_list::FORMAT.name;
        let one = extra.len() == 1;
        let note = if joins {
            let graph = with_isolated(arena, extra.iter().map(id_of))?;
            dataset.graphs = GraphSet::single(graph);
            row_of.extend(extra.iter().map(|&row| Some(row)));
            let nodes = if one { "1 node has".into() } else { format!("{} nodes have", extra.len()) };
            format!("{nodes} features and no edges, the first of them {first:?}")
        } else {
            let rows = if one { "1 row belongs".into() } else { format!("{} rows belong", extra.len()) };
            format!("{rows} to no node, the first of them {first:?}: left out")
        };
        dataset.report.notes.push(note);
    }
    Ok(Matched { row_of: Some(row_of), values })
}

/// The columns that hold no values, and the ids in one of them if it has any: told by header, or by being exactly the names of nodes.
fn id_columns(dataset: &Dataset, table: &dyn Table) -> Result<(Vec<usize>, Option<Vec<String>>)> {
    let headers = table.names().unwrap_or_default();
    // Of which graph a node is does not say which node it is.
    let mut columns = super::id_columns(table);
    columns.retain(|&column| !role::is_graph_id(&headers[column]));
    if let Some(&column) = columns.first() {
        let ids = table.column(column)?;
        return Ok(if ids.is_some() { (columns, ids) } else { (Vec::new(), None) });
    }
    let arena = dataset.graphs.block_diagonal();
    // A named column that happens to count 0, 1, 2 … may be a feature.
    let counts = !headers.is_empty() && arena.names().is_none();
    if table.columns() < 2 || table.rows() != arena.num_nodes() || counts {
        return Ok((Vec::new(), None));
    }
    let Some(ids) = table.column(0)? else { return Ok((Vec::new(), None)) };
    let names: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let all = (0..arena.num_nodes() as u32).all(|node| names.contains(arena.name(node).as_str()));
    Ok(if all { (vec![0], Some(ids)) } else { (Vec::new(), None) })
}

/// Sees to it that there is one node for each of so many rows.
pub(super) fn by_number(dataset: &mut Dataset, rows: usize, place: &Place) -> Result<()> {
    // An edge list does not know the nodes without edges; the rows do.
    if dataset.report.format == edge_list::FORMAT.name
        && let Some(graph) = numbered_by_row(dataset.graphs.block_diagonal(), rows)?
    {
        dataset.graphs = GraphSet::single(graph);
    }
    let nodes = dataset.graphs.num_nodes();
    if rows != nodes {
        let malformed = place.malformed(format!("{rows} rows"), format!("{nodes}, one a node"));
        return Err(malformed.hint("add a first column `node` with the node ids to say which row is whose").into());
    }
    if dataset.graphs.block_diagonal().names().is_some() {
        dataset.report.notes.push("rows have no ids and were taken in the order of nodes".into());
    }
    Ok(())
}

/// The graph with one node a row, when there are more rows than nodes and all ids are row numbers.
fn numbered_by_row(graph: &Graph, rows: usize) -> Result<Option<Graph>> {
    if graph.num_nodes() >= rows {
        return Ok(None);
    }
    let number_of: Vec<u32> = match graph.names() {
        None => (0..graph.num_nodes() as u32).collect(),
        Some(Names::Integers(names)) => {
            let number = |name: &i64| u32::try_from(*name).ok().filter(|number| (*number as usize) < rows);
            match names.iter().map(number).collect() {
                Some(numbers) => numbers,
                None => return Ok(None),
            }
        }
        Some(Names::Strings(_)) => return Ok(None),
    };
    let pairs = graph.edge_pairs().map(|(a, b)| (number_of[a as usize], number_of[b as usize])).collect();
    let (graph, _) = match graph.edge_weights() {
        Some(weights) => Graph::from_weighted_pairs(rows, pairs, weights)?,
        None => Graph::from_pairs(rows, pairs)?,
    };
    Ok(Some(graph))
}

/// The graph with further nodes that have no edges.
fn with_isolated<'a>(graph: &Graph, names: impl Iterator<Item = &'a str>) -> Result<Graph> {
    let names: Vec<String> =
        (0..graph.num_nodes() as u32).map(|node| graph.name(node)).chain(names.map(Into::into)).collect();
    let mut indptr = graph.indptr().to_vec();
    indptr.resize(names.len() + 1, graph.indices().len());
    let joined = Graph::from_csr(indptr, graph.indices().to_vec(), graph.weights().map(<[f32]>::to_vec))?;
    let number = |name: &String| name.parse::<i64>().ok().filter(|number| number.to_string() == *name);
    let names = match names.iter().map(number).collect() {
        Some(numbers) => Names::Integers(numbers),
        None => Names::Strings(names.into_iter().map(String::into_boxed_str).collect()),
    };
    Ok(match names.unless_counting() {
        Some(names) => joined.with_names(names)?,
        None => joined,
    })
}
