//! A quick look at how well classes can be told from embeddings: logistic regression on a tenth of the labels.
//!
//! One stratified split by the run's seed: a tenth trains, a tenth chooses the weight of the L2 penalty, the rest tests. It is no
//! benchmark; protocols with several splits belong elsewhere.

use std::collections::VecDeque;

use fiedler_graph::Classes;
use fiedler_graph::random::stream;
use fiedler_learn::Embeddings;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Weights of the penalty to choose from, as in the paper.
const PENALTIES: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
const STEPS: usize = 100;
/// Steps that the curvature is estimated from.
const MEMORY: usize = 10;

/// What is said with every score.
pub const PROTOCOL: &str = "one stratified split: 10 % train, 10 % choose the L2 weight, 80 % test";

/// How well classes can be told from an embedding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What was embedded.
    pub of: String,
    /// Share of right answers on the test part.
    pub accuracy: f64,
    /// The same on the part that chose the penalty.
    pub validation: f64,
    /// The penalty that was chosen.
    pub l2: f64,
}

/// Which rows train, choose and test.
pub struct Split {
    parts: [Vec<(usize, u32)>; 3],
    classes: usize,
}

impl Split {
    /// A stratified split of the labelled rows; none where the labels do not suffice for one.
    pub fn new(classes: &Classes, seed: u64) -> Option<Split> {
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); classes.names().len()];
        for (row, class) in classes.of().iter().enumerate() {
            if let Some(class) = class {
                of_class[*class as usize].push(row);
            }
        }
        let mut parts: [Vec<(usize, u32)>; 3] = Default::default();
        for (class, rows) in of_class.iter_mut().enumerate() {
            rows.shuffle(&mut stream(seed, "quick score", class as u64));
            let tenth = (rows.len() / 10).max(1);
            for (at, &row) in rows.iter().enumerate() {
                parts[(at / tenth).min(2)].push((row, class as u32));
            }
        }
        let enough = of_class.len() > 1 && parts.iter().all(|part| !part.is_empty());
        enough.then_some(Split { parts, classes: of_class.len() })
    }

    /// Trains with every penalty, and tests the one that does best on the part that chooses.
    pub fn score(&self, of: &str, embeddings: &Embeddings) -> Score {
        let scale = Scale::of(embeddings, &self.parts[0]);
        let [train, valid, test] = self.parts.each_ref().map(|part| scale.apply(embeddings, part));
        let fitted: Vec<(f64, f64, Vec<f64>)> = PENALTIES
            .par_iter()
            .map(|&l2| {
                let problem = Problem { rows: &train, columns: embeddings.columns() + 1, classes: self.classes, l2 };
                let weights = problem.minimise();
                (problem.accuracy(&weights, &valid), l2, weights)
            })
            .collect();
        let mut best = &fitted[0];
        for candidate in &fitted {
            if candidate.0 > best.0 {
                best = candidate;
            }
        }
        let (validation, l2, weights) = best;
        let problem = Problem { rows: &train, columns: embeddings.columns() + 1, classes: self.classes, l2: *l2 };
        Score { of: of.into(), accuracy: problem.accuracy(weights, &test), validation: *validation, l2: *l2 }
    }
}

/// Mean and deviation of each column over the rows that train.
struct Scale {
    means: Vec<f64>,
    factors: Vec<f64>,
}

/// Standardised values with a one at the end, and the class.
type Rows = Vec<(Vec<f64>, u32)>;

impl Scale {
    fn of(embeddings: &Embeddings, part: &[(usize, u32)]) -> Scale {
        let count = part.len().max(1) as f64;
        let mut means = vec![0.0; embeddings.columns()];
        let mut squares = means.clone();
        for &(row, _) in part {
            for ((mean, square), &value) in means.iter_mut().zip(&mut squares).zip(embeddings.row(row)) {
                *mean += f64::from(value) / count;
                *square += f64::from(value) * f64::from(value) / count;
            }
        }
        let deviation = |(mean, square): (&f64, &f64)| (square - mean * mean).max(0.0).sqrt();
        let factor = |deviation: f64| if deviation > 1e-9 { 1.0 / deviation } else { 0.0 };
        let factors = means.iter().zip(&squares).map(deviation).map(factor).collect();
        Scale { means, factors }
    }

    fn apply(&self, embeddings: &Embeddings, part: &[(usize, u32)]) -> Rows {
        let row = |&(row, class): &(usize, u32)| {
            let values = embeddings.row(row).iter().zip(&self.means).zip(&self.factors);
            let values = values.map(|((&value, mean), factor)| (f64::from(value) - mean) * factor);
            (values.chain([1.0]).collect(), class)
        };
        part.iter().map(row).collect()
    }
}

/// Multinomial logistic regression: the sum of cross entropies and half the penalty times the squared weights, those of the
/// ones left out.
struct Problem<'a> {
    rows: &'a Rows,
    columns: usize,
    classes: usize,
    l2: f64,
}

