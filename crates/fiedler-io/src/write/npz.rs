//! npz in the layout of gnn-benchmark, which PyTorch Geometric and we read.
//!
//! `adj_data`, `adj_indices`, `adj_indptr`, `adj_shape` hold the adjacency matrix, every edge from both ends; when the
//! graph has weights they are the data, and a member `weighted` says so. `attr_*` hold the features likewise. `labels`
//! are class numbers, or a table of answers or values; where some are missing they are floats with NaN. `class_names` (or `task_names`, `value_names`),
//! `node_names` and `attr_names` are text. A set of graphs is one block-diagonal matrix with `graph_sizes`; `graph_labels`, `graph_class_names` and `graph_names` are of
//! graphs, `edge_attr_*` of edges. `split_names` are the names of splits, and
//! `split_0_train`, `split_0_validation`, `split_0_test`, `split_0_stopping` the ids of the first one's parts.

use std::borrow::Cow;
use std::io::{self, Seek, Write};
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use fiedler_graph::{Dataset, Features, Graph, Labels, Split};

use super::text::label_names;
use super::{Format, class_names, leaves_out, names, npy, stored};
use crate::atomic::AtomicFiles;
use crate::error::{Error, Result};

/// Text is stored at the length of the longest name: more than this for all nodes together is refused.
const MAX_TEXT_BYTES: usize = 1 << 30;

/// npz.
pub(super) const FORMAT: Format = Format {
    name: "gnn-benchmark",
    endings: &[".npz"],
    about: "numpy arrays under the gnn-benchmark names: a graph or a set, with everything that is known of it",
    holds_sets: true,
    left_out,
    write,
};

fn left_out(dataset: &Dataset) -> Vec<String> {
    let mut notes = Vec::new();
    if dataset.feature_names.as_ref().is_some_and(|names| !names.is_empty() && !are_storable(names)) {
        notes.push("feature names are left out: they are too long, empty, or end in a null character".into());
    }
    if dataset.graph_source.as_ref().is_some_and(|source| source.names.is_none()) {
        notes.push(leaves_out("lines of the source are", "npz"));
    }
    notes
}

fn write(dataset: &Dataset, path: &Path, files: &mut AtomicFiles) -> Result<()> {
    let graph = dataset.graphs.block_diagonal();
    check_names(graph, dataset)?;
    files.write(path, |writer| {
        let mut arrays = Arrays { zip: ZipWriter::new(writer) };
        arrays.adjacency(graph)?;
        if let Some(features) = &dataset.features {
            arrays.attributes("attr", features)?;
        }
        if let Some(features) = &dataset.edge_features {
            arrays.attributes("edge_attr", features)?;
        }
        if let Some(labels) = &dataset.node_labels {
            arrays.labels("", labels)?;
        }
        if let Some(labels) = &dataset.graph_labels {
            arrays.labels("graph_", labels)?;
        }
        if graph.names().is_some() {
            arrays.texts("node_names", &names(graph).collect::<Vec<_>>())?;
        }
        if let Some(names) = dataset.feature_names.as_ref().filter(|names| are_storable(names)) {
            arrays.texts("attr_names", names)?;
        }
        if dataset.graphs.len() != 1 {
            let sizes = dataset.graphs.node_offsets().windows(2).map(|ends| i64::from(ends[1] - ends[0]));
            arrays.array("graph_sizes", npy::INT64, &[dataset.graphs.len()], npy::integers(sizes))?;
        }
        if let Some(names) = dataset.graph_source.as_ref().and_then(|source| source.names.as_ref()) {
            arrays.texts("graph_names", names)?;
        }
        if !dataset.splits.is_empty() {
            arrays.splits(&dataset.splits)?;
        }
        arrays.zip.finish().map(drop).map_err(io::Error::other)
    })
}

