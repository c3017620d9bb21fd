//! What the norm of drawn graphs costs beside that of the expected graph: `cost [laplacian] GRAPH SUPPORT [REPEATS]`.
//!
//! SUPPORT is `all`, `edges` or `candidates:EACH`. Whole ascents of both objectives take turns, so that whatever else the machine
//! does slows both; of each the quickest counts. An evaluation is one of the objective with all that a step adds to it: moving the
//! values, projecting them and looking at the gap. Prints one line of JSON a direction.

use std::error::Error;
use std::time::Instant;

use fiedler_augment::ascent::{Ascent, Direction};
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::support::{PairSupport, Pairs, Support, draw_candidates};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::Operator;

const BUDGET: f64 = 0.3;
const STEPS: usize = 50;

/// The quickest of several ascents.
struct Quickest {
    seconds: f64,
    evaluations: usize,
    steps: usize,
    gap: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let operator = match arguments.first().map(String::as_str) {
        Some("laplacian") => {
            arguments.remove(0);
            Operator::Laplacian
        }
        _ => Operator::Propagation,
    };
    let [name, support, repeats @ ..] = arguments.as_slice() else {
        return Err("usage: cost [laplacian] GRAPH SUPPORT [REPEATS]".into());
    };
    let repeats: usize = repeats.first().map_or(Ok(10), |repeats| repeats.parse())?;
    let data = catalogue::open(name, &ReadOptions::default())?;
    let graph = data.graph().ok_or("one graph is expected")?;
    let objectives = [SpectralObjective::Expected, SpectralObjective::Sampled];
    let starts = objectives.map(|objective| full_spectrum(&Pairs::new(graph, &[]), operator, objective));
    let empty = match support.as_str() {
        "all" => PairSupport::all(graph),
        "edges" => PairSupport::Chosen(Pairs::new(graph, &[])),
        other => {
            let each = other.strip_prefix("candidates:").ok_or("all, edges or candidates:EACH is expected")?.parse()?;
            PairSupport::Chosen(Pairs::new(graph, &draw_candidates(graph, &starts[0].kernel.pull, each, 1)))
        }
    };
    for direction in [Direction::Max, Direction::Min] {
        let budget = BUDGET * graph.num_edges() as f64;
        let ascent = Ascent { direction, budget, steps: STEPS, ..Ascent::default() };
        let mut quickest = [(); 2].map(|()| Quickest { seconds: f64::INFINITY, evaluations: 0, steps: 0, gap: 0.0 });
        for _ in 0..repeats {
            for ((objective, start), quickest) in objectives.into_iter().zip(&starts).zip(&mut quickest) {
                let mut support = empty.clone();
                let original = start.squared_norm;
                let began = Instant::now();
                let evaluate = |support: &PairSupport<'_>| full_spectrum(support, operator, objective);
                let outcome = ascent.run(&mut support, original, evaluate, |_| true);
                let seconds = began.elapsed().as_secs_f64();
                if seconds < quickest.seconds {
                    let gained = (outcome.relative_norm.powi(2) - 1.0).abs() * original;
                    let (evaluations, steps) = (outcome.evaluations, outcome.curve.len() - 1);
                    *quickest = Quickest { seconds, evaluations, steps, gap: outcome.gap / gained };
                }
            }
        }
        let each = quickest.each_ref().map(|of| 1e9 * of.seconds / (of.evaluations * empty.places()) as f64);
        print!("{{\"direction\":\"{direction:?}\",\"pairs\":{}", empty.places());
        for ((name, of), each) in ["expected", "sampled"].into_iter().zip(&quickest).zip(each) {
            let Quickest { seconds, evaluations, steps, gap } = of;
            print!(
                ",\"{name}\":{{\"steps\":{steps},\"evaluations\":{evaluations},\"gap\":{gap:.4},\"milliseconds\":{:.3},\
                 \"nanoseconds_a_pair_and_evaluation\":{each:.2}}}",
                1e3 * seconds
            );
        }
        println!(",\"ratio\":{:.2}}}", each[1] / each[0]);
    }
    Ok(())
}
