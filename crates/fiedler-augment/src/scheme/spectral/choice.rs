//! Which pairs may flip: what the user asked for, or what fits and suffices.

use fiedler_graph::{Graph, GraphSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Goal, Spectral, Start};
use crate::ascent::{Direction, StepSize};
use crate::error::{Error, Result};
use crate::objective::{SpectralObjective, full_spectrum};
use crate::scheme::memory::PAIR;
use crate::support::{PairSupport, Pairs, Triangle, draw_candidates};

/// Above this many nodes, the eigenpairs of a graph with all pairs take longer than most users will wait.
const LARGEST_DENSE_SPECTRUM: usize = 1000;

/// Above this many nodes, all pairs take long where the objective is about drawn graphs. On Cora candidates reach a norm of 1.114 and
/// 0.938 of the start in 0.1 s, all pairs 1.111 and 0.934 in 10 s.
const LARGEST_SAMPLED: usize = 500;

/// Which pairs may flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SupportChoice {
    /// Whatever suffices and fits into memory.
    #[default]
    Auto,
    /// All pairs.
    All,
    /// Edges only: nothing is added.
    Edges,
    /// Edges, and for each node some non-edges that promise most.
    Candidates,
}

impl SupportChoice {
    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            SupportChoice::Auto => "auto",
            SupportChoice::All => "all",
            SupportChoice::Edges => "edges",
            SupportChoice::Candidates => "candidates",
        }
    }
}

/// A choice, and why it was made where the user left it open.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) support: SupportChoice,
    pub(crate) reason: Option<String>,
}

/// Which graphs of a set can have all their pairs.
#[derive(Debug)]
pub(super) struct Limits {
    /// The most nodes a graph may have for that.
    largest: usize,
    /// Graphs that have more.
    beyond: usize,
    graphs: usize,
    /// Bytes of all pairs of all graphs.
    bytes: u64,
    memory: u64,
}

impl Limits {
    pub(super) fn of(set: &GraphSet, settings: &Spectral) -> Limits {
        let mut sizes: Vec<usize> = (0..set.len()).map(|graph| set.node_range(graph).len()).collect();
        // Steps that adapt hold the values that they move from as well.
        let copies = if matches!(settings.step_size, StepSize::Rate(_)) { 1 } else { 2 };
        let bytes_for = |nodes: usize| copies * Triangle::bytes_for(nodes);
        let bytes = sizes.iter().map(|&nodes| bytes_for(nodes)).sum();
        sizes.sort_unstable();
        let (mut held, mut largest) = (0, 0);
        for &nodes in &sizes {
            held += bytes_for(nodes);
            if held > settings.memory {
                break;
            }
            largest = nodes;
        }
        let beyond = sizes.iter().filter(|&&nodes| nodes > largest).count();
        Limits { largest, beyond, graphs: sizes.len(), bytes, memory: settings.memory }
    }

    /// Refuses what the user asked for in so many words, where it cannot fit.
    pub(super) fn check(&self, settings: &Spectral) -> Result<()> {
        if settings.support != SupportChoice::All || self.bytes <= self.memory {
            return Ok(());
        }
        let found = format!("all, which takes {}", size(self.bytes));
        let expected = format!("what fits into {}", size(self.memory));
        Err(Error::setting("support", found, expected).advise("allow more memory, or choose candidates"))
    }

