//! The experiments: what is in their tables.

use clap::ValueEnum;

use super::cell::Cell;
use super::paper::{Figure, Paper};
use super::recipes::Recipes;
use super::{ablation, case_study, convergence, eigenvalues, graph, node, preanalysis, strength, time};
use crate::program::failure::Failure;
use crate::program::ledger::Ledger;
use crate::program::run::data::Data;

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Table 1: raw features, supervised and untrained encoder, the paper's method, on single graphs
    Node,
    /// Schemes against each other: uniform, diffusion, single, double, opposite
    Ablation,
    /// Perturbation strength from 0.1 to 0.9: opposite against uniform
    Strength,
    /// How many eigenvalues count: 50 to 5000 of each end, or all
    Eigenvalues,
    /// How the norm of the spectrum goes while schemes are optimized; nothing is trained
    Convergence,
    /// Seconds for scheme and training
    Time,
    /// Uniform against clustered removal of edges: F1 and change of the spectrum
    Preanalysis,
    /// Whole graphs: supervised and untrained encoder, the paper's method, node dropping
    Graph,
    /// Figures 7 and 8: what a scheme does to a random geometric graph and to molecules, drawn and counted; nothing is trained
    CaseStudy,
}

/// What the rows of a dataset are made from.
pub struct Context<'a> {
    pub data: &'a Data,
    /// The dataset's place among those that were loaded.
    pub place: usize,
    pub recipes: &'a Recipes,
    pub paper: &'a Paper,
}

impl Context<'_> {
    /// What the paper prints for this dataset.
    pub fn figure(&self, table: &str, method: &str) -> Option<Figure> {
        self.paper.figure(table, &self.data.name, method)
    }
}

const SHARED_SCHEME: &str = "A scheme is computed once and shared by all seeds, but in the ledger reference.";

impl Experiment {
    pub fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    pub fn title(self) -> &'static str {
        match self {
            Experiment::Node => "Node classification",
            Experiment::Ablation => "Augmentation schemes",
            Experiment::Strength => "Perturbation strength",
            Experiment::Eigenvalues => "Number of eigenvalues",
            Experiment::Convergence => "Convergence of the scheme",
            Experiment::Time => "Running time",
            Experiment::Preanalysis => "Pre-analysis",
            Experiment::Graph => "Graph classification",
            Experiment::CaseStudy => "Case study",
        }
    }

    /// What a table's figures are.
    pub fn unit(self) -> &'static str {
        match self {
            Experiment::Convergence => "norms",
            Experiment::Time => "seconds",
            Experiment::CaseStudy => "share of probability in %",
            Experiment::Preanalysis => "micro F1 in %, L2 distance of spectra",
            _ => "accuracy in %",
        }
    }

    /// The datasets that the paper has.
    pub fn datasets(self) -> &'static [&'static str] {
        match self {
            Experiment::Node => node::DATASETS,
            Experiment::Ablation => ablation::DATASETS,
            Experiment::Strength => strength::DATASETS,
            Experiment::Eigenvalues => eigenvalues::DATASETS,
            Experiment::Convergence => convergence::DATASETS,
            Experiment::Time => time::DATASETS,
            Experiment::Preanalysis => preanalysis::DATASETS,
            Experiment::Graph => graph::DATASETS,
            Experiment::CaseStudy => case_study::DATASETS,
        }
    }

    /// The ledger where none is asked for.
    pub fn ledger(self) -> Ledger {
        match self {
            Experiment::Graph => Ledger::Folds,
            _ => Ledger::Random,
        }
    }

    /// The rows of a dataset.
    pub fn cells(self, context: &Context<'_>) -> Result<Vec<Cell>, Failure> {
        match self {
            Experiment::Node => node::cells(context),
            Experiment::Ablation => ablation::cells(context),
            Experiment::Strength => strength::cells(context),
            Experiment::Eigenvalues => eigenvalues::cells(context),
            Experiment::Convergence => convergence::cells(context),
            Experiment::Time => time::cells(context),
            Experiment::Preanalysis => preanalysis::cells(context),
            Experiment::Graph => graph::cells(context),
            // It has pictures and a table of its own, and no runs.
            Experiment::CaseStudy => Ok(Vec::new()),
        }
    }

    /// What a reader should know of the table, one sentence each.
    pub fn notes(self) -> &'static [&'static str] {
        match self {
            Experiment::Node => &[SHARED_SCHEME],
            Experiment::Ablation => &[
                SHARED_SCHEME,
                "Uniform removes the same share of edges from both views. A scheme has settings of its own where a recipe names it, \
                 else those of the opposite scheme. Diffusion keeps the 64 largest entries of each node.",
            ],
            Experiment::Strength => {
                &[SHARED_SCHEME, "The paper shows curves only, so there are no figures to compare with."]
            }
            Experiment::Eigenvalues => &[
                SHARED_SCHEME,
                "A number of eigenvalues is left out where both ends would meet. The paper shows curves only.",
            ],
            Experiment::Convergence => &[
                "Norms are the square roots of the sums of squared eigenvalues of the expected graph; the steps are in \
                 convergence-DATASET.csv.",
            ],
            Experiment::Time => &[
                "Ours on this machine's processor, the paper's on graphics cards. Training was timed over the epochs of the run and \
                 scaled to 1,000.",
                "Where a graph has no 2,000 eigenvalues, all of them count in the first row too.",
            ],
            Experiment::Preanalysis => &[
                "One view is the graph itself; the other loses edges and hides 0.3 of the columns; a GCN of 2 layers of 32, \
                 trained with GRACE's objective, but among 256 nodes drawn for each step, where GRACE takes all; temperature 0.5.",
                "The paper shows curves only. Of single classes, micro F1 is accuracy.",
            ],
            Experiment::Graph => &[
                SHARED_SCHEME,
                "Supervised encoders set one graph in ten of what they learn from aside to say when to stop.",
            ],
            Experiment::CaseStudy => &[],
        }
    }
}
