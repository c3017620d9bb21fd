//! `data.pt` of PyTorch Geometric: a zip archive with a pickle and the bytes of tensors. The pickle is read as data; nothing in it is run.
//!
//! What was saved may be a `Data`, its dictionary, a list of them, or `(data, slices)` as `InMemoryDataset` keeps sets of graphs, with or without the class that PyG 2.3
//! adds. Of each are used `x`, `edge_index`, `edge_weight`, `edge_attr`, `y`, `num_nodes` and the masks `train_mask`, `val_mask`, `test_mask` and `stopping_mask`, which may
//! have a column for each of several splits; a note names the rest. `y` with a row for each node is labels of nodes, with a row for each graph labels of graphs.

mod graphs;

use fiedler_graph::Dataset;

use super::pickle::{Entries, Pickle, Value};
use super::torch::{PICKLE, Tensors, ZIP_MAGIC};
use super::{Format, ReadOptions};
use crate::error::{Place, Result};
use crate::input::{Archive, DataSource};
use graphs::Graphs;

/// PyTorch Geometric's processed data.
pub const FORMAT: Format =
    Format { name: "pyg", about: "data.pt of PyTorch Geometric: one graph or a set of graphs", recognizes, read };

fn recognizes(input: &DataSource) -> bool {
    let Some(name) = file(input) else { return false };
    let lower = name.to_ascii_lowercase();
    // An npz is an archive as well, and members of folders were found by their names.
    if lower.ends_with(".npz") || !input.head(&name, ZIP_MAGIC.len()).is_ok_and(|head| head == ZIP_MAGIC) {
        return input.file_name().is_some() && (lower.ends_with(".pt") || lower.ends_with(".pth"));
    }
    // Of a damaged file reading will say what is wrong, which nobody else would.
    let is_torch = lower.ends_with(".pt") || lower.ends_with(".pth");
    input.read(&name).and_then(Archive::of).map_or(is_torch, |archive| archive.has(PICKLE))
}

/// The file that the path names, or the one that PyG puts into a dataset's folder.
fn file(input: &DataSource) -> Option<String> {
    match input.file_name() {
        Some(name) => Some(name.to_owned()),
        None => ["processed/data.pt", "data.pt"].into_iter().find(|name| input.has(name)).map(Into::into),
    }
}

fn read(input: &DataSource, options: &ReadOptions) -> Result<Dataset> {
    let Some(name) = file(input) else { return Err(input.missing("data.pt", FORMAT.name)) };
    let file = input.read(&name)?;
    if !file.bytes().starts_with(ZIP_MAGIC) {
        let malformed = file.malformed("no zip archive", "a file that torch.save wrote");
        return Err(malformed.hint("files from before PyTorch 1.6 must be loaded and saved again").into());
    }
    let archive = Archive::of(file)?;
    let pickle = Pickle::read_with_outside(&archive.read(PICKLE)?)?;
    let tensors = Tensors::of(&archive)?;
    let graphs = match Root::of(pickle.root(), archive.place())? {
        Root::Separate(list) => Graphs::separate(&list, &tensors)?,
        Root::Collated(data, slices) => Graphs::collated(data, slices, &tensors)?,
    };
    graphs.into_dataset(input.stem(), options, archive.place())
}

/// What was saved.
enum Root<'a> {
    /// Graphs with tensors of their own.
    Separate(Vec<Mapping<'a>>),
    /// Graphs whose tensors are laid one after the other, and where each begins.
    Collated(Mapping<'a>, Entries<'a>),
}

/// What is known of a graph, or of several, by name.
#[derive(Clone, Copy)]
struct Mapping<'a> {
    entries: Entries<'a>,
    /// What else the object that had the entries knows.
    outer: Option<Entries<'a>>,
}

impl<'a> Mapping<'a> {
    fn get(&self, name: &str) -> Option<Value<'a>> {
        let found = self.entries.get(name).or_else(|| self.outer?.get(name));
        found.filter(|value| !matches!(value, Value::None))
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().filter(|(_, value)| !matches!(value, Value::None)).filter_map(|(name, _)| name.text())
    }
}

impl<'a> Root<'a> {
    fn of(root: Value<'a>, place: &Place) -> Result<Root<'a>> {
        let expected = "a Data of PyTorch Geometric, a dictionary, a list of them, or (data, slices)";
        let wrong = |value: Value<'_>| place.malformed(value.to_string(), expected);
        match root {
            Value::Tuple(parts) if parts.len() == 2 || parts.len() == 3 => {
                let data = parts.get(0).unwrap_or(Value::None);
                let mapping = mapping(data).ok_or_else(|| wrong(data))?;
                match parts.get(1).and_then(Value::entries) {
                    Some(slices) => Ok(Root::Collated(mapping, slices)),
                    None => Ok(Root::Separate(vec![mapping])),
                }
            }
            Value::List(list) if !list.is_empty() => {
                let graph = |value: Value<'a>| mapping(value).ok_or_else(|| wrong(value).into());
                list.iter().map(graph).collect::<Result<_>>().map(Root::Separate)
            }
            other => match mapping(other) {
                Some(mapping) => Ok(Root::Separate(vec![mapping])),
                None => Err(wrong(other).hint("models and their weights hold no graph").into()),
            },
        }
    }
}

/// The entries of a dictionary or of a `Data`: since PyG 2 in its store, before that its own.
fn mapping(value: Value<'_>) -> Option<Mapping<'_>> {
    if let Some(entries) = value.entries() {
        return Some(Mapping { entries, outer: None });
    }
    let Value::Object(object) = value else { return None };
    if !object.class().0.starts_with("torch_geometric.") {
        return None;
    }
    let state = object.state().entries()?;
    let Some(store) = state.get("_store") else { return Some(Mapping { entries: state, outer: None }) };
    let Value::Object(store) = store else { return None };
    let outer = store.state().entries()?;
    Some(Mapping { entries: outer.get("_mapping")?.entries()?, outer: Some(outer) })
}