/// Writes the adjacency matrix as `scipy.sparse.save_npz` does: compressed sparse rows, every edge from both ends.
///
/// # Errors
/// When the writer fails.
///
/// ```
/// use fiedler_io::{ReadOptions, read, write};
/// let karate = fiedler_graph::generate::karate_club();
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("adjacency.npz");
/// write::scipy_npz(std::fs::File::create(&path)?, karate.graphs.block_diagonal())?;
/// assert_eq!(read::read(&path, &ReadOptions::default())?.graphs.num_edges(), 78);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn scipy_npz(writer: impl Write + Seek, graph: &Graph) -> io::Result<()> {
    let mut arrays = Arrays { zip: ZipWriter::new(writer) };
    let offsets = graph.indptr().iter().copied();
    let shape = [graph.num_nodes(); 2];
    arrays.matrix("", shape, &entries(graph), graph.indices().iter().copied(), offsets)?;
    arrays.array("format", "|S3", &[], [b"csr"].into_iter())?;
    arrays.zip.finish().map(drop).map_err(io::Error::other)
}

/// Weights of all entries, ones where the graph has none.
fn entries(graph: &Graph) -> Cow<'_, [f32]> {
    match graph.weights() {
        Some(weights) => Cow::Borrowed(weights),
        None => Cow::Owned(vec![1.0; graph.indices().len()]),
    }
}

/// Whether texts, each stored at the length of the longest, are few and short enough, and none is cut.
fn are_storable(texts: &[String]) -> bool {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let bytes = longest.saturating_mul(4).saturating_mul(texts.len());
    longest > 0 && bytes <= MAX_TEXT_BYTES && !texts.iter().any(|text| text.ends_with('\0'))
}

/// numpy cannot tell a name from one with null characters at its end.
fn check_names(graph: &Graph, dataset: &Dataset) -> Result<()> {
    let of_graphs = dataset.graph_source.iter().flat_map(|source| source.names.iter().flatten()).cloned();
    let labels = || [&dataset.node_labels, &dataset.graph_labels].into_iter().flatten();
    let of_labels = labels().flat_map(|labels| [class_names(Some(labels)).to_vec(), label_names(labels)].concat());
    let of_splits = dataset.splits.iter().map(|split| split.name.clone());
    let of_nodes = names(graph).take(if graph.names().is_some() { graph.num_nodes() } else { 0 });
    let mut longest = 0;
    for name in of_nodes.chain(of_graphs).chain(of_labels).chain(of_splits) {
        if name.ends_with('\0') {
            return Err(Error::setting("name", format!("{name:?}"), "a name that does not end in a null character"));
        }
        longest = longest.max(name.chars().count());
    }
    let bytes = longest.saturating_mul(4).saturating_mul(graph.num_nodes());
    if bytes > MAX_TEXT_BYTES {
        let expected = "shorter names, since npz stores all of them at the length of the longest; or GraphML";
        return Err(Error::setting("length of the longest name", longest, expected));
    }
    Ok(())
}

struct Arrays<W: Write + Seek> {
    zip: ZipWriter<W>,
}

impl<W: Write + Seek> Arrays<W> {
    fn array(
        &mut self,
        name: &str,
        description: &str,
        shape: &[usize],
        values: impl Iterator<Item = impl AsRef<[u8]>>,
    ) -> io::Result<()> {
        // Members beyond 4 GiB need the longer form of their sizes; whether one is cannot be told before it is written.
        let large = shape.iter().product::<usize>() > 1 << 28;
        self.zip.start_file(format!("{name}.npy"), SimpleFileOptions::default().large_file(large))?;
        let mut writer = io::BufWriter::new(&mut self.zip);
        npy::write(&mut writer, description, shape, values)?;
        writer.flush()
    }

    fn adjacency(&mut self, graph: &Graph) -> io::Result<()> {
        let offsets = graph.indptr().iter().copied();
        let shape = [graph.num_nodes(); 2];
        self.matrix("adj", shape, &entries(graph), graph.indices().iter().copied(), offsets)?;
        if graph.weights().is_some() {
            self.array("weighted", "|b1", &[], [[1u8]].into_iter())?;
        }
        Ok(())
    }

