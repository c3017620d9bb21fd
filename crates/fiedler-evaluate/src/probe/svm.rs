//! Support vector machine with a Gaussian (RBF) kernel, scikit-learn's `SVC`: one machine for each pair of classes, which vote.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use fiedler_graph::Labels;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::columns::split_known;
use super::grid::{self, GridProbe};
use super::linear::ProbeModel;
use super::smo::{Dual, Kernel, Solution, Stop};
use super::{ChosenProbe, ProbeMethod, ProbeTask, check_grid, is_positive, list};
use crate::error::Result;
use crate::matrix::Matrix;
use crate::scaling::Scaling;
use crate::target::{LabelKind, Target};

/// The values of C to choose from where none are asked for: those of InfoGraph and GraphCL.
pub const DEFAULT_SVM_CS: [f64; 7] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0];

/// Rows whose kernel values with the training rows are computed at once.
const ROWS_AT_ONCE: usize = 256;

/// Settings of a support vector machine with a Gaussian kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SvmSettings {
    /// Bounds of the dual variables to choose from, scikit-learn's `C`: small is a strong penalty.
    pub cs: Vec<f64>,
    /// γ of the kernel `exp(-γ ‖x - x'‖²)`. Without it one over the number of columns and the variance of all values of the training rows,
    /// scikit-learn's `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    /// Tolerance: how far conditions of an optimum may be violated, scikit-learn's `tol`.
    pub tolerance: f64,
    /// Steps to take at most for a pair of classes, of two variables each; the default is libsvm's own bound.
    pub max_iterations: usize,
}

impl Default for SvmSettings {
    fn default() -> Self {
        SvmSettings { cs: DEFAULT_SVM_CS.to_vec(), gamma: None, tolerance: 1e-3, max_iterations: 10_000_000 }
    }
}

impl SvmSettings {
    pub(super) const HELP: &str =
        "Support vector machine with a Gaussian kernel as in scikit-learn, C chosen on validation; for classes";

