//! TU graph classification, zip or folder

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// TU graph classification, zip or folder
pub const FORMAT: Format = Format { name: "tu", about: "TU graph classification, zip or folder", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
