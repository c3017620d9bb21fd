//! Times the ascent: `ascent [laplacian] [sampled] GRAPH SUPPORT STEPS [RATE_MAX RATE_MIN]`.
//!
//! GRAPH is a name of the catalogue or `random:NODES:EDGES`; SUPPORT is `all`, `edges` or `candidates:EACH`. Values start at
//! zero, the operator is the propagation and the objective the norm of the expected graph unless the first words say otherwise,
//! the budget is 0.3 of the edges. Prints one line of JSON for each direction and one for the process; with `all` the latter has
//! the time of a plain pass that reads and writes every value.

use std::error::Error;
use std::time::Instant;

use fiedler_augment::ascent::{Ascent, Direction, StepSize};
use fiedler_augment::objective::{SpectralObjective, full_spectrum};
use fiedler_augment::support::{Pairs, Support, Triangle, draw_candidates};
use fiedler_graph::generate::{ErdosRenyi, erdos_renyi};
use fiedler_graph::{Dataset, Graph};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::Operator;
use rayon::prelude::*;

const BUDGET: f64 = 0.3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut given = |word: &str| match arguments.first() {
        Some(first) if first == word => !arguments.remove(0).is_empty(),
        _ => false,
    };
    let operator = if given("laplacian") { Operator::Laplacian } else { Operator::Propagation };
    let objective = if given("sampled") { SpectralObjective::Sampled } else { SpectralObjective::Expected };
    let [name, support, steps, rates @ ..] = arguments.as_slice() else {
        return Err("usage: ascent [laplacian] [sampled] GRAPH SUPPORT STEPS [RATE_MAX RATE_MIN]".into());
    };
    let steps: usize = steps.parse()?;
    let rates: Vec<f64> = rates.iter().map(|rate| rate.parse()).collect::<Result<_, _>>()?;
    let data = open(name)?;
    let graph = data.graph().ok_or("one graph is expected")?;
    let start = full_spectrum(&Pairs::new(graph, &[]), operator, objective);
    println!("{{\"graph\":{name:?},\"nodes\":{},\"edges\":{}}}", graph.num_nodes(), graph.num_edges());
    for (place, direction) in [Direction::Max, Direction::Min].into_iter().enumerate() {
        let step_size = rates.get(place).map_or(StepSize::default(), |&rate| StepSize::Rate(rate));
        let budget = BUDGET * graph.num_edges() as f64;
        let task = Task {
            ascent: Ascent { direction, budget, steps, step_size, ..Ascent::default() },
            original: start.squared_norm,
            pull: &start.kernel.pull,
            operator,
            objective,
        };
        match support.as_str() {
            "all" => task.run(&mut Triangle::new(graph, vec![0.0; graph.num_nodes() * (graph.num_nodes() - 1) / 2])),
            "edges" => task.run(&mut Pairs::new(graph, &[])),
            other => task.run(&mut task.pairs(graph, other)?),
        }
    }
    let peak = peak_megabytes();
    let count = if support == "all" { graph.num_nodes() * (graph.num_nodes() - 1) / 2 } else { 0 };
    let (pass, work) = if count > 0 { pass_seconds(count) } else { (f64::NAN, f64::NAN) };
    println!(
        "{{\"peak_megabytes\":{peak},\"pass_seconds\":{},\"pass_processor_seconds\":{}}}",
        number(pass),
        number(work)
    );
    Ok(())
}

fn open(name: &str) -> Result<Dataset, Box<dyn Error>> {
    let Some(numbers) = name.strip_prefix("random:") else {
        return Ok(catalogue::open(name, &ReadOptions::default())?);
    };
    let (nodes, edges) = numbers.split_once(':').ok_or("random:NODES:EDGES is expected")?;
    let (nodes, edges): (usize, f64) = (nodes.parse()?, edges.parse()?);
    let probability = 2.0 * edges / (nodes as f64 * (nodes as f64 - 1.0));
    Ok(erdos_renyi(&ErdosRenyi { nodes, probability }, 1)?)
}

struct Task<'a> {
    ascent: Ascent,
    original: f64,
    pull: &'a [f64],
    operator: Operator,
    objective: SpectralObjective,
}

impl Task<'_> {
    fn pairs(&self, graph: &Graph, support: &str) -> Result<Pairs, Box<dyn Error>> {
        let each = support.strip_prefix("candidates:").ok_or("all, edges or candidates:EACH is expected")?.parse()?;
        let (began, work) = (Instant::now(), processor_seconds());
        let pairs = Pairs::new(graph, &draw_candidates(graph, self.pull, each, 1));
        println!(
            "{{\"pairs\":{},\"drawing_seconds\":{:.4},\"drawing_processor_seconds\":{:.2}}}",
            pairs.len(),
            began.elapsed().as_secs_f64(),
            processor_seconds() - work
        );
        Ok(pairs)
    }

    fn run<S: Support>(&self, support: &mut S) {
        let (began, work) = (Instant::now(), processor_seconds());
        let evaluate = |support: &S| full_spectrum(support, self.operator, self.objective);
        let outcome = self.ascent.run(support, self.original, evaluate, |_| true);
        let (seconds, work) = (began.elapsed().as_secs_f64(), processor_seconds() - work);
        println!(
            "{{\"direction\":\"{:?}\",\"steps\":{},\"evaluations\":{},\"gap\":{:.4},\"seconds\":{seconds:.4},\
             \"processor_seconds\":{work:.2},\"rate\":{:e},\"norm\":{:.9},\"mass\":{:.3}}}",
            self.ascent.direction,
            outcome.curve.len() - 1,
            outcome.evaluations,
            // As a share of what was gained.
            outcome.gap / ((outcome.relative_norm.powi(2) - 1.0) * self.original).abs(),
            outcome.rate,
            outcome.relative_norm * self.original.sqrt(),
            support.mass().total(),
        );
    }
}

/// Seconds of a pass that reads and writes every one of so many values, on all threads: the quickest of a few on the clock,
/// and the mean of what the processors worked.
fn pass_seconds(count: usize) -> (f64, f64) {
    const PASSES: usize = 16;
    let mut values = vec![1.0f32; count];
    let mut pass = || {
        let began = Instant::now();
        values.par_chunks_mut(1 << 16).for_each(|values| values.iter_mut().for_each(|value| *value += 1.0));
        began.elapsed().as_secs_f64()
    };
    let work = processor_seconds();
    let quickest = (0..PASSES).map(|_| pass()).fold(f64::INFINITY, f64::min);
    (quickest, (processor_seconds() - work) / PASSES as f64)
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.4}") } else { "null".into() }
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

/// The most memory this process has held, where the system tells.
fn peak_megabytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<u64>().ok()).unwrap_or(0) / 1000
}
