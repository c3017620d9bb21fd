//! What an attack wants to be large: losses of predictions on nodes that the victim does not train on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::training::softmax;
use crate::matrix::Matrix;

/// Attack loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttackLoss {
    /// Cross-entropy: nodes that are wrong already count most.
    CrossEntropy,
    /// Cross-entropy of nodes that are right still.
    MaskedCrossEntropy,
    /// tanh of the margin between the best other class and the class itself: nodes near the border count most.
    TanhMargin,
}

/// Nodes with the classes they should have and a weight that all of them share: one term of an attack loss.
pub(crate) struct Term<'a> {
    pub nodes: &'a [u32],
    /// The class of every node of the graph.
    pub classes: &'a [u32],
    pub weight: f64,
    pub loss: AttackLoss,
}

impl Term<'_> {
    /// Adds the mean loss of the nodes, and its derivative by the predictions.
    pub fn add(&self, predictions: &Matrix, derivative: &mut Matrix) -> f64 {
        if self.nodes.is_empty() || self.weight == 0.0 {
            return 0.0;
        }
        let scale = self.weight / self.nodes.len() as f64;
        let mut total = 0.0;
        let mut row = vec![0.0; predictions.columns()];
        for &node in self.nodes {
            let (node, class) = (node as usize, self.classes[node as usize] as usize);
            row.copy_from_slice(predictions.row(node));
            let to = derivative.row_mut(node);
            match self.loss {
                AttackLoss::MaskedCrossEntropy if arg_max(&row) != class => {}
                AttackLoss::CrossEntropy | AttackLoss::MaskedCrossEntropy => {
                    let own = row[class];
                    total += softmax(&mut row) - own;
                    row[class] -= 1.0;
                    to.iter_mut().zip(&row).for_each(|(to, value)| *to += scale * value);
                }
                AttackLoss::TanhMargin => {
                    let own = std::mem::replace(&mut row[class], f64::NEG_INFINITY);
                    let rival = arg_max(&row);
                    if rival == class {
                        continue;
                    }
                    let margin = (row[rival] - own).tanh();
                    total += margin;
                    let slope = scale * (1.0 - margin * margin);
                    to[rival] += slope;
                    to[class] -= slope;
                }
            }
        }
        total * scale
    }
}

/// The place of the largest value, the first of equal ones.
pub(crate) fn arg_max(row: &[f64]) -> usize {
    let mut best = 0;
    for (place, value) in row.iter().enumerate() {
        if *value > row[best] {
            best = place;
        }
    }
    best
}
