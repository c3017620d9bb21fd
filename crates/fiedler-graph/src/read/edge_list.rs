//! edge list: csv, tsv or spaces, header or not, weights or not, gz or not

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// edge list: csv, tsv or spaces, header or not, weights or not, gz or not
pub const FORMAT: Format = Format {
    name: "edge-list",
    about: "edge list: csv, tsv or spaces, header or not, weights or not, gz or not",
    recognises,
    read,
};

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
