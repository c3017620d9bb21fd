//! The figures that the paper prints.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::task::canonical;

const RESULTS: &str = include_str!("../../paper/results.csv");

/// Repetitions behind each of the paper's means (its Section 5).
pub const RUNS: usize = 10;

/// A printed mean, with its deviation where one is printed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PrintedFigure {
    /// The mean.
    pub mean: f64,
    /// The deviation.
    pub std: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Line {
    table: String,
    dataset: String,
    method: String,
    mean: f64,
    std: Option<f64>,
}

/// All printed figures.
pub struct Paper {
    lines: Vec<Line>,
}

impl Paper {
    pub fn read() -> Result<Paper> {
        let mut reader = csv::Reader::from_reader(RESULTS.as_bytes());
        let lines = reader.deserialize().collect::<Result<_, _>>();
        let lines = lines.map_err(|error| Error::unexpected("the paper's figures", error))?;
        Ok(Paper { lines })
    }

    /// What a table prints for a dataset, whatever name of it is given, and a method.
    pub fn figure(&self, table: &str, dataset: &str, method: &str) -> Option<PrintedFigure> {
        let line = self.lines.iter().find(|line| {
            line.table == table && line.method == method && canonical(&line.dataset) == canonical(dataset)
        })?;
        Some(PrintedFigure { mean: line.mean, std: line.std })
    }

    /// How a dataset is called in print.
    pub fn name(&self, dataset: &str) -> Option<&str> {
        let line = self.lines.iter().find(|line| canonical(&line.dataset) == canonical(dataset));
        line.map(|line| line.dataset.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_any_name_of_a_dataset() -> Result<()> {
        let paper = Paper::read()?;
        let found = paper.figure("graph-tu", "reddit-binary", "GCL-SPAN");
        assert_eq!(found, Some(PrintedFigure { mean: 83.62, std: Some(0.64) }));
        assert_eq!(
            paper.figure("running-time", "Cora", "contrastive training (1000 epochs)").map(|figure| figure.std),
            Some(None)
        );
        assert_eq!(paper.name("amazon-computers"), Some("Amazon-Computer"));
        assert_eq!(paper.figure("node", "citation", "GCL-SPAN"), None);
        Ok(())
    }
}
