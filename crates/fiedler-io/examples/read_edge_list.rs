//! Reads an edge list and prints, as one line of JSON, how long it took and what it needed.
//!
//! `cargo run --release -p fiedler-graph --example read_edge_list -- FILE`

use std::time::Instant;

use fiedler_io::read::{ReadOptions, read};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args_os().nth(1).ok_or("name the edge list to read")?;
    let start = Instant::now();
    let dataset = read(path, &ReadOptions { format: Some("edge-list".into()), ..ReadOptions::default() })?;
    let seconds = start.elapsed().as_secs_f64();
    let graph = dataset.graphs.block_diagonal();
    let csr_bytes = std::mem::size_of_val(graph.indptr()) + std::mem::size_of_val(graph.indices());
    println!(
        "{{\"seconds\": {seconds:.4}, \"peak_bytes\": {}, \"nodes\": {}, \"edges\": {}, \"csr_bytes\": {csr_bytes}}}",
        peak_bytes().unwrap_or(0),
        graph.num_nodes(),
        graph.num_edges(),
    );
    Ok(())
}

/// The most memory this process has had resident, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
