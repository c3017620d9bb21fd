//! Some graphs of a set, drawn at random.

use fiedler_graph::Dataset;
use fiedler_graph::generate::Parameter;
use fiedler_graph::random;

use super::{Arguments, Transform};
use crate::error::{Error, Result};
use crate::read::ReadOptions;

/// Some graphs of a set. Of a table of molecules rows are drawn before they are read, so that a sample of millions costs little; rows that
/// hold no molecule are then left out of the sample.
pub(super) const TRANSFORM: Transform = Transform {
    name: "sample",
    about: "graphs of a set, drawn without replacement and kept in their order; all where there are no more",
    usage: "sample:DATA,n=1000,seed=0",
    parameters: &[
        Parameter { name: "n", about: "number of graphs" },
        Parameter { name: "seed", about: "seed of the draw" },
    ],
    apply,
};

/// What the draw serves, to random streams.
const PURPOSE: &str = "sample of graphs";

/// A number of rows to draw from a table of molecules, before they are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSample {
    /// How many.
    pub count: usize,
    /// Seed of the draw.
    pub seed: u64,
}

impl RowSample {
    /// The rows drawn of so many, in ascending order.
    pub(crate) fn rows(&self, of: usize) -> Vec<u32> {
        random::choose(self.seed, PURPOSE, of, self.count)
    }
}

fn apply(arguments: &Arguments<'_>) -> Result<Dataset> {
    let sample = RowSample { count: arguments.whole("n", 1000)?, seed: arguments.seed()? };
    if sample.count == 0 {
        return Err(Error::setting("n", 0, "at least 1"));
    }
    let options = ReadOptions { sample: Some(sample), ..arguments.options.clone() };
    let mut dataset = arguments.open_with(arguments.data, &options)?;
    let graphs = dataset.graphs.len();
    if graphs == 1 && sample.count > 1 {
        let expected = "a set of graphs; parts of one graph are made by ego:DATA";
        return Err(Error::setting("number of graphs to sample from", 1, expected));
    }
    if graphs > sample.count {
        dataset = dataset.select(&sample.rows(graphs))?;
    }
    dataset.name = format!("{}-{}", dataset.name, sample.count);
    Ok(dataset)
}
