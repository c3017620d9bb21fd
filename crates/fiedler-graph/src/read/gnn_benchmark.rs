//! gnn-benchmark npz (adj_*, attr_*, labels) and its variant with pickled scipy members

use super::{Format, Options};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::input::Input;

/// gnn-benchmark npz (adj_*, attr_*, labels) and its variant with pickled scipy members
pub const FORMAT: Format = Format {
    name: "gnn-benchmark",
    about: "gnn-benchmark npz (adj_*, attr_*, labels) and its variant with pickled scipy members",
    recognises,
    read,
};

fn recognises(_input: &Input) -> bool {
    false
}

fn read(input: &Input, _options: &Options) -> Result<Dataset> {
    Err(Error::UnknownFormat { path: input.path().into() })
}
