//! Graphs that are made rather than read, one file a generator.
//!
//! Every generator takes its settings and a seed, and gives the same [`Dataset`] for them on any number of threads.
//! [`from_spec`] makes one from a line of text.
//!
//! ```
//! use fiedler_graph::generate::{self, ErdosRenyi};
//!
//! let random = generate::erdos_renyi(&ErdosRenyi { nodes: 100, probability: 0.1 }, 7)?;
//! assert_eq!(random, generate::from_spec("erdos-renyi:nodes=100,probability=0.1,seed=7", 0)?);
//! # Ok::<(), fiedler_graph::Error>(())
//! ```
//!
//! To add a generator: write `generate/NAME.rs` with its settings, its function and a constant [`Spec`], and add the line
//! `NAME: SPEC;` to the list of [`SPECS`].

mod draw;
mod spec;
mod split;
mod words;

pub use spec::{Parameter, Spec, from_spec, is_spec};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::graph::{Graph, MAX_NODES};

/// Each line is a file and the constants [`Spec`] in it. What the file has that is public is public here.
macro_rules! generators {
    ($($file:ident: $($spec:ident),+;)*) => {
        $(mod $file;)*
        $(pub use $file::*;)*

        /// Every generator that [`from_spec`] knows.
        pub const SPECS: &[Spec] = &[$($($file::$spec),+),*];
    };
}

// `cargo fmt` does not see files that a macro names: rustfmt crates/fiedler-graph/src/generate/*.rs
generators! {
    karate_club: SPEC;
    block_model: CITATION, SPEC;
    geometric: SPEC;
    erdos_renyi: SPEC;
    barabasi_albert: SPEC;
    regular: PATH, CYCLE, STAR, GRID, COMPLETE;
}

/// More edges (or words) than this are taken for a slip of the pen: pairs of nodes alone would fill 16 GiB.
const MAX_SIZE: f64 = (1u64 << 31) as f64;

fn check_nodes(nodes: usize, least: usize) -> Result<()> {
    if (least..=MAX_NODES).contains(&nodes) {
        return Ok(());
    }
    Err(Error::setting("nodes", nodes, format!("a whole number from {least} to {MAX_NODES}")))
}

/// Checks how much the settings lead to, before memory is asked for it.
fn check_size(of: &str, size: f64) -> Result<()> {
    if size <= MAX_SIZE {
        return Ok(());
    }
    Err(Error::setting(of, format!("{size:.3e}"), format!("at most {MAX_SIZE:.0}")))
}

fn check_share(name: &str, share: f64) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::setting(name, share, "a number from 0 to 1"))
}

/// The dataset of one graph that the pairs make.
fn dataset(name: &str, nodes: usize, pairs: Vec<(u32, u32)>) -> Result<Dataset> {
    let (graph, edges) = Graph::from_pairs(nodes, pairs)?;
    let mut dataset = Dataset::single(name, graph);
    dataset.report.format = "generated";
    dataset.report.edges = edges;
    Ok(dataset)
}
