//! An edge list in, embeddings out: `cargo run --example embed -- EDGES.csv embeddings.npy`; without arguments, a generated graph.

use fiedler::graph::{Dataset, generate};
use fiedler::io::{AtomicFiles, ReadOptions, open, write};
use fiedler::learn::run::{Run, Settings};

/// Runs the example; the tests call it too.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let dataset: Dataset = match arguments.next() {
        Some(path) => open(&path, &ReadOptions::default(), 0)?,
        None => generate::citation(0),
    };
    let mut settings = Settings::default();
    settings.training.epochs = 5;
    let result = Run::new(&settings, &dataset).fit()?;
    let (rows, columns) = (result.embeddings.rows(), result.embeddings.columns());
    println!("{rows} nodes, {columns} columns");
    if let Some(path) = arguments.next() {
        let mut files = AtomicFiles::new(false);
        files.write(path.as_ref(), |file| write::npy(file, [rows, columns], result.embeddings.values()))?;
        files.finish()?;
    }
    Ok(())
}
