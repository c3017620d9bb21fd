//! The experiments: what is in their tables.

use clap::ValueEnum;

use super::cell::Cell;
use super::node;
use super::paper::{Figure, Paper};
use super::recipes::Recipes;
use crate::program::failure::Failure;
use crate::program::ledger::Ledger;
use crate::program::run::data::Data;

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Table 1: raw features, supervised and untrained encoder, the paper's method, on single graphs
    Node,
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

impl Experiment {
    pub fn name(self) -> String {
        self.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
    }

    pub fn title(self) -> &'static str {
        match self {
            Experiment::Node => "Node classification",
        }
    }

    /// What a table's figures are.
    pub fn unit(self) -> &'static str {
        match self {
            Experiment::Node => "accuracy in %",
        }
    }

    /// The datasets that the paper has.
    pub fn datasets(self) -> &'static [&'static str] {
        match self {
            Experiment::Node => node::DATASETS,
        }
    }

    /// The ledger where none is asked for.
    pub fn ledger(self) -> Ledger {
        match self {
            Experiment::Node => Ledger::Random,
        }
    }

    /// The rows of a dataset.
    pub fn cells(self, context: &Context<'_>) -> Result<Vec<Cell>, Failure> {
        match self {
            Experiment::Node => node::cells(context),
        }
    }

    /// What a reader should know of the table, one sentence each.
    pub fn notes(self) -> &'static [&'static str] {
        match self {
            Experiment::Node => &[],
        }
    }
}
