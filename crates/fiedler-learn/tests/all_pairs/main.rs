//! Methods that compare all nodes with all others, GRACE, GCA and GMI: the same bits however they are run, and graphs that have little to
//! learn from.
#![allow(clippy::unwrap_used)]

mod common;
mod gmi;
mod grace;
