//! Writers, one file a format.
//!
//! [`write()`] puts a dataset of one graph into the format that the name's extension asks for:
//!
//! | extension | what is written |
//! |---|---|
//! | `.csv`, `.tsv`, `.txt`, `.edgelist`, also with `.gz` | an edge list; features beside it in `NAME.features.npy` or `.csv`, labels in `NAME.labels.csv` |
//! | `.graphml` | GraphML, features and labels as node attributes |
//! | `.npz` | numpy arrays in the layout of gnn-benchmark |
//!
//! Each file is written under a temporary name in its folder and then renamed, so that there is never half a file;
//! nothing that exists is replaced unless asked. Names of nodes are kept. What reading gives back is the same graph,
//! with these exceptions: names that all are whole numbers come back as numbers; a single column of answers or of whole
//! real values comes back as classes, and so does, from npz, a table of answers of which no node has two; names of
//! label columns come back only from csv; features of categories come back as numbers; splits are written to npz only, and
//! edge features nowhere, which [`Written::notes`] says. Names of feature columns are kept, unless they would be taken for
//! something else (ids in csv, labels in GraphML).
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
mod graphml;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use fiedler_graph::{Dataset, Features, Graph, Labels};

use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};

pub use crate::atomic::Written;
pub use edge_list::edges;
pub use npy::npy;
#[cfg(feature = "parquet")]
pub use parquet::parquet;

/// Values of features that are written out in full, zeros included, at most: 1 GiB.
const MAX_DENSE_VALUES: usize = 1 << 28;

/// A format that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One edge a line, separated by a comma (`.csv`), a tab (`.tsv`) or a space (`.txt`, `.edgelist`), perhaps gzipped.
    EdgeList,
    /// GraphML.
    GraphMl,
    /// numpy arrays in the layout of gnn-benchmark.
    Npz,
}

impl Format {
    /// The format that a name's extension asks for.
    ///
    /// # Errors
    /// When there is no such format.
    pub fn of(path: &Path) -> Result<Format> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let extension = |name: &str| name.rsplit_once('.').map(|(_, extension)| extension.to_owned());
        let unpacked = name.strip_suffix(".gz");
        match (extension(unpacked.unwrap_or(&name)).as_deref(), unpacked.is_some()) {
            (Some("csv" | "tsv" | "txt" | "edgelist"), _) => Ok(Format::EdgeList),
            (Some("graphml"), false) => Ok(Format::GraphMl),
            (Some("npz"), false) => Ok(Format::Npz),
            _ => Err(Error::setting(
                "file to write",
                path.display(),
                "a name that ends in .csv, .tsv, .txt or .edgelist (these also with .gz), .graphml or .npz",
            )),
        }
    }
}

/// What a user can say about how to write.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Replace files that exist.
    pub force: bool,
}

/// Writes a dataset of one graph.
///
/// # Errors
/// When the extension is unknown, the dataset is a set of several graphs or holds what the format cannot, a file exists and
/// `force` was not asked for, or the system refuses.
pub fn write(dataset: &Dataset, path: impl AsRef<Path>, options: &WriteOptions) -> Result<Written> {
    let path = path.as_ref();
    let format = Format::of(path)?;
    dataset.check()?;
    let Some(graph) = dataset.graph() else {
        let expected = "one graph, which is all that an edge list, GraphML and npz can hold";
        return Err(Error::setting("number of graphs", dataset.graphs.len(), expected));
    };
    let mut files = AtomicFiles::new(options.force);
    match format {
        Format::EdgeList => edge_list::write(dataset, graph, path, &mut files)?,
        Format::GraphMl => graphml::write(dataset, graph, path, &mut files)?,
        Format::Npz => npz::write(dataset, graph, path, &mut files)?,
    }
    let mut written = files.finish()?;
    if !dataset.splits.is_empty() && format != Format::Npz {
        written.notes.push("splits were not written".into());
    }
    if dataset.edge_features.is_some() {
        written.notes.push("edge features were not written".into());
    }
    Ok(written)
}

/// Class names, answers or values of one node, as text; empty where missing.
fn label_texts(labels: &Labels, node: usize) -> Vec<String> {
    let text = |value: Option<String>| value.unwrap_or_default();
    match labels {
        Labels::Classes(classes) => {
            vec![text(classes.of()[node].map(|class| classes.names()[class as usize].clone()))]
        }
        Labels::MultiLabel(tasks) => {
            tasks.row(node).iter().map(|answer| text(answer.map(|answer| u8::from(answer).to_string()))).collect()
        }
        Labels::Regression(values) => {
            values.row(node).iter().map(|value| text(value.map(|value| value.to_string()))).collect()
        }
    }
}

/// Names of the columns of labels.
fn label_names(labels: &Labels) -> Vec<String> {
    match labels {
        Labels::Classes(_) => vec!["class".into()],
        Labels::MultiLabel(tasks) => tasks.names().to_vec(),
        Labels::Regression(values) => values.names().to_vec(),
    }
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