impl Problem<'_> {
    fn scores(&self, weights: &[f64], row: &[f64]) -> Vec<f64> {
        weights.chunks_exact(self.columns).map(|weights| dot(weights, row)).collect()
    }

    fn accuracy(&self, weights: &[f64], rows: &Rows) -> f64 {
        let right = |(row, class): &&(Vec<f64>, u32)| {
            let scores = self.scores(weights, row);
            (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b])) == Some(*class as usize)
        };
        rows.iter().filter(right).count() as f64 / rows.len().max(1) as f64
    }

    fn value_and_gradient(&self, weights: &[f64]) -> (f64, Vec<f64>) {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| self.l2 * weight).collect();
        let mut value = 0.0;
        for class in 0..self.classes {
            let bias = (class + 1) * self.columns - 1;
            gradient[bias] = 0.0;
            let of_class = &weights[class * self.columns..bias];
            value += 0.5 * self.l2 * dot(of_class, of_class);
        }
        for (row, class) in self.rows {
            let mut scores = self.scores(weights, row);
            let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            value -= scores[*class as usize] - largest;
            scores.iter_mut().for_each(|score| *score = (*score - largest).exp());
            let total: f64 = scores.iter().sum();
            value += total.ln();
            for (of_class, score) in scores.iter().enumerate() {
                let error = score / total - if of_class == *class as usize { 1.0 } else { 0.0 };
                let gradient = &mut gradient[of_class * self.columns..(of_class + 1) * self.columns];
                gradient.iter_mut().zip(row).for_each(|(gradient, value)| *gradient += error * value);
            }
        }
        (value, gradient)
    }

    /// Limited-memory BFGS (Nocedal) from zero, with backtracking.
    fn minimise(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.classes * self.columns];
        let (mut value, mut gradient) = self.value_and_gradient(&weights);
        let mut past: VecDeque<(Vec<f64>, Vec<f64>)> = VecDeque::new();
        for _ in 0..STEPS {
            let direction = direction(&gradient, &past);
            let slope = dot(&direction, &gradient);
            if slope > -1e-9 * value.abs().max(1e-9) {
                break;
            }
            let mut length = if past.is_empty() { 1.0 / dot(&gradient, &gradient).sqrt().max(1.0) } else { 1.0 };
            let mut moved = None;
            for _ in 0..30 {
                let at: Vec<f64> =
                    weights.iter().zip(&direction).map(|(weight, step)| weight + length * step).collect();
                let (there, slopes) = self.value_and_gradient(&at);
                if there <= value + 1e-4 * length * slope {
                    moved = Some((at, there, slopes));
                    break;
                }
                length *= 0.5;
            }
            let Some((at, there, slopes)) = moved else { break };
            let step = difference(&at, &weights);
            let change = difference(&slopes, &gradient);
            if dot(&step, &change) > 0.0 {
                past.push_back((step, change));
                if past.len() > MEMORY {
                    past.pop_front();
                }
            }
            (weights, value, gradient) = (at, there, slopes);
        }
        weights
    }
}

/// Minus the gradient times the inverse curvature that past steps tell of.
fn direction(gradient: &[f64], past: &VecDeque<(Vec<f64>, Vec<f64>)>) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|value| -value).collect();
    let mut shares = Vec::with_capacity(past.len());
    for (step, change) in past.iter().rev() {
        let share = dot(step, &direction) / dot(step, change);
        add(&mut direction, -share, change);
        shares.push(share);
    }
    if let Some((step, change)) = past.back() {
        let scale = dot(step, change) / dot(change, change);
        direction.iter_mut().for_each(|value| *value *= scale);
    }
    for ((step, change), share) in past.iter().zip(shares.iter().rev()) {
        let other = dot(change, &direction) / dot(step, change);
        add(&mut direction, share - other, step);
    }
    direction
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [0.0; LANES];
    let (a_lanes, a_rest) = a.as_chunks::<LANES>();
    let (b_lanes, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
    }
    lanes.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f64>()
}

fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_that_a_line_parts_are_told_apart() {
        let labels: Vec<String> = (0..300).map(|row| (row % 3).to_string()).collect();
        let classes = Classes::from_labels(labels.iter().map(|label| Some(label.as_str())));
        let corner = [[0.0, 1.0], [1.0, -0.6], [-1.0, -0.6]];
        let wobble = |row: usize| (row as f32 * 0.7).sin() * 0.2;
        let values = (0..300).flat_map(|row| corner[row % 3].map(|value: f32| 50.0 + 3.0 * (value + wobble(row))));
        let embeddings = Embeddings::new(2, values.collect());
        let split = Split::new(&classes, 0).expect("enough labels");
        assert_eq!(split.parts.each_ref().map(Vec::len), [30, 30, 240]);
        assert_eq!(split.score("corners", &embeddings).accuracy, 1.0);
        let nothing = Embeddings::new(1, vec![1.0; 300]);
        assert!((split.score("nothing", &nothing).accuracy - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let rows: Rows = (0..12).map(|row| (vec![(row as f64).sin(), (row as f64).cos(), 1.0], row % 3)).collect();
        let problem = Problem { rows: &rows, columns: 3, classes: 3, l2: 0.7 };
        let weights: Vec<f64> = (0..9).map(|at| (at as f64 * 1.3).sin()).collect();
        let (_, gradient) = problem.value_and_gradient(&weights);
        for at in 0..9 {
            let near = |step: f64| {
                let mut weights = weights.clone();
                weights[at] += step;
                problem.value_and_gradient(&weights).0
            };
            let slope = (near(1e-5) - near(-1e-5)) / 2e-5;
            assert!((slope - gradient[at]).abs() < 1e-6, "{slope} {}", gradient[at]);
        }
        let best = problem.minimise();
        assert!(problem.value_and_gradient(&best).1.iter().all(|slope| slope.abs() < 1e-3));
    }
}
