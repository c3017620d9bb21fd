//! Files of others: bytes become the files of a format, and reading them ends in an error or a sound dataset.
//!
//! A format of several files gets them from one input, cut at [`SEPARATOR`]; a piece of no bytes is a file that is not there.
//! Members of an npz file are pieces of their own, since nothing survives a mutation of the archive's checksums.
//! The tests of `fiedler-io` compile this file too, to read again what fuzzing once found.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};

use fiedler_graph::{Dataset, Features, Graph, measure};
use fiedler_io::compact::with_checksums;
use fiedler_io::input::{Archive, File};
use fiedler_io::molecule::Molecule;
use fiedler_io::read::npz::{Array, Matrix};
use fiedler_io::read::pickle::{Pickle, Value};
use fiedler_io::read::torch::StateFile;
use fiedler_io::{DataSource, ReadOptions, read};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// Stands between the files of one input.
pub const SEPARATOR: &[u8] = b"\n--8<--\n";

/// A format as a fuzz target has it.
struct Layout {
    target: &'static str,
    format: &'static str,
    /// The file that the path names; `None` for their folder.
    named: Option<&'static str>,
    /// One for each piece; `ARCHIVE!MEMBER` is a member of an npz file.
    files: &'static [&'static str],
}

const LAYOUTS: &[Layout] = &[
    Layout {
        target: "planetoid",
        format: "planetoid",
        named: None,
        files: &[
            "ind.a.graph",
            "ind.a.test.index",
            "ind.a.y",
            "ind.a.ally",
            "ind.a.ty",
            "ind.a.x",
            "ind.a.allx",
            "ind.a.tx",
        ],
    },
    Layout {
        target: "ogb",
        format: "ogb",
        named: None,
        files: &[
            "raw/edge.csv",
            "raw/num-node-list.csv",
            "raw/num-edge-list.csv",
            "raw/graph-label.csv",
            "raw/node-label.csv",
            "raw/node-feat.csv",
            "raw/edge-feat.csv",
            "mapping/mol.csv",
            "split/scaffold/train.csv",
            "split/scaffold/valid.csv",
            "split/scaffold/test.csv",
        ],
    },
    Layout {
        target: "tu",
        format: "tu",
        named: None,
        files: &[
            "A_A.txt",
            "A_graph_indicator.txt",
            "A_graph_labels.txt",
            "A_graph_attributes.txt",
            "A_node_labels.txt",
            "A_node_attributes.txt",
            "A_edge_labels.txt",
            "A_edge_attributes.txt",
        ],
    },
    Layout {
        target: "powerful_gnns",
        format: "powerful-gnns",
        named: None,
        files: &["A.txt", "10fold_idx/train_idx-1.txt", "10fold_idx/test_idx-1.txt"],
    },
    Layout { target: "wiki_cs", format: "wiki-cs", named: Some("data.json"), files: &["data.json"] },
    Layout {
        target: "graph_saint",
        format: "graph-saint",
        named: None,
        files: &[
            "adj_full.npz!format.npy",
            "adj_full.npz!shape.npy",
            "adj_full.npz!data.npy",
            "adj_full.npz!indices.npy",
            "adj_full.npz!indptr.npy",
            "feats.npy",
            "class_map.json",
            "role.json",
        ],
    },
    Layout {
        target: "gnn_benchmark",
        format: "gnn-benchmark",
        named: Some("a.npz"),
        files: &[
            "a.npz!adj_shape.npy",
            "a.npz!adj_data.npy",
            "a.npz!adj_indices.npy",
            "a.npz!adj_indptr.npy",
            "a.npz!attr_shape.npy",
            "a.npz!attr_data.npy",
            "a.npz!attr_indices.npy",
            "a.npz!attr_indptr.npy",
            "a.npz!attr_matrix.npy",
            "a.npz!labels.npy",
            "a.npz!node_names.npy",
            "a.npz!class_names.npy",
            "a.npz!idx_to_node.npy",
            "a.npz!idx_to_class.npy",
            "a.npz!adj_matrix.npy",
            "a.npz!node_attr.npy",
            "a.npz!node_label.npy",
            "a.npz!metadata.npy",
        ],
    },
    Layout {
        target: "scipy_npz",
        format: "scipy-npz",
        named: Some("a.npz"),
        files: &[
            "a.npz!format.npy",
            "a.npz!shape.npy",
            "a.npz!data.npy",
            "a.npz!indices.npy",
            "a.npz!indptr.npy",
            "a.npz!row.npy",
            "a.npz!col.npy",
            "a.npz!offsets.npy",
            "features.npy",
            "labels.npy",
            "splits.json",
        ],
    },
    Layout {
        target: "heterophilous",
        format: "heterophilous",
        named: Some("a.npz"),
        files: &[
            "a.npz!edges.npy",
            "a.npz!node_features.npy",
            "a.npz!node_labels.npy",
            "a.npz!train_masks.npy",
            "a.npz!val_masks.npy",
            "a.npz!test_masks.npy",
        ],
    },
    Layout { target: "fiedler", format: "fiedler", named: Some("a.fiedler"), files: &["a.fiedler"] },
    Layout { target: "matrix_market", format: "matrix-market", named: Some("a.mtx"), files: &["a.mtx"] },
    Layout { target: "gexf", format: "gexf", named: Some("a.gexf"), files: &["a.gexf"] },
    Layout {
        target: "pyg",
        format: "pyg",
        named: Some("a.pt"),
        files: &[
            "a.pt!data.pkl",
            "a.pt!data/0",
            "a.pt!data/1",
            "a.pt!data/2",
            "a.pt!data/3",
            "a.pt!data/4",
            "a.pt!data/5",
        ],
    },
    Layout { target: "gml", format: "gml", named: Some("a.gml"), files: &["a.gml"] },
    Layout {
        target: "struc2vec",
        format: "struc2vec",
        named: Some("a.edgelist"),
        files: &["a.edgelist", "labels-a.txt"],
    },
    Layout { target: "graphml", format: "graphml", named: Some("a.graphml"), files: &["a.graphml"] },
    Layout { target: "node_link", format: "node-link", named: Some("a.json"), files: &["a.json"] },
    Layout { target: "moleculenet", format: "moleculenet", named: Some("a.csv"), files: &["a.csv"] },
    Layout { target: "edge_list", format: "edge-list", named: Some("a.txt"), files: &["a.txt"] },
];

