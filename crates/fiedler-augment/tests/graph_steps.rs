//! Steps of views that GraphCL and JOAO choose from, on sets of graphs.
#![allow(clippy::unwrap_used)]

use fiedler_augment::ViewKey;
use fiedler_augment::mask::{MaskFill, MaskNodes};
use fiedler_augment::pipeline::{ComputeSchemes, FitContext, OneOf, PerturbEdges, Pipeline, Rate};
use fiedler_augment::scheme::View;
use fiedler_graph::{Dense, Features, Graph, GraphSet, NoObserver, Sparse};

/// Rings with chords, a complete graph, one node, and three nodes without an edge.
fn set() -> GraphSet {
    let (mut pairs, mut sizes, mut first) = (Vec::new(), Vec::new(), 0u32);
    for graph in 0..12u32 {
        let size = 10 + graph % 4;
        pairs.extend((0..size).map(|node| (first + node, first + (node + 1) % size)));
        pairs.extend((0..size / 2).map(|node| (first + node, first + (node + 3) % size)));
        sizes.push(size);
        first += size;
    }
    pairs.extend((0..5).flat_map(|a| (a + 1..5).map(move |b| (first + a, first + b))));
    sizes.extend([5, 1, 3]);
    let (graph, _) = Graph::from_pairs(first as usize + 9, pairs).unwrap();
    GraphSet::from_block_diagonal(graph, sizes).unwrap()
}

fn features(set: &GraphSet) -> Features {
    let values = (0..set.num_nodes() * 3).map(|at| (at as f32 * 0.7).sin()).collect();
    Features::Dense(Dense::new(set.num_nodes(), 3, values).unwrap())
}

fn draw(pipeline: &Pipeline, set: &GraphSet, graphs: &[usize], key: ViewKey) -> View {
    let features = features(set);
    let mut schemes = ComputeSchemes::new(set, &NoObserver);
    let mut context = FitContext { set, features: &features, schemes: &mut schemes };
    pipeline.fit(&mut context).unwrap().draw(&set.batch(graphs), key).unwrap()
}

fn all(set: &GraphSet) -> Vec<usize> {
    (0..set.len()).collect()
}

/// Edges of one graph of a view, counted from the graph's first node.
fn edges_of(view: &View, nodes: std::ops::Range<u32>) -> Vec<(u32, u32)> {
    let higher = |node: u32| view.graph.higher(node).iter().map(move |&other| (node, other));
    nodes.clone().flat_map(higher).map(|(a, b)| (a - nodes.start, b - nodes.start)).collect()
}

#[test]
fn perturbing_edges_removes_and_adds_exactly_so_many() {
    let set = set();
    for (rate, add) in [(0.2, true), (0.29, false), (1.0, true), (0.0, true)] {
        let view = draw(&Pipeline::PerturbEdges(PerturbEdges { rate, add }), &set, &all(&set), ViewKey::new(3, 1, 0));
        for graph in 0..set.len() {
            let (nodes, before) = (set.node_range(graph), set.graph_edges(graph));
            let original = set.graph(graph);
            let found = edges_of(&view, nodes.clone());
            let changed = (rate * before as f64 + 1e-9) as usize;
            let kept = found.iter().filter(|(a, b)| original.has_edge(*a, *b)).count();
            assert_eq!(kept, before - changed, "graph {graph}");
            let pairs = nodes.len() * (nodes.len() - 1) / 2;
            let free = if add { changed.min(pairs - before) } else { 0 };
            assert_eq!(found.len() - kept, free, "graph {graph}");
        }
    }
    assert!(
        Pipeline::PerturbEdges(PerturbEdges { rate: 1.5, add: true }).check(&set).is_err(),
        "more edges than there are"
    );
}

#[test]
fn a_star_is_a_node_with_some_of_its_neighbors() {
    let set = set();
    let view = draw(&Pipeline::Star(Rate { rate: 0.8 }), &set, &all(&set), ViewKey::new(5, 0, 1));
    let dropped = view.dropped.as_ref().unwrap();
    for graph in 0..set.len() {
        let nodes = set.node_range(graph);
        let kept: Vec<u32> =
            nodes.clone().filter(|&node| !dropped[node as usize]).map(|node| node - nodes.start).collect();
        let most = nodes.len() - (0.8 * nodes.len() as f64 + 1e-9) as usize;
        assert!((1..=most.max(1)).contains(&kept.len()), "{kept:?} of {}", nodes.len());
        let original = set.graph(graph);
        let is_center = |center: &u32| kept.iter().all(|node| node == center || original.has_edge(*center, *node));
        assert!(kept.iter().any(is_center), "{kept:?}");
    }
}

