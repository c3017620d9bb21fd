//! A table in parts: runs that several processes share out among them.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::{Error, ErrorKind, Result};

/// One of several equal parts of the runs of a table: every N-th run, from the K-th on.
///
/// ```
/// use fiedler_experiment::tables::TablePart;
///
/// let part: TablePart = "1/3".parse()?;
/// assert_eq!((0..7).filter(|&run| part.has(run)).collect::<Vec<_>>(), [1, 4]);
/// assert!("3/3".parse::<TablePart>().is_err());
/// # Ok::<(), fiedler_experiment::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablePart {
    index: usize,
    of: usize,
}

impl TablePart {
    /// All runs.
    pub fn whole() -> TablePart {
        TablePart { index: 0, of: 1 }
    }

    /// The part that has one run, of this number, and no other.
    pub fn one(run: usize) -> TablePart {
        TablePart { index: run, of: usize::MAX }
    }

    /// Whether the part has the run of this number.
    pub fn has(self, run: usize) -> bool {
        run % self.of == self.index
    }
}

impl FromStr for TablePart {
    type Err = Error;

    fn from_str(text: &str) -> Result<TablePart> {
        let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of => Ok(TablePart { index, of }),
            _ => Err(Error::new(
                ErrorKind::Usage,
                format!("{text:?} is no part; expected K/N with K from 0 to N - 1, such as 0/3, 1/3 and 2/3"),
                None,
            )),
        }
    }
}

impl fmt::Display for TablePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

/// One run of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableRun {
    /// Its number, which decides the part that it belongs to.
    pub number: usize,
    /// Title of the dataset.
    pub dataset: String,
    /// Row of the table.
    pub row: String,
    /// Seed.
    pub seed: u64,
    /// Whether it is there and evaluated.
    pub finished: bool,
    /// How much work it is, to begin with the longest: epochs times nodes and entries of the adjacency matrix. Not a time.
    pub work: u64,
    /// The scheme that it needs and that may be shared with other runs, if it needs one that is not there yet.
    pub scheme: Option<String>,
}

/// What came of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PartResult {
    /// Runs that are finished.
    pub finished: usize,
    /// Why others failed.
    pub failed: Vec<String>,
    /// Runs that other processes were at.
    pub elsewhere: usize,
}
