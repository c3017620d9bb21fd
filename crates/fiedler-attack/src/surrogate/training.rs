//! Training of the surrogate, and its derivative by the features that it sees.
//!
//! The surrogate `Z = Â² X W1 W2` sees the graph only through `F = Â² X`, and its training only through the rows `F_T` of training nodes. Its
//! first layer moves in the space that the rows of `Φ` span: `W1 = W1₀ + Φᵀ B`. With fewer training nodes than features `Φ` is `F_T` itself,
//! and every product with `F_T Φᵀ` is one with the Gram matrix, whatever the number of features; otherwise `Φ` is the identity.

use crate::matrix::{Matrix, add_scaled, dot};

/// Steps of the backward pass whose products are added up at once.
const STEPS_AT_ONCE: usize = 25;

/// How the surrogate is trained: gradient descent with momentum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InnerTraining {
    /// Number of steps.
    pub steps: usize,
    /// Learning rate.
    pub learning_rate: f64,
    /// Momentum.
    pub momentum: f64,
}

/// Weights of the two layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// First layer: features × hidden.
    pub first: Matrix,
    /// Second layer: hidden × classes.
    pub second: Matrix,
}

impl Weights {
    /// Both layers as one: features × classes.
    pub(crate) fn product(&self) -> Matrix {
        self.first.times(&self.second)
    }
}

/// What training sees: `F_T` and the classes of its rows.
pub(crate) struct TrainingRows {
    rows: Matrix,
    classes: Vec<u32>,
    /// `F_T F_Tᵀ`, where there are fewer rows than features.
    gram: Option<Matrix>,
}

/// A training that is over, with what its derivative needs.
pub(crate) struct Trained {
    pub weights: Weights,
    /// The training loss before each step.
    #[cfg_attr(not(test), expect(dead_code, reason = "what training went through is looked at by tests"))]
    pub losses: Vec<f64>,
    /// The last steps, those that are differentiated.
    steps: Vec<Step>,
}

/// The state before a step.
struct Step {
    second: Matrix,
    /// `(P − Y) / |T|`.
    residual: Matrix,
    /// Coordinates of `F_Tᵀ` times the residual; the residual itself in the dual form.
    coordinates: Option<Matrix>,
    /// `F_T F_Tᵀ` times the residual.
    image: Matrix,
    /// `F_T W1`.
    hidden: Matrix,
    /// B.
    moved: Matrix,
}

impl TrainingRows {
    pub fn new(rows: Matrix, classes: Vec<u32>) -> TrainingRows {
        let gram = (rows.rows() < rows.columns()).then(|| rows.times_transposed(&rows));
        TrainingRows { rows, classes, gram }
    }

    fn len(&self) -> usize {
        self.classes.len()
    }

    /// Number of coordinates of the first layer's moves.
    fn num_coordinates(&self) -> usize {
        if self.gram.is_some() { self.rows.rows() } else { self.rows.columns() }
    }

    /// Coordinates of `F_Tᵀ X`; none where they are X itself.
    fn coordinates(&self, of: &Matrix) -> Option<Matrix> {
        self.gram.is_none().then(|| self.rows.transposed_times(of))
    }

    /// `F_T Φᵀ` times coordinates.
    fn image(&self, coordinates: &Matrix) -> Matrix {
        self.gram.as_ref().unwrap_or(&self.rows).times(coordinates)
    }

    /// `Φᵀ` times coordinates: a change of the first layer.
    fn lift(&self, coordinates: &Matrix) -> Matrix {
        match self.gram {
            Some(_) => self.rows.transposed_times(coordinates),
            None => coordinates.clone(),
        }
    }

