//! The same computation for every graph of a set.

use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_graph::{Graph, GraphSet};
use rayon::prelude::*;

use super::{Stage, Watch};
use crate::error::{Error, Result};

/// Runs on every graph, in parallel where there are many, and gives the results in the order of the graphs.
pub(super) fn each_graph<T: Send>(
    set: &GraphSet,
    view: &str,
    watch: Watch<'_>,
    run: impl Fn(&Graph) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done = AtomicUsize::new(0);
    let one = |graph: &Graph| {
        let outcome = run(graph)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let goes_on = watch(&Stage { view, unit: "graphs", done, of: set.len(), relative_norm: None });
        if goes_on { Ok(outcome) } else { Err(Error::Stopped) }
    };
    if set.len() == 1 {
        return Ok(vec![one(set.block_diagonal())?]);
    }
    (0..set.len()).into_par_iter().map(|at| one(&set.graph(at))).collect()
}
