//! Linear support vector machine, scikit-learn's `LinearSVC`: squared hinge loss, one class against the rest, the intercept penalized too.
//!
//! What is minimized for each class is `½ ‖w‖² + C Σ max(0, 1 - y x·w)²` over rows with a column of ones. It is smooth and strictly
//! convex: Newton's method on the rows that violate their margin ends at its only minimum.

use fiedler_graph::Labels;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::columns::split_known;
use super::design::Factor;
use super::grid::{self, GridProbe};
use super::{ChosenProbe, DEFAULT_SVM_CS, Linear, ProbeMethod, ProbeTask, check_grid, is_positive, list};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scaling::Scaling;
use crate::target::{LabelKind, Target};

/// Settings of a linear support vector machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinearSvmSettings {
    /// Weights of the loss to choose from, scikit-learn's `C`: small is a strong penalty.
    pub cs: Vec<f64>,
    /// Tolerance: length of the gradient to reach, relative to that where all weights are zero.
    pub tolerance: f64,
    /// Steps to take at most.
    pub max_iterations: usize,
}

impl Default for LinearSvmSettings {
    fn default() -> Self {
        LinearSvmSettings { cs: DEFAULT_SVM_CS.to_vec(), tolerance: 1e-6, max_iterations: 200 }
    }
}

impl LinearSvmSettings {
    pub(super) const HELP: &str =
        "Linear support vector machine as in scikit-learn, C chosen on validation; for classes";
}

impl ProbeMethod for LinearSvmSettings {
    fn serves(&self) -> &'static [LabelKind] {
        &[LabelKind::Classes]
    }

    fn check(&self) -> Result<()> {
        check_grid("cs", &self.cs, is_positive, "a positive number")?;
        check_grid("tolerance", &[self.tolerance], is_positive, "a positive number")
    }

    fn describe(&self, _: &Target) -> String {
        format!("linear support vector machine (as in scikit-learn), C from {}", list(&self.cs))
    }

    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        grid::choose(self, task)
    }

    /// As AD-GCL has it.
    fn scaling(&self) -> &'static [Scaling] {
        &[Scaling::Standardize]
    }
}

impl GridProbe for LinearSvmSettings {
    type Model = Linear;
    const PARAMETER: &str = "c";

    fn grid(&self) -> Vec<f64> {
        let mut cs = self.cs.clone();
        cs.sort_by(f64::total_cmp);
        cs
    }

    fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32], cs: &[f64]) -> Vec<Linear> {
        let Labels::Classes(classes) = labels else { return Vec::new() };
        let column: Vec<Option<u32>> = items.iter().map(|&item| classes.of()[item as usize]).collect();
        let (places, targets) = split_known(&column);
        let settings = LinearSvmSettings { cs: cs.to_vec(), ..self.clone() };
        fit_linear_svm(&rows.choose(&places), &targets, classes.count(), &settings)
    }
}

/// Fits one model for each `C`, in the order of `cs`. `targets` has the class of each row, below `classes`; classes that no row has get a
/// score of -∞.
///
/// ```
/// use fiedler_evaluate::Matrix;
/// use fiedler_evaluate::probe::{LinearSvmSettings, fit_linear_svm};
///
/// let rows = Matrix::from_fn(6, 1, |row, _| row as f64 - 2.5);
/// let settings = LinearSvmSettings { cs: vec![1.0], ..Default::default() };
/// let model = &fit_linear_svm(&rows, &[0, 0, 0, 1, 1, 1], 2, &settings)[0];
/// assert!(model.scores(&rows).row(0)[0] > model.scores(&rows).row(0)[1]);
/// ```
pub fn fit_linear_svm(rows: &Matrix, targets: &[u32], classes: usize, settings: &LinearSvmSettings) -> Vec<Linear> {
    let columns = rows.columns();
    let mut present: Vec<u32> = targets.to_vec();
    present.sort_unstable();
    present.dedup();
    let with_ones = Matrix::from_fn(rows.rows(), columns + 1, |row, column| match column == columns {
        true => 1.0,
        false => rows.row(row)[column],
    });
    // Two classes have one machine, which speaks for the second.
    let machines = if present.len() == 2 { &present[1..] } else { &present[..] };
    let solve = |&class: &u32| {
        let signs: Vec<f64> = targets.iter().map(|&target| if target == class { 1.0 } else { -1.0 }).collect();
        solve_each(&with_ones, &signs, settings)
    };
    let solved: Vec<Vec<Vec<f64>>> = machines.par_iter().map(solve).collect();
    let model = |at: usize| {
        let mut model = Linear { weights: vec![0.0; columns * classes], intercepts: vec![f64::NEG_INFINITY; classes] };
        present.iter().for_each(|&class| model.intercepts[class as usize] = 0.0);
        for (machine, &class) in solved.iter().zip(machines) {
            let (weights, class) = (&machine[at], class as usize);
            model.intercepts[class] = weights[columns];
            for (column, weight) in weights[..columns].iter().enumerate() {
                model.weights[column * classes + class] = *weight;
            }
        }
        model
    };
    (0..settings.cs.len()).map(model).collect()
}