    /// Fits one model for each C, in the order of `cs`: what [`fit_svm`] does for labels of the rows.
    fn fit_classes(&self, rows: &Matrix, targets: &[u32], classes: usize, cs: &[f64]) -> Vec<SvmModel> {
        let gamma = self.gamma.unwrap_or_else(|| usual_gamma(rows));
        let kernel = kernel_of(rows, gamma);
        let mut present: Vec<u32> = targets.to_vec();
        present.sort_unstable();
        present.dedup();
        let stop = Stop { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let mut order: Vec<usize> = (0..cs.len()).collect();
        order.sort_by(|&a, &b| cs[a].total_cmp(&cs[b]));
        let pairs: Vec<(u32, u32)> = present
            .iter()
            .enumerate()
            .flat_map(|(at, &first)| present[at + 1..].iter().map(move |&second| (first, second)))
            .collect();
        let solve = |&(first, second): &(u32, u32)| -> Vec<Machine> {
            let of_pair = |row: &u32| [first, second].contains(&targets[*row as usize]);
            let members: Vec<u32> = (0..targets.len() as u32).filter(of_pair).collect();
            let sign = |&row: &u32| if targets[row as usize] == first { 1.0 } else { -1.0 };
            let mut dual = Dual::new(&kernel, members.clone(), members.iter().map(sign).collect());
            let mut machines: Vec<Option<Machine>> = vec![None; cs.len()];
            for &at in &order {
                let Solution { weights, offset, converged } = dual.solve(cs[at], stop);
                let support = members.iter().zip(weights).filter(|(_, weight)| *weight != 0.0);
                let (rows, weights) = support.map(|(&row, weight)| (row, weight)).unzip();
                machines[at] = Some(Machine { first, second, rows, weights, offset, converged });
            }
            machines.into_iter().flatten().collect()
        };
        let solved: Vec<Vec<Machine>> = pairs.par_iter().map(solve).collect();
        let shared = Arc::new(rows.clone());
        let model = |at: usize| SvmModel {
            rows: Arc::clone(&shared),
            gamma,
            classes,
            only: (present.len() == 1).then(|| present[0]),
            machines: solved.iter().map(|of_pair| of_pair[at].clone()).collect(),
        };
        (0..cs.len()).map(model).collect()
    }
}

/// Fits one model for each `C`, in the order of `cs`. `targets` has the class of each row, below `classes`.
///
/// ```
/// use fiedler_evaluate::Matrix;
/// use fiedler_evaluate::probe::{SvmSettings, fit_svm};
///
/// let rows = Matrix::from_fn(6, 1, |row, _| row as f64);
/// let settings = SvmSettings { cs: vec![10.0], ..Default::default() };
/// let models = fit_svm(&rows, &[0, 0, 1, 1, 0, 0], 2, &settings);
/// let scores = models[0].scores(&rows);
/// assert!(scores.row(0)[0] > scores.row(0)[1] && scores.row(2)[0] < scores.row(2)[1]);
/// ```
pub fn fit_svm(rows: &Matrix, targets: &[u32], classes: usize, settings: &SvmSettings) -> Vec<SvmModel> {
    settings.fit_classes(rows, targets, classes, &settings.cs)
}

/// A fitted support vector machine: one for each pair of classes.
#[derive(Debug, Clone)]
pub struct SvmModel {
    /// The rows that it was fitted to.
    rows: Arc<Matrix>,
    gamma: f64,
    classes: usize,
    /// The class of all training rows, where there is but one.
    only: Option<u32>,
    machines: Vec<Machine>,
}

/// The machine of two classes: what is positive is of the first.
#[derive(Debug, Clone)]
struct Machine {
    first: u32,
    second: u32,
    rows: Vec<u32>,
    weights: Vec<f64>,
    offset: f64,
    converged: bool,
}

impl SvmModel {
    /// One score for each class. Two classes have the decision value, as scikit-learn has it, with opposite signs; more have the number of
    /// machines that vote for them. Classes that no training row has get -∞.
    pub fn scores(&self, rows: &Matrix) -> Matrix {
        let decisions = self.decisions(rows);
        let mut scores = vec![f64::NEG_INFINITY; rows.rows() * self.classes];
        for (place, of_row) in scores.chunks_exact_mut(self.classes.max(1)).enumerate() {
            if let Some(only) = self.only {
                of_row[only as usize] = 0.0;
            }
            for (machine, decision) in self.machines.iter().zip(decisions.row(place)) {
                let (first, second) = (machine.first as usize, machine.second as usize);
                if self.machines.len() == 1 {
                    (of_row[first], of_row[second]) = (*decision, -*decision);
                } else {
                    let vote = |score: &mut f64, wins: bool| *score = score.max(0.0) + f64::from(u8::from(wins));
                    vote(&mut of_row[first], *decision > 0.0);
                    vote(&mut of_row[second], *decision <= 0.0);
                }
            }
        }
        Matrix::from_values(rows.rows(), self.classes, scores)
    }

    /// Whether all machines came as near to the optimum as the tolerance asks for.
    pub fn converged(&self) -> bool {
        self.machines.iter().all(|machine| machine.converged)
    }

    /// For each row the decision value of every pair of classes, positive for the first.
    pub fn decisions(&self, rows: &Matrix) -> Matrix {
        let machines = self.machines.len();
        let parts: Vec<Vec<f64>> = (0..rows.rows().div_ceil(ROWS_AT_ONCE))
            .into_par_iter()
            .map(|part| {
                let some: Vec<u32> =
                    (part * ROWS_AT_ONCE..rows.rows().min((part + 1) * ROWS_AT_ONCE)).map(|row| row as u32).collect();
                let kernel = cross_kernel(&rows.choose(&some), &self.rows, self.gamma);
                let decide = |(machine, row): (&Machine, usize)| -> f64 {
                    let terms = machine.rows.iter().zip(&machine.weights);
                    terms.map(|(&support, weight)| weight * kernel[(row, support as usize)]).sum::<f64>()
                        - machine.offset
                };
                (0..some.len())
                    .flat_map(|row| self.machines.iter().map(move |machine| (machine, row)))
                    .map(decide)
                    .collect()
            })
            .collect();
        Matrix::from_values(rows.rows(), machines, parts.concat())
    }
}

impl ProbeModel for SvmModel {
    fn scores(&self, rows: &Matrix) -> Matrix {
        SvmModel::scores(self, rows)
    }

