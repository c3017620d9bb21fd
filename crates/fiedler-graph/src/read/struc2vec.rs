//! struc2vec edge list with labels beside it

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// struc2vec edge list with labels beside it
pub const FORMAT: Format =
    Format { name: "struc2vec", about: "struc2vec edge list with labels beside it", recognises, read };

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
