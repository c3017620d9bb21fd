//! The spectrum of the normalized Laplacian: where eigenvalues lie, and how heat spreads.

use std::f64::consts::PI;
use std::sync::LazyLock;

use fiedler_graph::Graph;
use fiedler_spectral::density::{chebyshev_moments, jackson_kernel};
use fiedler_spectral::{DensitySettings, Normalized, Operator, eigenvalues};

use crate::error::Result;

/// Columns of [`spectrum_measures`].
pub const SPECTRUM_MEASURES: usize = POINTS + TIMES;
/// Graphs of at most so many nodes have all their eigenvalues computed; of larger ones the moments are estimated.
pub const EXACT_SPECTRUM: usize = 96;

/// Parts of the interval [0, 2] in which eigenvalues are counted.
const POINTS: usize = 32;
/// Times at which heat is measured, from 0.01 to 100, equally spaced on a logarithmic scale.
const TIMES: usize = 64;
const FIRST_TIME: f64 = 0.01;
const LAST_TIME: f64 = 100.0;
/// Chebyshev moments that both are computed from: enough for the slowest decay, `exp(-100 λ)`.
const MOMENTS: usize = 64;
/// Random vectors of an estimate. Large graphs need few: the error falls with the number of nodes as well.
const PROBES: usize = 8;

/// What each measure is as a sum of moments.
static OF_MOMENTS: LazyLock<Vec<[f64; MOMENTS]>> = LazyLock::new(|| {
    let density = (0..POINTS).map(|part| {
        let (below, above) = (share_up_to(part), share_up_to(part + 1));
        std::array::from_fn(|moment| above[moment] - below[moment])
    });
    density.chain((0..TIMES).map(heat)).collect()
});

/// Spectral density and heat trace of the normalized Laplacian, both divided by the number of nodes: the share of eigenvalues in each of 32
/// equal parts of [0, 2] by the kernel polynomial method with 64 moments, and the mean of `exp(-t λ)` at 64 times t from 0.01 to 100. A
/// graph without nodes has zeros.
///
/// # Errors
/// When a matrix has no decomposition, which that of a graph has.
pub fn spectrum_measures(graph: &Graph) -> Result<Vec<f32>> {
    let nodes = graph.num_nodes();
    if nodes == 0 {
        return Ok(vec![0.0; SPECTRUM_MEASURES]);
    }
    let laplacian = Normalized::of(graph, Operator::Laplacian);
    let moments = if nodes <= EXACT_SPECTRUM {
        moments_of(&eigenvalues(&laplacian, u64::MAX).map_err(fiedler_augment::Error::from)?)
    } else {
        {
            let settings = DensitySettings { moments: MOMENTS, probes: PROBES, seed: 0 };
            chebyshev_moments(&laplacian, &settings).map_err(fiedler_augment::Error::from)?
        }
    };
    let sum =
        |weights: &[f64; MOMENTS]| weights.iter().zip(&moments).map(|(weight, moment)| weight * moment).sum::<f64>();
    Ok(OF_MOMENTS.iter().map(|weights| (sum(weights) / nodes as f64) as f32).collect())
}

/// `Σ T_k(λ - 1)` over the eigenvalues.
fn moments_of(values: &[f64]) -> Vec<f64> {
    let mut moments = vec![0.0; MOMENTS];
    for value in values {
        let x = (value - 1.0).clamp(-1.0, 1.0);
        let (mut before, mut now) = (1.0, x);
        for moment in &mut moments {
            *moment += before;
            (before, now) = (now, 2.0 * x * now - before);
        }
    }
    moments
}

/// The share of the eigenvalues in the first `parts` parts, as a sum of moments damped by the Jackson kernel.
fn share_up_to(parts: usize) -> [f64; MOMENTS] {
    let kernel = jackson_kernel(MOMENTS);
    let angle = (2.0 * parts as f64 / POINTS as f64 - 1.0).clamp(-1.0, 1.0).acos();
    std::array::from_fn(|moment| match moment {
        0 => 1.0 - angle / PI,
        k => -2.0 / PI * kernel[k] * (k as f64 * angle).sin() / k as f64,
    })
}

/// `Σ exp(-t λ)` as a sum of moments, by the Chebyshev coefficients of `exp(-t (1 + x))`.
fn heat(time: usize) -> [f64; MOMENTS] {
    const NODES: usize = 4 * MOMENTS;
    let share = time as f64 / (TIMES - 1) as f64;
    let time = FIRST_TIME * (LAST_TIME / FIRST_TIME).powf(share);
    std::array::from_fn(|moment| {
        let sum: f64 = (0..NODES)
            .map(|node| {
                let angle = PI * (node as f64 + 0.5) / NODES as f64;
                (-time * (1.0 + angle.cos())).exp() * (moment as f64 * angle).cos()
            })
            .sum();
        sum * if moment == 0 { 1.0 } else { 2.0 } / NODES as f64
    })
}
