//! Adjacency matrices saved by `scipy.sparse.save_npz`, and what lies beside them.
//!
//! Entries of 1 make an unweighted graph, others its weights. What else is known of the nodes is looked for in the same
//! folder. A file `cora_meta_adj_0.1.npz` goes by the names `cora_meta_adj_0.1`, `cora_meta_adj`, `cora_meta` and `cora`; for
//! each of them in turn, then without a name,
//! - features are `NAME_features.npz` (a sparse matrix) or `NAME_features.npy`,
//! - labels are `NAME_labels.npy`,
//! - a split is `NAME_splits.json` or `NAME_prognn_splits.json`: `{"idx_train": […], "idx_val": […], "idx_test": […]}`.
//!
//! Splits may also lie in `../splits`. Where neither features nor labels are found, those of the clean graph are taken, `NAME.npz` in the same
//! folder or in `../../nettack` or `../../cora-ml`: of its largest component, which is what published attacks are on.
//!
//! The first that is there is taken. One made for another number of nodes is left aside, with a note.

use fiedler_graph::{Dataset, Split};

use super::npz::{Array, Arrays, Matrix};
use super::{Format, ReadOptions, gnn_benchmark, json};
use crate::error::Result;
use crate::input::{DataSource, File};

/// Adjacency matrices saved by `scipy.sparse.save_npz`.
pub const FORMAT: Format = Format {
    name: "scipy-npz",
    about: "adjacency matrix saved by scipy.sparse.save_npz, with features, labels and splits beside it",
    recognizes,
    read,
};

fn recognizes(input: &DataSource) -> bool {
    matches!(Arrays::named_by(input), Ok(Some(arrays)) if is_ours(&arrays))
}

fn is_ours(arrays: &Arrays) -> bool {
    ["format", "shape", "data"].iter().all(|name| arrays.has(name))
}

fn read(input: &DataSource, _options: &ReadOptions) -> Result<Dataset> {
    let Some(arrays) = Arrays::named_by(input)? else { return Err(input.missing("a .npz file", FORMAT.name)) };
    let (graph, edges) = Matrix::from_scipy(&arrays)?.into_graph()?;
    let mut dataset = Dataset::single(input.stem(), graph);
    dataset.report.edges = edges;
    attach_features(&mut dataset, input)?;
    attach_labels(&mut dataset, input)?;
    attach_split(&mut dataset, input)?;
    if dataset.features.is_none() && dataset.node_labels.is_none() {
        attach_clean(&mut dataset, input)?;
    }
    Ok(dataset)
}

/// Names that the adjacency matrix goes by, the longest first.
fn names(stem: &str) -> Vec<&str> {
    let mut names = vec![stem];
    names.extend(stem.rmatch_indices('_').map(|(end, _)| &stem[..end]));
    names
}

/// The first file beside the adjacency matrix that one of its names and one of the endings make up.
fn beside(input: &DataSource, endings: &[&str]) -> Option<String> {
    let stem = input.stem();
    let names = names(&stem);
    let named = names.iter().flat_map(|name| endings.iter().map(move |ending| format!("{name}_{ending}")));
    let unnamed = endings.iter().map(|ending| ending.to_string());
    named.chain(unnamed).find(|file| input.file_name() != Some(file) && input.has(file))
}

fn attach_features(dataset: &mut Dataset, input: &DataSource) -> Result<()> {
    let Some(name) = beside(input, &["features.npz", "features.npy"]) else { return Ok(()) };
    let nodes = dataset.graphs.num_nodes();
    let file = input.read(&name)?;
    let features = if name.ends_with(".npz") {
        let arrays = Arrays::open(file)?;
        let matrix = Matrix::from_scipy(&arrays)?;
        match matrix.rows() {
            rows if rows == nodes => Ok(matrix.into_features(nodes)?),
            rows => Err(rows),
        }
    } else {
        let features = Array::from_npy(file)?.to_features()?;
        if features.rows() == nodes { Ok(features) } else { Err(features.rows()) }
    };
    dataset.features = fitting(dataset, &name, features);
    Ok(())
}

