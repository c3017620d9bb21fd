//! Python pickles read as data; nothing in them is ever run.
//!
//! A pickle is a program for a small stack machine. Here the machine only takes down what the program says: a class is its
//! name, a call is an [`Object`] that keeps what was to be called and with what. Protocols 0 to 5 are read, from Python 2 and 3.
//!
//! The crate `serde-pickle` does not serve: it has no value for a call of a function or class that it does not know, which is
//! all that numpy and scipy write.
//!
//! ```
//! use fiedler_io::input::File;
//! use fiedler_io::read::pickle::{Pickle, Value};
//!
//! // pickle.dumps({"nodes": [1, 2]}, protocol=0)
//! let pickle = Pickle::read(&File::new("small.pkl", b"(dVnodes\n(lI1\naI2\nas.".to_vec()))?;
//! let Value::Dictionary(entries) = pickle.root() else { panic!("no dictionary") };
//! let Some(Value::List(nodes)) = entries.get("nodes") else { panic!("no list") };
//! assert_eq!(nodes.iter().filter_map(Value::integer).collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), fiedler_io::Error>(())
//! ```

mod machine;
mod scan;
mod value;

use std::sync::Arc;

use crate::error::Result;
use crate::input::File;

pub use value::{Entries, Items, Object, Value};

/// What a pickle describes.
///
/// Values lie side by side and refer to each other by place. So a value used a thousand times is there once, a value that
/// holds itself is no trouble, and no nesting is too deep. A clone shares them.
#[derive(Debug, Clone)]
pub struct Pickle {
    nodes: Arc<Vec<Node>>,
    root: Slot,
    size: usize,
}

impl Pickle {
    /// Reads a file that is a pickle.
    ///
    /// # Errors
    /// When the bytes are no pickle, or one that refers to something outside of itself.
    pub fn read(file: &File) -> Result<Pickle> {
        Pickle::read_bytes(file, 0)
    }

    /// Reads a pickle that may refer to what stands beside it, as PyTorch's do to the bytes of tensors; nothing is looked up.
    pub(super) fn read_with_outside(file: &File) -> Result<Pickle> {
        Ok(Pickle::read_part(file, 0, true)?.0)
    }

    /// Reads one of several pickles in a file, which starts at a byte, and gives the byte behind it.
    pub(super) fn read_part(file: &File, start: usize, outside: bool) -> Result<(Pickle, usize)> {
        let (nodes, root, end) = machine::run(file, start, outside)?;
        Ok((Pickle { nodes: nodes.into(), root, size: file.bytes().len() }, end))
    }

    /// What identifies each thing outside of the pickle that it refers to.
    pub(super) fn outside(&self) -> impl Iterator<Item = Items<'_>> {
        let places = (0..).zip(self.nodes.iter()).filter(|(_, node)| matches!(node, Node::Outside(_)));
        places.filter_map(|(place, _)| match self.value(Slot::At(place)) {
            Value::Outside(items) => Some(items),
            _ => None,
        })
    }

    /// Reads the pickle that starts at a byte of a file.
    pub(super) fn read_bytes(file: &File, start: usize) -> Result<Pickle> {
        Ok(Pickle::read_part(file, start, false)?.0)
    }

    /// The value that was pickled.
    pub fn root(&self) -> Value<'_> {
        self.value(self.root)
    }

    /// Number of bytes of the file it came from: a measure for what its values may expand to.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// The values at some places.
    pub(super) fn items<'a>(&'a self, slots: &'a [Slot]) -> Items<'a> {
        Items { pickle: self, slots }
    }
}

/// A value where it is used: small ones written out, others by their place among the nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Slot {
    None,
    Bool(bool),
    Integer(i64),
    Float(f64),
    At(u32),
}

/// A value that is too large for a [`Slot`].
#[derive(Debug)]
enum Node {
    BigInteger,
    Bytes(Box<[u8]>),
    Text(Box<str>),
    List(Vec<Slot>),
    Tuple(Box<[Slot]>),
    Dictionary(Vec<(Slot, Slot)>),
    /// A class or function: the places of the texts that name its module and itself.
    Global(u32, u32),
    Object(Box<Call>),
    /// Something outside of the pickle, by what identifies it.
    Outside(Slot),
}

/// A call that was not made, and what was to be done with its result.
#[derive(Debug)]
struct Call {
    callee: Slot,
    arguments: Slot,
    state: Slot,
    /// Most objects are filled by their state alone.
    fill: Option<Box<Fill>>,
}

/// What was to be appended to an object, and set in it.
#[derive(Debug, Default)]
struct Fill {
    items: Vec<Slot>,
    entries: Vec<(Slot, Slot)>,
}

#[cfg(test)]
mod tests;