/// The weights for each C; each begins where that of the next smaller C ended.
fn solve_each(rows: &Matrix, signs: &[f64], settings: &LinearSvmSettings) -> Vec<Vec<f64>> {
    let mut order: Vec<usize> = (0..settings.cs.len()).collect();
    order.sort_by(|&a, &b| settings.cs[a].total_cmp(&settings.cs[b]));
    let mut weights = vec![0.0; rows.columns()];
    let mut found = vec![Vec::new(); settings.cs.len()];
    for at in order {
        newton(rows, signs, settings.cs[at], settings, &mut weights);
        found[at] = weights.clone();
    }
    found
}

/// `max(0, 1 - y x·w)` of each row.
fn slacks(rows: &Matrix, signs: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut products = vec![0.0; rows.rows()];
    rows.times(weights, 1, &mut products);
    products.iter().zip(signs).map(|(product, sign)| (1.0 - sign * product).max(0.0)).collect()
}

fn objective(weights: &[f64], slacks: &[f64], c: f64) -> f64 {
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    0.5 * squares(weights) + c * squares(slacks)
}

fn newton(rows: &Matrix, signs: &[f64], c: f64, settings: &LinearSvmSettings, weights: &mut Vec<f64>) {
    let gradient_at = |weights: &[f64], slacks: &[f64]| -> Vec<f64> {
        let pulls: Vec<f64> = slacks.iter().zip(signs).map(|(slack, sign)| -2.0 * c * slack * sign).collect();
        let pulled = rows.transposed_times(&pulls, 1);
        weights.iter().zip(pulled).map(|(weight, pull)| weight + pull).collect()
    };
    let length = |vector: &[f64]| vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    let nothing = vec![0.0; weights.len()];
    let far = length(&gradient_at(&nothing, &vec![1.0; signs.len()]));
    let mut of_rows = slacks(rows, signs, weights);
    for _ in 0..settings.max_iterations {
        let gradient = gradient_at(weights, &of_rows);
        if length(&gradient) <= settings.tolerance * far {
            break;
        }
        let active: Vec<f64> = of_rows.iter().map(|slack| f64::from(u8::from(*slack > 0.0))).collect();
        let Some(factor) = Factor::of(&rows.gram(Some(&active)), 2.0 * c, 1.0) else { break };
        let mut direction = gradient.clone();
        factor.solve(&mut direction, 1);
        let slope: f64 = direction.iter().zip(&gradient).map(|(a, b)| a * b).sum();
        let before = objective(weights, &of_rows, c);
        let mut step = 1.0;
        let moved = loop {
            let moved: Vec<f64> =
                weights.iter().zip(&direction).map(|(weight, change)| weight - step * change).collect();
            let of_moved = slacks(rows, signs, &moved);
            if objective(&moved, &of_moved, c) <= before - 1e-4 * step * slope {
                break Some((moved, of_moved));
            }
            step /= 2.0;
            // Nothing is gained but by rounding.
            if step < 1e-10 {
                break None;
            }
        };
        let Some(moved) = moved else { break };
        (*weights, of_rows) = moved;
    }
}
