//! Times drawing views of an all-pairs scheme: `sampling GRAPH STEPS VIEWS`.
//!
//! The scheme is that of an ascent towards a smaller norm, which spreads the budget, 0.3 of the edges, over all pairs.
//! Prints one line of JSON.

use std::error::Error;
use std::time::Instant;

use fiedler_augment::ascent::{Ascent, Direction};
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::sample::EdgeFlips;
use fiedler_augment::support::{Pairs, Support, Triangle};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::Operator;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, steps, views] = arguments.as_slice() else { return Err("usage: sampling GRAPH STEPS VIEWS".into()) };
    let (steps, views): (usize, u64) = (steps.parse()?, views.parse()?);
    let data = catalogue::open(name, &ReadOptions::default())?;
    let graph = data.graph().ok_or("one graph is expected")?;
    let nodes = graph.num_nodes();
    let original =
        full_spectrum(&Pairs::new(graph, &[]), Operator::Propagation, SpectralObjective::Expected).squared_norm;
    let budget = 0.3 * graph.num_edges() as f64;
    let ascent = Ascent { direction: Direction::Min, budget, steps, ..Ascent::default() };
    let mut triangle = Triangle::new(graph, vec![0.0; nodes * (nodes - 1) / 2]);
    let evaluate = |support: &Triangle<'_>| full_spectrum(support, Operator::Propagation, SpectralObjective::Expected);
    ascent.run(&mut triangle, original, evaluate, |_| true);
    let expected = triangle.mass().total();
    let began = Instant::now();
    let flips = EdgeFlips::of_triangle(nodes, triangle.into_probabilities());
    let arranging = began.elapsed().as_secs_f64();
    let mut drawn = 0;
    let mut times: Vec<f64> = (0..views)
        .map(|epoch| {
            let began = Instant::now();
            drawn += flips.draw(1, epoch, 0).len();
            began.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{{\"nodes\":{nodes},\"expected_flips\":{expected:.1},\"mean_flips\":{:.1},\"arranging_seconds\":{arranging:.3},\
         \"median_seconds\":{:.6},\"least_seconds\":{:.6}}}",
        drawn as f64 / views as f64,
        times[times.len() / 2],
        times[0],
    );
    Ok(())
}
