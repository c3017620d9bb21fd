//! Anchors: the nodes that a step tells apart from each other, where all of them would be too many pairs.

use std::borrow::Cow;
use std::fmt;

use fiedler_graph::random::stream;
use rand::seq::SliceRandom;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FitData, Step};
use crate::error::{Error, Result};

/// The most nodes that are all told apart where nothing is said of it: the cost of a step grows with the square.
const ALL_UP_TO: usize = 8192;
/// How many of more nodes are.
const OF_MORE: usize = 4096;

/// How many nodes a step tells apart: `auto`, `all`, or a number in files. Where it is not all, the nodes are drawn anew for each step,
/// uniformly, and each is told apart from the others that were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Anchors {
    /// All nodes up to 8,192; of more, 4,096.
    #[default]
    Auto,
    /// All nodes.
    All,
    /// So many, or all where there are fewer.
    Count(usize),
}

impl Anchors {
    /// Refuses a number that leaves nothing to be told apart.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(self) -> Result<()> {
        match self {
            Anchors::Count(count @ 0..2) => Err(Error::setting("anchors", count, "at least 2 nodes to be told apart")),
            _ => Ok(()),
        }
    }

    /// The most nodes of so many that a step tells apart.
    pub fn of(self, nodes: usize) -> usize {
        match self {
            Anchors::Auto if nodes > ALL_UP_TO => OF_MORE,
            Anchors::Auto | Anchors::All => nodes,
            Anchors::Count(count) => count.min(nodes),
        }
    }

    /// The nodes that a step tells apart, of those that all views have kept; none where it is all of them.
    pub(super) fn draw(self, step: &Step<'_>) -> Option<Vec<u32>> {
        match step.rows_in_all_views() {
            Some(rows) => Some(self.choose(rows, step)),
            None => self.draw_of(step.views[0].offsets.rows(), step),
        }
    }

    /// The same of so many nodes, where views do not matter.
    pub(super) fn draw_of(self, nodes: usize, step: &Step<'_>) -> Option<Vec<u32>> {
        (self.of(nodes) < nodes).then(|| self.choose((0..nodes as u32).collect(), step))
    }

    fn choose(self, mut rows: Vec<u32>, step: &Step<'_>) -> Vec<u32> {
        let count = self.of(rows.len());
        if count == rows.len() {
            return rows;
        }
        let (drawn, _) = rows.partial_shuffle(&mut stream(step.seed, "pairs", step.clock.step), count);
        drawn.sort_unstable();
        drawn.to_vec()
    }

    /// Tells the user what became of `auto`, where it is not all nodes.
    pub(super) fn tell(self, data: &FitData<'_>) {
        let nodes = data.step_nodes;
        let count = self.of(nodes);
        if self == Anchors::Auto && count < nodes {
            data.note(&format!(
                "each step tells {count} of the {nodes} nodes apart, drawn anew; anchors = \"all\" compares all pairs"
            ));
        }
    }
}

impl Serialize for Anchors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Anchors::Auto => serializer.serialize_str("auto"),
            Anchors::All => serializer.serialize_str("all"),
            Anchors::Count(count) => serializer.serialize_u64(count as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Anchors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Anchors, D::Error> {
        struct Found;
        impl Visitor<'_> for Found {
            type Value = Anchors;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("auto, all, or a number of nodes")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Anchors, E> {
                match name {
                    "auto" => Ok(Anchors::Auto),
                    "all" => Ok(Anchors::All),
                    _ => Err(E::invalid_value(de::Unexpected::Str(name), &self)),
                }
            }

            fn visit_u64<E: de::Error>(self, count: u64) -> Result<Anchors, E> {
                usize::try_from(count).map(Anchors::Count).map_err(E::custom)
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<Anchors, E> {
                let refuse = |_| E::invalid_value(de::Unexpected::Signed(count), &self);
                usize::try_from(count).map(Anchors::Count).map_err(refuse)
            }
        }
        deserializer.deserialize_any(Found)
    }
}

impl JsonSchema for Anchors {
    fn schema_name() -> Cow<'static, str> {
        "Anchors".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}
