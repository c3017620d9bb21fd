//! Distances between spectra without an eigensolver, against eigenpairs.
#![allow(clippy::unwrap_used)]

use std::io::Write;

use fiedler_augment::Error;
use fiedler_augment::ascent::{Ascent, Direction};
use fiedler_augment::eigen::Eigensolver;
use fiedler_augment::kernel::{MatrixPart, PairKernel};
use fiedler_augment::objective::Evaluation;
use fiedler_augment::scheme::{NodeDropping, SchemeSettings, Spectral, SupportChoice};
use fiedler_augment::support::{Nodes, Pairs, Power, Support, Triangle};
use fiedler_augment::transport::{SpectrumMethod, SpectrumSolver};
use fiedler_graph::generate::{Geometric, random_geometric};
use fiedler_graph::random::stream;
use fiedler_graph::{Dataset, Graph, GraphSet, NoObserver};
use fiedler_io::{ReadOptions, catalogue};
use fiedler_spectral::Operator;
use rand::RngExt;

/// Points on a plane, some of them far from all others: repeated eigenvalues and isolated nodes.
fn geometric(nodes: usize) -> Dataset {
    let radius = (2.0 / nodes as f64).sqrt();
    random_geometric(&Geometric { nodes, radius, clusters: 4, spread: 0.12 }, 3).unwrap()
}

fn published(name: &str) -> Option<Dataset> {
    if std::env::var_os("FIEDLER_DATA").is_none() {
        let _ = writeln!(std::io::stderr(), "skipped: {name} (FIEDLER_DATA is not set)");
        return None;
    }
    Some(catalogue::open(name, &ReadOptions::default()).unwrap())
}

/// Edges and some pairs that are none, with probabilities as in the middle of an ascent.
fn support(graph: &Graph) -> Pairs {
    let nodes = graph.num_nodes() as u32;
    let mut random = stream(1, "test", 0);
    let mut candidates: Vec<(u32, u32)> = (0..nodes * 20)
        .map(|_| (random.random_range(0..nodes), random.random_range(0..nodes)))
        .filter(|&(low, high)| low < high && !graph.has_edge(low, high))
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    let edges: Vec<bool> = Pairs::new(graph, &candidates).iter().map(|(_, _, edge, _)| edge).collect();
    let mut pairs = Pairs::new(graph, &candidates);
    let mut edges = edges.into_iter();
    pairs.fill(&mut || random.random_range(0.0..if edges.next().unwrap() { 0.3 } else { 0.02 }));
    pairs
}

fn solver(method: SpectrumMethod, operator: Operator) -> SpectrumSolver {
    let eigensolver =
        Eigensolver { operator, k: None, noise: 1e-9, seed: 5, memory: 1 << 32, tolerance: 1e-6, warm: None };
    SpectrumSolver::new(method, eigensolver)
}

/// The distance of a support's spectrum from that of another.
fn evaluate(mut solver: SpectrumSolver, from: &impl Support, support: &impl Support) -> Evaluation {
    let original = solver.measure_fixed(from).unwrap();
    let measured = solver.measure(support).unwrap();
    solver.distance(&measured, &original)
}

/// The derivative with respect to the probability of every pair.
fn derivatives(kernel: &PairKernel, support: &impl Support) -> Vec<f64> {
    let mut derivatives = Vec::new();
    support.visit(&mut |low, high, edge, x| {
        let (low, high, x) = (low as usize, high as usize, f64::from(x));
        derivatives.push(if edge { -kernel.at(low, high, 1.0 - x) } else { kernel.at(low, high, x) });
    });
    derivatives
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    inner(a, b) / (inner(a, a) * inner(b, b)).sqrt()
}

fn compare(name: &str, graph: &Graph, method: SpectrumMethod, operator: Operator, degrees: &[usize]) -> Vec<f64> {
    let (from, support) = (Pairs::new(graph, &[]), support(graph));
    let exact = evaluate(solver(SpectrumMethod::Exact, operator), &from, &support);
    let right = exact.squared_norm.sqrt();
    let exact = derivatives(&exact.kernel, &support);
    let of_degree = |&degree: &usize| {
        let found = evaluate(solver(method, operator).with_degree(degree), &from, &support);
        let (cosine, told) = (cosine(&exact, &derivatives(&found.kernel, &support)), found.squared_norm.sqrt());
        println!(
            "{name}, {operator}, {} {degree}: cosine {cosine:.4}, distance {told:.4} of {right:.4}",
            method.name()
        );
        // Distances below the resolution of the moments are told too small, never too large.
        assert!(told < 1.02 * right && told > 0.8 * right, "{name}: {told} is not {right}");
        cosine
    };
    degrees.iter().map(of_degree).collect()
}

