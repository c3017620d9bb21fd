//! The schemes against the paper's algorithm written down plainly: dense matrices in double precision, eigenvalues by a dense
//! solver, derivatives by finite differences, projection by bisection; and what they say of special graphs against the same.
#![allow(clippy::unwrap_used)]

use faer::{Mat, Side};
use fiedler_augment::ascent::StepSize;
use fiedler_augment::objective::SpectralObjective;
use fiedler_augment::scheme::{
    Augmentation, NodeDropping, NormOf, SchemeSettings, Spectral, Start, SupportChoice, ViewReport,
};
use fiedler_graph::random::stream;
use fiedler_graph::{Graph, GraphSet, NoObserver};
use fiedler_spectral::Operator;
use rand::RngExt;

const STEPS: usize = 8;

/// A connected graph, so that every derivative exists.
fn connected_graph(nodes: u32, seed: u64) -> Graph {
    let mut random = stream(seed, "test graph", 0);
    let mut pairs: Vec<(u32, u32)> = (1..nodes).map(|node| (random.random_range(0..node), node)).collect();
    pairs.extend(all_pairs(nodes).filter(|_| random.random_bool(0.25)));
    Graph::from_pairs(nodes as usize, pairs).unwrap().0
}

fn all_pairs(nodes: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..nodes).flat_map(move |low| (low + 1..nodes).map(move |high| (low, high)))
}

/// The eigenvalues that count of the graph whose weights are given for all pairs: the K lowest, then the K highest downwards.
fn eigenvalues(nodes: usize, weights: &[f64], operator: Operator, k: Option<usize>) -> Vec<f64> {
    let own = if operator == Operator::Propagation { 1.0 } else { 0.0 };
    let mut matrix = Mat::<f64>::zeros(nodes, nodes);
    for ((low, high), &weight) in all_pairs(nodes as u32).zip(weights) {
        matrix[(low as usize, high as usize)] = weight;
        matrix[(high as usize, low as usize)] = weight;
    }
    (0..nodes).for_each(|node| matrix[(node, node)] = own);
    let roots: Vec<f64> =
        (0..nodes).map(|row| (0..nodes).map(|column| matrix[(row, column)]).sum::<f64>().sqrt()).collect();
    let normalized = Mat::from_fn(nodes, nodes, |row, column| {
        // A node without edges has none in its row either.
        let scale = roots[row] * roots[column];
        let entry = if scale > 0.0 { matrix[(row, column)] / scale } else { 0.0 };
        match operator {
            Operator::Propagation => entry,
            Operator::Laplacian => f64::from(u8::from(row == column)) - entry,
        }
    });
    let all = normalized.self_adjoint_eigenvalues(Side::Lower).unwrap();
    match k.filter(|k| 2 * k < nodes) {
        Some(ends) => all[..ends].iter().chain(all[nodes - ends..].iter().rev()).copied().collect(),
        None => all,
    }
}

/// What is optimized, by the values of pairs or of nodes.
struct Problem<'a> {
    graph: &'a Graph,
    operator: Operator,
    k: Option<usize>,
    of_nodes: bool,
    distance: bool,
    /// Seed of the start.
    seed: u64,
}

impl Problem<'_> {
    fn spectrum(&self, x: &[f64]) -> Vec<f64> {
        let weight = |(at, (low, high)): (usize, (u32, u32))| {
            let edge = self.graph.has_edge(low, high);
            let flip = if self.of_nodes { (x[low as usize] + x[high as usize]) / 2.0 } else { x[at] };
            match (edge, self.of_nodes) {
                (true, _) => 1.0 - flip,
                (false, true) => 0.0,
                (false, false) => flip,
            }
        };
        let weights: Vec<f64> = all_pairs(self.graph.num_nodes() as u32).enumerate().map(weight).collect();
        eigenvalues(self.graph.num_nodes(), &weights, self.operator, self.k)
    }

    /// Norm or distance, relative to the original norm.
    fn value(&self, x: &[f64], from: &[f64], original: &[f64]) -> f64 {
        let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
        let spectrum = self.spectrum(x);
        let moved = norm(&mut spectrum.iter().zip(from).map(|(a, b)| if self.distance { a - b } else { *a }));
        moved / norm(&mut original.iter().copied())
    }

    fn gradient(&self, x: &[f64], from: &[f64], original: &[f64]) -> Vec<f64> {
        const H: f64 = 1e-6;
        let at = |place: usize, shift: f64| {
            let mut x = x.to_vec();
            x[place] += shift;
            self.value(&x, from, original)
        };
        (0..x.len()).map(|place| (at(place, H) - at(place, -H)) / (2.0 * H)).collect()
    }
}

