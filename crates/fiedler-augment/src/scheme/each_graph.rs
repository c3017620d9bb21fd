//! The same computation for every graph of a set.

use std::sync::atomic::{AtomicUsize, Ordering};

use fiedler_graph::{Event, Graph, GraphSet, Observer};
use rayon::prelude::*;

use super::STAGE;
use crate::error::{Error, Result};

/// Runs on every graph, in parallel where there are many, and gives the results in the order of the graphs.
pub(super) fn each_graph<T: Send>(
    set: &GraphSet,
    view: &str,
    observer: &dyn Observer,
    run: impl Fn(&Graph) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let done = AtomicUsize::new(0);
    let one = |graph: &Graph| {
        let outcome = run(graph)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let goes_on =
            observer.goes_on(&Event::Progress { stage: STAGE, item: view, done, total: Some(set.len()), value: None });
        if goes_on { Ok(outcome) } else { Err(Error::Stopped) }
    };
    if set.len() == 1 {
        return Ok(vec![one(set.block_diagonal())?]);
    }
    (0..set.len()).into_par_iter().map(|at| one(&set.graph(at))).collect()
}
