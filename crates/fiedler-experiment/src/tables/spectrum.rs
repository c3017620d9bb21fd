//! How far a drawn view's spectrum is from that of the graph.

use std::fs;
use std::path::Path;
use std::time::Instant;

use fiedler_augment::Scheme;
use fiedler_augment::scheme::ViewKey;
use fiedler_graph::{Dataset, Graph};
use fiedler_io::AtomicFiles;
use fiedler_spectral::{Normalized, Operator, eigenvalues};
use serde::{Deserialize, Serialize};

use super::run_score::RunScore;
use crate::error::{Error, Result};

const FILE: &str = "spectral-change.json";
/// Bytes that a dense spectrum may take.
const MEMORY: u64 = 4 << 30;
/// The view that is not the graph itself.
const VIEW: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Change {
    distance: f64,
    seconds: f64,
}

/// What was measured before.
pub fn read(folder: &Path) -> Option<RunScore> {
    let change: Change = serde_json::from_str(&fs::read_to_string(folder.join(FILE)).ok()?).ok()?;
    Some(RunScore::timed(change.distance, change.seconds))
}

/// The distance between the eigenvalues of the Laplacian before and after, each in their order.
pub fn measure(folder: &Path, dataset: &Dataset, scheme: &Scheme, seed: u64) -> Result<RunScore> {
    let started = Instant::now();
    let whole = dataset.graphs.whole();
    let view = scheme.draw(&whole, ViewKey::new(seed, 0, VIEW))?;
    let spectrum = |graph: &Graph| eigenvalues(&Normalized::of(graph, Operator::Laplacian), MEMORY);
    let (before, after) = (spectrum(&whole.graph)?, spectrum(&view.graph)?);
    let squares: f64 = before.iter().zip(&after).map(|(before, after)| (after - before) * (after - before)).sum();
    let change = Change { distance: squares.sqrt(), seconds: started.elapsed().as_secs_f64() };
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let mut targets = AtomicFiles::new(true);
    targets.write(&folder.join(FILE), |file| Ok(serde_json::to_writer_pretty(file, &change)?))?;
    targets.finish()?;
    Ok(RunScore::timed(change.distance, change.seconds))
}
