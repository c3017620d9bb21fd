//! Readers, one file a format, chosen by looking at the path.
//!
//! To add a format: write `read/NAME.rs` with a public constant [`Format`], and list it in [`FORMATS`].

mod assemble;
pub(crate) mod attributes;
mod columns;
mod duplicates;
pub(crate) mod edge_list;
mod fiedler;
mod fill;
mod gexf;
mod gml;
mod gnn_benchmark;
mod graph_saint;
mod graphml;
mod heterophilous;
mod json;
mod matrix_market;
mod moleculenet;
mod node_link;
pub mod npz;
mod numbers;
mod ogb;
pub mod pickle;
mod planetoid;
mod powerful_gnns;
mod pyg;
mod scipy_npz;
pub(crate) mod separated;
mod sole;
mod stored;
mod struc2vec;
mod table;
mod target;
pub mod torch;
mod tu;
mod wiki_cs;
mod xml;

use std::path::{Path, PathBuf};

use fiedler_graph::{Dataset, Names};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::input::DataSource;
use crate::transform::RowSample;

pub use duplicates::Duplicates;
pub use fill::Fill;
pub use table::TableFile;
pub(crate) use table::labels_from_columns;
pub use target::TargetKind;

/// A file format: its name, how to recognize it and how to read it.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Name for `--format` and reports.
    pub name: &'static str,
    /// What it is, in one line of help.
    pub about: &'static str,
    /// Whether a path looks like this format; looks at names first, at bytes only where names do not tell.
    pub recognizes: fn(&DataSource) -> bool,
    /// Reads it.
    pub read: fn(&DataSource, &ReadOptions) -> Result<Dataset>,
}

/// Every format, the most particular first: the first that recognizes a path reads it.
pub const FORMATS: &[Format] = &[
    fiedler::FORMAT,
    planetoid::FORMAT,
    ogb::FORMAT,
    tu::FORMAT,
    powerful_gnns::FORMAT,
    wiki_cs::FORMAT,
    graph_saint::FORMAT,
    gnn_benchmark::FORMAT,
    heterophilous::FORMAT,
    scipy_npz::FORMAT,
    pyg::FORMAT,
    matrix_market::FORMAT,
    struc2vec::FORMAT,
    graphml::FORMAT,
    gexf::FORMAT,
    gml::FORMAT,
    node_link::FORMAT,
    moleculenet::FORMAT,
    edge_list::FORMAT,
];

/// What a user can say about how to read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Format by name, instead of looking at the path.
    pub format: Option<String>,
    /// Node features from a csv, npy or parquet file.
    pub features: Option<PathBuf>,
    /// Node labels from a csv, npy or parquet file.
    pub labels: Option<PathBuf>,
    /// Names of the columns to predict, of a table of molecules or of nodes. Those of nodes stand in `labels`, or else among `features`, which
    /// they are no part of.
    #[serde(alias = "targets")]
    pub columns: Vec<String>,
    /// Use continuous node attributes too, where a dataset has both node labels and attributes.
    pub attributes: bool,
    /// Leave edge weights out, where a file has them.
    pub unweighted: bool,
    /// Which weight an edge gets that a file gives several times with different ones.
    pub duplicates: Duplicates,
    /// What stands for features that are missing; without it they are an error, or attributes that lack them are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fill: Option<Fill>,
    /// What labels are, where their words or numbers do not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetKind>,
    /// Leave features of nodes in their file and read them some rows at a time ([`Dataset::stored_features`]): in files of fiedler's
    /// own format, and in npy files that are given as `features` or lie beside an edge list.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stream_features: bool,
    /// Rows to draw from a table of molecules before they are read; other formats read everything. Part of what a
    /// [transform](crate::transform) says, and not written down by itself.
    #[serde(skip)]
    pub sample: Option<RowSample>,
}

/// Reads a dataset from a path, choosing the format by looking at it.
///
/// # Errors
/// When the path cannot be read, its format cannot be told, or the data are not what the format promises.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset> {
    read_source(&DataSource::open(path)?, options)
}

/// As [`read`], from a source that is already open.
///
/// # Errors
/// As [`read`].
pub fn read_source(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let format = choose(input, options)?;
    let place = Place::file(input.path());
    let mut dataset = (format.read)(input, options).map_err(|error| error.at(&place))?;
    dataset.report.format = format.name;
    table::attach(&mut dataset, input, options)?;
    if options.stream_features && dataset.features.is_some() {
        let expected = "a file of the fiedler format with the features of one graph (fiedler convert DATA NAME.fiedler), or npy features";
        return Err(place.malformed("features that cannot be read row by row", expected).into());
    }
    target::settle(&mut dataset, options).map_err(|error| error.at(&place))?;
    dataset.check().map_err(|error| Error::from(error).at(&place))?;
    Ok(dataset)
}

/// The name of the format that a path looks like, if there is such a path and it looks like one.
pub fn recognize(path: impl AsRef<Path>) -> Option<&'static str> {
    let input = DataSource::open(path).ok()?;
    FORMATS.iter().find(|format| (format.recognizes)(&input)).map(|format| format.name)
}

fn choose(input: &DataSource, options: &ReadOptions) -> Result<&'static Format> {
    match &options.format {
        Some(name) => FORMATS
            .iter()
            .find(|format| format.name == name)
            .ok_or_else(|| Error::unknown_name("format", name, FORMATS.iter().map(|format| format.name))),
        None => FORMATS
            .iter()
            .find(|format| (format.recognizes)(input))
            .ok_or_else(|| Error::UnknownFormat { path: input.path().into() }),
    }
}

/// Names as a file has them: numbers, when all of them are.
fn names_from_text(names: Vec<String>) -> Names {
    match names.iter().map(|name| separated::whole_number(name)).collect() {
        Some(integers) => Names::Integers(integers),
        None => Names::Strings(names.into_iter().map(Into::into).collect()),
    }
}
