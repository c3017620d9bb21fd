//! Edges that a file gives several times with different weights.

use fiedler_graph::{BuildReport, Graph, PairChunk};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::ReadOptions;
use crate::error::{Error, Result};

/// Which weight an edge gets that a file gives several times.
///
/// Weights given in the same direction are combined first. Then the two directions are: where both come to the same weight it is one edge listed from
/// both ends, otherwise their weights are combined by the same rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// The largest.
    #[default]
    Max,
    /// All of them added up.
    Sum,
    /// Their arithmetic mean.
    Mean,
    /// The one that comes first in the file.
    First,
}

impl Duplicates {
    /// Every rule by its name.
    pub const NAMES: [&str; 4] = ["max", "sum", "mean", "first"];

    /// What becomes of the weights, in words.
    fn words(self) -> &'static str {
        match self {
            Duplicates::Max => "of which the largest is kept",
            Duplicates::Sum => "of which the sum is kept",
            Duplicates::Mean => "of which the mean is kept",
            Duplicates::First => "of which the first is kept",
        }
    }

    /// Weights of one edge in the order of the file; there is at least one.
    fn combine(self, weights: impl Iterator<Item = f64> + Clone) -> f64 {
        match self {
            Duplicates::Max => weights.fold(0.0, f64::max),
            Duplicates::Sum => weights.sum(),
            Duplicates::Mean => weights.clone().sum::<f64>() / weights.count().max(1) as f64,
            Duplicates::First => weights.take(1).sum(),
        }
    }
}

impl std::str::FromStr for Duplicates {
    type Err = Error;

    fn from_str(name: &str) -> Result<Duplicates> {
        match name {
            "max" => Ok(Duplicates::Max),
            "sum" => Ok(Duplicates::Sum),
            "mean" => Ok(Duplicates::Mean),
            "first" => Ok(Duplicates::First),
            _ => Err(Error::unknown_name("rule for duplicate edges", name, Duplicates::NAMES)),
        }
    }
}

/// A graph, what building it merged, and a note where a rule other than the largest weight was applied.
pub(super) type Built = (Graph, BuildReport, Option<String>);

/// Builds a graph of pairs, with one weight a pair or none.
pub(super) fn build(
    nodes: usize,
    pairs: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
    options: &ReadOptions,
) -> Result<Built> {
    let weighted = weights.is_some();
    build_chunks(nodes, weighted, vec![PairChunk { pairs, weights: weights.unwrap_or_default() }], options)
}

/// As [`build`], of pairs in several chunks.
pub(super) fn build_chunks(
    nodes: usize,
    weighted: bool,
    chunks: Vec<PairChunk>,
    options: &ReadOptions,
) -> Result<Built> {
    // The graph's own builder keeps the largest weight, in parallel and without a copy.
    if !weighted || options.duplicates == Duplicates::Max {
        let (graph, report) = Graph::from_chunks(nodes, weighted, chunks)?;
        return Ok((graph, report, None));
    }
    let merged = merge(chunks, options.duplicates);
    if let Some(weight) = merged.weights.iter().find(|weight| !weight.is_finite()) {
        return Err(Error::setting("sum of duplicate edge weights", weight, "a finite number; try --duplicates max"));
    }
    let (graph, built) = Graph::from_weighted_pairs(nodes, merged.pairs, merged.weights)?;
    let report = BuildReport { pairs: merged.given, mirrored: merged.mirrored, repeated: merged.repeated, ..built };
    let note = (merged.reweighted > 0).then(|| {
        format!("{} pairs were given again with another weight, {}", merged.reweighted, options.duplicates.words())
    });
    Ok((graph, report, note))
}

/// Distinct pairs, and how many were merged into them.
struct Merged {
    pairs: Vec<(u32, u32)>,
    weights: Vec<f32>,
    given: u64,
    mirrored: u64,
    repeated: u64,
    reweighted: u64,
}

