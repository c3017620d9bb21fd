//! Arrays from npy and npz files.
//!
//! [`Arrays`] opens an npz and hands out its members; an [`Array`] knows its shape and gives its values as the numbers or
//! strings a reader asks for, checked; a [`Matrix`] is what scipy calls a sparse matrix. Arrays of Python objects go through
//! [`pickle`](super::pickle).
//!
//! The crates `npyz` and `ndarray-npy` do not serve: neither reads arrays inside pickles, which need the same decoding, and
//! `npyz` takes a file's word for how much memory its header needs.

mod array;
mod decode;
mod header;
mod matrix;
mod pickled;
mod stored;
mod r#type;

pub use array::{Array, Arrays};
pub use matrix::Matrix;
pub(super) use stored::stored;
pub use r#type::{Kind, Type};

#[cfg(test)]
mod tests;
