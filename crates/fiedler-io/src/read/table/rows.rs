//! Which row of a table belongs to which node.

use std::collections::{HashMap, HashSet};

use fiedler_graph::{Dataset, Graph, GraphSet, Names};

use super::super::edge_list;
use super::Table;
use crate::error::Result;

/// What headers call a column of node ids; pandas leaves the index without a name.
const ID_NAMES: [&str; 8] = ["", "id", "node", "name", "node_id", "nodeid", "index", "unnamed: 0"];

/// The row of each node, when the first column holds ids; `None` when row k belongs to node k.
pub(super) fn matched(dataset: &mut Dataset, table: &dyn Table) -> Result<Option<Vec<Option<u32>>>> {
    let Some(ids) = id_column(dataset, table)? else {
        by_number(dataset, table)?;
        return Ok(None);
    };
    let mut row_of_id: HashMap<&str, u32> = HashMap::with_capacity(ids.len());
    for (row, id) in ids.iter().enumerate() {
        if row_of_id.insert(id, row as u32).is_some() {
            let malformed = table.place(Some(row)).malformed(format!("node {id:?} once more"), "one row a node");
            return Err(malformed.into());
        }
    }
    let arena = dataset.graphs.block_diagonal();
    let row_of: Vec<Option<u32>> =
        (0..arena.num_nodes() as u32).map(|node| row_of_id.remove(arena.name(node).as_str())).collect();
    if row_of.iter().all(Option::is_none) && arena.num_nodes() > 0 {
        let found = format!("ids such as {:?}, none of which is a node", ids.first().map_or("", String::as_str));
        let expected = format!("ids of nodes such as {:?}", arena.name(0));
        return Err(table.place(None).malformed(found, expected).into());
    }
    let extra = row_of_id.values().min().map(|row| ids[*row as usize].as_str());
    if let Some(first) = extra {
        let note = format!("{} rows belong to no node, the first of them {first:?}: left out", row_of_id.len());
        dataset.report.notes.push(note);
    }
    Ok(Some(row_of))
}

/// The ids in the first column, if that is what it holds.
fn id_column(dataset: &Dataset, table: &dyn Table) -> Result<Option<Vec<String>>> {
    if table.columns() < 2 {
        return Ok(None);
    }
    if ids_by_header(table) {
        return table.first_column();
    }
    let header = table.names().and_then(<[String]>::first);
    let arena = dataset.graphs.block_diagonal();
    // A named column that happens to count 0, 1, 2 … may be a feature.
    if table.rows() != arena.num_nodes() || header.is_some() && arena.names().is_none() {
        return Ok(None);
    }
    let Some(ids) = table.first_column()? else { return Ok(None) };
    let names: HashSet<&str> = ids.iter().map(String::as_str).collect();
    let all = (0..arena.num_nodes() as u32).all(|node| names.contains(arena.name(node).as_str()));
    Ok(all.then_some(ids))
}

/// Whether the header says that the first column holds ids.
pub(super) fn ids_by_header(table: &dyn Table) -> bool {
    let header = table.names().and_then(<[String]>::first);
    table.columns() > 1 && header.is_some_and(|name| ID_NAMES.contains(&name.to_ascii_lowercase().as_str()))
}

/// Sees to it that there is one node a row.
fn by_number(dataset: &mut Dataset, table: &dyn Table) -> Result<()> {
    // An edge list does not know the nodes without edges; the rows do.
    if dataset.report.format == edge_list::FORMAT.name
        && let Some(graph) = numbered_by_row(dataset.graphs.block_diagonal(), table.rows())?
    {
        dataset.graphs = GraphSet::single(graph);
    }
    let (rows, nodes) = (table.rows(), dataset.graphs.num_nodes());
    if rows != nodes {
        let malformed = table.place(None).malformed(format!("{rows} rows"), format!("{nodes}, one a node"));
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
