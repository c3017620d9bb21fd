//! Writers, one file a format; [`FORMATS`] is the list.
//!
//! [`write()`] puts a dataset into the format that the target's name asks for:
//!
//! | name | what is written |
//! |---|---|
//! | `.csv`, `.tsv`, `.txt`, `.edgelist`, also with `.gz` | one graph: an edge list; features beside it in `NAME.features.npy` or `.csv`, labels and splits in `NAME.labels.csv` |
//! | `.graphml` | one graph: GraphML, features, labels and splits as node attributes |
//! | `.json` | a graph or a set of graphs: node-link JSON, as networkx has it |
//! | `.zip`, `…_A.txt` | a set of graphs: the TU layout, in an archive or as files side by side |
//! | `.npz` | a graph or a set of graphs: numpy arrays in the layout of gnn-benchmark, with all that is known of it |
//! | `.fiedler` | a graph or a set of graphs: our own format, arrays as they lie in memory, with checksums; opened fastest |
//!
//! Each file is written under a temporary name in its folder and then renamed, so that there is never half a file;
//! nothing that exists is replaced unless asked. What reading gives back is the same dataset, with these exceptions: names that all are whole numbers come
//! back as numbers, features of categories as numbers, and, except from npz and fiedler, labels as their words suggest (a single column of whole real
//! values as classes). Everything that a format leaves out is told by [`left_out`] before, and in [`Written::notes`] after writing; what it cannot do without is refused.
//!
//! ```
//! use fiedler_graph::{Dataset, Graph};
//! use fiedler_io::{ReadOptions, read, write};
//!
//! let (graph, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)])?;
//! let folder = tempfile::tempdir().unwrap();
//! let path = folder.path().join("path.csv");
//! write::write(&Dataset::single("path", graph), &path, &write::WriteOptions::default())?;
//! assert_eq!(read::read(&path, &ReadOptions::default())?.graphs.num_edges(), 2);
//! # Ok::<(), fiedler_io::Error>(())
//! ```

mod edge_list;
mod fiedler;
mod graphml;
mod node_link;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod text;
mod tu;

use std::path::Path;

use fiedler_graph::{Dataset, Features, Graph, Labels};

use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};

pub use crate::atomic::Written;
pub use edge_list::edges;
pub use npy::npy;
pub use npz::scipy_npz;
#[cfg(feature = "parquet")]
pub use parquet::parquet;

/// Values of features that are written out in full, zeros included, at most: 1 GiB.
const MAX_DENSE_VALUES: usize = 1 << 28;

/// A format that can be written.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name, the same as that of the reader.
    pub name: &'static str,
    /// How names of its files end, in lower case.
    pub endings: &'static [&'static str],
    /// What it is and what it holds, in one line of help.
    pub about: &'static str,
    /// Whether it holds sets of graphs.
    pub holds_sets: bool,
    /// What of a dataset it leaves out, a sentence each.
    left_out: fn(&Dataset) -> Vec<String>,
    write: fn(&Dataset, &Path, &mut AtomicFiles) -> Result<()>,
}

/// Every format that can be written.
pub const FORMATS: &[Format] =
    &[edge_list::FORMAT, graphml::FORMAT, node_link::FORMAT, tu::FORMAT, npz::FORMAT, fiedler::FORMAT];

impl Format {
    /// The format of a name.
    ///
    /// # Errors
    /// When none has it.
    pub fn named(name: &str) -> Result<&'static Format> {
        let unknown = || Error::unknown_name("format to write", name, FORMATS.iter().map(|format| format.name));
        FORMATS.iter().find(|format| format.name == name).ok_or_else(unknown)
    }

    /// What of a dataset it cannot hold, a sentence each.
    pub fn left_out(&self, dataset: &Dataset) -> Vec<String> {
        (self.left_out)(dataset)
    }

    /// The format that a name's ending asks for.
    ///
    /// # Errors
    /// When there is no such format.
    pub fn of(path: &Path) -> Result<&'static Format> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let fits = |format: &&Format| format.endings.iter().any(|ending| name.ends_with(ending));
        // `NAME_A.txt` ends as an edge list does, too: the longest ending says most.
        let longest = |format: &&Format| {
            format.endings.iter().filter(|ending| name.ends_with(**ending)).map(|ending| ending.len()).max()
        };
        FORMATS.iter().filter(fits).max_by_key(longest).ok_or_else(|| {
            let endings: Vec<&str> = FORMATS.iter().flat_map(|format| format.endings).copied().collect();
            Error::setting("file to write", path.display(), format!("a name that ends in {}", endings.join(", ")))
        })
    }
}

