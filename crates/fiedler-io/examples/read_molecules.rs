//! Reads molecules and prints, as one line of JSON, how long it took and what it needed.
//!
//! `cargo run --release -p fiedler-io --features molecules --example read_molecules -- DATA`

use std::time::Instant;

use fiedler_io::{ReadOptions, open};

/// The allocator of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::args().nth(1).ok_or("name the molecules to read")?;
    let start = Instant::now();
    let dataset = open(&data, &ReadOptions::default(), 0)?;
    println!(
        "{{\"seconds\": {:.4}, \"processor_seconds\": {:.2}, \"peak_bytes\": {}, \"graphs\": {}, \"atoms\": {}, \"bonds\": {}, \"skipped\": {}}}",
        start.elapsed().as_secs_f64(),
        processor_seconds().unwrap_or(f64::NAN),
        peak_bytes().unwrap_or(0),
        dataset.graphs.len(),
        dataset.graphs.num_nodes(),
        dataset.graphs.num_edges(),
        dataset.report.skipped,
    );
    Ok(())
}

/// Processor time of this process on all cores, in the kernel and outside, where the system tells.
fn processor_seconds() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold anything; fields 14 and 15 of all, in ticks of a hundredth of a second.
    let fields: Vec<&str> = status.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The most memory this process has had resident, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
