//! The splits that came with the data.

use fiedler_graph::Split;
use serde::{Deserialize, Serialize};

use super::{Division, Protocol};
use crate::error::Result;
use crate::target::Target;

/// Public splits: those that came with the data, all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicSplits {}

impl Protocol {
    /// The splits that came with the data, all of them.
    pub const PUBLIC: Protocol = Protocol::Public(PublicSplits {});
}

impl PublicSplits {
    pub(super) const HELP: &str = "The splits that came with the data, all of them";
}

impl Division for PublicSplits {
    fn splits(&self, target: &Target, _: u64) -> Result<Vec<Split>> {
        target.given(|_| true, "at least one")
    }

    fn describe(&self, target: &Target) -> String {
        match target.splits.len() {
            1 => "the split that came with the data".into(),
            splits => format!("the {splits} splits that came with the data"),
        }
    }
}
