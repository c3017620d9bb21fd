//! Which split an attack is made for.

use std::fs;
use std::path::PathBuf;

use fiedler_evaluate::{Protocol, Target};
use fiedler_graph::{Dataset, Split};
use serde::Deserialize;

use crate::error::{Error, ErrorKind, Result};

/// Where a split comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum SplitChoice {
    /// It came with the data.
    Public,
    /// It is drawn: 10 % train, 10 % validation, 80 % test, every class alike.
    Random,
    /// A JSON file of node ids: `{"train": […], "validation": […], "test": […]}`, or `idx_train`, `idx_val`, `idx_test`.
    File(PathBuf),
}

impl From<&str> for SplitChoice {
    fn from(text: &str) -> SplitChoice {
        match text {
            "public" => SplitChoice::Public,
            "random" => SplitChoice::Random,
            path => SplitChoice::File(path.into()),
        }
    }
}

#[derive(Deserialize)]
struct Ids {
    #[serde(alias = "idx_train")]
    train: Vec<u32>,
    #[serde(default, alias = "idx_val")]
    validation: Vec<u32>,
    #[serde(alias = "idx_test")]
    test: Vec<u32>,
}

impl SplitChoice {
    /// The split of a dataset; `seed` is that of a drawn one.
    ///
    /// # Errors
    /// When the data have no split or no labels, or the file is not one of a split of these nodes.
    pub fn resolve(&self, dataset: &Dataset, seed: u64) -> Result<Split> {
        match self {
            SplitChoice::Public => dataset.splits.first().cloned().ok_or_else(|| {
                let message = format!("{} comes without a split", dataset.name);
                Error::new(ErrorKind::Usage, message, "draw one with --split random, or give a file of one".to_owned())
            }),
            SplitChoice::Random => {
                let protocol = Protocol::RANDOM.with_splits(1)?.with_stratified(true)?;
                let mut splits = protocol.splits(&Target::of(dataset)?, seed)?;
                splits.pop().ok_or_else(|| Error::unexpected("a random split", "there is none"))
            }
            SplitChoice::File(path) => {
                let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
                let refuse = |problem: String| {
                    let hint =
                        "expected node ids counted from 0: {\"train\": [0, 2], \"validation\": [1], \"test\": [3]}";
                    Error::new(ErrorKind::Data, format!("{}: {problem}", path.display()), hint.to_owned())
                };
                let Ids { train, validation, test } =
                    serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
                let name = path.file_stem().map_or("file".to_owned(), |stem| stem.to_string_lossy().into_owned());
                let split = Split { name, train, validation, test, stopping: Vec::new() };
                split.check(dataset.graphs.num_nodes()).map_err(|error| refuse(error.to_string()))?;
                Ok(split)
            }
        }
    }
}
