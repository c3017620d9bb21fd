//! What of a graph is drawn, and where, in pixels.

use std::borrow::Cow;

use fiedler_graph::{Graph, Result};

use super::effect::Effects;
use super::layout::{self, Place, bounds, length, minus};
use super::neighborhood;
use super::subject::{NEIGHBOURHOOD, Subject};
use super::svg::{probability, shortened, signed};
use super::view::{Expected, View};

/// Pixels that a panel is wide.
pub(super) const WIDTH: f64 = 350.0;
/// Least and greatest height of a panel.
const HEIGHTS: (f64, f64) = (170.0, 350.0);
/// Least and greatest radius of a node's mark.
const RADII: (f64, f64) = (2.5, 11.0);
/// The mark's radius as a share of how far apart near nodes stand.
const RADIUS_OF_DISTANCE: f64 = 0.36;
/// Pixels between near nodes, at most.
const LONGEST_USUAL: f64 = 75.0;
/// At most so many additions are shown, lest they cover the graph.
const MOST_ADDITIONS: usize = 40;
/// Letters of a name in a hint.
const NAME_LENGTH: usize = 40;

/// The drawn part of a subject, ready for any number of panels.
pub(super) struct Scene<'a> {
    pub subject: &'a Subject<'a>,
    /// Drawn nodes, by their ids in the subject's graph.
    pub nodes: Vec<u32>,
    /// What joins them.
    pub graph: Cow<'a, Graph>,
    /// Where they stand in a panel.
    pub places: Vec<Place>,
    pub height: f64,
    pub radius: f64,
    /// Of a neighborhood, the node it lies around, by its place among the nodes.
    pub centre: Option<usize>,
    effects: Effects<'a>,
}

/// What a view does to the drawn part.
pub(super) struct Changes<'a> {
    pub view: &'a View<'a>,
    /// One for each drawn edge, in the order of [`Graph::edge_pairs`].
    pub removals: Vec<Change>,
    /// The likeliest, the last the likeliest of all.
    pub additions: Vec<Change>,
    /// Of the whole graph.
    pub expected: Expected,
}

/// A pair by its nodes' places, and how likely it changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub ends: (usize, usize),
    pub probability: f64,
}

impl<'a> Scene<'a> {
    pub fn whole(subject: &'a Subject<'a>) -> Scene<'a> {
        let nodes = (0..subject.graph.num_nodes() as u32).collect();
        Scene::arrange(subject, nodes, Cow::Borrowed(subject.graph), None)
    }

    pub fn around(subject: &'a Subject<'a>, centre: u32) -> Result<Scene<'a>> {
        let likelihood = |a, b| subject.likelihood(a, b);
        let part = neighborhood::around(subject.graph, centre, NEIGHBOURHOOD, likelihood)?;
        Ok(Scene::arrange(subject, part.nodes, Cow::Owned(part.graph), Some(0)))
    }

    fn arrange(subject: &'a Subject<'a>, nodes: Vec<u32>, graph: Cow<'a, Graph>, centre: Option<usize>) -> Scene<'a> {
        let given = subject.positions.as_ref().filter(|positions| positions.len() == subject.graph.num_nodes());
        let mut places = match given {
            // Up is up, but rows of pixels are counted downwards.
            Some(positions) => nodes.iter().map(|&node| positions[node as usize]).map(|[x, y]| [x, -y]).collect(),
            None => layout::places(&graph),
        };
        let (height, radius) = fit(&mut places, &graph);
        if given.is_none() {
            move_apart(&mut places, height, 2.0 * radius + 2.0);
        }
        let effects = Effects::of(subject.graph, subject.operator);
        Scene { subject, nodes, graph, places, height, radius, centre, effects }
    }

    pub fn changes(&self, view: &'a View<'a>) -> Changes<'a> {
        let change = |a: usize, b: usize| {
            let probability = view.probability(self.subject.graph, self.nodes[a], self.nodes[b]);
            Change { ends: (a, b), probability }
        };
        let removals = self.graph.edge_pairs().map(|(a, b)| change(a as usize, b as usize)).collect();
        let mut additions = Vec::new();
        if !view.adds_alike() {
            let pairs = (0..self.nodes.len()).flat_map(|a| (a + 1..self.nodes.len()).map(move |b| (a, b)));
            let others = pairs.filter(|&(a, b)| !self.graph.has_edge(a as u32, b as u32));
            additions.extend(others.map(|(a, b)| change(a, b)).filter(|change| change.probability > 0.0));
            additions.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.ends.cmp(&b.ends)));
            additions.truncate((self.graph.num_edges() / 2).clamp(3, MOST_ADDITIONS));
            additions.reverse();
        }
        Changes { view, removals, additions, expected: view.expected(self.subject.graph) }
    }

    /// The groups that drawn nodes belong to.
    pub fn shown_groups(&self) -> Vec<usize> {
        let groups = self.subject.groups.as_ref();
        let mut shown: Vec<usize> =
            self.nodes.iter().filter_map(|&node| groups.and_then(|groups| groups.of_node(node))).collect();
        shown.sort_unstable();
        shown.dedup();
        shown
    }

    /// A node's name, with its group.
    pub fn name(&self, place: usize) -> String {
        let node = self.nodes[place];
        let name = shortened(&self.subject.graph.name(node), NAME_LENGTH);
        let Some(groups) = &self.subject.groups else { return name };
        match groups.name_of(node).map(|group| shortened(group, NAME_LENGTH)) {
            Some(symbol) if groups.are_atoms() => format!("{name} ({symbol})"),
            Some(group) => format!("{name} ({} {group})", shortened(groups.title(), NAME_LENGTH)),
            None => name,
        }
    }

    /// What is told of a pair: what happens to it, how likely, and to what effect.
    pub fn hint(&self, change: &Change) -> String {
        let (a, b) = change.ends;
        let done = if self.graph.has_edge(a as u32, b as u32) { "removed" } else { "added" };
        let effect = signed(self.effects.of_flip(self.nodes[a], self.nodes[b]));
        format!(
            "{} – {}: {done} with probability {}; first-order effect on the spectrum's norm {effect}",
            self.name(a),
            self.name(b),
            probability(change.probability)
        )
    }
}

