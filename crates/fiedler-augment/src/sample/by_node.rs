//! The listed pairs by their lower node, for drawing the flips of a block at a cost that grows with the block.

use rand::{Rng, RngExt};

use super::EdgeFlips;
use crate::support::row_start;

/// Pairs in ascending order with their probabilities.
#[derive(Debug, Clone)]
pub(super) struct PairsByNode {
    /// Where the pairs of each lower node start, and the end of the last.
    starts: Vec<usize>,
    highs: Vec<u32>,
    probabilities: Vec<f32>,
}

impl PairsByNode {
    fn of(nodes: usize, pairs: &[(u32, u32)], probabilities: &[f32]) -> PairsByNode {
        let mut starts = vec![0usize; nodes + 2];
        pairs.iter().for_each(|&(low, _)| starts[low as usize + 2] += 1);
        for node in 2..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut placed: Vec<(u32, f32)> = vec![(0, 0.0); pairs.len()];
        for (&(low, high), &probability) in pairs.iter().zip(probabilities) {
            let start = &mut starts[low as usize + 1];
            placed[*start] = (high, probability);
            *start += 1;
        }
        starts.pop();
        for row in starts.windows(2) {
            placed[row[0]..row[1]].sort_unstable_by_key(|&(high, _)| high);
        }
        let (highs, probabilities) = placed.into_iter().unzip();
        PairsByNode { starts, highs, probabilities }
    }
}

impl EdgeFlips {
    /// Draws the flips among some nodes, which must ascend: pairs are told by their places among these. Each pair of them flips with its own
    /// probability. The cost grows with the listed pairs of these nodes; where the probabilities of all pairs are held, with all pairs
    /// among them.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn draw_within(&self, nodes: &[u32], random: &mut impl Rng, flips: &mut Vec<(u32, u32)>) {
        if let Some(triangle) = self.triangle() {
            for (low, &node) in nodes.iter().enumerate() {
                let row = row_start(self.num_nodes(), node as usize);
                for (high, &other) in nodes.iter().enumerate().skip(low + 1) {
                    let probability = triangle[row + (other - node) as usize - 1];
                    if probability > 0.0 && random.random::<f32>() < probability {
                        flips.push((low as u32, high as u32));
                    }
                }
            }
            return;
        }
        let by_node =
            self.by_node.get_or_init(|| PairsByNode::of(self.num_nodes(), &self.pairs, &self.probabilities).into());
        for (low, &node) in nodes.iter().enumerate() {
            let range = by_node.starts[node as usize]..by_node.starts[node as usize + 1];
            let mut after = low + 1;
            for place in range {
                let other = by_node.highs[place];
                // Both lists ascend: what was passed over is not looked at again.
                after += gallop(&nodes[after..], other);
                if nodes.get(after) == Some(&other) && random.random::<f32>() < by_node.probabilities[place] {
                    flips.push((low as u32, after as u32));
                }
            }
        }
    }
}

/// How many of ascending numbers are below another, found in steps that double.
fn gallop(ascending: &[u32], below: u32) -> usize {
    let mut end = 1;
    while end < ascending.len() && ascending[end - 1] < below {
        end *= 2;
    }
    let start = end / 2;
    let end = end.min(ascending.len());
    start + ascending[start..end].partition_point(|&number| number < below)
}

#[cfg(test)]
mod tests {
    use fiedler_graph::random::stream;

    use super::{EdgeFlips, gallop};

    #[test]
    fn galloping_finds_what_searching_finds() {
        for length in 0..40u32 {
            let numbers: Vec<u32> = (0..length).map(|number| 3 * number).collect();
            for below in 0..130 {
                let expected = numbers.partition_point(|&number| number < below);
                assert_eq!(gallop(&numbers, below), expected, "{length} {below}");
            }
        }
    }

    #[test]
    fn pairs_of_a_block_flip_with_their_own_probabilities() {
        let nodes = 30;
        let triangle: Vec<f32> = (0..nodes * (nodes - 1) / 2).map(|at| (at * at % 7) as f32 / 6.0).collect();
        let whole = EdgeFlips::of_triangle(nodes, triangle);
        let listed = EdgeFlips::of_pairs(nodes, whole.pairs());
        let block = [1u32, 4, 5, 11, 17, 18, 29];
        let draws = 4000;
        for flips in [&whole, &listed] {
            let mut counts = vec![0usize; block.len() * block.len()];
            for draw in 0..draws {
                let mut drawn = Vec::new();
                flips.draw_within(&block, &mut stream(7, "test", draw), &mut drawn);
                assert!(drawn.iter().all(|(low, high)| low < high));
                drawn.iter().for_each(|&(low, high)| counts[low as usize * block.len() + high as usize] += 1);
            }
            for low in 0..block.len() {
                for high in low + 1..block.len() {
                    let expected = f64::from(whole.probability(block[low], block[high]));
                    let found = counts[low * block.len() + high] as f64 / draws as f64;
                    let error = 4.5 * (expected * (1.0 - expected) / draws as f64).sqrt();
                    assert!((found - expected).abs() <= error, "{low} {high}: {found}, expected {expected}");
                }
            }
        }
    }
}