fn project(values: &mut [f64], budget: f64) {
    let mass = |shift: f64| values.iter().map(|value| (value - shift).clamp(0.0, 1.0)).sum::<f64>();
    let (mut low, mut high) = (0.0, 0.0);
    if mass(0.0) > budget {
        high = 10.0;
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            if mass(middle) > budget { low = middle } else { high = middle }
        }
    }
    values.iter_mut().for_each(|value| *value = (*value - high).clamp(0.0, 1.0));
}

/// The probabilities of one view, for every pair or node.
fn probabilities(augmentation: &Augmentation, nodes: u32) -> Vec<f64> {
    match augmentation {
        Augmentation::Nodes(nodes) => nodes.of_nodes().iter().map(|&p| f64::from(p)).collect(),
        Augmentation::Pairs(pairs) => {
            let found = pairs.graphs()[0].pairs();
            let of = |pair| found.iter().find(|(other, _)| *other == pair).map_or(0.0, |(_, p)| f64::from(*p));
            all_pairs(nodes).map(of).collect()
        }
        _ => unreachable!("an optimized view"),
    }
}

/// The random start of a view, before a scheme rounds it.
fn random_start(problem: &Problem<'_>, places: usize, view: usize, budget: f64) -> Vec<f64> {
    let purpose = if view == 0 { "first start" } else { "second start" };
    let mut random = stream(problem.seed, purpose, 0);
    let high = 1.0 / problem.graph.num_nodes() as f32;
    let mut x: Vec<f64> = (0..places).map(|_| f64::from(random.random_range(1e-5f32..high))).collect();
    project(&mut x, budget);
    x
}

/// Follows a scheme step by step, each time from the beginning, beside the plain algorithm; a negative rate descends.
fn follow(
    name: &str,
    problem: &Problem<'_>,
    rate: f64,
    budget: f64,
    views: &[usize],
    make: impl Fn(usize) -> SchemeSettings,
) {
    let graph = problem.graph;
    let nodes = graph.num_nodes() as u32;
    let set = GraphSet::single(graph.clone());
    let places = if problem.of_nodes { graph.num_nodes() } else { all_pairs(nodes).count() };
    let original = problem.spectrum(&vec![0.0; places]);
    let compute = |steps: usize| make(steps).compute(&set, &NoObserver).unwrap();
    let start = compute(0);
    let mut x: Vec<Vec<f64>> = views.iter().map(|&view| random_start(problem, places, view, budget)).collect();
    for step in 1..=STEPS {
        let from: Vec<Vec<f64>> = match views {
            [_, _] => x.iter().rev().map(|x| problem.spectrum(x)).collect(),
            _ => vec![original.clone()],
        };
        for (x, from) in x.iter_mut().zip(&from) {
            let gradient = problem.gradient(x, from, &original);
            let eta = rate / ((step + 1) as f64).sqrt();
            x.iter_mut().zip(&gradient).for_each(|(x, slope)| *x += eta * slope);
            project(x, budget);
        }
        let scheme = compute(step);
        for (x, &view) in x.iter().zip(views) {
            let found = probabilities(&scheme.views()[view], nodes);
            // A scheme rounds its probabilities down, by one part in 512 at most.
            let off = |(a, b): (&f64, &f64)| (b - a).max(a * (1.0 - 1.0 / 512.0) - b).max(0.0);
            let worst = x.iter().zip(&found).map(off).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{name}, view {view}, step {step}: off by {worst:.1e}");
            let moved = x.iter().zip(probabilities(&start.views()[view], nodes)).any(|(a, b)| (a - b).abs() > 1e-3);
            assert!(moved, "{name}: a test in which something happens");
        }
    }
}