/// Stretches places to a panel's width; returns the height that takes, and the radius of marks.
fn fit(places: &mut [Place], graph: &Graph) -> (f64, f64) {
    let margin = RADII.1 + 4.0;
    let (low, high) = bounds(places);
    let [width, height] = [0, 1].map(|axis| (high[axis] - low[axis]).max(0.0));
    let inner = WIDTH - 2.0 * margin;
    let fitting = (inner / width).min((HEIGHTS.1 - 2.0 * margin) / height);
    // A few nodes need not fill the panel, and one alone, or several at one place, have nothing to stretch.
    let scale = fitting.min(LONGEST_USUAL / usual_distance(places, graph));
    let scale = if scale.is_finite() { scale } else { 1.0 };
    let panel = (height * scale + 2.0 * margin).clamp(HEIGHTS.0, HEIGHTS.1);
    let middle = [WIDTH / 2.0, panel / 2.0];
    for place in places.iter_mut() {
        *place = [0, 1].map(|axis| middle[axis] + scale * (place[axis] - 0.5 * (low[axis] + high[axis])));
    }
    (panel, (RADIUS_OF_DISTANCE * usual_distance(places, graph)).clamp(RADII.0, RADII.1))
}

/// Moves nodes that stand nearer than so many pixels, each as far as the other, and none out of the panel.
fn move_apart(places: &mut [Place], height: f64, least: f64) {
    const ROUNDS: usize = 60;
    let corner = [WIDTH, height];
    for _ in 0..ROUNDS {
        let mut moved = false;
        for a in 1..places.len() {
            for b in 0..a {
                let away = minus(places[a], places[b]);
                let distance = length(away);
                if distance < least {
                    let direction = if distance > 1e-6 { away.map(|part| part / distance) } else { [1.0, 0.0] };
                    let step = 0.5 * (least - distance);
                    for axis in [0, 1] {
                        let inside = |place: f64| place.clamp(0.5 * least, corner[axis] - 0.5 * least);
                        places[a][axis] = inside(places[a][axis] + step * direction[axis]);
                        places[b][axis] = inside(places[b][axis] - step * direction[axis]);
                    }
                    moved = true;
                }
            }
        }
        if !moved {
            return;
        }
    }
}

/// How far apart near nodes stand: most edges are longer, and most nodes have no other as near.
fn usual_distance(places: &[Place], graph: &Graph) -> f64 {
    let mut nearest: Vec<f64> = Vec::with_capacity(places.len());
    for (at, place) in places.iter().enumerate() {
        let others = places.iter().enumerate().filter(|(other, _)| *other != at);
        nearest.push(others.map(|(_, other)| length(minus(*place, *other))).fold(f64::INFINITY, f64::min));
    }
    nearest.sort_by(f64::total_cmp);
    let mut edges: Vec<f64> =
        graph.edge_pairs().map(|(a, b)| length(minus(places[a as usize], places[b as usize]))).collect();
    edges.sort_by(f64::total_cmp);
    let of_nodes = nearest.get(nearest.len() / 4).copied().unwrap_or(f64::INFINITY);
    let of_edges = edges.get(edges.len() / 4).copied().unwrap_or(f64::INFINITY);
    of_nodes.min(of_edges)
}