fn attach_labels(dataset: &mut Dataset, input: &DataSource) -> Result<()> {
    let Some(name) = beside(input, &["labels.npy"]) else { return Ok(()) };
    let labels = Array::from_npy(input.read(&name)?)?.to_labels()?;
    let labels = if labels.len() == dataset.graphs.num_nodes() { Ok(labels) } else { Err(labels.len()) };
    dataset.node_labels = fitting(dataset, &name, labels);
    Ok(())
}

/// What fits the nodes; what has another number of rows is only noted.
fn fitting<T>(dataset: &mut Dataset, name: &str, part: Result<T, usize>) -> Option<T> {
    part.map_err(|rows| {
        let nodes = dataset.graphs.num_nodes();
        dataset.report.notes.push(format!("{name} has {rows} rows for {nodes} nodes: left aside"));
    })
    .ok()
}

/// Features and labels of the clean graph that an attack was made on.
fn attach_clean(dataset: &mut Dataset, input: &DataSource) -> Result<()> {
    let stem = input.stem();
    let Some(folder) = input.path().parent().filter(|_| input.file_name().is_some()) else { return Ok(()) };
    let places = ["", "../../nettack", "../../cora-ml"].map(|place| folder.join(place));
    let files =
        names(&stem).into_iter().flat_map(|name| places.iter().map(move |place| place.join(format!("{name}.npz"))));
    let Some(path) = files.into_iter().find(|path| path != input.path() && path.is_file()) else { return Ok(()) };
    let clean = DataSource::open(&path)?;
    if !(gnn_benchmark::FORMAT.recognizes)(&clean) {
        return Ok(());
    }
    let clean = (gnn_benchmark::FORMAT.read)(&clean, &ReadOptions::default())?.largest_component();
    let (found, nodes) = (clean.graphs.num_nodes(), dataset.graphs.num_nodes());
    let shown = path.display();
    if found != nodes {
        let note = format!("{shown} has {found} nodes in its largest component, not {nodes}: left aside");
        dataset.report.notes.push(note);
        return Ok(());
    }
    (dataset.features, dataset.node_labels) = (clean.features, clean.node_labels);
    dataset.report.notes.push(format!("features and labels are those of the largest component of {shown}"));
    Ok(())
}

fn attach_split(dataset: &mut Dataset, input: &DataSource) -> Result<()> {
    let endings = ["splits.json", "prognn_splits.json"];
    let Some(name) = beside(input, &endings) else { return attach_split_of_folder(dataset, input, &endings) };
    let split = split(&input.read(&name)?)?;
    take_split(dataset, &name, split);
    Ok(())
}

/// A split in the folder `../splits`.
fn attach_split_of_folder(dataset: &mut Dataset, input: &DataSource, endings: &[&str]) -> Result<()> {
    let stem = input.stem();
    let Some(folder) = input.path().parent().filter(|_| input.file_name().is_some()) else { return Ok(()) };
    let folder = folder.join("../splits");
    let files = names(&stem).into_iter().flat_map(|name| endings.iter().map(move |ending| format!("{name}_{ending}")));
    let Some(name) = files.into_iter().find(|name| folder.join(name).is_file()) else { return Ok(()) };
    let split = split(&DataSource::open(folder.join(&name))?.read(&name)?)?;
    take_split(dataset, &name, split);
    Ok(())
}

fn take_split(dataset: &mut Dataset, name: &str, split: Split) {
    match split.check(dataset.graphs.num_nodes()) {
        Ok(()) => dataset.splits.push(split),
        Err(error) => dataset.report.notes.push(format!("{name} does not fit the graph ({error}): left aside")),
    }
}

#[derive(serde::Deserialize)]
struct Indices {
    idx_train: Vec<u32>,
    #[serde(default)]
    idx_val: Vec<u32>,
    idx_test: Vec<u32>,
}

fn split(file: &File) -> Result<Split> {
    let indices: Indices = json::parse(file, r#"{"idx_train": [ids], "idx_val": [ids], "idx_test": [ids]}"#)?;
    Ok(Split {
        name: "public".into(),
        train: indices.idx_train,
        validation: indices.idx_val,
        test: indices.idx_test,
        stopping: Vec::new(),
    })
}
