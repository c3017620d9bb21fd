//! What the spectrum tells of a graph: connectivity and clusterability in words a newcomer understands.

use fiedler_spectral::properties::{Diameter, Summary as Spectrum};

use crate::figure::Figure;
use crate::number::{count, figure, percent};
use crate::page::Fact;
use crate::plot::{Axis, Histogram, Line, Lines, Outline, Point};
use crate::spectra::Eigenvalues;
use crate::table::Cell;

const BINS: usize = 40;
/// Numbers of eigenvalues of each end that the paper chooses from.
const KEPT: [usize; 6] = [50, 100, 200, 500, 1_000, 5_000];
/// Of those that fit, so many are shown, the largest.
const SHOWN: usize = 2;

/// Norm, connectivity, the best cut, diameter, clusters.
pub fn facts(spectrum: &Spectrum) -> Vec<Fact> {
    let tidy = |value: f64| if value.abs() < 1e-9 { 0.0 } else { value };
    let mut facts =
        vec![Fact::new("norm of the spectrum", Cell::figure(spectrum.norm)).noted("of the normalized Laplacian")];
    let of = if spectrum.components == 1 { "" } else { "of the largest part" };
    if let Some(gap) = spectrum.spectral_gap {
        facts.push(Fact::new("algebraic connectivity", Cell::figure(tidy(gap))).noted(of));
    }
    if let Some(found) = spectrum.cheeger.as_ref().and_then(|cheeger| cheeger.found) {
        facts.push(Fact::new("best cut found", Cell::percent(found)).noted("of the smaller side's edge ends"));
    }
    let Diameter { at_least, at_most } = spectrum.diameter;
    let diameter = match at_least == at_most {
        true => Cell::count(at_least),
        false => Cell::words(format!("{} to {}", count(at_least), count(at_most))),
    };
    facts.push(Fact::new("diameter", diameter).noted("steps between the farthest nodes"));
    if let Some(clusters) = spectrum.clusters {
        let cell = clusters.exact().map_or_else(|| Cell::words(clusters.to_string()), Cell::count);
        facts.push(Fact::new("clusters suggested", cell));
    }
    facts
}

/// Connectivity and clusterability in words a newcomer understands.
pub fn words(spectrum: &Spectrum) -> Vec<String> {
    let what = if spectrum.components == 1 { "the graph" } else { "its largest part" };
    let mut words = vec![
        "A graph has a spectrum as a drum has: the eigenvalues of its normalized Laplacian, one for each node, between 0 and 2. Low \
         ones tell how easily the graph falls into parts, high ones how nearly it is two-sided."
            .to_owned(),
    ];
    if let Some(gap) = spectrum.spectral_gap {
        let judgement = match gap {
            gap if gap < 0.02 => {
                format!("so {what} comes apart easily: somewhere few edges hold large groups together")
            }
            gap if gap < 0.15 => format!("so {what} holds together, with weak places"),
            _ => format!("so {what} is well knit: no cut divides it cheaply"),
        };
        let cut = match spectrum.cheeger.as_ref().and_then(|cheeger| cheeger.found) {
            Some(found) => {
                format!(" The best cut found severs {} of the edge ends of its smaller side.", percent(found))
            }
            None => String::new(),
        };
        words.push(format!(
            "How well it is connected: the lowest eigenvalue after the zeros, the algebraic connectivity, is {}; {judgement}.{cut}",
            figure(gap)
        ));
    }
    if let Some(clusters) = spectrum.clusters {
        words.push(match clusters.exact() {
            Some(1) => format!(
                "How it clusters: nothing beside {what} as a whole stands above a random graph of the same degrees, so the \
                 spectrum suggests no division into clusters."
            ),
            Some(clusters) => format!(
                "How it clusters: {clusters} groups of {what} stand above a random graph of the same degrees (as many negative \
                 eigenvalues has its Bethe Hessian)."
            ),
            None => format!(
                "How it clusters: {clusters} groups of {what} stand above a random graph of the same degrees; two counts of the \
                 negative eigenvalues of its Bethe Hessian differ."
            ),
        });
    }
    words
}

