//! node-link JSON as networkx writes it

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// node-link JSON as networkx writes it
pub const FORMAT: Format =
    Format { name: "node-link", about: "node-link JSON as networkx writes it", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