    /// Trains from the start; the last `differentiated` steps are remembered.
    pub fn train(&self, start: &Weights, training: InnerTraining, differentiated: usize) -> Trained {
        let InnerTraining { steps, learning_rate, momentum } = training;
        let (hidden_units, classes) = (start.second.rows(), start.second.columns());
        let mut second = start.second.clone();
        let mut hidden = self.rows.times(&start.first);
        let mut moved = Matrix::zeros(self.num_coordinates(), hidden_units);
        let (mut moved_velocity, mut hidden_velocity) = (moved.clone(), Matrix::zeros(self.len(), hidden_units));
        let mut second_velocity = Matrix::zeros(hidden_units, classes);
        let (mut losses, mut kept) = (Vec::with_capacity(steps), Vec::new());
        for step in 0..steps {
            let mut residual = hidden.times(&second);
            losses.push(softmax_residual(&mut residual, &self.classes));
            let coordinates = self.coordinates(&residual);
            let image = self.image(coordinates.as_ref().unwrap_or(&residual));
            let slope = hidden.transposed_times(&residual);
            let (before, hidden_before, moved_before) = (second.clone(), hidden.clone(), moved.clone());

            scale_then_add_product(&mut moved_velocity, momentum, coordinates.as_ref().unwrap_or(&residual), &second);
            scale_then_add_product(&mut hidden_velocity, momentum, &image, &second);
            second_velocity.mix(momentum, 1.0, &slope);
            moved.mix(1.0, -learning_rate, &moved_velocity);
            hidden.mix(1.0, -learning_rate, &hidden_velocity);
            second.mix(1.0, -learning_rate, &second_velocity);
            if step + differentiated >= steps {
                kept.push(Step {
                    second: before,
                    residual,
                    coordinates,
                    image,
                    hidden: hidden_before,
                    moved: moved_before,
                });
            }
        }
        let mut first = self.lift(&moved);
        first.mix(1.0, 1.0, &start.first);
        Trained { weights: Weights { first, second }, losses, steps: kept }
    }

    /// The derivative of the attack loss by `F_T` through the training: one row a training node.
    ///
    /// `direct` is `Fᵀ R`, R being the derivative of the loss by the predictions `F W1 W2`.
    pub fn differentiate(
        &self,
        start: &Weights,
        trained: &Trained,
        training: InnerTraining,
        direct: &Matrix,
    ) -> Matrix {
        let InnerTraining { learning_rate, momentum, .. } = training;
        let (nodes, units) = (self.len(), start.second.rows());
        let classes = start.second.columns();
        // Adjoints of the first layer are `base + Φᵀ β`, those of its velocity `share · base + Φᵀ α`.
        let base = direct.times_transposed(&trained.weights.second);
        let mut image = self.rows.times(&base);
        let mut beta = Matrix::zeros(self.num_coordinates(), units);
        let mut alpha = beta.clone();
        let mut velocity_image = Matrix::zeros(nodes, units);
        let mut second_adjoint = trained.weights.first.transposed_times(direct);
        let mut second_velocity = Matrix::zeros(units, classes);
        let mut share = 0.0;

        let (mut from_start, mut from_base) = (Matrix::zeros(nodes, units), Matrix::zeros(nodes, units));
        let mut from_rows = Matrix::zeros(nodes, self.num_coordinates());
        let mut pending: Vec<(Matrix, Matrix)> = Vec::new();
        for step in trained.steps.iter().rev() {
            share = momentum * share - learning_rate;
            alpha.mix(momentum, -learning_rate, &beta);
            velocity_image.mix(momentum, -learning_rate, &image);
            second_velocity.mix(momentum, -learning_rate, &second_adjoint);

            let mut change = velocity_image.times(&step.second);
            change.add_product(step.hidden.view(), second_velocity.view());
            softmax_derivative(&mut change, &step.residual, &self.classes);

            from_start.add_product(change.view(), step.second.view().transpose());
            from_start.add_product(step.residual.view(), second_velocity.view().transpose());
            let mut scaled = step.second.clone();
            scaled.mix(share, 0.0, &step.second);
            from_base.add_product(step.residual.view(), scaled.view().transpose());
            let mut other = step.moved.times(&second_velocity);
            other.add_product(alpha.view(), step.second.view());
            pending.push((
                Matrix::beside(&[&change, &step.residual]),
                Matrix::beside(&[&step.moved.times(&step.second), &other]),
            ));
            if pending.len() == STEPS_AT_ONCE {
                add_pending(&mut from_rows, &mut pending);
            }

            let coordinates = self.coordinates(&change);
            let coordinates = coordinates.as_ref().unwrap_or(&change);
            image.add_product(self.image(coordinates).view(), step.second.view().transpose());
            image.add_product(step.image.view(), second_velocity.view().transpose());
            beta.add_product(coordinates.view(), step.second.view().transpose());
            let of_residual = step.coordinates.as_ref().unwrap_or(&step.residual);
            beta.add_product(of_residual.view(), second_velocity.view().transpose());
            second_adjoint.add_product(step.hidden.view().transpose(), change.view());
            second_adjoint.add_product(velocity_image.view().transpose(), step.residual.view());
        }
        add_pending(&mut from_rows, &mut pending);

        let mut derivative = match self.gram {
            Some(_) => from_rows.times(&self.rows),
            None => from_rows,
        };
        derivative.add_product(from_start.view(), start.first.view().transpose());
        derivative.add_product(from_base.view(), base.view().transpose());
        derivative
    }

