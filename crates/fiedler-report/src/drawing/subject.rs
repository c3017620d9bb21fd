//! What is drawn: a graph, what is known of its nodes, and the views that a scheme has of it.

use fiedler_augment::scheme::{Scheme, SchemeSettings};
use fiedler_graph::{Dataset, Features, Graph};
use fiedler_spectral::Operator;

use super::groups::Groups;
use super::layout::Place;
use super::view::View;

/// Graphs of more nodes than this are drawn in part.
pub const MOST_NODES: usize = 300;
/// And so are those of more edges.
pub const MOST_EDGES: usize = 1500;
/// Nodes of the part that is drawn of a large graph.
pub const NEIGHBOURHOOD: usize = 60;

/// A graph with the views that a scheme has of it.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// What the graph is called.
    pub name: String,
    /// All of it, however much is drawn.
    pub graph: &'a Graph,
    /// What kind each node is of.
    pub groups: Option<Groups>,
    /// Where nodes stand, x to the right and y up; without it, they are placed so that near nodes stand near.
    pub positions: Option<Vec<Place>>,
    /// Whose spectrum effects are told of.
    pub operator: Operator,
    /// The views, one panel each.
    pub views: Vec<View<'a>>,
    /// Whether the graph as it is has a panel too, before the others.
    pub original: bool,
}

impl<'a> Subject<'a> {
    /// A graph by itself.
    pub fn new(name: impl Into<String>, graph: &'a Graph, views: Vec<View<'a>>) -> Subject<'a> {
        let (groups, positions, operator) = (None, None, Operator::default());
        Subject { name: name.into(), graph, groups, positions, operator, views, original: false }
    }

    /// A graph of a dataset as it is, with all that the dataset knows of its nodes. `graph` is `dataset.graphs.graph(place)`.
    pub fn of_graph(dataset: &Dataset, place: usize, graph: &'a Graph) -> Subject<'a> {
        let name = match dataset.graphs.len() {
            1 => dataset.name.clone(),
            _ => format!("{}, graph {place}", dataset.name),
        };
        let (groups, positions) = (Groups::of_dataset(dataset, place), positions_of(dataset));
        Subject { groups, positions, original: true, ..Subject::new(name, graph, Vec::new()) }
    }

    /// The same with what a scheme does to it in place of the graph as it is.
    pub fn of(dataset: &Dataset, place: usize, graph: &'a Graph, scheme: &'a Scheme) -> Subject<'a> {
        let views = View::all_of(scheme, place, dataset.graphs.node_range(place), graph.num_edges());
        let operator = match scheme.settings() {
            SchemeSettings::Opposite(spectral)
            | SchemeSettings::Single(spectral)
            | SchemeSettings::Double(spectral) => spectral.operator,
            _ => Operator::default(),
        };
        Subject { operator, views, original: false, ..Subject::of_graph(dataset, place, graph) }
    }

    /// Whether the whole graph can be drawn so that one sees something.
    pub fn fits(&self) -> bool {
        self.graph.num_nodes() <= MOST_NODES && self.graph.num_edges() <= MOST_EDGES
    }

    /// The probability of the likeliest view that the pair changes.
    pub(super) fn likelihood(&self, a: u32, b: u32) -> f64 {
        self.views.iter().map(|view| view.probability(self.graph, a, b)).fold(0.0, f64::max)
    }
}

/// The positions of a random geometric graph are its features.
fn positions_of(dataset: &Dataset) -> Option<Vec<Place>> {
    if dataset.report.format != "generated" || dataset.name != "geometric" {
        return None;
    }
    match &dataset.features {
        Some(Features::Dense(points)) if points.columns() == 2 => {
            Some(points.values().chunks(2).map(|point| [f64::from(point[0]), f64::from(point[1])]).collect())
        }
        _ => None,
    }
}
