//! The split of the program behind the paper's printed numbers.

use fiedler_graph::Split;
use serde::{Deserialize, Serialize};

use super::{Division, Protocol, divide};
use crate::error::Result;
use crate::probe::{AdamSettings, Probe};
use crate::target::Target;

/// Reference split: what the program behind the paper's printed numbers does. One random split, of nodes 10 % train, 80 % validation and
/// 10 % test, of graphs 80, 10 and 10 %; its probe is trained by Adam.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSplit {}

impl Protocol {
    /// What the program behind the paper's printed numbers does.
    pub const REFERENCE: Protocol = Protocol::Reference(ReferenceSplit {});
}

impl ReferenceSplit {
    pub(super) const HELP: &str =
        "As the paper's program: one random split (nodes 10/80/10 %, graphs 80/10/10 %) and the probe adam";

    fn shares(target: &Target) -> [f64; 2] {
        if target.graphs { [0.8, 0.1] } else { [0.1, 0.8] }
    }
}

impl Division for ReferenceSplit {
    fn splits(&self, target: &Target, seed: u64) -> Result<Vec<Split>> {
        let shares = ReferenceSplit::shares(target);
        Ok(vec![divide::divide(&target.labelled(), shares, None, (seed, "reference", 0))])
    }

    fn describe(&self, target: &Target) -> String {
        let [train, validation] = ReferenceSplit::shares(target).map(|share| (100.0 * share).round());
        format!("the reference program's: one random split, {train} % train, {validation} % validation, 10 % test")
    }

    fn needs_validation(&self) -> bool {
        true
    }

    fn probe(&self) -> Option<Probe> {
        Some(AdamSettings::default().into())
    }
}
