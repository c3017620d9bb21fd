//! scipy sparse adjacency npz

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// scipy sparse adjacency npz
pub const FORMAT: Format = Format { name: "scipy-npz", about: "scipy sparse adjacency npz", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
