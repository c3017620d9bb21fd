//! Where the nodes of a graph stand, when nobody says.
//!
//! Drawn distances are to be those of the graph: the stress `Σ ((|p_i - p_j| - d_ij) / d_ij)²` over all pairs of a component is made
//! small by majorisation, one node at a time, from the plane that fits all distances best. The cost of a component grows with the
//! square of its nodes: half a second for five hundred.

use fiedler_graph::{Graph, measure};

use super::pack::pack;

/// A place in the plane, `[x, y]`.
pub type Place = [f64; 2];

/// Passes over all nodes, at most.
const SWEEPS: usize = 300;
/// Nodes that move less than this, where an edge has length one, stand still.
const STILL: f64 = 1e-3;
/// Steps that an axis of the first plane is found by.
const AXIS_STEPS: usize = 60;
/// Turns by this angle never meet the same direction again.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;
/// How far nodes are moved before anything else, lest two start at one place.
const NUDGE: f64 = 0.05;

/// A place for each node. Components stand side by side; an edge has a length of about one.
pub fn places(graph: &Graph) -> Vec<Place> {
    let (component_of, count) = measure::components(graph);
    let mut components = vec![Vec::new(); count];
    for (node, &component) in component_of.iter().enumerate() {
        components[component as usize].push(node as u32);
    }
    let mut drawn: Vec<Vec<Place>> = components.iter().map(|nodes| place_component(graph, nodes)).collect();
    pack(&mut drawn);
    let mut places = vec![[0.0; 2]; graph.num_nodes()];
    for (nodes, drawn) in components.iter().zip(drawn) {
        for (&node, place) in nodes.iter().zip(drawn) {
            places[node as usize] = place;
        }
    }
    places
}

/// How far drawn distances are from those of the graph, over all pairs of nodes that are joined by a path; zero is perfect.
///
/// # Panics
/// When there is not a place for each node.
pub fn stress(graph: &Graph, places: &[Place]) -> f64 {
    let all: Vec<u32> = (0..graph.num_nodes() as u32).collect();
    let distances = Distances::of(graph, &all);
    let mut sum = 0.0;
    for (i, &at) in places.iter().enumerate() {
        for (j, &other) in places.iter().enumerate().take(i) {
            let wanted = distances.between(i, j);
            if wanted.is_finite() {
                let relative = (length(minus(at, other)) - wanted) / wanted;
                sum += relative * relative;
            }
        }
    }
    sum
}

fn place_component(graph: &Graph, nodes: &[u32]) -> Vec<Place> {
    let distances = Distances::of(graph, nodes);
    let mut places = distances.best_plane();
    for _ in 0..SWEEPS {
        if distances.sweep(&mut places) < STILL {
            break;
        }
    }
    lay_down(&mut places);
    places
}

/// Turns a drawing so that it is wider than high.
fn lay_down(places: &mut [Place]) {
    let count = places.len() as f64;
    let middle = places.iter().fold([0.0; 2], |sum, place| [sum[0] + place[0] / count, sum[1] + place[1] / count]);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for place in places.iter() {
        let [x, y] = minus(*place, middle);
        (xx, xy, yy) = (xx + x * x, xy + x * y, yy + y * y);
    }
    let (sine, cosine) = (0.5 * f64::atan2(2.0 * xy, xx - yy)).sin_cos();
    for place in places.iter_mut() {
        let [x, y] = minus(*place, middle);
        *place = [cosine * x + sine * y, cosine * y - sine * x];
    }
}

/// The number of steps between any two of some nodes.
struct Distances {
    nodes: usize,
    steps: Vec<f64>,
}

impl Distances {
    fn of(graph: &Graph, nodes: &[u32]) -> Distances {
        const ABSENT: usize = usize::MAX;
        let mut local = vec![ABSENT; graph.num_nodes()];
        nodes.iter().enumerate().for_each(|(at, &node)| local[node as usize] = at);
        let count = nodes.len();
        let mut steps = vec![f64::INFINITY; count * count];
        let mut queue = Vec::with_capacity(count);
        for (start, row) in steps.chunks_mut(count.max(1)).enumerate() {
            row[start] = 0.0;
            queue.clear();
            queue.push(start);
            let mut next = 0;
            while let Some(&at) = queue.get(next) {
                next += 1;
                for &other in graph.neighbors(nodes[at]) {
                    let other = local[other as usize];
                    if other != ABSENT && row[other].is_infinite() {
                        row[other] = row[at] + 1.0;
                        queue.push(other);
                    }
                }
            }
        }
        Distances { nodes: count, steps }
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        self.steps[i * self.nodes + j]
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.steps[i * self.nodes..(i + 1) * self.nodes]
    }

