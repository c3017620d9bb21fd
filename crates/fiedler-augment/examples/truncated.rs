//! Times one step of a scheme of the K outermost eigenvalues by each way there is: `truncated GRAPH STEP K...`.
//!
//! The edges of the graph move as in `warm_start`; at the given step the K lowest and K highest eigenpairs of the Laplacian of the expected
//! graph are computed by the block method from nothing, by the block method from the pairs of the step before, and from the whole
//! decomposition; and by moments, without them, the norm of their eigenvalues and its derivative. Tolerances and degree are those of a
//! scheme, the degree that of its later steps. Prints one line of JSON for each K, in seconds of all threads; `chosen` is what a scheme
//! takes.

use std::error::Error;

use fiedler_augment::ascent::{Ascent, Direction};
use fiedler_augment::eigen::Eigensolver;
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::scheme::{OutermostMethod, Spectral};
use fiedler_augment::support::{Pairs, Support};
use fiedler_augment::transport::{SpectrumMethod, SpectrumSolver};
use fiedler_graph::Graph;
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::{Normalized, Operator, PartialSettings, Rows, partial, spectrum};

/// Residuals that a scheme asks for, of the first step and of later ones.
const COLD: f64 = 1e-5;
const WARM: f64 = 1e-3;
/// Degree of the polynomials of a scheme once its steps gain little.
const DEGREE: usize = 40;
/// Nodes beyond which the whole decomposition is not tried.
const LARGE: usize = 6000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, step, numbers @ ..] = arguments.as_slice() else {
        return Err("usage: truncated GRAPH STEP K...".into());
    };
    let step: usize = step.parse()?;
    let data = catalogue::open(name, &ReadOptions::default())?;
    let graph = data.graph().ok_or("one graph is expected")?;
    let weights = weights_along(graph, step);
    let [before, after] = [step - 1, step].map(|step| {
        let values = graph.spread_to_entries(&weights[step]);
        let rows = Rows { offsets: graph.indptr(), neighbors: graph.indices(), values: &values, self_loops: None };
        Normalized::from_rows(rows, Operator::Laplacian).map(Normalized::into_owned)
    });
    let (before, after) = (before?, after?);
    let whole = (graph.num_nodes() <= LARGE).then(|| timed(|| spectrum(&after, u64::MAX)).1);
    let mut support = Pairs::new(graph, &[]);
    let mut values = weights[step].iter().map(|&weight| 1.0 - weight as f32);
    support.fill(&mut || values.next().unwrap_or(0.0));
    for k in numbers {
        let k = k.parse()?;
        let settings =
            |tolerance| PartialSettings { lowest: k, highest: k, tolerance, dense_limit: 0, ..Default::default() };
        let (start, _) = timed(|| partial(&before, &settings(COLD), None));
        let (cold, cold_seconds) = timed(|| partial(&after, &settings(COLD), None));
        let (warm, warm_seconds) = timed(|| partial(&after, &settings(WARM), start.as_ref().ok()));
        let all = Eigensolver {
            operator: Operator::Laplacian,
            k: None,
            noise: 0.0,
            seed: 0,
            memory: 1 << 30,
            tolerance: COLD,
            warm: None,
        };
        let mut follower = SpectrumSolver::new(SpectrumMethod::Chebyshev, all).with_degree(DEGREE);
        let (by_moments, moments_seconds) =
            timed(|| follower.measure(&support).map(|measured| follower.outermost(&measured, k)));
        let chosen = match (Spectral { k: Some(k), ..Spectral::default() }).outermost_method(graph.num_nodes()) {
            Some(OutermostMethod::Moments) => "moments",
            Some(OutermostMethod::Whole) => "whole",
            Some(OutermostMethod::Block) => "block",
            None => "closed form",
        };
        println!(
            "{{\"nodes\":{},\"k\":{k},\"cold\":{},\"warm\":{},\"whole\":{},\"moments\":{},\"chosen\":\"{chosen}\"}}",
            graph.num_nodes(),
            number(cold.is_ok().then_some(cold_seconds)),
            number(warm.is_ok().then_some(warm_seconds)),
            number(whole),
            number(by_moments.is_ok().then_some(moments_seconds)),
        );
    }
    Ok(())
}

/// The expected weights of the edges before each of the first steps of an ascent of fifty.
fn weights_along(graph: &Graph, steps: usize) -> Vec<Vec<f64>> {
    let original =
        full_spectrum(&Pairs::new(graph, &[]), Operator::Laplacian, SpectralObjective::Expected).squared_norm;
    let budget = 0.3 * graph.num_edges() as f64;
    let ascent = Ascent { direction: Direction::Max, budget, steps: 50, ..Ascent::default() };
    let mut all = Vec::new();
    let evaluate = |support: &Pairs| {
        all.push(support.iter().map(|(_, _, _, x)| 1.0 - f64::from(x)).collect());
        full_spectrum(support, Operator::Laplacian, SpectralObjective::Expected)
    };
    ascent.run(&mut Pairs::new(graph, &[]), original, evaluate, |progress| progress.step < steps);
    all
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = processor_seconds();
    let found = work();
    (found, processor_seconds() - began)
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or("null".into(), |value| format!("{value:.2}"))
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
