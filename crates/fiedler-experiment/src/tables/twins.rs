//! Twins: test graphs that training has seen, under another name.

use std::collections::HashSet;

use fiedler_evaluate::ProtocolPreset;
use fiedler_learn::descriptor::graph_signatures;

use crate::error::Result;
use crate::task::Task;

/// The share of test graphs that color refinement and size cannot tell from a graph of their training set, over the splits of a seed, as a
/// sentence: scores of such sets partly measure memory.
pub fn note(data: &Task, preset: ProtocolPreset, seed: u64) -> Result<String> {
    let signatures = graph_signatures(&data.dataset.graphs, data.dataset.features.as_ref());
    let splits = preset.protocol().splits(data.target()?, preset.evaluation(seed, None).seed)?;
    let (mut twins, mut tested) = (0usize, 0usize);
    for split in splits {
        let seen: HashSet<u64> = split.train.iter().map(|&graph| signatures[graph as usize]).collect();
        tested += split.test.len();
        twins += split.test.iter().filter(|&&graph| seen.contains(&signatures[graph as usize])).count();
    }
    let share = 100.0 * twins as f64 / tested.max(1) as f64;
    Ok(format!(
        "{}: {share:.0} % of the test graphs have a twin in training, by Weisfeiler-Lehman colors and size.",
        data.title
    ))
}
