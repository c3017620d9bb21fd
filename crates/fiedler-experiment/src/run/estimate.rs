//! What a run will take, before it starts: memory over all of its stages.

use fiedler_learn::run::CheckedRun;

use super::{RunPlan, scores};
use crate::memory;

/// Below this many bytes nobody needs to be told.
const WORTH_TELLING: u64 = 256 << 20;

/// Bytes that threads and kernels work with, whatever the data.
const WORKSPACE: u64 = 16 << 20;

/// Bytes that a run will hold at once, stage by stage; each on top of what is held already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryEstimate {
    /// Held now: the program, and the data as they were read.
    pub held: u64,
    /// The most that was held so far: reading may take more than what was read.
    pub reading: u64,
    /// While the scheme is computed.
    pub scheme: u64,
    /// While the encoder is trained, or fitted.
    pub training: u64,
    /// While embeddings are judged beside baselines.
    pub evaluation: u64,
}

impl MemoryEstimate {
    /// The estimate of a run. Baselines for which `limit` does not suffice are not counted: they are left out.
    pub(super) fn of(plan: &RunPlan<'_>, run: &CheckedRun<'_>, limit: Option<u64>) -> MemoryEstimate {
        let dataset = &plan.task.dataset;
        let held = memory::held_bytes().unwrap_or(0);
        let schemes: Vec<u64> = run.schemes().iter().map(|scheme| scheme.memory(&dataset.graphs)).collect();
        let probe = plan.probe.filter(|_| plan.evaluate);
        let left = limit.map_or(u64::MAX, |limit| limit.saturating_sub(held));
        MemoryEstimate {
            held,
            reading: memory::peak_bytes().unwrap_or(0),
            scheme: schemes.iter().sum(),
            // What was computed stays, to draw views from: half of what computing held.
            training: schemes.iter().sum::<u64>() / 2 + run.memory_estimate(),
            evaluation: probe.map_or(0, |probe| scores::memory(run, plan.task, probe, columns(run), left)),
        }
    }

    /// The most at any time.
    pub fn peak(&self) -> u64 {
        let most = self.scheme.max(self.training).max(self.evaluation);
        self.reading.max(self.held + WORKSPACE + most)
    }

    /// The most before there are embeddings: what a run cannot do without.
    pub fn needed(&self) -> u64 {
        self.held + WORKSPACE + self.scheme.max(self.training)
    }

    /// In words, where it is worth telling.
    pub(super) fn in_words(&self) -> Option<String> {
        (self.peak() > WORTH_TELLING).then(|| format!("{} of memory", memory::in_words(self.peak())))
    }
}

/// Columns of the embedding, by an estimate.
fn columns(run: &CheckedRun<'_>) -> usize {
    let settings = run.settings();
    let of_encoder = settings.method.as_any().untrained().map(|untrained| untrained.encoder.hidden_channels());
    match settings.embedding.beside {
        Some(_) => settings.embedding.dimensions,
        // What has no encoder makes of features at most as many columns as there are.
        None => of_encoder.unwrap_or_else(|| run.task().dims.nodes.min(settings.embedding.dimensions)),
    }
}