/// 20 degrees do for the Laplacian of a random graph. Points on a plane have many small parts that are alike, and so repeated eigenvalues, for which
/// the eigenpairs' own gradient depends on the noise that parts them.
#[test]
fn polynomials_give_the_gradient_of_eigenpairs() {
    let mut random = stream(9, "test", 0);
    let pairs = (0..1500).map(|_| (random.random_range(0..500), random.random_range(0..500)));
    let random_graph = Graph::from_pairs(500, pairs.filter(|(low, high)| low != high).collect()).unwrap().0;
    let plane = geometric(500);
    for operator in Operator::ALL {
        let method = SpectrumMethod::Chebyshev;
        let of_random = compare("random", &random_graph, method, operator, &[20, 40]);
        // Self-loops narrow the spectrum, of which the same degree then shows less.
        let least = if operator == Operator::Laplacian { 0.995 } else { 0.98 };
        assert!(of_random[0] > least && of_random[1] > of_random[0], "{of_random:?}");
        let of_plane = compare("geometric", plane.graph().unwrap(), method, operator, &[20, 40]);
        assert!(of_plane[0] > 0.98 && of_plane[1] > of_plane[0], "{of_plane:?}");
    }
}

#[test]
fn polynomials_give_the_gradient_of_eigenpairs_on_cora() {
    let Some(cora) = published("cora") else { return };
    let graph = cora.graph().unwrap();
    let cosines = compare("cora", graph, SpectrumMethod::Chebyshev, Operator::Laplacian, &[20, 40]);
    assert!(cosines[0] > 0.995 && cosines[1] > cosines[0], "{cosines:?}");
}

/// An estimate by 256 signs is right on average, and far from a random direction.
#[test]
fn random_signs_point_where_the_gradient_points() {
    let data = geometric(500);
    let cosines = compare("geometric", data.graph().unwrap(), SpectrumMethod::Probes, Operator::Laplacian, &[20]);
    assert!(cosines[0] > 0.8, "{cosines:?}");
}

/// What is computed a row at a time for all pairs is what is listed for chosen ones.
#[test]
fn all_pairs_have_the_same_derivative_by_rows_as_by_list() {
    let data = geometric(90);
    let graph = data.graph().unwrap();
    let mut random = stream(2, "test", 0);
    let values: Vec<f32> = (0..90 * 89 / 2).map(|_| random.random_range(0.0..0.02)).collect();
    let from = Pairs::new(graph, &[]);
    for operator in Operator::ALL {
        let triangle = Triangle::new(graph, values.clone());
        let listed = evaluate(solver(SpectrumMethod::Chebyshev, operator), &from, &triangle);
        let by_rows = evaluate(solver(SpectrumMethod::Chebyshev, operator).with_table_bytes(0), &from, &triangle);
        let signs = evaluate(solver(SpectrumMethod::Probes, operator), &from, &triangle);
        let low_rank = evaluate(solver(SpectrumMethod::Probes, operator).with_table_bytes(0), &from, &triangle);
        assert!(matches!(listed.kernel.low_rank, Some(MatrixPart::Listed(_))));
        assert!(matches!(by_rows.kernel.low_rank, Some(MatrixPart::Series(_))));
        assert!(matches!(low_rank.kernel.low_rank, Some(MatrixPart::LowRank(_))));
        for (name, one, other) in [("columns", listed, by_rows), ("signs", signs, low_rank)] {
            assert_eq!(one.squared_norm, other.squared_norm);
            let (mut first, mut second) = (triangle.clone(), triangle.clone());
            let rises = (first.rise(&one.kernel, 1.0, 0.0), second.rise(&other.kernel, 1.0, 0.0));
            assert!((rises.0.largest - rises.1.largest).abs() < 1e-3 * rises.0.largest, "{name}: {rises:?}");
            assert!((rises.0.total - rises.1.total).abs() < 1e-3 * rises.0.total, "{name}: {rises:?}");
            let rate = 0.05 / rises.0.largest;
            first.advance(&one.kernel, rate);
            second.advance(&other.kernel, rate);
            let (mut moved, mut apart) = (0.0f32, 0.0f32);
            let mut before = Vec::new();
            first.visit(&mut |_, _, _, x| before.push(x));
            let mut place = 0;
            second.visit(&mut |_, _, _, x| {
                moved = moved.max((x - values[place]).abs());
                apart = apart.max((x - before[place]).abs());
                place += 1;
            });
            assert!(moved > 0.01 && apart < 1e-3 * moved, "{name}: moved {moved}, apart {apart}");
        }
    }
}

