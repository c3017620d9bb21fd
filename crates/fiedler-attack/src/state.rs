//! Where an attack stands that was stopped, so that it can go on to the same flips.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::flips::Flip;

/// Where an attack stands: all that it needs to go on, beside its settings and its input.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AttackState {
    /// Flips made so far.
    pub flips: Vec<Flip>,
    /// Of an attack whose flips are drawn at its end, the parts of flips so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxed: Option<RelaxedState>,
}

impl AttackState {
    /// Whether nothing was done yet.
    pub fn is_empty(&self) -> bool {
        self.flips.is_empty() && self.relaxed.is_none()
    }

    pub(crate) fn of_flips(flips: &[Flip]) -> AttackState {
        AttackState { flips: flips.to_vec(), relaxed: None }
    }
}

/// Parts of flips between two steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelaxedState {
    /// Steps made.
    pub steps: usize,
    /// The parts, and the pairs that they are of.
    pub(crate) now: BlockState,
    /// The bits of the largest loss so far, and the parts that had it.
    pub(crate) best: Option<(u64, BlockState)>,
    /// The bits of the rate of steps, where the first step sets it.
    pub(crate) rate: Option<u64>,
}

/// A block of pairs and their parts. Pairs are drawn again; parts are kept bit by bit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct BlockState {
    /// Which draw of pairs it is.
    pub drawn: u64,
    /// Pairs of the block before that were kept.
    pub kept: Vec<(u32, u32)>,
    /// Places of pairs that are flipped in part, with the bits of their parts.
    parts: Vec<(usize, u64)>,
}

impl BlockState {
    pub fn new(drawn: u64, kept: &[(u32, u32)], parts: &[f64]) -> BlockState {
        let parts = parts.iter().enumerate().filter(|(_, part)| **part != 0.0);
        let parts = parts.map(|(place, part)| (place, part.to_bits())).collect();
        BlockState { drawn, kept: kept.to_vec(), parts }
    }

    /// The parts of so many pairs.
    pub fn parts(&self, pairs: usize) -> Result<Vec<f64>> {
        let mut parts = vec![0.0; pairs];
        for &(place, bits) in &self.parts {
            let part = f64::from_bits(bits);
            match parts.get_mut(place) {
                Some(to) if (0.0..=1.0).contains(&part) => *to = part,
                _ => return Err(unusable()),
            }
        }
        Ok(parts)
    }
}

/// What is kept is not of this attack.
pub(crate) fn unusable() -> Error {
    Error::Unsuitable {
        message: "what is kept of an earlier attack does not fit this one".into(),
        hint: "the earlier attack was on another graph or with other settings; begin anew".into(),
    }
}
