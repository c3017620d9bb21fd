//! The experiments: what is in their tables.

use super::cell::Cell;
use super::paper::{Paper, PrintedFigure};
use super::recipes::Recipes;
use super::{ablation, baselines, case_study, convergence, eigenvalues, graph, node, preanalysis, strength, time};
use crate::error::Result;
use crate::named::named;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;

named! {
    /// What can be reproduced.
    "table" TableKind {
        Node = "node": "Table 1: raw features, supervised and untrained encoder, the paper's method, on single graphs",
        Ablation = "ablation": "Schemes against each other: uniform, diffusion, single, double, opposite",
        Strength = "strength": "Perturbation strength from 0.1 to 0.9: opposite against uniform",
        Eigenvalues = "eigenvalues": "How many eigenvalues count: 50 to 5000 of each end, or all",
        Convergence = "convergence": "How the norm of the spectrum goes while schemes are optimized; nothing is trained",
        Time = "time": "Seconds for scheme and training",
        Preanalysis = "preanalysis": "Uniform against clustered removal of edges: F1 and change of the spectrum",
        Baselines = "baselines": "Embeddings without training: raw features, untrained encoder, eigenvectors, hops; with their seconds",
        Graph = "graph": "Whole graphs: supervised and untrained encoder, the paper's method, node dropping",
        CaseStudy = "case-study": "Figures 7 and 8: what a scheme does to a random geometric graph and to molecules, drawn and counted; nothing is trained",
    }
}

/// What the rows of a dataset are made from.
pub struct Context<'a> {
    pub data: &'a Task,
    /// The dataset's place among those that were loaded.
    pub place: usize,
    pub recipes: &'a Recipes,
    pub paper: &'a Paper,
}

impl Context<'_> {
    /// What the paper prints for this dataset.
    pub fn figure(&self, table: &str, method: &str) -> Option<PrintedFigure> {
        self.paper.figure(table, &self.data.name, method)
    }
}

const SHARED_SCHEME: &str = "A scheme is computed once and shared by all seeds, but in the protocol reference.";

impl TableKind {
    /// As in print.
    pub fn title(self) -> &'static str {
        match self {
            TableKind::Node => "Node classification",
            TableKind::Ablation => "Augmentation schemes",
            TableKind::Strength => "Perturbation strength",
            TableKind::Eigenvalues => "Number of eigenvalues",
            TableKind::Convergence => "Convergence of the scheme",
            TableKind::Time => "Running time",
            TableKind::Preanalysis => "Pre-analysis",
            TableKind::Baselines => "Embeddings without training",
            TableKind::Graph => "Graph classification",
            TableKind::CaseStudy => "Case study",
        }
    }

    /// What a table's figures are.
    pub fn unit(self) -> &'static str {
        match self {
            TableKind::Convergence => "norms",
            TableKind::Time => "seconds",
            TableKind::CaseStudy => "share of probability in %",
            TableKind::Baselines => "accuracy in %, or seconds",
            TableKind::Preanalysis => "micro F1 in %, L2 distance of spectra",
            _ => "accuracy in %",
        }
    }

    /// The datasets that the paper has.
    pub fn datasets(self) -> &'static [&'static str] {
        match self {
            TableKind::Node => node::DATASETS,
            TableKind::Ablation => ablation::DATASETS,
            TableKind::Strength => strength::DATASETS,
            TableKind::Eigenvalues => eigenvalues::DATASETS,
            TableKind::Convergence => convergence::DATASETS,
            TableKind::Time => time::DATASETS,
            TableKind::Preanalysis => preanalysis::DATASETS,
            TableKind::Baselines => baselines::DATASETS,
            TableKind::Graph => graph::DATASETS,
            TableKind::CaseStudy => case_study::DATASETS,
        }
    }

    /// The datasets that are asked for, or else those that the paper has.
    pub(super) fn names(self, asked: &[String]) -> Vec<String> {
        match asked {
            [] => self.datasets().iter().map(|&name| name.to_owned()).collect(),
            given => whole_names(given),
        }
    }

    /// The protocol where none is asked for.
    pub fn protocol(self) -> ProtocolPreset {
        match self {
            TableKind::Graph => ProtocolPreset::Kfold,
            _ => ProtocolPreset::Random,
        }
    }

    /// The rows of a dataset.
    pub(super) fn cells(self, context: &Context<'_>) -> Result<Vec<Cell>> {
        match self {
            TableKind::Node => node::cells(context),
            TableKind::Ablation => ablation::cells(context),
            TableKind::Strength => strength::cells(context),
            TableKind::Eigenvalues => eigenvalues::cells(context),
            TableKind::Convergence => convergence::cells(context),
            TableKind::Time => time::cells(context),
            TableKind::Preanalysis => preanalysis::cells(context),
            TableKind::Baselines => baselines::cells(context),
            TableKind::Graph => graph::cells(context),
            // It has pictures and a table of its own, and no runs.
            TableKind::CaseStudy => Ok(Vec::new()),
        }
    }

    /// What a reader should know of the table, one sentence each.
    pub(super) fn notes(self) -> &'static [&'static str] {
        match self {
            TableKind::Node => &[SHARED_SCHEME],
            TableKind::Ablation => &[
                SHARED_SCHEME,
                "Uniform removes the same share of edges from both views. A scheme has settings of its own where a recipe names it, \
                 else those of the opposite scheme. Diffusion keeps the 64 largest entries of each node.",
            ],
            TableKind::Strength => {
                &[SHARED_SCHEME, "The paper shows curves only, so there are no figures to compare with."]
            }
            TableKind::Eigenvalues => &[
                SHARED_SCHEME,
                "A number of eigenvalues is left out where both ends would meet. The paper shows curves only.",
            ],
            TableKind::Convergence => &[
                "Norms are the square roots of the sums of squared eigenvalues of the expected graph; the steps are in \
                 convergence-DATASET.csv.",
            ],
            TableKind::Time => &[
                "Ours on this machine's processor, the paper's on graphics cards. Training was timed over the epochs of the run and \
                 scaled to 1,000.",
                "Where a graph has no 2,000 eigenvalues, all of them count in the first row too.",
            ],
            TableKind::Preanalysis => &[
                "One view is the graph itself; the other loses edges and hides 0.3 of the columns; a GCN of 2 layers of 32, \
                 trained with GRACE's objective, but among 256 nodes drawn for each step, where GRACE takes all; temperature 0.5.",
                "The paper shows curves only. Of single classes, micro F1 is accuracy.",
            ],
            TableKind::Baselines => &[
                "Nothing is trained. Seconds are those of fitting and embedding on this machine, without reading and evaluation.",
                "Where nodes have no features, raw means one-hot degrees, and hops structural features beside eigenvectors.",
            ],
            TableKind::Graph => &[
                SHARED_SCHEME,
                "Supervised encoders set one graph in ten of what they learn from aside to say when to stop.",
            ],
            TableKind::CaseStudy => &[],
        }
    }
}

/// Settings of a generator have commas of their own: `sbm:nodes=200,classes=3` is one name.
fn whole_names(pieces: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for piece in pieces {
        match names.last_mut().filter(|last| last.contains(':') && piece.contains('=') && !piece.contains(':')) {
            Some(last) => *last = format!("{last},{piece}"),
            None => names.push(piece.clone()),
        }
    }
    names
}
