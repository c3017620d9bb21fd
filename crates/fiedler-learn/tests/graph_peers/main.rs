//! Graph-level methods against PyTorch (`fixtures/make_graph_peers.py`), the same bits however they are run, and on graphs with little in
//! them.
#![allow(clippy::unwrap_used)]

#[path = "../peers/mod.rs"]
mod peers;

mod fixture;
mod losses;
mod policy;
mod runs;
