//! CSV with SMILES, one molecule a row, and its labels

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// CSV with SMILES, one molecule a row, and its labels
pub const FORMAT: Format =
    Format { name: "moleculenet", about: "CSV with SMILES, one molecule a row, and its labels", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
