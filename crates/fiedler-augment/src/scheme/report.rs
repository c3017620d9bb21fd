//! How the computation of a scheme went.

use serde::{Deserialize, Serialize};

use super::drawn::DrawnNorm;
use crate::ascent::{Progress, Stop};
use crate::support::Mass;

/// What is known of a scheme beside its probabilities.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    /// One for each view.
    pub views: Vec<ViewReport>,
    /// Anything else a user should know, one sentence each.
    pub notes: Vec<String>,
    /// Where drawn views are not what the objective says.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What is known of one view.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ViewReport {
    /// What the view is called: `max` and `min` for the opposite scheme.
    pub name: String,
    /// What may change: `all`, `edges`, `candidates`, `nodes` ….
    pub support: String,
    /// Why that, where it was chosen.
    pub reason: Option<String>,
    /// How many pairs or nodes may change.
    pub places: u64,
    /// Expected numbers of changes.
    pub mass: Mass,
    /// Most changes in expectation.
    pub budget: f64,
    /// Steps taken; of several graphs, the most.
    pub steps: usize,
    /// The spectrum before and after, where it was looked at: what the objective says.
    pub norm: Option<Norm>,
    /// What views have that were drawn from the scheme.
    #[serde(default)]
    pub drawn_norm: Option<DrawnNorm>,
    /// First-order gap: what a linear model of the objective has left to gain within the budget, relative to the norm before.
    #[serde(default)]
    pub gap: Option<f64>,
    /// Why the ascent ended; of several graphs, the least of all reasons.
    #[serde(default)]
    pub stop: Option<Stop>,
    /// Graphs whose start was stationary and left by a perturbation.
    #[serde(default)]
    pub perturbed: usize,
    /// Diversity: the expected share of a draw's flips that another draw does not have.
    #[serde(default)]
    pub diversity: Option<f64>,
    /// Rate of the first step, η in the paper; of several graphs, that of the first.
    pub rate: Option<f64>,
    /// One point before each step and one after the last.
    pub curve: Vec<Progress>,
    /// Time taken. Not kept in files: the same settings give the same bytes.
    #[serde(skip)]
    pub seconds: f64,
}

/// The norm of a spectrum before and after. That of several graphs is that of all their eigenvalues together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Norm {
    /// Of the original graph.
    pub before: f64,
    /// After the flips.
    pub after: f64,
    /// Whose norm that is.
    #[serde(default)]
    pub of: NormOf,
    /// Distance of the two spectra relative to the norm before, where the scheme optimizes that.
    pub distance: Option<f64>,
}

/// Whose norm an objective is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormOf {
    /// Of the expected graph.
    #[default]
    ExpectedGraph,
    /// In expectation, of the graphs that are drawn.
    DrawnGraphs,
}

impl NormOf {
    /// What the norm is called.
    pub fn name(self) -> &'static str {
        match self {
            NormOf::ExpectedGraph => "norm of the expected graph",
            NormOf::DrawnGraphs => "expected norm of drawn graphs",
        }
    }
}

impl ViewReport {
    /// The report of a view that is the graph itself.
    pub fn unchanged() -> ViewReport {
        ViewReport { name: "unchanged".into(), support: "none".into(), ..ViewReport::default() }
    }

    /// What its expected numbers of changes count: `nodes` or `edges`.
    pub fn changes(&self) -> &'static str {
        if self.support == "nodes" { "nodes" } else { "edges" }
    }
}

impl Norm {
    /// After relative to before; one where there is nothing to compare.
    pub fn relative(&self) -> f64 {
        if self.before > 0.0 { self.after / self.before } else { 1.0 }
    }
}
