//! GraphML

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// GraphML
pub const FORMAT: Format = Format { name: "graphml", about: "GraphML", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