fn merge(chunks: Vec<PairChunk>, rule: Duplicates) -> Merged {
    let given: usize = chunks.iter().map(|chunk| chunk.pairs.len()).sum();
    let all = chunks.into_iter().flat_map(|chunk| chunk.pairs.into_iter().zip(chunk.weights));
    // Both directions of an edge side by side, each in the order of the file.
    let mut all: Vec<((u32, u32), bool, u64, f32)> =
        (0u64..).zip(all).map(|(at, ((a, b), weight))| ((a.min(b), a.max(b)), a > b, at, weight)).collect();
    all.par_sort_unstable_by_key(|&(edge, reversed, at, _)| (edge, reversed, at));
    let mut merged =
        Merged { pairs: Vec::new(), weights: Vec::new(), given: given as u64, mirrored: 0, repeated: 0, reweighted: 0 };
    for edge in all.chunk_by(|one, other| one.0 == other.0) {
        let pair = edge[0].0;
        if pair.0 == pair.1 {
            // A self-loop is dropped by the graph's builder, which counts each of them.
            merged.pairs.extend(edge.iter().map(|_| pair));
            merged.weights.extend(edge.iter().map(|_| 1.0));
            continue;
        }
        let mut directions: Vec<(u64, f64)> = edge
            .chunk_by(|one, other| one.1 == other.1)
            .map(|same| (same[0].2, rule.combine(same.iter().map(|given| f64::from(given.3)))))
            .collect();
        directions.sort_unstable_by_key(|direction| direction.0);
        merged.mirrored += directions.len() as u64 - 1;
        merged.repeated += (edge.len() - directions.len()) as u64;
        merged.reweighted += edge.iter().filter(|given| given.3 != edge[0].3).count() as u64;
        directions.dedup_by_key(|direction| direction.1 as f32);
        merged.pairs.push(pair);
        merged.weights.push(rule.combine(directions.iter().map(|direction| direction.1)) as f32);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(rule: Duplicates, given: &[(u32, u32, f32)]) -> (Vec<f32>, BuildReport, Option<String>) {
        let pairs = given.iter().map(|edge| (edge.0, edge.1)).collect();
        let options = ReadOptions { duplicates: rule, ..ReadOptions::default() };
        let built = build(3, pairs, Some(given.iter().map(|edge| edge.2).collect()), &options).expect("a graph");
        (built.0.edge_weights().expect("weights"), built.1, built.2)
    }

    #[test]
    fn every_rule_has_its_weight() {
        let given = [(0, 1, 2.0), (0, 1, 4.0), (1, 2, 3.0), (2, 1, 3.0), (2, 2, 9.0), (1, 0, 9.0)];
        assert_eq!(weights(Duplicates::Max, &given).0, [9.0, 3.0]);
        assert_eq!(weights(Duplicates::Sum, &given).0, [15.0, 3.0]);
        assert_eq!(weights(Duplicates::Mean, &given).0, [6.0, 3.0]);
        assert_eq!(weights(Duplicates::First, &given).0, [2.0, 3.0]);
    }

    #[test]
    fn every_rule_counts_alike() {
        let given = [(0, 1, 2.0), (0, 1, 4.0), (1, 2, 3.0), (2, 1, 3.0), (2, 2, 9.0), (1, 0, 9.0)];
        let (_, by_graph, none) = weights(Duplicates::Max, &given);
        let (_, report, note) = weights(Duplicates::Sum, &given);
        assert_eq!(BuildReport { reweighted: 0, ..by_graph }, report);
        assert_eq!(report.pairs, report.edges + report.mirrored + report.repeated + report.self_loops);
        assert_eq!(none, None);
        assert_eq!(note.as_deref(), Some("2 pairs were given again with another weight, of which the sum is kept"));
    }

    #[test]
    fn a_sum_may_not_overflow() {
        let options = ReadOptions { duplicates: Duplicates::Sum, ..ReadOptions::default() };
        assert!(build(2, vec![(0, 1), (0, 1)], Some(vec![3e38, 3e38]), &options).is_err());
    }
}