    /// Both layers as one before each step of training by Adam, as A-Meta has it.
    pub fn train_by_adam(&self, start: &Weights, steps: usize) -> Vec<Matrix> {
        let mut weights = start.clone();
        let mut adam = [Adam::new(&weights.first), Adam::new(&weights.second)];
        let mut products = Vec::with_capacity(steps);
        for _ in 0..steps {
            products.push(weights.product());
            let hidden = self.rows.times(&weights.first);
            let mut residual = hidden.times(&weights.second);
            softmax_residual(&mut residual, &self.classes);
            let first = self.rows.transposed_times(&residual).times_transposed(&weights.second);
            let second = hidden.transposed_times(&residual);
            adam[0].step(&mut weights.first, &first);
            adam[1].step(&mut weights.second, &second);
        }
        products
    }
}

/// `to ← keep · to + left · rightᵀ`.
fn scale_then_add_product(to: &mut Matrix, keep: f64, left: &Matrix, right: &Matrix) {
    to.values_mut().iter_mut().for_each(|value| *value *= keep);
    to.add_product(left.view(), right.view().transpose());
}

fn add_pending(to: &mut Matrix, pending: &mut Vec<(Matrix, Matrix)>) {
    let (left, right): (Vec<&Matrix>, Vec<&Matrix>) = pending.iter().map(|(left, right)| (left, right)).unzip();
    if !left.is_empty() {
        to.add_product(Matrix::beside(&left).view(), Matrix::beside(&right).view().transpose());
    }
    pending.clear();
}

/// Softmax of a row of predictions, in place; its log-partition is returned.
pub(crate) fn softmax(row: &mut [f64]) -> f64 {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    row.iter_mut().for_each(|value| *value = (*value - largest).exp());
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|value| *value /= sum);
    largest + sum.ln()
}

/// Turns predictions into `(softmax − one-hot) / rows`, and gives the mean cross-entropy.
fn softmax_residual(predictions: &mut Matrix, classes: &[u32]) -> f64 {
    let mean = 1.0 / classes.len() as f64;
    let mut loss = 0.0;
    for (row, &class) in classes.iter().enumerate() {
        let row = predictions.row_mut(row);
        let own = row[class as usize];
        loss += softmax(row) - own;
        row[class as usize] -= 1.0;
        row.iter_mut().for_each(|value| *value *= mean);
    }
    loss * mean
}

/// The derivative of a residual along a change of predictions, in place.
fn softmax_derivative(change: &mut Matrix, residual: &Matrix, classes: &[u32]) {
    let rows = classes.len() as f64;
    let mut probabilities = vec![0.0; residual.columns()];
    for (row, &class) in classes.iter().enumerate() {
        probabilities.iter_mut().zip(residual.row(row)).for_each(|(to, value)| *to = value * rows);
        probabilities[class as usize] += 1.0;
        let change = change.row_mut(row);
        let mean = dot(&probabilities, change);
        for (value, probability) in change.iter_mut().zip(&probabilities) {
            *value = probability * (*value - mean) / rows;
        }
    }
}

/// Adam, as in every library: β₁ = 0.9, β₂ = 0.999, ε = 1e-8.
pub(crate) struct Adam {
    first: Matrix,
    second: Matrix,
    step: i32,
}

impl Adam {
    const RATE: f64 = 0.01;

    pub fn new(of: &Matrix) -> Adam {
        let zeros = Matrix::zeros(of.rows(), of.columns());
        Adam { first: zeros.clone(), second: zeros, step: 0 }
    }

    pub fn step(&mut self, weights: &mut Matrix, slope: &Matrix) {
        self.step += 1;
        let corrections = [1.0 - 0.9f64.powi(self.step), 1.0 - 0.999f64.powi(self.step)];
        let moments = self.first.values_mut().iter_mut().zip(self.second.values_mut());
        for ((weight, slope), (first, second)) in weights.values_mut().iter_mut().zip(slope.values()).zip(moments) {
            *first = 0.9 * *first + 0.1 * slope;
            *second = 0.999 * *second + 0.001 * slope * slope;
            *weight -= Adam::RATE * (*first / corrections[0]) / ((*second / corrections[1]).sqrt() + 1e-8);
        }
    }
}

/// The sums of columns.
pub(crate) fn column_sums(matrix: &Matrix) -> Matrix {
    let mut sums = Matrix::zeros(1, matrix.columns());
    (0..matrix.rows()).for_each(|row| add_scaled(sums.row_mut(0), 1.0, matrix.row(row)));
    sums
}