/// Hands an input to a target.
///
/// # Panics
/// When reading does what it must not do; and when there is no such target.
pub fn run(target: &str, data: &[u8]) {
    match target {
        "archive" => archive(data),
        "npy" => npy(data),
        "pickle" => pickle(data),
        "smiles" => smiles(data),
        "table" => table(data),
        "torch" => torch(data),
        // As it is, and with the checksums that would let it through.
        "fiedler" => {
            for data in [data.to_vec(), with_checksums(data.to_vec())] {
                LAYOUTS.iter().filter(|layout| layout.target == target).for_each(|layout| layout.read(&data));
            }
        }
        _ => match LAYOUTS.iter().find(|layout| layout.target == target) {
            Some(layout) => layout.read(data),
            None => panic!("no target is called {target}"),
        },
    }
}

impl Layout {
    fn read(&self, data: &[u8]) {
        let source = DataSource::memory(self.files(data), self.named);
        let known = ReadOptions { format: Some(self.format.into()), attributes: true, ..ReadOptions::default() };
        if let Ok(dataset) = read::read_source(&source, &known) {
            check(&dataset);
        }
        // Telling the format takes long when every format looks; some inputs are enough.
        if data.len().is_multiple_of(8) {
            let _ = read::read_source(&source, &ReadOptions { unweighted: true, ..ReadOptions::default() });
        }
    }

    fn files(&self, data: &[u8]) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut archives: BTreeMap<&str, ZipWriter<Cursor<Vec<u8>>>> = BTreeMap::new();
        for (name, piece) in self.files.iter().zip(pieces(data, self.files.len())) {
            match name.split_once('!') {
                _ if piece.is_empty() => {}
                Some((archive, member)) => {
                    let archive = archives.entry(archive).or_insert_with(|| ZipWriter::new(Cursor::default()));
                    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
                    archive.start_file(member, stored).expect("memory");
                    archive.write_all(piece).expect("memory");
                }
                None => drop(files.insert(name.to_string(), piece.to_vec())),
            }
        }
        for (name, archive) in archives {
            files.insert(name.into(), archive.finish().expect("memory").into_inner());
        }
        files
    }
}

/// Cuts the data into at most so many pieces.
fn pieces(data: &[u8], most: usize) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = data;
    while pieces.len() + 1 < most
        && let Some(at) = rest.windows(SEPARATOR.len()).position(|window| window == SEPARATOR)
    {
        pieces.push(&rest[..at]);
        rest = &rest[at + SEPARATOR.len()..];
    }
    pieces.push(rest);
    pieces
}

