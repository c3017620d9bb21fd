//! Erdős–Rényi graphs: every pair of nodes is joined with the same probability.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::draw::failures;
use super::spec::{self, Parameter, Spec};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::random::stream;

pub(super) const SPEC: Spec = Spec {
    name: "erdos-renyi",
    about: "every pair of nodes joined with the same probability",
    parameters: &[
        Parameter { name: "nodes", about: "number of nodes" },
        Parameter { name: "probability", about: "with which a pair is joined" },
    ],
    defaults: || spec::defaults(ErdosRenyi::default()),
    make: |settings, seed| erdos_renyi(&spec::settings(settings)?, seed),
};

/// How many pairs are expected to be joined in one piece of work, which has its own stream of random numbers.
const EDGES_PER_PIECE: f64 = 65_536.0;

/// Settings of [`erdos_renyi`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErdosRenyi {
    /// Number of nodes.
    pub nodes: usize,
    /// Probability with which a pair is joined.
    pub probability: f64,
}

impl Default for ErdosRenyi {
    fn default() -> Self {
        ErdosRenyi { nodes: 1000, probability: 0.005 }
    }
}

/// Joins every pair of nodes with the same probability, in time that grows with the nodes and edges, not the pairs.
///
/// # Errors
/// When the probability is none, or the graph would be too large.
pub fn erdos_renyi(settings: &ErdosRenyi, seed: u64) -> Result<Dataset> {
    let &ErdosRenyi { nodes, probability } = settings;
    super::check_nodes(nodes, 0)?;
    super::check_share("probability", probability)?;
    let all = nodes as u64 * (nodes as u64).saturating_sub(1) / 2;
    super::check_size("expected number of edges", all as f64 * probability)?;

    let per_piece = (EDGES_PER_PIECE / probability).ceil().min(u64::MAX as f64) as u64;
    let pieces = if probability > 0.0 { all.div_ceil(per_piece) } else { 0 };
    let pairs = (0..pieces).into_par_iter().flat_map_iter(|piece| {
        let end = all.min((piece + 1).saturating_mul(per_piece));
        let mut random = stream(seed, "erdos-renyi/edges", piece);
        let mut next = piece * per_piece;
        std::iter::from_fn(move || {
            let joined = next.saturating_add(failures(&mut random, probability));
            next = joined.saturating_add(1);
            (joined < end).then(|| pair(joined))
        })
    });
    super::dataset("erdos-renyi", nodes, pairs.collect())
}

/// The pair at a place in the order (1, 0), (2, 0), (2, 1), (3, 0) ….
fn pair(place: u64) -> (u32, u32) {
    let high = (8 * place + 1).isqrt().div_ceil(2);
    (high as u32, (place - high * (high - 1) / 2) as u32)
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn every_place_has_its_pair() {
        let pairs = (0..100u32).flat_map(|high| (0..high).map(move |low| (high, low)));
        for (place, expected) in pairs.enumerate() {
            assert_eq!(pair(place as u64), expected);
        }
        let most = crate::MAX_NODES as u64;
        assert_eq!(pair(most * (most - 1) / 2 - 1), (most as u32 - 1, most as u32 - 2));
    }
}