/// What a user can say about how to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Replace files that exist.
    pub force: bool,
}

/// What of a dataset a file of this name cannot hold, a sentence each; nothing is written.
///
/// # Errors
/// When the ending is unknown.
///
/// ```
/// use std::path::Path;
/// let karate = fiedler_graph::generate::karate_club();
/// assert!(fiedler_io::write::left_out(&karate, Path::new("karate.npz"))?.is_empty());
/// # Ok::<(), fiedler_io::Error>(())
/// ```
pub fn left_out(dataset: &Dataset, path: &Path) -> Result<Vec<String>> {
    Ok(Format::of(path)?.left_out(dataset))
}

/// Writes a dataset.
///
/// # Errors
/// When the ending is unknown, the dataset is a set of several graphs or holds what the format cannot do without, a file exists and
/// `force` was not asked for, or the system refuses.
pub fn write(dataset: &Dataset, path: impl AsRef<Path>, options: &WriteOptions) -> Result<Written> {
    let path = path.as_ref();
    write_as(dataset, path, Format::of(path)?, options)
}

/// As [`write()`], in a format whatever the name of the file.
///
/// # Errors
/// As there.
pub fn write_as(dataset: &Dataset, path: &Path, format: &Format, options: &WriteOptions) -> Result<Written> {
    dataset.check()?;
    if !format.holds_sets && dataset.graph().is_none() {
        let of_sets: Vec<&str> =
            FORMATS.iter().filter(|format| format.holds_sets).flat_map(|format| format.endings).copied().collect();
        let expected = format!("one graph, which is all that {} holds; sets go to {}", format.name, of_sets.join(", "));
        return Err(Error::setting("number of graphs", dataset.graphs.len(), expected));
    }
    if let Some((at, split)) = dataset
        .splits
        .iter()
        .enumerate()
        .find(|(at, split)| dataset.splits[..*at].iter().any(|earlier| earlier.name == split.name))
    {
        let expected = format!("a name that none of the {at} splits before has");
        return Err(Error::setting("name of a split", format!("{:?}", split.name), expected));
    }
    let mut files = AtomicFiles::new(options.force);
    (format.write)(dataset, path, &mut files)?;
    let mut written = files.finish()?;
    written.notes.extend((format.left_out)(dataset));
    Ok(written)
}

/// The sentence for a part of the data that a format leaves out.
fn leaves_out(what: &str, format: &str) -> String {
    format!("{what} left out: {format} has no place for them")
}

/// What no format of text holds.
fn left_out_of_text(dataset: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    if dataset.features.is_some() && features(dataset).is_none() {
        notes.push("features are left out: they have no columns".to_owned());
    }
    if dataset.graph_source.as_ref().is_some_and(|source| source.names.is_none()) {
        notes.push("lines of the source are left out".to_owned());
    }
    notes
}

/// Features with at least one column.
fn features(dataset: &Dataset) -> Option<&Features> {
    dataset.features.as_ref().filter(|features| features.columns() > 0)
}

/// Refuses features that would take too much room with all their zeros.
fn check_dense(features: &Features, place: &str) -> Result<()> {
    let values = features.rows().saturating_mul(features.columns());
    if values > MAX_DENSE_VALUES {
        let expected = format!("at most {MAX_DENSE_VALUES} {place}; npz keeps them sparse");
        return Err(Error::setting("number of feature values", values, expected));
    }
    Ok(())
}

/// Column and value of a node's features; of sparse ones, those that are not zero.
fn stored(features: &Features, node: usize) -> Vec<(usize, f32)> {
    match features {
        Features::Sparse(sparse) => {
            let (indices, values) = sparse.row(node);
            indices.iter().map(|index| *index as usize).zip(values.iter().copied()).collect()
        }
        Features::Dense(dense) => dense.row(node).iter().copied().enumerate().collect(),
        Features::Categorical(categorical) => {
            categorical.row(node).iter().map(|code| f32::from(*code)).enumerate().collect()
        }
    }
}

/// The names of all nodes, in order.
fn names(graph: &Graph) -> impl Iterator<Item = String> + '_ {
    (0..graph.num_nodes() as u32).map(|node| graph.name(node))
}

/// Names of classes; none of other labels.
fn class_names(labels: Option<&Labels>) -> &[String] {
    labels.and_then(Labels::classes).map_or(&[], |classes| classes.names())
}
