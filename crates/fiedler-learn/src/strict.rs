//! Settings that say nothing more than their name.

use serde::{Deserialize, Deserializer};

/// Refuses settings where there are none; serde would pass over them.
pub(crate) fn nothing_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    Nothing::deserialize(deserializer).map(|Nothing {}| ())
}
