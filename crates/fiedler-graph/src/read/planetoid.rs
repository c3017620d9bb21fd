//! Planetoid citation networks, `ind.NAME.*`

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// Planetoid citation networks, `ind.NAME.*`
pub const FORMAT: Format =
    Format { name: "planetoid", about: "Planetoid citation networks, `ind.NAME.*`", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