    /// Classical scaling: the two directions in which the squared distances spread most.
    fn best_plane(&self) -> Vec<Place> {
        let first = self.axis(None);
        let second = self.axis(Some(&first));
        let nudged = |(node, (&x, &y)): (usize, (&f64, &f64))| {
            let (sine, cosine) = (GOLDEN_ANGLE * node as f64).sin_cos();
            [x + NUDGE * cosine, y + NUDGE * sine]
        };
        first.iter().zip(&second).enumerate().map(nudged).collect()
    }

    /// A coordinate for each node, by power iteration; all zero where nothing spreads in a further direction.
    fn axis(&self, earlier: Option<&[f64]>) -> Vec<f64> {
        let shift = if earlier.is_some() { 1.0 } else { 0.0 };
        let mut axis: Vec<f64> = (0..self.nodes).map(|node| (GOLDEN_ANGLE * (node as f64 + shift)).cos()).collect();
        let mut spread = 0.0;
        for _ in 0..AXIS_STEPS {
            centre(&mut axis);
            if let Some(earlier) = earlier {
                let share = dot(&axis, earlier) / dot(earlier, earlier).max(f64::MIN_POSITIVE);
                axis.iter_mut().zip(earlier).for_each(|(x, earlier)| *x -= share * earlier);
            }
            let size = dot(&axis, &axis).sqrt();
            if size < 1e-9 {
                return vec![0.0; self.nodes];
            }
            axis.iter_mut().for_each(|x| *x /= size);
            let mut product: Vec<f64> = (0..self.nodes)
                .map(|i| -0.5 * self.row(i).iter().zip(&axis).map(|(d, x)| d * d * x).sum::<f64>())
                .collect();
            centre(&mut product);
            spread = dot(&axis, &product);
            axis = product;
        }
        let size = dot(&axis, &axis).sqrt();
        if spread < 1e-6 || size == 0.0 {
            return vec![0.0; self.nodes];
        }
        axis.iter().map(|x| x / size * spread.sqrt()).collect()
    }

    /// Moves each node to where its own part of the stress, as far as a parabola above it tells, is least; returns the longest move.
    fn sweep(&self, places: &mut [Place]) -> f64 {
        let mut longest: f64 = 0.0;
        for i in 0..self.nodes {
            let (mut sum, mut weights) = ([0.0; 2], 0.0);
            for (j, &wanted) in self.row(i).iter().enumerate().filter(|&(j, _)| j != i) {
                let away = minus(places[i], places[j]);
                let distance = length(away);
                let direction = match distance > 1e-9 {
                    true => [away[0] / distance, away[1] / distance],
                    // Any direction will do, as long as the two nodes take opposite ones.
                    false if i < j => [1.0, 0.0],
                    false => [-1.0, 0.0],
                };
                let weight = 1.0 / (wanted * wanted);
                weights += weight;
                sum[0] += weight * (places[j][0] + wanted * direction[0]);
                sum[1] += weight * (places[j][1] + wanted * direction[1]);
            }
            if weights > 0.0 {
                let place = [sum[0] / weights, sum[1] / weights];
                longest = longest.max(length(minus(place, places[i])));
                places[i] = place;
            }
        }
        longest
    }
}

fn centre(values: &mut [f64]) {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter_mut().for_each(|value| *value -= mean);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn minus(a: Place, b: Place) -> Place {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn length(a: Place) -> f64 {
    a[0].hypot(a[1])
}

/// The lowest and the highest corner of a drawing.
pub(super) fn bounds(places: &[Place]) -> (Place, Place) {
    let none = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    places.iter().fold(none, |(low, high), place| {
        ([low[0].min(place[0]), low[1].min(place[1])], [high[0].max(place[0]), high[1].max(place[1])])
    })
}