/// What must hold of everything that is read.
fn check(dataset: &Dataset) {
    dataset.check().expect("parts that fit together");
    check_graph(dataset.graphs.block_diagonal());
    for features in [&dataset.features, &dataset.edge_features].into_iter().flatten() {
        let values = match features {
            Features::Dense(dense) => dense.values(),
            Features::Sparse(sparse) => sparse.values(),
            Features::Categorical(_) => &[],
        };
        assert!(values.iter().all(|value| value.is_finite()), "features that are not finite");
    }
    if dataset.graphs.num_nodes() + dataset.graphs.num_edges() < 1_000 {
        measure::summarize(dataset);
    }
}

fn check_graph(graph: &Graph) {
    assert!(graph.names().is_none_or(|names| names.len() == graph.num_nodes()), "a name for each node");
    for node in 0..graph.num_nodes() as u32 {
        let row = graph.neighbors(node);
        assert!(row.is_sorted_by(|a, b| a < b) && !row.contains(&node), "rows that are not those of a simple graph");
        assert!(row.iter().all(|&other| graph.has_edge(other, node)), "an edge in one direction only");
        let weights = graph.neighbor_weights(node).unwrap_or_default();
        assert!(weights.iter().all(|weight| weight.is_finite() && *weight > 0.0), "weights that are none");
    }
}

/// Any zip archive, and all of its members.
fn archive(data: &[u8]) {
    if let Ok(archive) = Archive::open(data.to_vec(), "a.zip") {
        for name in archive.names() {
            let _ = archive.read(name);
        }
    }
}

/// An array and everything it can be taken for.
fn npy(data: &[u8]) {
    if let Ok(array) = Array::from_npy(File::new("a.npy", data.to_vec())) {
        convert(&array);
        if let Some(object) = array.object() {
            value(object);
        }
    }
}

fn convert(array: &Array) {
    let _ = (array.to_f64(), array.to_f32(), array.to_i64(), array.to_usize(), array.to_u32());
    let _ = (array.to_strings(), array.to_features(), array.to_labels(), array.to_one_hot());
}

/// Weights that PyTorch saved: of the layout before 1.6, which is one file; that of today is an archive, which `pyg` is fed.
fn torch(data: &[u8]) {
    if let Ok(weights) = StateFile::of(File::new("a.pth", data.to_vec())) {
        weights.tensors().for_each(|(_, array)| convert(array));
    }
}

/// A pickle, and everything it can be taken for.
fn pickle(data: &[u8]) {
    let file = File::new("a.pkl", data.to_vec());
    if let Ok(pickle) = Pickle::read(&file) {
        let root = pickle.root();
        value(root);
        let entries = root.entries().into_iter().flat_map(|entries| entries.iter());
        let items = root.items().into_iter().flat_map(|items| items.iter());
        entries.map(|(_, value)| value).chain(items).take(100).for_each(value);
    }
}

fn value(value: Value<'_>) {
    let place = fiedler_io::error::Place::file("a.pkl");
    let _ = (value.to_string(), value.integer(), value.text(), value.bytes());
    if let Ok(array) = Array::from_pickle(value, &place) {
        convert(&array);
    }
    if let Ok(matrix) = Matrix::from_pickle(value, &place) {
        let rows = matrix.rows();
        let _ = matrix.clone().into_features(rows);
        if let Ok((graph, _)) = matrix.into_graph() {
            check_graph(&graph);
        }
    }
}

/// One molecule.
fn smiles(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(molecule) = Molecule::from_smiles(text)
    {
        let atoms = molecule.atoms.len() as u32;
        assert!(molecule.bonds.iter().all(|bond| bond.ends.0 < atoms && bond.ends.1 < atoms), "a bond of no atom");
    }
}

/// A table of features and of labels, text, npy or parquet, beside a small graph.
fn table(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("a temporary file");
    let graph = DataSource::memory([("a.txt".to_owned(), b"0 1\n1 2\n".to_vec())], Some("a.txt"));
    let (path, format) = (Some(file.path().to_path_buf()), Some("edge-list".to_owned()));
    for options in [
        ReadOptions { features: path.clone(), format: format.clone(), ..ReadOptions::default() },
        ReadOptions { labels: path, format, ..ReadOptions::default() },
    ] {
        if let Ok(dataset) = read::read_source(&graph, &options) {
            check(&dataset);
        }
    }
}