#[test]
fn every_step_of_every_scheme_is_that_of_the_plain_algorithm() {
    for seed in 0..4 {
        let graph = connected_graph(9, seed);
        for operator in Operator::ALL {
            for eigenvalues in [None, Some(3)] {
                let rate = 3.0;
                let base = Spectral {
                    operator,
                    objective: Some(SpectralObjective::Expected),
                    k: eigenvalues,
                    ratio: 0.2,
                    step_size: StepSize::Rate(rate),
                    start: Some(Start::Uniform),
                    support: SupportChoice::All,
                    noise: 0.0,
                    seed,
                    ..Spectral::default()
                };
                let budget = 0.2 * graph.num_edges() as f64;
                let name = |scheme: &str| format!("{scheme}, {operator}, {eigenvalues:?}, seed {seed}");
                let problem =
                    |of_nodes, distance| Problem { graph: &graph, operator, k: eigenvalues, of_nodes, distance, seed };
                let opposite = |steps| SchemeSettings::Opposite(Spectral { steps, ..base });
                follow(&name("max"), &problem(false, false), rate, budget, &[0], opposite);
                follow(&name("min"), &problem(false, false), -rate, budget, &[1], opposite);
                let small = Spectral { step_size: StepSize::Rate(0.3), start: None, ..base };
                follow(&name("single"), &problem(false, true), 0.3, budget, &[0], |steps| {
                    SchemeSettings::Single(Spectral { steps, ..small })
                });
                follow(&name("double"), &problem(false, true), 0.3, budget, &[0, 1], |steps| {
                    SchemeSettings::Double(Spectral { steps, ..small })
                });
                follow(&name("node dropping"), &problem(true, true), 0.3, 0.2 * 9.0, &[0], |steps| {
                    let step_size = StepSize::Rate(0.3);
                    SchemeSettings::NodeDropping(NodeDropping {
                        operator,
                        k: eigenvalues,
                        steps,
                        step_size,
                        noise: 0.0,
                        seed,
                        ..Default::default()
                    })
                });
            }
        }
    }
}

/// Graphs whose symmetry, size or lack of edges leaves a scheme little to do.
fn special_graphs() -> Vec<(&'static str, Graph)> {
    let graph = |nodes: usize, pairs: Vec<(u32, u32)>| Graph::from_pairs(nodes, pairs).unwrap().0;
    let ring = |nodes: u32, first: u32| (0..nodes).map(move |node| (first + node, first + (node + 1) % nodes));
    vec![
        ("cycle", graph(16, ring(16, 0).collect())),
        ("star", graph(12, (1..12).map(|leaf| (0, leaf)).collect())),
        ("path", graph(14, (1..14).map(|node| (node - 1, node)).collect())),
        ("complete", graph(9, all_pairs(9).collect())),
        ("two components", graph(12, ring(6, 0).chain(ring(6, 6)).collect())),
        ("one node", graph(1, vec![])),
        ("two nodes", graph(2, vec![(0, 1)])),
        ("two nodes without an edge", graph(2, vec![])),
        ("no edges", graph(7, vec![])),
    ]
}

/// Every optimized scheme with default settings.
fn optimized(k: Option<usize>) -> Vec<SchemeSettings> {
    let spectral = Spectral { k, ..Spectral::default() };
    let expected = Spectral { objective: Some(SpectralObjective::Expected), ..spectral };
    vec![
        SchemeSettings::Opposite(spectral),
        SchemeSettings::Opposite(expected),
        SchemeSettings::Single(spectral),
        SchemeSettings::Double(spectral),
        SchemeSettings::NodeDropping(NodeDropping { k, ..NodeDropping::default() }),
    ]
}

