//! Times the logistic probe: `probe FOLDER C TOLERANCE`, beside `bench/compare/probe.py`.
//!
//! The folder has `x.npy` (embeddings, standardised) and `y.npy` (classes). Prints one JSON object: wall and processor seconds, the
//! objective, and the predicted classes of the training rows.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use fiedler_evaluate::probe::{Design, LogisticSettings, fit_logistic};
use fiedler_evaluate::{Matrix, read_embeddings, read_labels};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, strengths, tolerance] = arguments.as_slice() else {
        return Err("usage: probe FOLDER C[,C…] TOLERANCE".into());
    };
    let target = read_labels(Path::new(folder).join("y.npy"))?;
    let (table, _) = read_embeddings(Path::new(folder).join("x.npy"), &target)?;
    let classes = target.labels.classes().ok_or("labels are no classes")?;
    let targets: Vec<u32> = classes.of().iter().flatten().copied().collect();
    let rows = Matrix::gather(&table, &(0..table.rows() as u32).collect::<Vec<_>>());
    let strengths: Vec<f64> = strengths.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let settings = LogisticSettings { tolerance: tolerance.parse()?, ..Default::default() };
    let (start, work) = (Instant::now(), processor_seconds());
    let fits = fit_logistic(&Design::new(rows.clone()), &targets, classes.count(), &strengths, &settings);
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - work);
    let objectives: Vec<f64> = fits.iter().map(|fit| fit.objective).collect();
    let iterations: Vec<usize> = fits.iter().map(|fit| fit.iterations).collect();
    let predicted: Vec<usize> = fits.last().map_or(Vec::new(), |fit| {
        let scores = fit.model.scores(&rows);
        let largest = |row: &[f64]| (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap_or(0);
        (0..rows.rows()).map(|row| largest(scores.row(row))).collect()
    });
    println!(
        "{{\"seconds\": {seconds}, \"processor\": {processor}, \"objectives\": {objectives:?}, \
         \"iterations\": {iterations:?}, \"predicted\": {predicted:?}}}"
    );
    Ok(())
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
