//! powerful-gnns text, one file with all graphs, and its folds

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// powerful-gnns text, one file with all graphs, and its folds
pub const FORMAT: Format = Format {
    name: "powerful-gnns",
    about: "powerful-gnns text, one file with all graphs, and its folds",
    recognises,
    read,
};

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