/// The distance that a scheme reaches, as all eigenvalues tell it.
fn reached(settings: SchemeSettings, set: &GraphSet) -> f64 {
    let scheme = settings.compute(set, &NoObserver).unwrap();
    let norm = scheme.report().views[0].norm.unwrap();
    println!("{}: {norm:?}, {:?}", settings.name(), scheme.report().notes);
    norm.distance.unwrap()
}

/// How far polynomials lead, as a share of how far eigenpairs do.
fn share(set: &GraphSet, settings: impl Fn(SpectrumMethod) -> SchemeSettings) -> f64 {
    let [exact, found] =
        [SpectrumMethod::Exact, SpectrumMethod::Chebyshev].map(|method| reached(settings(method), set));
    found / exact
}

fn reach_as_far(set: &GraphSet, settings: impl Fn(SpectrumMethod) -> SchemeSettings) {
    let share = share(set, settings);
    assert!(share >= 0.98, "{share}");
}

fn pairs_reach_as_far(set: &GraphSet, support: SupportChoice) {
    let spectral = |spectra| Spectral { support, steps: 20, spectra, ..Spectral::default() };
    reach_as_far(set, |method| SchemeSettings::Single(spectral(method)));
    reach_as_far(set, |method| SchemeSettings::Double(spectral(method)));
}

#[test]
fn ascents_reach_as_far_as_with_eigenpairs() {
    pairs_reach_as_far(&geometric(300).graphs, SupportChoice::Candidates);
    pairs_reach_as_far(&geometric(120).graphs, SupportChoice::All);
    let dropping = |spectra| NodeDropping { steps: 20, spectra, ..NodeDropping::default() };
    reach_as_far(&geometric(300).graphs, |method| SchemeSettings::NodeDropping(dropping(method)));
}

/// Steps beyond the first twenty, which the two views of `double` make at once: rounds that adapt, in the end with finer polynomials. Where
/// they end differs from graph to graph by several percent, for either kind of gradient, and by how the processor rounds: shares are means
/// over four graphs, and what is ahead counts no more than what is level where rounds end by what they gain.
#[test]
fn later_rounds_reach_as_far_as_with_eigenpairs() {
    let graphs = [140, 160, 180, 200].map(|nodes| geometric(nodes).graphs);
    let spectral =
        |spectra| Spectral { support: SupportChoice::Candidates, steps: 100, spectra, ..Spectral::default() };
    let dropping = |spectra| NodeDropping { steps: 60, spectra, ..NodeDropping::default() };
    let mean = |shares: [f64; 4]| shares.iter().sum::<f64>() / 4.0;
    let single = graphs.each_ref().map(|set| share(set, |method| SchemeSettings::Single(spectral(method))));
    assert!(mean(single) > 0.98, "{single:?}");
    let double = graphs.each_ref().map(|set| share(set, |method| SchemeSettings::Double(spectral(method))).min(1.0));
    assert!(mean(double) > 0.94, "{double:?}");
    let dropped = graphs.each_ref().map(|set| share(set, |method| SchemeSettings::NodeDropping(dropping(method))));
    assert!(mean(dropped) > 0.98, "{dropped:?}");
    let method = SpectrumMethod::Chebyshev;
    let scheme = SchemeSettings::Double(spectral(method)).compute(&graphs[1], &NoObserver).unwrap();
    assert!(scheme.report().views[0].steps > 20, "{} steps", scheme.report().views[0].steps);
}