    fn attributes(&mut self, prefix: &str, features: &Features) -> io::Result<()> {
        let shape = [features.rows(), features.columns()];
        if let Features::Sparse(sparse) = features {
            let offsets = sparse.indptr().iter().copied();
            return self.matrix(prefix, shape, sparse.values(), sparse.indices().iter().copied(), offsets);
        }
        let (mut data, mut indices, mut offsets) = (Vec::new(), Vec::new(), vec![0]);
        for row in 0..features.rows() {
            for (column, value) in stored(features, row).into_iter().filter(|(_, value)| *value != 0.0) {
                indices.push(column as u32);
                data.push(value);
            }
            offsets.push(data.len());
        }
        self.matrix(prefix, shape, &data, indices.into_iter(), offsets.into_iter())
    }

    /// Compressed sparse rows, their names with a prefix where there is one.
    fn matrix(
        &mut self,
        prefix: &str,
        shape: [usize; 2],
        data: &[f32],
        indices: impl Iterator<Item = u32>,
        offsets: impl Iterator<Item = usize>,
    ) -> io::Result<()> {
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}_") };
        self.array(&format!("{prefix}data"), npy::FLOAT32, &[data.len()], npy::floats(data))?;
        // Ids have 31 bits, so they are the same as signed numbers.
        let indices = indices.map(u32::to_le_bytes);
        self.array(&format!("{prefix}indices"), npy::INT32, &[data.len()], indices)?;
        let offsets = npy::integers(offsets.map(|offset| offset as i64));
        self.array(&format!("{prefix}indptr"), npy::INT64, &[shape[0] + 1], offsets)?;
        let lengths = npy::integers(shape.into_iter().map(|length| length as i64));
        self.array(&format!("{prefix}shape"), npy::INT64, &[2], lengths)
    }

    /// Labels under names that begin with `prefix`, with what they are, so that their numbers need not tell.
    fn labels(&mut self, prefix: &str, labels: &Labels) -> io::Result<()> {
        let (rows, name) = (labels.len(), format!("{prefix}labels"));
        match labels {
            Labels::Classes(classes) => {
                let known: Option<Vec<i64>> = classes.of().iter().map(|class| class.map(i64::from)).collect();
                match known {
                    Some(known) => self.array(&name, npy::INT64, &[rows], npy::integers(known.into_iter()))?,
                    None => {
                        let classes = classes.of().iter().map(|class| class.map_or(f64::NAN, f64::from));
                        self.array(&name, npy::FLOAT64, &[rows], npy::doubles(classes))?;
                    }
                }
                self.texts(&format!("{prefix}class_names"), classes.names())
            }
            Labels::MultiLabel(tasks) => {
                let number = |answer: &Option<bool>| answer.map_or(f64::NAN, |answer| f64::from(u8::from(answer)));
                let answers = (0..rows).flat_map(|row| tasks.row(row)).map(number);
                self.array(&name, npy::FLOAT64, &[rows, tasks.names().len()], npy::doubles(answers))?;
                self.texts(&format!("{prefix}task_names"), tasks.names())
            }
            Labels::Regression(values) => {
                let number = |value: &Option<f32>| value.map_or(f64::NAN, f64::from);
                let numbers = (0..rows).flat_map(|row| values.row(row)).map(number);
                self.array(&name, npy::FLOAT64, &[rows, values.names().len()], npy::doubles(numbers))?;
                self.texts(&format!("{prefix}value_names"), values.names())
            }
        }
    }

    /// Names of the splits, and for each the ids of its parts.
    fn splits(&mut self, splits: &[Split]) -> io::Result<()> {
        let names: Vec<String> = splits.iter().map(|split| split.name.clone()).collect();
        self.texts("split_names", &names)?;
        for (at, split) in splits.iter().enumerate() {
            let Split { train, validation, test, stopping, .. } = split;
            for (part, ids) in [("train", train), ("validation", validation), ("test", test), ("stopping", stopping)] {
                let ids_of_part = npy::integers(ids.iter().map(|&id| id.into()));
                self.array(&format!("split_{at}_{part}"), npy::INT64, &[ids.len()], ids_of_part)?;
            }
        }
        Ok(())
    }

    fn texts(&mut self, name: &str, texts: &[String]) -> io::Result<()> {
        let (description, values) = npy::texts(texts);
        self.array(name, &description, &[texts.len()], values)
    }
}
