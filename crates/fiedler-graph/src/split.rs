//! Which nodes or graphs train, choose and test.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::fingerprint;

/// A named division of nodes (or of graphs, in a set) for one evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Split {
    /// Name: `public`, `scaffold`, `fold-3` ….
    pub name: String,
    /// What a probe may learn from.
    pub train: Vec<u32>,
    /// What settings are chosen on; empty where the publisher gives none.
    pub validation: Vec<u32>,
    /// What the score is measured on.
    pub test: Vec<u32>,
    /// A fourth part that Wiki-CS sets aside for early stopping; empty elsewhere.
    pub stopping: Vec<u32>,
}

impl Split {
    /// Checks that every id exists and that no id is in two of train, valid and test.
    ///
    /// # Errors
    /// Names the part and the id that is out of range or used twice.
    pub fn check(&self, items: usize) -> Result<()> {
        let mut part_of = vec![""; items];
        for (part, ids) in [("train", &self.train), ("validation", &self.validation), ("test", &self.test)] {
            for &id in ids {
                let Some(slot) = part_of.get_mut(id as usize) else {
                    return Err(Error::setting(
                        format!("{part} id of split {}", self.name),
                        id,
                        format!("an id below {items}"),
                    ));
                };
                if !slot.is_empty() {
                    return Err(Error::setting(
                        format!("{part} id of split {}", self.name),
                        id,
                        format!("an id that is not in {slot} already"),
                    ));
                }
                *slot = part;
            }
        }
        match self.stopping.iter().find(|id| **id as usize >= items) {
            Some(id) => {
                Err(Error::setting(format!("stopping id of split {}", self.name), id, format!("an id below {items}")))
            }
            None => Ok(()),
        }
    }

    /// The same division of some of the items, which are numbered anew in the order given: item `items[k]` of before is `k`.
    ///
    /// ```
    /// use fiedler_graph::Split;
    /// let split = Split { train: vec![0, 1], test: vec![2, 3], ..Split::default() };
    /// let some = split.select(&[3, 1]);
    /// assert_eq!((some.train, some.test), (vec![1], vec![0]));
    /// ```
    pub fn select(&self, items: &[u32]) -> Split {
        let place: HashMap<u32, u32> = items.iter().copied().zip(0..).collect();
        let chosen = |part: &[u32]| part.iter().filter_map(|item| place.get(item).copied()).collect();
        Split {
            name: self.name.clone(),
            train: chosen(&self.train),
            validation: chosen(&self.validation),
            test: chosen(&self.test),
            stopping: chosen(&self.stopping),
        }
    }

    /// A hash of what trains, chooses, tests and stops: equal for equal divisions whatever their names and the order of ids.
    ///
    /// ```
    /// use fiedler_graph::Split;
    /// let split = |train: &[u32]| Split { train: train.to_vec(), test: vec![2], ..Default::default() };
    /// assert_eq!(split(&[0, 1]).fingerprint(), split(&[1, 0]).fingerprint());
    /// assert_ne!(split(&[0, 1]).fingerprint(), split(&[0]).fingerprint());
    /// ```
    pub fn fingerprint(&self) -> String {
        fingerprint::of_split(self)
    }
}
