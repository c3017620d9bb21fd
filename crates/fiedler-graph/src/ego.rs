//! Ego-nets: what lies within a few hops of chosen nodes, as a set of small graphs.

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::graph::{Graph, MAX_NODES};
use crate::random::stream;
use crate::set::GraphSet;

/// What [`ego_nets`] cut out: one small graph a centre.
#[derive(Debug, Clone, PartialEq)]
pub struct EgoNets {
    /// The nets, in the order of the centres; the centre is the first node of each.
    pub graphs: GraphSet,
    /// For each node of the set its id in the graph that the nets were cut from: what to hand to
    /// [`Features::gather`](crate::Features::gather).
    pub node_rows: Vec<u32>,
}

/// Cuts out the subgraph that all nodes within `hops` steps of each centre induce.
///
/// After the centre, nodes keep their order. With a `cap`, a net takes in whole hops as long as it has at most that many nodes; of
/// the hop that would exceed it, nodes are drawn at random. The draw depends on the seed and the centre alone.
///
/// ```
/// use fiedler_graph::{Graph, ego_nets};
/// let (path, _) = Graph::from_pairs(5, vec![(0, 1), (1, 2), (2, 3), (3, 4)])?;
/// let nets = ego_nets(&path, &[2, 0], 1, None, 0)?;
/// assert_eq!(nets.node_rows, [2, 1, 3, 0, 1]);
/// assert_eq!(nets.graphs.graph(0).neighbors(0), [1, 2]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
///
/// # Errors
/// When a centre does not exist, the cap leaves no room for it, or the nets have more nodes than a graph can.
pub fn ego_nets(graph: &Graph, centres: &[u32], hops: usize, cap: Option<usize>, seed: u64) -> Result<EgoNets> {
    check(graph, centres, cap)?;
    let cap = cap.unwrap_or(usize::MAX);
    cut_all(graph, centres, |cutter, centre| cutter.reach(centre, hops, cap, seed))
}

/// As [`ego_nets`], but where a net has more than `cap` nodes, they are those that a random walk with restart meets: from the centre it
/// goes to a random neighbor, and before each step it returns to the centre with probability `restart`, and always after `hops` steps.
/// It ends when it has met `cap` nodes, or after a number of steps that is fixed by the cap; then the net is smaller.
///
/// ```
/// use fiedler_graph::{Graph, walked_ego_nets};
/// let (star, _) = Graph::from_pairs(50, (1..50).map(|leaf| (0, leaf)).collect())?;
/// let nets = walked_ego_nets(&star, &[0, 1], 1, 8, 0.8, 0)?;
/// assert_eq!(nets.graphs.node_offsets(), [0, 8, 10]);
/// # Ok::<(), fiedler_graph::Error>(())
/// ```
///
/// # Errors
/// As [`ego_nets`], and when `restart` is no probability below 1.
pub fn walked_ego_nets(
    graph: &Graph,
    centres: &[u32],
    hops: usize,
    cap: usize,
    restart: f64,
    seed: u64,
) -> Result<EgoNets> {
    check(graph, centres, Some(cap))?;
    if !(0.0..1.0).contains(&restart) {
        return Err(Error::setting("restart", restart, "a probability from 0 to less than 1"));
    }
    cut_all(graph, centres, |cutter, centre| {
        // One more than may be kept tells whether there is a choice at all.
        let nodes = cutter.reach(centre, hops, cap.saturating_add(1), seed);
        if nodes.len() <= cap { nodes } else { cutter.walk(centre, hops, cap, restart, seed) }
    })
}

fn check(graph: &Graph, centres: &[u32], cap: Option<usize>) -> Result<()> {
    if let Some(centre) = centres.iter().find(|centre| **centre as usize >= graph.num_nodes()) {
        return Err(Error::setting("centre of an ego-net", centre, format!("a node below {}", graph.num_nodes())));
    }
    if cap == Some(0) {
        return Err(Error::setting("cap of an ego-net", 0, "at least 1, the centre"));
    }
    Ok(())
}

/// One net for each centre, of the nodes that `choose` names, the centre first.
fn cut_all(
    graph: &Graph,
    centres: &[u32],
    choose: impl Fn(&mut Cutter<'_>, u32) -> Vec<u32> + Sync,
) -> Result<EgoNets> {
    let cut = |cutter: &mut Cutter<'_>, &centre: &u32| {
        let nodes = choose(cutter, centre);
        cutter.cut(nodes)
    };
    assemble(graph, centres.par_iter().map_init(|| Cutter::new(graph), cut).collect())
}

/// Steps that a walk takes at most, for each node that it may keep.
const STEPS_PER_NODE: usize = 64;

/// One net, its neighbors given by their place among its nodes.
#[derive(Default)]
struct Net {
    nodes: Vec<u32>,
    /// Where each node's row ends in `neighbors`.
    ends: Vec<usize>,
    neighbors: Vec<u32>,
    weights: Vec<f32>,
}

