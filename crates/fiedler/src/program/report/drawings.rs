//! Drawings of graphs for a page: the whole of a small graph, or the surroundings of a chosen node.

use fiedler_augment::Scheme;
use fiedler_graph::{Dataset, Graph};
use fiedler_report::Figure;

use crate::program::failure::{Exit, Failure};

/// Drawings of the graph itself.
pub fn of_graph(dataset: &Dataset, around: Option<&str>) -> Result<Vec<Figure>, Failure> {
    let _node = chosen(dataset, around)?;
    Ok(Vec::new())
}

/// Drawings of the graph with the probability of every change, both directions side by side.
pub fn of_scheme(_scheme: &Scheme, dataset: &Dataset, around: Option<&str>) -> Result<Vec<Figure>, Failure> {
    let _node = chosen(dataset, around)?;
    Ok(Vec::new())
}

/// The node that a user names.
fn chosen(dataset: &Dataset, around: Option<&str>) -> Result<Option<u32>, Failure> {
    let Some(name) = around else { return Ok(None) };
    let Some(graph) = dataset.graph() else {
        let message = format!("{} has {} graphs, and a node is drawn in one", dataset.name, dataset.graphs.len());
        return Err(Failure::new(Exit::Usage, message, "leave --around out".to_owned()));
    };
    match find(graph, name) {
        Some(node) => Ok(Some(node)),
        None => {
            let message = format!("{} has no node {name:?}", dataset.name);
            let hint = match graph.nodes() {
                0 => "the graph is empty".to_owned(),
                nodes => format!("there are {nodes}, the first called {:?}", graph.name(0)),
            };
            Err(Failure::new(Exit::Usage, message, hint))
        }
    }
}

fn find(graph: &Graph, name: &str) -> Option<u32> {
    match graph.names() {
        Some(_) => (0..graph.nodes() as u32).find(|&node| graph.name(node) == name),
        None => name.parse().ok().filter(|&node: &u32| (node as usize) < graph.nodes()),
    }
}