/// Where many outermost eigenvalues count, moments of all do for the steps: their gradient, and how far the norm of the eigenvalues gets.
#[test]
fn moments_follow_many_outermost_eigenvalues() {
    let mut random = stream(9, "test", 0);
    let pairs = (0..600).map(|_| (random.random_range(0..220), random.random_range(0..220)));
    let graph = Graph::from_pairs(220, pairs.filter(|(low, high)| low != high).collect()).unwrap().0;
    let support = support(&graph);
    for operator in Operator::ALL {
        for (k, least) in [(25, 0.97), (45, 0.98), (80, 0.98)] {
            let by = |method, k| SpectrumSolver::new(method, Eigensolver { k, ..solver(method, operator).eigensolver });
            let exact = by(SpectrumMethod::Exact, Some(k)).eigensolver.solve(&support).unwrap().norm();
            let mut follower = by(SpectrumMethod::Chebyshev, None).with_degree(40);
            let measured = follower.measure(&support).unwrap();
            let found = follower.outermost(&measured, k).unwrap();
            let [found_slopes, right] = [&found, &exact].map(|of| derivatives(&of.kernel, &support));
            let cosine = cosine(&found_slopes, &right);
            println!("{operator}, {k}: cosine {cosine:.4}, {} of {}", found.squared_norm, exact.squared_norm);
            assert!(cosine > least && (found.squared_norm / exact.squared_norm - 1.0).abs() < 0.05);
            let last = follower.final_outermost(&support, k).unwrap().unwrap();
            assert!((last / exact.squared_norm - 1.0).abs() < 1e-6);
        }
    }
    let set = GraphSet::single(graph);
    let ends = |spectra| {
        let settings = Spectral { k: Some(45), steps: 30, spectra, ..Spectral::default() };
        let scheme = SchemeSettings::Opposite(settings).compute(&set, &NoObserver).unwrap();
        println!("{:?}", scheme.report().notes);
        [0, 1].map(|view| scheme.report().views[view].norm.unwrap())
    };
    let (exact, found) = (ends(SpectrumMethod::Exact), ends(SpectrumMethod::Chebyshev));
    for (exact, found) in exact.iter().zip(&found) {
        println!("{exact:?} {found:?}");
        assert!((exact.before - found.before).abs() < 1e-3 * exact.before);
        assert!((found.after - found.before) / (exact.after - exact.before) > 0.98, "{found:?} of {exact:?}");
    }
}

/// The derivative with respect to what every node holds, but for edges that hardly anything is left of.
fn derivatives_of_nodes(kernel: &PairKernel, support: &Nodes<'_>) -> Vec<f64> {
    let degrees = support.sums(Power::One, &vec![1.0; support.num_nodes()]);
    let mut of_nodes = vec![0.0; support.num_nodes()];
    let mut of_pairs = derivatives(kernel, support).into_iter();
    support.visit(&mut |low, high, _, _| {
        let derivative = of_pairs.next().unwrap() / 2.0;
        if degrees[low as usize].min(degrees[high as usize]) < 1e-3 {
            return;
        }
        of_nodes[low as usize] += derivative;
        of_nodes[high as usize] += derivative;
    });
    of_nodes
}