/// Cuts one net after the other, with memory as long as the graph has nodes.
struct Cutter<'a> {
    graph: &'a Graph,
    /// The place of each node in the net at hand; `ABSENT` elsewhere.
    local: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Cutter<'_> {
    fn new(graph: &Graph) -> Cutter<'_> {
        Cutter { graph, local: vec![ABSENT; graph.num_nodes()] }
    }

    /// The net that nodes induce, the centre first.
    fn cut(&mut self, mut nodes: Vec<u32>) -> Net {
        let centre = nodes[0];
        nodes[1..].sort_unstable();
        for (local, &node) in nodes.iter().enumerate() {
            self.local[node as usize] = local as u32;
        }
        let mut net = Net { ends: Vec::with_capacity(nodes.len()), ..Net::default() };
        for &node in &nodes {
            let row = self.graph.neighbors(node);
            let weights = self.graph.neighbor_weights(node);
            // Local ids ascend as the ids do, but for the centre's, which is the lowest.
            let centre_at = row.binary_search(&centre).ok();
            for at in centre_at.into_iter().chain((0..row.len()).filter(|&at| Some(at) != centre_at)) {
                let local = self.local[row[at] as usize];
                if local != ABSENT {
                    net.neighbors.push(local);
                    net.weights.extend(weights.map(|weights| weights[at]));
                }
            }
            net.ends.push(net.neighbors.len());
        }
        self.forget(&nodes);
        net.nodes = nodes;
        net
    }

    /// The nodes of the net, hop after hop, the centre first.
    fn reach(&mut self, centre: u32, hops: usize, cap: usize, seed: u64) -> Vec<u32> {
        let mut nodes = vec![centre];
        self.local[centre as usize] = 0;
        let mut hop = 0..1;
        for _ in 0..hops {
            for at in hop.clone() {
                for &other in self.graph.neighbors(nodes[at]) {
                    if self.local[other as usize] == ABSENT {
                        self.local[other as usize] = 0;
                        nodes.push(other);
                    }
                }
            }
            hop = hop.end..nodes.len();
            if hop.is_empty() || nodes.len() >= cap {
                break;
            }
        }
        self.forget(&nodes);
        if nodes.len() > cap {
            let mut random = stream(seed, "ego-nets", u64::from(centre));
            let (drawn, _) = nodes[hop.clone()].partial_shuffle(&mut random, cap - hop.start);
            let drawn = drawn.to_vec();
            nodes.truncate(hop.start);
            nodes.extend(drawn);
        }
        nodes
    }

    /// The nodes that a walk with restart meets, the centre first; see [`walked_ego_nets`].
    fn walk(&mut self, centre: u32, hops: usize, cap: usize, restart: f64, seed: u64) -> Vec<u32> {
        let mut random = stream(seed, "walked ego-nets", u64::from(centre));
        let mut nodes = vec![centre];
        self.local[centre as usize] = 0;
        let (mut at, mut steps) = (centre, 0);
        for _ in 0..cap.saturating_mul(STEPS_PER_NODE) {
            if nodes.len() == cap {
                break;
            }
            if steps == hops || (steps > 0 && random.random_bool(restart)) {
                (at, steps) = (centre, 0);
            }
            // A walk is made where there are several nodes, so the centre has neighbors, and whatever it leads to has one.
            let neighbors = self.graph.neighbors(at);
            at = neighbors[random.random_range(0..neighbors.len())];
            steps += 1;
            if self.local[at as usize] == ABSENT {
                self.local[at as usize] = 0;
                nodes.push(at);
            }
        }
        self.forget(&nodes);
        nodes
    }

    fn forget(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&node| self.local[node as usize] = ABSENT);
    }
}

/// The nets as one set.
fn assemble(graph: &Graph, nets: Vec<Net>) -> Result<EgoNets> {
    let nodes: usize = nets.iter().map(|net| net.nodes.len()).sum();
    if nodes > MAX_NODES {
        return Err(Error::setting("number of nodes of all ego-nets", nodes, format!("at most {MAX_NODES}")));
    }
    let entries = nets.iter().map(|net| net.neighbors.len()).sum();
    let mut offsets = Vec::with_capacity(nodes + 1);
    let mut neighbors = Vec::with_capacity(entries);
    let mut weights = graph.weights().map(|_| Vec::with_capacity(entries));
    let mut node_rows: Vec<u32> = Vec::with_capacity(nodes);
    let mut sizes = Vec::with_capacity(nets.len());
    offsets.push(0);
    for net in nets {
        let first = node_rows.len() as u32;
        let before = neighbors.len();
        offsets.extend(net.ends.iter().map(|end| before + end));
        neighbors.extend(net.neighbors.iter().map(|local| first + local));
        weights.iter_mut().for_each(|weights| weights.extend_from_slice(&net.weights));
        sizes.push(net.nodes.len() as u32);
        node_rows.extend(net.nodes);
    }
    let arena = Graph::from_rows_unchecked(offsets, neighbors, weights);
    Ok(EgoNets { graphs: GraphSet::from_block_diagonal(arena, sizes)?, node_rows })
}
