//! What a pass over a set of graphs in shuffled batches costs, beside a plain copy of the set's arrays.
//!
//! The set has the size of COLLAB, the densest of the usual benchmarks: 5,000 graphs of 74.5 nodes and 2,458 edges on average.
//! Run it with `cargo bench -p fiedler-graph --bench batch`; its first line states the ratio.

use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use fiedler_graph::{Graph, GraphSet, random};
use rand::RngExt;
use rand::seq::SliceRandom;

const GRAPHS: usize = 5000;
const GRAPHS_PER_BATCH: usize = 32;
const EDGES_PER_GRAPH: f64 = 2458.0;

static SET: LazyLock<GraphSet> = LazyLock::new(|| {
    let sizes: Vec<u32> = (0..GRAPHS).map(|graph| 74 + (graph % 2) as u32).collect();
    let mut pairs = Vec::new();
    let mut first = 0;
    for (graph, &size) in sizes.iter().enumerate() {
        let mut random = random::stream(0, "bench", graph as u64);
        let probability = EDGES_PER_GRAPH / (f64::from(size) * f64::from(size - 1) / 2.0);
        let all = (first..first + size).flat_map(|low| (low + 1..first + size).map(move |high| (low, high)));
        pairs.extend(all.filter(|_| random.random_bool(probability)));
        first += size;
    }
    let (arena, _) = Graph::from_pairs(first as usize, pairs).expect("ids are in range");
    GraphSet::from_block_diagonal(arena, sizes).expect("edges stay within their graphs")
});

static ORDER: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let mut order: Vec<usize> = (0..GRAPHS).collect();
    order.shuffle(&mut random::stream(0, "order", 0));
    order
});

fn main() {
    let copy = fastest(plain_copy);
    let batches = fastest(shuffled_batches);
    let (nodes, edges) = (SET.num_nodes() as f64 / GRAPHS as f64, SET.num_edges() as f64 / GRAPHS as f64);
    println!(
        "{GRAPHS} graphs of {nodes:.1} nodes and {edges:.1} edges: batches {batches:.1?}, plain copy {copy:.1?}, ratio {:.2}",
        batches.as_secs_f64() / copy.as_secs_f64()
    );
    divan::main();
}

/// The fastest of a few runs.
fn fastest(run: fn()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..10).map(time).min().unwrap_or_default()
}

#[divan::bench]
fn plain_copy() {
    let arena = SET.block_diagonal();
    black_box((arena.indptr().to_vec(), arena.indices().to_vec()));
}

#[divan::bench]
fn shuffled_batches() {
    let mut batch = SET.batch(&[]);
    for graphs in ORDER.chunks(GRAPHS_PER_BATCH) {
        SET.batch_into(graphs, &mut batch);
        black_box(&batch);
    }
}

/// The copy without the cost of fresh memory.
#[divan::bench]
fn copy_into_memory_at_hand(bencher: divan::Bencher) {
    let arena = SET.block_diagonal();
    let (mut offsets, mut entries) = (arena.indptr().to_vec(), arena.indices().to_vec());
    bencher.bench_local(|| {
        offsets.copy_from_slice(arena.indptr());
        entries.copy_from_slice(arena.indices());
        black_box((&offsets, &entries));
    });
}
