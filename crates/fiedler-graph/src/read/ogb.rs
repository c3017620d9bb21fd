//! Open Graph Benchmark folders of csv.gz files

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// Open Graph Benchmark folders of csv.gz files
pub const FORMAT: Format =
    Format { name: "ogb", about: "Open Graph Benchmark folders of csv.gz files", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
