//! The experiments: what is in their tables.

use super::cell::Cell;
use super::paper::{Paper, PrintedFigure};
use super::poisoned::Poisons;
use super::pretraining::Pretraining;
use super::recipes::Recipes;
use crate::error::{Error, Result};
use crate::named::named;
use crate::task::Task;
use fiedler_evaluate::ProtocolPreset;

/// The tables, a line each: variant, module, name on the command line, what it is. The rest stands in the module's `SPEC`.
macro_rules! tables {
    ($($variant:ident $module:ident = $name:literal: $about:literal,)*) => {
        named! {
            /// What can be reproduced.
            "table" TableKind { $($variant = $name: $about,)* }
        }

        impl TableKind {
            fn spec(self) -> &'static TableSpec {
                match self { $(TableKind::$variant => &super::$module::SPEC,)* }
            }
        }
    };
}

tables! {
    Node node = "node": "Table 1: raw features, supervised and untrained encoder, the paper's method, on single graphs",
    Ablation ablation = "ablation": "Schemes against each other: uniform, diffusion, single, double, opposite",
    Strength strength = "strength": "Perturbation strength from 0.1 to 0.9: opposite against uniform",
    Matched matched = "matched": "Spectral schemes against random ones that change as many pairs, and against no change",
    Plugin plugin = "plugin": "Spectral views inside other methods, against their own views, no edge changes and matched random flips",
    Eigenvalues eigenvalues = "eigenvalues": "How many eigenvalues count: 50 to 5000 of each end, or all",
    Convergence convergence = "convergence": "How the norm of the spectrum goes while schemes are optimized; nothing is trained",
    Time time = "time": "Seconds for scheme and training",
    Preanalysis preanalysis = "preanalysis": "Uniform against clustered removal of edges: F1 and change of the spectrum",
    Baselines baselines = "baselines": "Embeddings without training: raw features, untrained encoder, eigenvectors, hops; with their seconds",
    Graph graph = "graph": "Whole graphs: embeddings without training, supervised and untrained encoder, peers, the paper's method, node dropping",
    Molecules molecules = "molecules": "Molecules by scaffold: embeddings without training, supervised and untrained encoder, peers, the paper's method",
    Transfer transfer = "transfer": "Molecules: encoders pre-trained on MOSES without labels, fine-tuned on other sets, against none",
    OutOfDomain out_of_domain = "out-of-domain": "Encoders pre-trained on ego-nets of citation networks, fine-tuned on airports and social graphs",
    Robustness robustness = "robustness": "Methods on poisoned graphs: random flips, DICE, GF-Attack and Mettack, 5 % and 20 % of the edges",
    CaseStudy case_study = "case-study": "Figures 7 and 8: what a scheme does to a random geometric graph and to molecules, drawn and counted; nothing is trained",
}

/// What a table is.
pub struct TableSpec {
    /// As in print.
    pub title: &'static str,
    /// What its figures are.
    pub unit: &'static str,
    /// The datasets where none are asked for: those of the paper, where it has the table.
    pub datasets: &'static [&'static str],
    /// The protocol where none is asked for.
    pub protocol: ProtocolPreset,
    /// The rows of a dataset.
    pub cells: fn(&Context<'_>) -> Result<Vec<Cell>>,
    /// What a reader should know of it, one sentence each.
    pub notes: &'static [&'static str],
    /// Whether the steps of each dataset's first scheme are written beside it.
    pub writes_steps: bool,
    /// Attacks by which each dataset is poisoned, beside the clean one.
    pub poisons: Option<Poisons>,
    /// What encoders are trained on before, where they are.
    pub pretraining: Option<&'static Pretraining>,
    /// The transform that every dataset goes through, with its colon.
    pub transform: Option<&'static str>,
    /// Whether a row is among those that were asked for by name.
    pub chooses: fn(&str, &[String]) -> bool,
    /// Rows without training: a row below one of them is named.
    pub floors: &'static [&'static str],
    /// Whether it tells how many test graphs have a twin in training.
    pub tells_twins: bool,
}

