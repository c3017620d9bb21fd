//! The largest component and its distances, counted on the graph itself.

use fiedler_graph::Graph;
use fiedler_graph::measure::components;
use serde::{Deserialize, Serialize};

const UNSEEN: u32 = u32::MAX;

/// The nodes of the largest component, ascending; of equal ones the first.
pub fn largest_component(graph: &Graph) -> Vec<u32> {
    let (of_node, count) = components(graph);
    let mut sizes = vec![0usize; count];
    of_node.iter().for_each(|&component| sizes[component as usize] += 1);
    let Some(largest) = (0..count).max_by_key(|&component| (sizes[component], count - component)) else {
        return Vec::new();
    };
    (0..graph.num_nodes() as u32).filter(|&node| of_node[node as usize] as usize == largest).collect()
}

/// The longest of the shortest paths of a component, in steps: known exactly, or between two bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diameter {
    /// A path of this length is the shortest between two nodes.
    pub at_least: usize,
    /// No two nodes are further apart.
    pub at_most: usize,
}

impl Diameter {
    /// The diameter, where it is known.
    pub fn exact(&self) -> Option<usize> {
        (self.at_least == self.at_most).then_some(self.at_least)
    }
}

/// The diameter of the component that holds `node`, by at most `searches` breadth-first searches.
///
/// Nodes are searched from in the order of their distance from the middle of a long path, the farthest first: two nodes
/// within `k` steps of the middle are at most `2k` apart, so on most graphs a few searches settle it.
pub fn diameter(graph: &Graph, node: u32, searches: usize) -> Diameter {
    diameter_while(graph, node, searches, &mut || true)
}

/// As [`diameter`], as long as `goes_on` wants it: it is asked before every search but the first, which tells the diameter to within a factor of two.
pub(super) fn diameter_while(graph: &Graph, node: u32, searches: usize, goes_on: &mut dyn FnMut() -> bool) -> Diameter {
    let mut search = Search::new(graph);
    let first = search.run(node);
    if !goes_on() {
        return Diameter { at_least: first, at_most: 2 * first };
    }
    let end = search.farthest();
    let mut at_least = search.run(end);
    let middle = search.halfway(search.farthest());
    let reach = search.run(middle);
    at_least = at_least.max(reach);
    let layers = search.layers();
    let mut left = searches.saturating_sub(3);
    for distance in (1..=reach).rev() {
        if at_least >= 2 * distance {
            return Diameter { at_least, at_most: at_least };
        }
        for &node in &layers[distance] {
            if left == 0 || !goes_on() {
                return Diameter { at_least, at_most: 2 * distance };
            }
            left -= 1;
            at_least = at_least.max(search.run(node));
            if at_least == 2 * distance {
                return Diameter { at_least, at_most: at_least };
            }
        }
    }
    Diameter { at_least, at_most: at_least }
}

/// A breadth-first search whose arrays serve again.
struct Search<'a> {
    graph: &'a Graph,
    distance: Vec<u32>,
    order: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph) -> Search<'a> {
        Search { graph, distance: vec![UNSEEN; graph.num_nodes()], order: Vec::new() }
    }

    /// Searches from a node; the distance of the farthest.
    fn run(&mut self, node: u32) -> usize {
        self.order.iter().for_each(|&seen| self.distance[seen as usize] = UNSEEN);
        self.order.clear();
        self.order.push(node);
        self.distance[node as usize] = 0;
        let mut next = 0;
        while let Some(&node) = self.order.get(next) {
            next += 1;
            for &other in self.graph.neighbors(node) {
                if self.distance[other as usize] == UNSEEN {
                    self.distance[other as usize] = self.distance[node as usize] + 1;
                    self.order.push(other);
                }
            }
        }
        self.distance[self.farthest() as usize] as usize
    }

    fn farthest(&self) -> u32 {
        self.order[self.order.len() - 1]
    }

    /// The node halfway on a shortest path back from `end`.
    fn halfway(&self, end: u32) -> u32 {
        let (mut node, target) = (end, self.distance[end as usize] / 2);
        while self.distance[node as usize] > target {
            let nearer = self.distance[node as usize] - 1;
            match self.graph.neighbors(node).iter().find(|&&other| self.distance[other as usize] == nearer) {
                Some(&other) => node = other,
                None => break,
            }
        }
        node
    }

    /// The nodes at each distance from where the search began.
    fn layers(&self) -> Vec<Vec<u32>> {
        let mut layers = vec![Vec::new(); self.distance[self.farthest() as usize] as usize + 1];
        self.order.iter().for_each(|&node| layers[self.distance[node as usize] as usize].push(node));
        layers
    }
}