    pub(super) fn choose(&self, graph: &Graph, settings: &Spectral, goal: Goal) -> Chosen {
        let because = |support, reason: String| Chosen { support, reason: Some(reason) };
        let closed = matches!(goal, Goal::Norm(_)) && settings.is_closed(graph.num_nodes());
        let from_zero = settings.start != Some(Start::Uniform);
        let never_adds = goal == Goal::Norm(Direction::Max)
            && closed
            && from_zero
            && settings.norm_objective() == SpectralObjective::Expected;
        if never_adds && matches!(settings.support, SupportChoice::Auto | SupportChoice::Candidates) {
            return because(SupportChoice::Edges, "from a zero start, maximising never adds an edge".into());
        }
        if settings.support != SupportChoice::Auto {
            return Chosen { support: settings.support, reason: None };
        }
        if !closed && graph.num_nodes() > LARGEST_DENSE_SPECTRUM {
            return because(
                SupportChoice::Candidates,
                format!("single eigenvalues with all pairs are for graphs of up to {LARGEST_DENSE_SPECTRUM} nodes"),
            );
        }
        if closed && settings.norm_objective() == SpectralObjective::Sampled && graph.num_nodes() > LARGEST_SAMPLED {
            let candidates = settings.candidates;
            return because(
                SupportChoice::Candidates,
                format!("edges and {candidates} candidates a node do nearly as well as all pairs, in far less time"),
            );
        }
        if graph.num_nodes() <= self.largest {
            return because(
                SupportChoice::All,
                format!("all pairs take {} of {}", size(self.bytes), size(self.memory)),
            );
        }
        let reason = format!("all pairs would take {}, more than {}", size(self.bytes), size(self.memory));
        because(SupportChoice::Candidates, reason)
    }

    /// What to say of a set of which not all graphs are treated alike.
    pub(super) fn note(&self, settings: &Spectral) -> Vec<String> {
        if self.graphs == 1 || self.beyond == 0 || settings.support != SupportChoice::Auto {
            return Vec::new();
        }
        vec![format!(
            "{} of {} graphs have more than {} nodes: of these, only edges and {} candidates a node may flip",
            self.beyond, self.graphs, self.largest, settings.candidates
        )]
    }
}

impl Spectral {
    /// Bytes that computing holds at once, by an estimate: all pairs of graphs that may have them, or edges and candidates.
    pub(in crate::scheme) fn memory_needed(&self, set: &GraphSet) -> u64 {
        let limits = Limits::of(set, self);
        // Of a set, graphs are computed one after the other and their pairs are kept.
        let goal = Goal::Norm(Direction::Min);
        let all_pairs = match set.len() {
            1 => limits.choose(set.block_diagonal(), self, goal).support == SupportChoice::All,
            _ => self.support == SupportChoice::All || self.support == SupportChoice::Auto && limits.beyond == 0,
        };
        let candidates = if self.support == SupportChoice::Edges { 0 } else { self.candidates };
        match all_pairs {
            true => limits.bytes,
            false => PAIR * (set.num_edges() + candidates * set.num_nodes()) as u64,
        }
    }
}

/// Bytes in the unit that a person would choose.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

impl Chosen {
    /// The support itself, all values zero.
    pub(super) fn pairs<'g>(&self, graph: &'g Graph, settings: &Spectral, goal: Goal, at: usize) -> PairSupport<'g> {
        match self.support {
            SupportChoice::All | SupportChoice::Auto => PairSupport::all(graph),
            SupportChoice::Edges => PairSupport::Chosen(Pairs::new(graph, &[])),
            SupportChoice::Candidates => {
                let promise = promise(graph, settings, goal);
                let seed = settings.seed ^ (at as u64) << 32;
                PairSupport::Chosen(Pairs::new(graph, &draw_candidates(graph, &promise, settings.candidates, seed)))
            }
        }
    }
}

/// How much a node promises as an end of an added edge.
fn promise(graph: &Graph, settings: &Spectral, goal: Goal) -> Vec<f64> {
    let edges = Pairs::new(graph, &[]);
    let of = |objective| full_spectrum(&edges, settings.operator, objective).kernel;
    if goal != Goal::Norm(Direction::Max) || settings.norm_objective() == SpectralObjective::Expected {
        return of(SpectralObjective::Expected).pull;
    }
    // Additions raise the norm of drawn graphs where the derivative of an absent pair is positive: as if both ends were alike.
    let kernel = of(SpectralObjective::Sampled);
    kernel.inverse.iter().zip(&kernel.pull).map(|(inverse, pull)| (inverse * inverse - pull).max(0.0)).collect()
}
