//! Wiki-CS `data.json` with its 20 splits

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// Wiki-CS `data.json` with its 20 splits
pub const FORMAT: Format =
    Format { name: "wiki-cs", about: "Wiki-CS `data.json` with its 20 splits", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
