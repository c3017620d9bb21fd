//! Times the probes, for `bench/compare/probe.py`: `probe logistic|ridge FOLDER PENALTY[,PENALTY…]`.
//!
//! The folder has `x.npy` (embeddings, standardized) and `classes.npy` or `values.npy`. Prints one JSON object: wall and processor
//! seconds, and the weights and intercepts of each model.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use fiedler_evaluate::Matrix;
use fiedler_evaluate::probe::{Design, Linear, LogisticSettings, fit_logistic, fit_ridge};
use fiedler_graph::Labels;
use fiedler_io::tables::{Matching, read_embeddings, read_labels};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, kind, folder, penalties] = arguments.as_slice() else {
        return Err("usage: probe logistic|ridge FOLDER PENALTY[,PENALTY…]".into());
    };
    let folder = Path::new(folder);
    let target = read_labels(folder.join(if kind == "ridge" { "values.npy" } else { "classes.npy" }))?;
    let table = read_embeddings(folder.join("x.npy"), target.items(), Matching::Automatic)?.values;
    let rows = Matrix::gather(&table, &(0..table.rows() as u32).collect::<Vec<_>>());
    let penalties: Vec<f64> = penalties.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let fit: Box<dyn Fn(Matrix) -> Vec<Linear>> = match target.labels {
        Labels::Classes(classes) => {
            let targets: Vec<u32> = classes.of().iter().flatten().copied().collect();
            let settings = LogisticSettings { cs: penalties, ..Default::default() };
            Box::new(move |rows| {
                let design = Design::new(rows);
                let fits = fit_logistic(&design, &targets, classes.count(), &settings);
                fits.into_iter().map(|fit| fit.model).collect()
            })
        }
        Labels::Regression(values) => {
            let targets: Vec<f64> =
                (0..table.rows()).flat_map(|row| values.row(row).to_vec()).flatten().map(Into::into).collect();
            Box::new(move |rows| fit_ridge(&Design::new(rows), &targets, &penalties))
        }
        Labels::MultiLabel(_) => return Err("labels are neither classes nor values".into()),
    };
    let (start, work) = (Instant::now(), processor_seconds());
    let models = fit(rows);
    let (seconds, processor) = (start.elapsed().as_secs_f64(), processor_seconds() - work);
    let told = |model: &Linear| format!(r#"{{"weights": {:?}, "intercepts": {:?}}}"#, model.weights, model.intercepts);
    let models: Vec<String> = models.iter().map(told).collect();
    println!(r#"{{"seconds": {seconds}, "processor": {processor}, "models": [{}]}}"#, models.join(", "));
    Ok(())
}

/// Seconds all threads of this process have worked, to a hundredth, where the system tells.
fn processor_seconds() -> f64 {
    let read = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some(ticks / 100.0)
    };
    read().unwrap_or(f64::NAN)
}