/// All along the ascent of node dropping, not only near its start, the derivative is that of eigenpairs.
#[test]
fn dropping_nodes_follows_the_exact_gradient_all_the_way() {
    let data = geometric(150);
    let graph = data.graph().unwrap();
    let nodes = graph.num_nodes();
    let start = Nodes::new(graph, vec![0.0; nodes]);
    let mut random = stream(3, "test", 0);
    let mut support = Nodes::new(graph, (0..nodes).map(|_| random.random_range(1e-5..1.0 / nodes as f32)).collect());
    let mut follower = solver(SpectrumMethod::Chebyshev, Operator::Laplacian).with_affordable_degree();
    let original = follower.measure_fixed(&start).unwrap();
    let budget = 0.2 * nodes as f64;
    // Until no step is better, however little is left to gain.
    let ascent = Ascent { direction: Direction::Max, budget, steps: 60, tolerance: 0.0, ..Ascent::default() };
    let mut evaluated = Vec::new();
    let outcome = ascent.try_run(
        &mut support,
        original.squared_norm(),
        |support: &Nodes<'_>| -> Result<Evaluation, Error> {
            let found = follower.measure(support)?;
            let evaluation = follower.distance(&found, &original);
            evaluated.push((support.clone(), evaluation.clone()));
            Ok(evaluation)
        },
        |_| true,
    );
    let outcome = outcome.unwrap();
    println!("{} steps, {:?}", outcome.curve.len() - 1, outcome.stop);
    assert!(outcome.curve.len() > 8 && evaluated.len() > 20, "{} evaluations", evaluated.len());
    let cosines: Vec<f64> = evaluated
        .iter()
        .step_by(3)
        .map(|(support, found)| {
            let exact = evaluate(solver(SpectrumMethod::Exact, Operator::Laplacian), &start, support);
            let [found, right] = [&found.kernel, &exact.kernel].map(|kernel| derivatives_of_nodes(kernel, support));
            cosine(&found, &right)
        })
        .collect();
    println!("{cosines:.4?}");
    // At the start little has moved yet, and what moments tell of it is small and rough.
    let (early, late) = cosines.split_at(3);
    assert!(early.iter().all(|cosine| *cosine > 0.9) && late.iter().all(|cosine| *cosine > 0.98), "{cosines:?}");
}

#[test]
fn ascents_reach_as_far_as_with_eigenpairs_on_airports() {
    let Some(airports) = published("brazil-airports") else { return };
    pairs_reach_as_far(&airports.graphs, SupportChoice::Candidates);
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let data = geometric(200);
    let bytes = |threads: usize, spectra| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let settings = SchemeSettings::Single(Spectral { steps: 3, spectra, ..Spectral::default() });
        pool.install(|| settings.compute(&data.graphs, &NoObserver).unwrap().to_bytes().unwrap())
    };
    for method in [SpectrumMethod::Chebyshev, SpectrumMethod::Probes] {
        assert!(bytes(1, method) == bytes(3, method), "{}", method.name());
    }
}

/// A graph without edges, or of two nodes, has spectra to compare as well.
#[test]
fn small_and_empty_graphs_are_compared() {
    for (nodes, pairs) in [(2, vec![(0, 1)]), (5, vec![]), (6, vec![(0, 1), (2, 3), (3, 4)])] {
        let graph = Graph::from_pairs(nodes, pairs).unwrap().0;
        for method in [SpectrumMethod::Chebyshev, SpectrumMethod::Probes] {
            let from = Nodes::new(&graph, vec![0.0; nodes]);
            let moved = Nodes::new(&graph, vec![0.1; nodes]);
            let evaluation = evaluate(solver(method, Operator::Laplacian), &from, &moved);
            assert!(evaluation.squared_norm.is_finite() && evaluation.squared_norm >= 0.0);
            assert!(derivatives(&evaluation.kernel, &moved).iter().all(|value| value.is_finite()));
        }
    }
}

/// Eigenpairs that follow a graph from step to step are computed less closely than the first, but point the same way.
#[test]
fn eigenpairs_of_a_later_step_give_the_same_gradient() {
    let data = geometric(1000);
    let graph = data.graph().unwrap();
    let mut random = stream(4, "test", 0);
    let mut moved = |size: f32| {
        let mut pairs = Pairs::new(graph, &[]);
        pairs.fill(&mut || random.random_range(0.0..size));
        pairs
    };
    let steps = [moved(0.02), moved(0.03), moved(0.04)];
    let solver = |tolerance| Eigensolver {
        k: Some(30),
        tolerance,
        ..solver(SpectrumMethod::Exact, Operator::Laplacian).eigensolver
    };
    let mut follower = solver(1e-5);
    for support in &steps {
        let (found, right) = (follower.solve(support).unwrap().norm(), solver(1e-7).solve(support).unwrap().norm());
        let [found_slopes, right_slopes] = [&found, &right].map(|evaluation| derivatives(&evaluation.kernel, support));
        let cosine = cosine(&found_slopes, &right_slopes);
        println!("cosine {cosine:.6}, norm {} of {}", found.squared_norm, right.squared_norm);
        assert!(cosine > 0.999 && (found.squared_norm / right.squared_norm - 1.0).abs() < 1e-4);
    }
}