impl TableSpec {
    /// A table of accuracies on random splits, without rows.
    pub const USUAL: TableSpec = TableSpec {
        title: "",
        unit: "accuracy in %",
        datasets: &[],
        protocol: ProtocolPreset::Random,
        cells: |_| Ok(Vec::new()),
        notes: &[],
        writes_steps: false,
        poisons: None,
        pretraining: None,
        transform: None,
        chooses: |row, wanted| wanted.iter().any(|wanted| row.eq_ignore_ascii_case(wanted)),
        floors: &[],
        tells_twins: false,
    };
}

/// What the rows of a dataset are made from.
pub struct Context<'a> {
    pub data: &'a Task,
    /// The dataset's place among those that were loaded.
    pub place: usize,
    pub recipes: &'a Recipes,
    pub paper: &'a Paper,
    /// What encoders are trained on before, where they are.
    pub pretrained_on: Option<&'a Task>,
    /// Whether the table is to end in minutes.
    pub quick: bool,
}

impl Context<'_> {
    /// What encoders are trained on before.
    pub fn pretrained_on(&self) -> Result<&Task> {
        self.pretrained_on.ok_or_else(|| Error::unexpected("pre-training", "its data were not opened"))
    }

    /// What the paper prints for this dataset.
    pub fn figure(&self, table: &str, method: &str) -> Option<PrintedFigure> {
        self.paper.figure(table, &self.data.name, method)
    }
}

/// A note of tables that train on schemes.
pub const SHARED_SCHEME: &str = "A scheme is computed once and shared by all seeds, but in the protocol reference.";

impl TableKind {
    /// As in print.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// What a table's figures are.
    pub fn unit(self) -> &'static str {
        self.spec().unit
    }

    /// The datasets where none are asked for: those of the paper, where it has the table.
    pub fn datasets(self) -> &'static [&'static str] {
        self.spec().datasets
    }

    /// The datasets that are asked for, or else those of the table.
    pub(super) fn names(self, asked: &[String], quick: bool) -> Vec<String> {
        let own = match self.pretraining() {
            Some(pretraining) => pretraining.size(quick).datasets,
            None => self.datasets(),
        };
        match asked {
            [] => own.iter().map(|&name| name.to_owned()).collect(),
            given => whole_names(given),
        }
    }

    /// The protocol where none is asked for.
    pub fn protocol(self) -> ProtocolPreset {
        self.spec().protocol
    }

    /// The rows of a dataset.
    pub(super) fn cells(self, context: &Context<'_>) -> Result<Vec<Cell>> {
        (self.spec().cells)(context)
    }

    /// What a reader should know of the table, one sentence each.
    pub(super) fn notes(self) -> &'static [&'static str] {
        self.spec().notes
    }

    /// What encoders are trained on before, where they are.
    pub(super) fn pretraining(self) -> Option<&'static Pretraining> {
        self.spec().pretraining
    }

    /// Whether it can be made at a size that ends in minutes, on other data than its own before.
    pub fn has_pretraining(self) -> bool {
        self.spec().pretraining.is_some()
    }

    /// The transform that every dataset goes through.
    pub(super) fn transform(self) -> &'static str {
        self.spec().transform.unwrap_or_default()
    }

    /// Attacks by which each dataset is poisoned.
    pub(super) fn poisons(self) -> Option<Poisons> {
        self.spec().poisons
    }

    /// Whether a row is among those that were asked for by name.
    pub(super) fn chooses(self, row: &str, wanted: &[String]) -> bool {
        (self.spec().chooses)(row, wanted)
    }

    /// Rows without training: a row below one of them is named.
    pub(super) fn floors(self) -> &'static [&'static str] {
        self.spec().floors
    }

    /// Whether it tells how many test graphs have a twin in training.
    pub(super) fn tells_twins(self) -> bool {
        self.spec().tells_twins
    }

    /// Whether the steps of each dataset's first scheme are written beside it.
    pub(super) fn writes_steps(self) -> bool {
        self.spec().writes_steps
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