    fn converged(&self) -> bool {
        SvmModel::converged(self)
    }
}

impl ProbeMethod for SvmSettings {
    fn serves(&self) -> &'static [LabelKind] {
        &[LabelKind::Classes]
    }

    fn check(&self) -> Result<()> {
        check_grid("cs", &self.cs, is_positive, "a positive number")?;
        check_grid("gamma", &[self.gamma.unwrap_or(1.0)], is_positive, "a positive number")?;
        check_grid("tolerance", &[self.tolerance], is_positive, "a positive number")
    }

    fn describe(&self, _: &Target) -> String {
        format!("support vector machine with a Gaussian kernel (as in scikit-learn), C from {}", list(&self.cs))
    }

    fn choose(&self, task: &ProbeTask<'_>) -> Result<ChosenProbe> {
        grid::choose(self, task)
    }

    /// Programs that report it leave embeddings as they are.
    fn scaling(&self) -> &'static [Scaling] {
        &[Scaling::None]
    }
}

impl GridProbe for SvmSettings {
    type Model = SvmModel;
    const PARAMETER: &str = "c";

    fn grid(&self) -> Vec<f64> {
        let mut cs = self.cs.clone();
        cs.sort_by(f64::total_cmp);
        cs
    }

    fn fit(&self, rows: &Matrix, labels: &Labels, items: &[u32], cs: &[f64]) -> Vec<SvmModel> {
        let Labels::Classes(classes) = labels else { return Vec::new() };
        let column: Vec<Option<u32>> = items.iter().map(|&item| classes.of()[item as usize]).collect();
        let (places, targets) = split_known(&column);
        self.fit_classes(&rows.choose(&places), &targets, classes.count(), cs)
    }
}

/// `1 / (columns · variance)`, or 1 where nothing varies.
fn usual_gamma(rows: &Matrix) -> f64 {
    let values = rows.values();
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    if variance > 0.0 { 1.0 / (rows.columns() as f64 * variance) } else { 1.0 }
}

fn squares(rows: &Matrix) -> Vec<f64> {
    (0..rows.rows()).map(|row| rows.row(row).iter().map(|value| value * value).sum()).collect()
}

/// Kernel values of each of some rows with each of others.
fn cross_kernel(rows: &Matrix, others: &Matrix, gamma: f64) -> Mat<f64> {
    let mut kernel = Mat::zeros(rows.rows(), others.rows());
    matmul(kernel.as_mut(), Accum::Replace, rows.view(), others.view().transpose(), 1.0, Par::Seq);
    let (of_rows, of_others) = (squares(rows), squares(others));
    for (column, other) in of_others.iter().enumerate() {
        for (row, own) in of_rows.iter().enumerate() {
            let distance = (own + other - 2.0 * kernel[(row, column)]).max(0.0);
            kernel[(row, column)] = (-gamma * distance).exp();
        }
    }
    kernel
}

/// Kernel values of all pairs of rows, parts of fixed height after each other.
fn kernel_of(rows: &Matrix, gamma: f64) -> Kernel {
    let size = rows.rows();
    let mut values = vec![0f32; size * size];
    if size > 0 {
        values.par_chunks_mut(ROWS_AT_ONCE * size).enumerate().for_each(|(part, values)| {
            let some: Vec<u32> = (0..values.len() / size).map(|row| (part * ROWS_AT_ONCE + row) as u32).collect();
            let kernel = cross_kernel(&rows.choose(&some), rows, gamma);
            for (row, values) in values.chunks_exact_mut(size).enumerate() {
                values.iter_mut().enumerate().for_each(|(column, value)| *value = kernel[(row, column)] as f32);
            }
        });
    }
    Kernel::new(size, values)
}