/// A right answer or a plain sentence: what is told is what the probabilities have, nothing goes to the wrong side, and a view that does
/// not move, or drawn views that are not what is told, are said to be so.
#[test]
fn special_graphs_have_a_right_answer_or_a_sentence() {
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    for (name, graph) in special_graphs() {
        let (nodes, set) = (graph.num_nodes(), GraphSet::single(graph.clone()));
        for (k, settings) in [None, Some(2)].into_iter().flat_map(|k| optimized(k).into_iter().map(move |of| (k, of))) {
            let scheme = settings.compute(&set, &NoObserver).unwrap();
            let (operator, of_nodes) = (Operator::Laplacian, matches!(settings, SchemeSettings::NodeDropping(_)));
            let problem = Problem { graph: &graph, operator, k, of_nodes, distance: false, seed: 0 };
            let places = if of_nodes { nodes } else { nodes * (nodes - 1) / 2 };
            let original = problem.spectrum(&vec![0.0; places]);
            let spectra: Vec<Vec<f64>> = scheme
                .views()
                .iter()
                .map(|view| match view {
                    Augmentation::Unchanged => original.clone(),
                    view => problem.spectrum(&probabilities(view, nodes as u32)),
                })
                .collect();
            let report = scheme.report();
            let said = |view: &ViewReport| {
                let named = format!("view {}", view.name);
                report.notes.iter().chain(&report.warnings).any(|sentence| sentence.contains(&named))
            };
            for (at, view) in report.views.iter().enumerate().filter(|(_, view)| view.name != "unchanged") {
                let place = format!("{name}, {}, {}, k {k:?}", settings.name(), view.name);
                let (told, drawn) = (view.norm.unwrap(), view.drawn_norm.unwrap());
                println!("{place}: {told:?}, {:.2} of {:.2}, {:?}", view.mass.total(), view.budget, report.notes);
                assert!(view.mass.total() <= view.budget * (1.0 + 1e-5) + 1e-6, "{place}");
                // Probabilities are rounded, and eigenvalues parted by a little noise.
                let near = |a: f64, b: f64| (a - b).abs() < 0.01 * norm(&original) + 1e-9;
                assert!(near(told.before, norm(&original)), "{place}: {told:?}, {}", norm(&original));
                let moved = match told.distance {
                    Some(distance) => {
                        let other = if view.name == "single" || of_nodes { &original } else { &spectra[1 - at] };
                        let apart: Vec<f64> = spectra[at].iter().zip(other).map(|(a, b)| a - b).collect();
                        assert!(near(distance * told.before, norm(&apart)), "{place}: {told:?}, {}", norm(&apart));
                        distance
                    }
                    None => {
                        let right = match told.of {
                            NormOf::ExpectedGraph => norm(&spectra[at]),
                            NormOf::DrawnGraphs => drawn.mean,
                        };
                        let least = 3.0 * drawn.std / (drawn.views as f64).sqrt();
                        let is_right = near(told.after, right)
                            || told.of == NormOf::DrawnGraphs && (told.after - right).abs() < least;
                        assert!(is_right, "{place}: {told:?}, {right}");
                        let sign = if view.name == "max" { 1.0 } else { -1.0 };
                        sign * (told.after - told.before) / told.before.max(1e-12)
                    }
                };
                // The noise that parts eigenvalues is on the pairs that may flip, and so a little different before.
                assert!(moved > -1e-4, "{place}: {told:?} is the wrong side");
                assert!(moved > 1e-4 || said(view), "{place}: does not move, without a word");
                // Where some eigenvalues count, the norm of all says nothing of them.
                let off = (drawn.mean - told.after).abs() > 0.02 * told.after + 3.0 * drawn.std;
                assert!(k.is_some_and(|k| 2 * k < nodes) || !off || said(view), "{place}: {told:?}, drawn {drawn:?}");
            }
        }
    }
}
