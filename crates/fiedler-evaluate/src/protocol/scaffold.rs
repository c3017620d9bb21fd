//! The scaffold split that came with molecules.

use fiedler_graph::Split;
use serde::{Deserialize, Serialize};

use super::{Division, Protocol};
use crate::error::Result;
use crate::target::Target;

/// Scaffold split: the one of that name that came with the data, as OGB's molecules have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScaffoldSplit {}

impl Protocol {
    /// The scaffold split that came with the data.
    pub const SCAFFOLD: Protocol = Protocol::Scaffold(ScaffoldSplit {});
}

impl ScaffoldSplit {
    pub(super) const HELP: &str = "The scaffold split that came with OGB's molecules";
}

impl Division for ScaffoldSplit {
    fn splits(&self, target: &Target, _: u64) -> Result<Vec<Split>> {
        target.given(|split| split.name == "scaffold", "one called scaffold")
    }

    fn describe(&self, _: &Target) -> String {
        "the scaffold split that came with the data".into()
    }
}