#[test]
fn masked_nodes_are_filled_as_told() {
    let set = set();
    let dense = features(&set);
    for fill in [MaskFill::Zero, MaskFill::Mean, MaskFill::Noise] {
        let pipeline = Pipeline::MaskNodes(MaskNodes { rate: 0.5, fill });
        let view = draw(&pipeline, &set, &all(&set), ViewKey::new(9, 2, 0));
        let hidden = view.mask.nodes.clone().unwrap();
        let Features::Dense(found) = view.mask.apply(&dense).unwrap() else { panic!("dense features stay dense") };
        let Features::Dense(original) = &dense else { unreachable!() };
        let mut noise = Vec::new();
        for graph in 0..set.len() {
            let nodes = set.node_range(graph);
            for node in nodes.clone().map(|node| node as usize) {
                if !hidden[node] {
                    assert_eq!(found.row(node), original.row(node));
                    continue;
                }
                match fill {
                    MaskFill::Zero => assert_eq!(found.row(node), [0.0; 3]),
                    MaskFill::Noise => noise.extend_from_slice(found.row(node)),
                    MaskFill::Mean => {
                        for column in 0..3 {
                            let sum: f32 = nodes.clone().map(|other| original.row(other as usize)[column]).sum();
                            assert!((found.row(node)[column] - sum / nodes.len() as f32).abs() < 1e-6);
                        }
                    }
                }
            }
        }
        if fill == MaskFill::Noise {
            let mean = noise.iter().sum::<f32>() / noise.len() as f32;
            let variance = noise.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / noise.len() as f32;
            assert!((mean - 0.5).abs() < 0.1 && (variance - 0.25).abs() < 0.08, "{mean} {variance}");
            assert_ne!(noise[0..3], noise[3..6]);
        }
        // The same in sparse form.
        let rows: Vec<usize> = (0..=set.num_nodes()).map(|row| row * 3).collect();
        let columns = (0..set.num_nodes() as u32 * 3).map(|at| at % 3).collect();
        let sparse = Features::Sparse(Sparse::new(3, rows, columns, original.values().to_vec()).unwrap());
        assert_eq!(view.mask.apply(&sparse).unwrap().to_dense().values(), found.values());
    }
}

fn one_of(joint: bool) -> Pipeline {
    let choices = vec![
        Pipeline::DropNodes(Rate { rate: 0.3 }),
        Pipeline::PerturbEdges(PerturbEdges { rate: 0.3, add: true }),
        Pipeline::MaskNodes(MaskNodes { rate: 0.4, fill: MaskFill::Mean }),
        Pipeline::Identity,
    ];
    Pipeline::OneOf(OneOf { choices, weights: None, each_graph: true, joint })
}

#[test]
fn views_that_choose_together_choose_the_same_and_draw_by_themselves() {
    let set = set();
    let of = |joint, view| draw(&one_of(joint), &set, &all(&set), ViewKey::new(4, 6, view));
    assert_eq!(of(true, 0).choices, of(true, 1).choices);
    assert_ne!(of(false, 0).choices, of(false, 1).choices);
    assert_ne!(of(true, 0).graph, of(true, 1).graph);
    let mut seen = of(true, 0).choices[0].clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [0, 1, 2, 3]);
}

#[test]
fn the_view_of_a_graph_is_the_same_in_whatever_batch() {
    let set = set();
    let features = features(&set);
    let key = ViewKey::new(4, 6, 1);
    let whole = draw(&one_of(false), &set, &all(&set), key);
    let of_whole = whole.mask.apply(&features).unwrap().to_dense();
    for graphs in [vec![3], vec![13, 2, 14, 7], vec![11, 12]] {
        let view = draw(&one_of(false), &set, &graphs, key);
        let batch = set.batch(&graphs);
        let masked = view.mask.apply(&features.gather(&batch.node_rows)).unwrap().to_dense();
        for (block, &graph) in graphs.iter().enumerate() {
            let (here, there) = (batch.node_range(block), set.node_range(graph));
            assert_eq!(edges_of(&view, here.clone()), edges_of(&whole, there.clone()), "graph {graph}");
            assert_eq!(view.choices[0][block], whole.choices[0][graph]);
            let dropped = |view: &View, node: u32| view.dropped.as_ref().is_some_and(|dropped| dropped[node as usize]);
            for (one, other) in here.zip(there) {
                assert_eq!(dropped(&view, one), dropped(&whole, other));
                assert_eq!(masked.row(one as usize), of_whole.row(other as usize), "graph {graph}");
            }
        }
    }
}
