//! How the spectra of a set's graphs were compared, in words.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::climb::Climbed;
use crate::transport::SpectrumMethod;

/// Counts of graphs by how their spectra were compared; the order in which graphs are done does not matter.
#[derive(Debug, Default)]
pub(crate) struct Comparisons(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    methods: BTreeMap<&'static str, usize>,
    /// Graphs whose final distance comes from moments, and the coarsest resolution of these.
    estimated: usize,
    resolution: f64,
}

impl Comparisons {
    /// Adds one graph.
    pub(crate) fn add(&self, climbed: &Climbed) {
        let Some(compared) = climbed.compared else { return };
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let method = match compared.method {
            SpectrumMethod::Auto | SpectrumMethod::Exact => return,
            SpectrumMethod::Chebyshev => "Chebyshev moments of all columns",
            SpectrumMethod::Probes => "Chebyshev moments estimated by random signs",
        };
        *counts.methods.entry(method).or_default() += 1;
        if let Some(resolution) = compared.resolution {
            counts.estimated += 1;
            counts.resolution = counts.resolution.max(resolution);
        }
    }

    /// One sentence for each way that is not an eigensolver.
    pub(crate) fn notes(&self) -> Vec<String> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut notes: Vec<String> = counts
            .methods
            .iter()
            .map(|(method, graphs)| match graphs {
                1 => format!("spectra were compared by {method}, without an eigensolver"),
                _ => format!("the spectra of {graphs} graphs were compared by {method}, without an eigensolver"),
            })
            .collect();
        if counts.estimated > 0 {
            notes.push(format!(
                "the distance comes from moments that tell eigenvalues apart when they differ by {:.2} or more",
                counts.resolution
            ));
        } else if !notes.is_empty() {
            notes.push("the final distance is that of all eigenvalues".into());
        }
        notes
    }
}
