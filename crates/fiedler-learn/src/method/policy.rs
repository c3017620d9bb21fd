//! The policy of JOAO: a point of the simplex that moves towards the augmentations with the largest loss.

use serde::{Deserialize, Serialize};

/// Probabilities of augmentations, or of pairs of them. None yet are all alike.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Policy {
    probabilities: Vec<f64>,
}

impl Policy {
    /// The probabilities of so many.
    pub fn probabilities(&self, count: usize) -> Vec<f64> {
        match self.probabilities.len() == count {
            true => self.probabilities.clone(),
            false => vec![1.0 / count.max(1) as f64; count],
        }
    }

    /// One step of projected gradient ascent on `Σ p_k ℓ_k - γ/2 · ‖p - 1/K‖²`, as long as the gradient.
    pub fn ascend(&mut self, losses: &[f64], gamma: f64) {
        let even = 1.0 / losses.len().max(1) as f64;
        let old = self.probabilities(losses.len());
        let moved: Vec<f64> = old.iter().zip(losses).map(|(p, loss)| p + loss - gamma * (p - even)).collect();
        self.probabilities = project_to_simplex(&moved);
    }
}

/// The nearest point whose values are not negative and sum to one.
///
/// ```
/// use fiedler_learn::method::project_to_simplex;
/// assert_eq!(project_to_simplex(&[0.5, 0.5]), [0.5, 0.5]);
/// assert_eq!(project_to_simplex(&[3.0, 1.0, 0.0]), [1.0, 0.0, 0.0]);
/// ```
pub fn project_to_simplex(point: &[f64]) -> Vec<f64> {
    let mut sorted = point.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    // The largest values stay above zero: as many as can, each less by the same.
    let (mut sum, mut shift) = (0.0, 0.0);
    for (place, &value) in sorted.iter().enumerate() {
        sum += value;
        let candidate = (sum - 1.0) / (place + 1) as f64;
        if value - candidate > 0.0 {
            shift = candidate;
        }
    }
    point.iter().map(|value| (value - shift).max(0.0)).collect()
}
