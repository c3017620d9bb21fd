//! Drawings of graphs for a page: the whole of a small graph, or the surroundings of a chosen node.

use fiedler_augment::Scheme;
use fiedler_graph::{Dataset, Graph};
use fiedler_report::Figure;
use fiedler_report::drawing::{Subject, drawings};

use crate::error::{Error, ErrorKind, Result};

/// Of many graphs so many are drawn.
const DRAWN: usize = 3;

/// Drawings of the graph itself.
pub fn of_graph(dataset: &Dataset, around: Option<&str>) -> Result<Vec<Figure>> {
    let node = chosen(dataset, around)?;
    of_each(dataset, |place, graph| drawings(&Subject::of_graph(dataset, place, graph), node))
}

/// Drawings of the graph with the probability of every change, both directions side by side.
pub fn of_scheme(scheme: &Scheme, dataset: &Dataset, around: Option<&str>) -> Result<Vec<Figure>> {
    let node = chosen(dataset, around)?;
    of_each(dataset, |place, graph| drawings(&Subject::of(dataset, place, graph, scheme), node))
}

/// One graph, or the first of many.
fn of_each(
    dataset: &Dataset,
    draw: impl Fn(usize, &Graph) -> fiedler_graph::Result<Vec<Figure>>,
) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for place in 0..dataset.graphs.len().min(DRAWN) {
        for mut figure in draw(place, &dataset.graphs.graph(place))? {
            if dataset.graphs.len() > 1 {
                figure.name = format!("{}-{place}", figure.name);
            }
            figures.push(figure);
        }
    }
    Ok(figures)
}

/// The node that a user names.
fn chosen(dataset: &Dataset, around: Option<&str>) -> Result<Option<u32>> {
    let Some(name) = around else { return Ok(None) };
    let Some(graph) = dataset.graph() else {
        let message = format!("{} has {} graphs, and a node is drawn in one", dataset.name, dataset.graphs.len());
        return Err(Error::new(ErrorKind::Usage, message, "leave --around out".to_owned()));
    };
    match find(graph, name) {
        Some(node) => Ok(Some(node)),
        None => {
            let message = format!("{} has no node {name:?}", dataset.name);
            let hint = match graph.num_nodes() {
                0 => "the graph is empty".to_owned(),
                nodes => format!("there are {nodes}, the first called {:?}", graph.name(0)),
            };
            Err(Error::new(ErrorKind::Usage, message, hint))
        }
    }
}

fn find(graph: &Graph, name: &str) -> Option<u32> {
    match graph.names() {
        Some(_) => (0..graph.num_nodes() as u32).find(|&node| graph.name(node) == name),
        None => name.parse().ok().filter(|&node: &u32| (node as usize) < graph.num_nodes()),
    }
}
