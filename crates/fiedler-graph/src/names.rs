//! The user's own names for nodes.

use std::fmt;

/// One name a node, in the order of node ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// Whole numbers that are not simply 0, 1, 2 ….
    Integers(Vec<i64>),
    /// Anything else.
    Strings(Vec<Box<str>>),
}

/// One node's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Name<'a> {
    /// A whole number.
    Integer(i64),
    /// Any text.
    String(&'a str),
}

impl Names {
    /// Number of names.
    pub fn len(&self) -> usize {
        match self {
            Names::Integers(names) => names.len(),
            Names::Strings(names) => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of a node.
    ///
    /// # Panics
    /// When the node does not exist.
    pub fn get(&self, node: usize) -> Name<'_> {
        match self {
            Names::Integers(names) => Name::Integer(names[node]),
            Names::Strings(names) => Name::String(&names[node]),
        }
    }

    /// All names in the order of node ids.
    pub fn iter(&self) -> impl Iterator<Item = Name<'_>> {
        (0..self.len()).map(|node| self.get(node))
    }

    /// The names of some nodes, in the order given.
    ///
    /// # Panics
    /// When a node does not exist.
    pub fn gather(&self, nodes: &[u32]) -> Names {
        match self {
            Names::Integers(names) => Names::Integers(nodes.iter().map(|&node| names[node as usize]).collect()),
            Names::Strings(names) => Names::Strings(nodes.iter().map(|&node| names[node as usize].clone()).collect()),
        }
    }

    /// Names that are not simply 0, 1, 2 …, for a graph to remember; `None` when they are.
    pub fn unless_counting(self) -> Option<Names> {
        match &self {
            Names::Integers(names) if names.iter().enumerate().all(|(node, &name)| name == node as i64) => None,
            _ => Some(self),
        }
    }
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Integer(name) => write!(f, "{name}"),
            Name::String(name) => write!(f, "{name}"),
        }
    }
}