/// The eigenvalues in their order, and how many of them the numbers K that the paper chooses from would leave out.
pub fn order_figure(eigenvalues: &Eigenvalues) -> Figure {
    let nodes = eigenvalues.nodes as f64;
    let (low, high) = eigenvalues.bounds;
    let mut lines = Lines::new(
        Axis::linear("place in ascending order").including([0.0, nodes]),
        Axis::linear("eigenvalue").including([low, high]),
    );
    let curve = eigenvalues.curve().map(|(share, value)| Point::new(share * nodes, value));
    lines.lines.push(Line { name: "all eigenvalues".into(), points: curve.collect() });
    let fitting: Vec<usize> = KEPT.into_iter().filter(|kept| 2 * kept < eigenvalues.nodes).collect();
    let shown = &fitting[fitting.len().saturating_sub(SHOWN)..];
    for &kept in shown {
        let (from, to) = (kept as f64, nodes - kept as f64);
        let bracket = [Point::new(from, low), Point::new(from, high), Point::new(to, high), Point::new(to, low)];
        lines.lines.push(Line { name: format!("K = {}", count(kept)), points: bracket.to_vec() });
    }
    let mut caption = match eigenvalues.estimated {
        true => "Estimated from the density. ".to_owned(),
        false => String::new(),
    };
    caption.push_str("A flat piece is an eigenvalue that many nodes share.");
    if !shown.is_empty() {
        caption.push_str(" A scheme of the K lowest and K highest eigenvalues leaves out what lies under its bracket.");
    }
    let middle = eigenvalues.values.get(eigenvalues.values.len() / 2).copied().unwrap_or_default();
    Figure {
        name: "spectrum-order".into(),
        title: "Eigenvalues in their order".into(),
        caption,
        alternative: format!(
            "{} eigenvalues in ascending order, from {} to {}, the middle one {}.",
            count(eigenvalues.nodes),
            figure(eigenvalues.values.first().copied().unwrap_or_default().max(0.0)),
            figure(eigenvalues.values.last().copied().unwrap_or_default()),
            figure(middle)
        ),
        svg: lines.draw(),
    }
}

/// How many eigenvalues lie where.
pub fn density_figure(eigenvalues: &Eigenvalues) -> Figure {
    let how = if eigenvalues.estimated {
        "Estimated from random vectors: the graph is too large for all of them."
    } else {
        "All of them."
    };
    Figure {
        name: "spectrum-density".into(),
        title: "Where the eigenvalues lie".into(),
        caption: format!("How many of the {} eigenvalues lie where. {how}", count(eigenvalues.nodes)),
        alternative: format!(
            "Histogram of {} eigenvalues of the normalized Laplacian between 0 and 2.",
            count(eigenvalues.nodes)
        ),
        svg: Histogram {
            x: Axis::linear("eigenvalue of the normalized Laplacian"),
            y: Axis::linear("number of eigenvalues"),
            outlines: vec![Outline { name: "eigenvalues".into(), bins: eigenvalues.bins(BINS) }],
        }
        .draw(),
    }
}

/// The lowest eigenvalues, in whose gaps clusters show.
pub fn lowest_figure(spectrum: &Spectrum) -> Option<Figure> {
    let lowest = &spectrum.extremes.lowest;
    if lowest.len() < 3 {
        return None;
    }
    let points = lowest.iter().enumerate().map(|(at, &value)| Point::new(at as f64 + 1.0, value.max(0.0))).collect();
    Some(Figure {
        name: "lowest-eigenvalues".into(),
        title: "The lowest eigenvalues".into(),
        caption: "There are as many zeros as connected parts. A clear step upwards after some number of low ones speaks for as many \
                  clusters."
            .into(),
        alternative: format!("The {} lowest eigenvalues in ascending order, from {} to {}.", lowest.len(), figure(lowest[0].max(0.0)), figure(lowest[lowest.len() - 1])),
        svg: Lines {
            lines: vec![Line { name: "eigenvalues".into(), points }],
            ..Lines::new(Axis::linear("place from the lowest").of_whole_numbers(), Axis::linear("eigenvalue").including([0.0]))
        }
        .draw(),
    })
}
