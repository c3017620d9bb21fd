//! What parts are asked, and what they answer.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::{Moved, Rise};
use crate::error::{Error, Result};
use crate::objective::sampled::Quadrature;
use crate::objective::sampled::listed::{Gathered, Node};

/// What all parts are asked alike.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Question {
    /// The shifts that project the values, and those that are held.
    pub(super) shift: f32,
    pub(super) held_shift: f32,
    pub(super) ask: Ask,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Ask {
    /// What the pairs around each node make of it.
    Products,
    /// What the partners of each node add up to.
    Gather { nodes: Vec<Node> },
    /// Move values along the derivative.
    Advance { quadrature: Vec<Quadrature>, rate: f64 },
    /// The same, from the values as they are, which are held from then on, or from those that are held.
    Attempt { is_current: bool, quadrature: Vec<Quadrature>, rate: f64 },
    /// Move back towards the values that are held.
    Blend { share: f64 },
    /// Go back to the values that are held.
    Restore,
    /// Let go of them.
    Release,
    /// How far values went from those that are held.
    Moved,
    /// How strongly values are pulled up.
    Rise { quadrature: Vec<Quadrature>, sign: f64, threshold: f64 },
    /// The mass at a shift, and the number of values strictly inside.
    Weigh { shift: f32 },
    /// The values themselves.
    Values,
}

/// What a part answers: for its nodes, or piece by piece for its pairs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer(pub(super) Told);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Told {
    Done,
    Products(Vec<Node>),
    Gathered(Gathered),
    Moved(Vec<Moved>),
    Rises(Vec<Rise>),
    Masses(Vec<(f64, f64)>),
    Values(Vec<f32>),
}

impl Question {
    /// Whether it changes the part that is asked; a part that is lost needs to be asked such questions again.
    pub fn changes(&self) -> bool {
        matches!(self.ask, Ask::Advance { .. } | Ask::Attempt { .. } | Ask::Blend { .. } | Ask::Restore | Ask::Release)
    }

    /// As it travels.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self)
    }

    /// From what [`Question::to_bytes`] gave.
    ///
    /// # Errors
    /// When the bytes are no question.
    pub fn from_bytes(bytes: &[u8]) -> Result<Question> {
        from_bytes(bytes)
    }
}

macro_rules! told {
    ($($(#[doc = $about:literal])+ $name:ident: $variant:ident($type:ty);)+) => {
        $($(#[doc = $about])+
        pub(super) fn $name(self) -> Result<$type> {
            match self.0 {
                Told::$variant(found) => Ok(found),
                _ => Err(Error::parts("a part answers what it was not asked")),
            }
        })+
    };
}

impl Answer {
    told! {
        /// Of its nodes.
        products: Products(Vec<Node>);
        /// Of its nodes.
        gathered: Gathered(Gathered);
        /// Of its pieces.
        moved: Moved(Vec<Moved>);
        /// Of its pieces.
        rises: Rises(Vec<Rise>);
        /// Of its pieces.
        masses: Masses(Vec<(f64, f64)>);
        /// Of its pairs.
        values: Values(Vec<f32>);
    }

    /// As it travels.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        to_bytes(self)
    }

    /// From what [`Answer::to_bytes`] gave.
    ///
    /// # Errors
    /// When the bytes are no answer.
    pub fn from_bytes(bytes: &[u8]) -> Result<Answer> {
        from_bytes(bytes)
    }
}

pub(super) fn to_bytes(what: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(what).map_err(Error::parts)
}

pub(super) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(Error::parts)
}
