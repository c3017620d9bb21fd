//! Times eigenpairs along an ascent, from nothing and from those of the step before: `warm_start GRAPH K TOLERANCE STEP...`.
//!
//! The edges of the graph move by the steps of an ascent towards a larger, then a smaller norm; at the given steps the K
//! lowest and K highest eigenpairs of the Laplacian of the expected graph are computed both ways. Prints one line of JSON a
//! step; `moved` is the largest residual that the eigenpairs of the step before have.

use std::error::Error;
use std::time::Instant;

use fiedler_augment::ascent::{Ascent, Direction};
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::support::Pairs;
use fiedler_graph::Graph;
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::{
    Normalized, Operator, Pairs as EigenPairs, Partial, PartialSettings, Rows, SymmetricMap, partial,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, pairs, tolerance, steps @ ..] = arguments.as_slice() else {
        return Err("usage: warm_start GRAPH K TOLERANCE STEP...".into());
    };
    let settings = PartialSettings {
        lowest: pairs.parse()?,
        highest: pairs.parse()?,
        tolerance: tolerance.parse()?,
        dense_limit: 0,
        ..Default::default()
    };
    let steps: Vec<usize> = steps.iter().map(|step| step.parse()).collect::<Result<_, _>>()?;
    let data = catalogue::open(name, &ReadOptions::default())?;
    let graph = data.graph().ok_or("one graph is expected")?;
    for direction in [Direction::Max, Direction::Min] {
        let weights = weights_along(graph, direction, steps.iter().copied().max().unwrap_or(0));
        let map = |step: usize| {
            let values = graph.spread_to_entries(&weights[step]);
            let rows = Rows { offsets: graph.indptr(), neighbors: graph.indices(), values: &values, self_loops: None };
            Normalized::from_rows(rows, Operator::Laplacian).map(Normalized::into_owned)
        };
        for &step in &steps {
            let (before, after) = (map(step - 1)?, map(step)?);
            let start = partial(&before, &settings, None)?;
            let (_, cold_seconds, cold_work) = timed(|| partial(&after, &settings, None))?;
            let (warm, seconds, work) = timed(|| partial(&after, &settings, Some(&start)))?;
            println!(
                "{{\"direction\":\"{direction:?}\",\"step\":{step},\"cold_seconds\":{cold_seconds:.3},\
                 \"cold_processor_seconds\":{cold_work:.2},\"warm_seconds\":{seconds:.3},\
                 \"warm_processor_seconds\":{work:.2},\"moved\":{:.1e},\"residual\":{:.1e},\"rounds\":{}}}",
                worst(&after, &start.lowest).max(worst(&after, &start.highest)),
                warm.lowest.worst_residual().max(warm.highest.worst_residual()),
                warm.lowest.rounds.max(warm.highest.rounds),
            );
        }
    }
    Ok(())
}

/// The largest residual of vectors as eigenvectors of a map.
fn worst(map: &Normalized<'_>, pairs: &EigenPairs) -> f64 {
    let mut image = vec![0.0; map.size()];
    let residual = |column: usize| {
        let vector = pairs.vectors.col_as_slice(column);
        map.apply_vector(vector, &mut image);
        let value: f64 = image.iter().zip(vector).map(|(image, own)| image * own).sum();
        image.iter().zip(vector).map(|(image, own)| (image - value * own).powi(2)).sum::<f64>().sqrt()
    };
    (0..pairs.len()).map(residual).fold(0.0, f64::max)
}

/// The expected weights of the edges before each of the first steps of an ascent of fifty.
fn weights_along(graph: &Graph, direction: Direction, steps: usize) -> Vec<Vec<f64>> {
    let original =
        full_spectrum(&Pairs::new(graph, &[]), Operator::Laplacian, SpectralObjective::Expected).squared_norm;
    let budget = 0.3 * graph.num_edges() as f64;
    let ascent = Ascent { direction, budget, steps: 50, ..Ascent::default() };
    let mut all = Vec::new();
    let evaluate = |support: &Pairs| {
        all.push(support.iter().map(|(_, _, _, x)| 1.0 - f64::from(x)).collect());
        full_spectrum(support, Operator::Laplacian, SpectralObjective::Expected)
    };
    ascent.run(&mut Pairs::new(graph, &[]), original, evaluate, |progress| progress.step < steps);
    all
}

fn timed<E>(solve: impl FnOnce() -> Result<Partial, E>) -> Result<(Partial, f64, f64), E> {
    let (began, work) = (Instant::now(), processor_seconds());
    let found = solve()?;
    Ok((found, began.elapsed().as_secs_f64(), processor_seconds() - work))
}

/// Seconds all threads of this process have worked, where the system tells.
fn processor_seconds() -> f64 {
    let read = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some(ticks / 100.0)
    };
    read().unwrap_or(f64::NAN)
}
