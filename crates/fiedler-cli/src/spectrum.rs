//! What the spectrum tells of a graph, in words for people.

use fiedler_spectral::Operator;
use fiedler_spectral::properties::{Diameter, Summary};

use super::table::{Table, count, figure};

/// Residuals above this are told beside their values.
const ROUGH: f64 = 1e-5;

/// Adds what the spectrum tells to a table.
pub fn describe(table: &mut Table, spectrum: &Summary) {
    let (low, high) = (spectrum.extremes.lowest.first(), spectrum.extremes.highest.first());
    let range = match (low, high) {
        (Some(low), Some(high)) => format!(", eigenvalues from {} to {}", figure(tidy(*low)), figure(tidy(*high))),
        _ => String::new(),
    };
    table.row("spectrum", format!("of the {}{range}", operator(spectrum.operator)));
    table.row("  norm", figure(spectrum.norm));
    let bounds = spectrum.operator.bounds();
    let worst = spectrum.histogram_errors.iter().copied().fold(0.0, f64::max) / spectrum.nodes.max(1) as f64;
    let estimated = match (spectrum.histogram_estimated, spectrum.histogram_errors.is_empty()) {
        (false, _) => String::new(),
        (true, true) => "  (estimated)".to_owned(),
        (true, false) => {
            format!("  (estimated; standard error of a bar at most {} % of the nodes)", figure(100.0 * worst))
        }
    };
    if !spectrum.histogram.is_empty() {
        table.row("  density", format!("{} {} {}{estimated}", bounds.0, sparkline(&spectrum.histogram), bounds.1));
    }
    if spectrum.operator == Operator::Laplacian && spectrum.zero_eigenvalues > 1 {
        let parts = format!("0, {} times: once for each part that has an edge", count(spectrum.zero_eigenvalues));
        table.row("  zeros", parts);
    }
    if low.is_some() {
        let ends = &spectrum.extremes;
        table.row("  lowest", values(&ends.lowest, &ends.lowest_errors));
        table.row("  highest", values(&ends.highest, &ends.highest_errors));
        if ends.residual > ROUGH {
            let meaning =
                "±: within it lies an eigenvalue; the lowest are not above the values here, the highest not below";
            table.row("  residual", format!("at most {} ({meaning})", figure(ends.residual)));
        }
    }
    connectivity(table, spectrum);
    spectrum.notes.iter().for_each(|note| table.row("  note", note));
}

fn connectivity(table: &mut Table, spectrum: &Summary) {
    let connected = spectrum.components == 1;
    let connectivity = match connected {
        // An eigenvalue that was not found is not zero.
        true if spectrum.spectral_gap.is_none() => "connected; how well is not known".to_owned(),
        true => format!(
            "{} algebraic; {} where degrees are not divided out",
            with_error(spectrum.algebraic_connectivity, spectrum.spectral_gap_error),
            match spectrum.unnormalized_error {
                Some(_) => with_error(spectrum.algebraic_connectivity_unnormalized, spectrum.unnormalized_error),
                None => "not known".to_owned(),
            }
        ),
        false => format!(
            "0, for the graph has {} parts; what follows is of the largest, {} nodes",
            count(spectrum.components),
            count(spectrum.largest_component)
        ),
    };
    table.row("  connectivity", connectivity);
    if let Some(gap) = spectrum.spectral_gap {
        table.row("  spectral gap", with_error(gap, spectrum.spectral_gap_error));
    }
    if let Some(cheeger) = &spectrum.cheeger {
        let found = cheeger.found.map_or(String::new(), |found| format!("; {} found", figure(found)));
        let bounds = format!("conductance {} to {}", figure(cheeger.at_least), figure(cheeger.at_most));
        table.row("  best cut", bounds + &found);
    }
    let mut diameter = match spectrum.diameter {
        Diameter { at_least, at_most } if at_least == at_most => count(at_least),
        Diameter { at_least, at_most } => format!("{at_least} to {at_most}"),
    };
    if let Some(bounds) = &spectrum.diameter_bounds {
        let least = bounds.at_least().map_or(0, |least| least.ceil() as usize);
        diameter += &match bounds.at_most() {
            Some(most) => format!("  (the spectrum alone says {} to {})", count(least), count(most)),
            None => format!("  (the spectrum alone says at least {})", count(least)),
        };
    }
    table.row("  diameter", diameter);
    if let Some(clusters) = spectrum.clusters {
        let words = match clusters.exact() {
            Some(1) => "none stand out above a random graph of the same degrees".to_owned(),
            Some(clusters) => format!("{clusters} stand out above a random graph of the same degrees"),
            None => format!("{clusters} stand out above a random graph of the same degrees, by two counts"),
        };
        table.row("  clusters", words);
    }
}

fn operator(operator: Operator) -> &'static str {
    match operator {
        Operator::Laplacian => "normalized Laplacian",
        Operator::Propagation => "propagation matrix",
    }
}

/// A number without the last digits of a computation that ended at zero.
fn tidy(value: f64) -> f64 {
    if value.abs() < 1e-9 { 0.0 } else { value }
}

/// A value, and how near to it an eigenvalue lies where that is worth telling.
fn with_error(value: f64, error: Option<f64>) -> String {
    match error.filter(|&error| error > ROUGH) {
        Some(error) => format!("{} ± {}", figure(tidy(value)), figure(error)),
        None => figure(tidy(value)),
    }
}

fn values(values: &[f64], errors: &[f64]) -> String {
    let errors = errors.iter().copied().map(Some).chain(std::iter::repeat(None));
    values.iter().zip(errors).take(8).map(|(&value, error)| with_error(value, error)).collect::<Vec<_>>().join("  ")
}

/// Counts as a row of blocks, one of eight heights each.
fn sparkline(counts: &[f64]) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().fold(0.0, f64::max);
    let block = |count: f64| match most > 0.0 && count > 0.0 {
        true => BLOCKS[((count / most * 8.0) as usize).min(7)],
        false => ' ',
    };
    counts.iter().map(|&count| block(count)).collect()
}
