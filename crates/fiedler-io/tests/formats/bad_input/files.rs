//! Sound files of every format, small, for a test to spoil.

use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};

use fiedler_io::DataSource;
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The files of a dataset, and which of them the path names; without one it names their folder.
#[derive(Debug, Clone)]
pub struct Files {
    pub named: Option<&'static str>,
    pub files: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Files of which the path names the only one.
    pub fn one(name: &'static str, bytes: impl AsRef<[u8]>) -> Files {
        Files { named: Some(name), files: BTreeMap::new() }.with(name, bytes)
    }

    fn folder(files: &[(&str, &str)]) -> Files {
        let files = files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec()));
        Files { named: None, files: files.collect() }
    }

    /// Adds or replaces a file.
    pub fn with(mut self, name: &str, bytes: impl AsRef<[u8]>) -> Files {
        self.files.insert(name.into(), bytes.as_ref().to_vec());
        self
    }

    /// Takes a file away.
    pub fn without(mut self, name: &str) -> Files {
        assert!(self.files.remove(name).is_some(), "no {name}");
        self
    }

    /// Changes the text of a file.
    pub fn replacing(self, name: &str, found: &str, replaced: &str) -> Files {
        let text = String::from_utf8(self.files[name].clone()).expect("text");
        assert!(text.contains(found), "no {found} in {name}");
        self.with(name, text.replacen(found, replaced, 1))
    }

    /// Cuts the last part of a file off: all but one byte in `parts`.
    pub fn cut(self, name: &str, parts: usize) -> Files {
        let bytes = self.files[name].clone();
        self.with(name, &bytes[..bytes.len() - bytes.len() / parts])
    }

    /// Adds or replaces an array of an npz file.
    pub fn with_array(self, npz: &str, name: &str, npy: impl AsRef<[u8]>) -> Files {
        let mut members = unzipped(&self.files[npz]);
        members.insert(format!("{name}.npy"), npy.as_ref().to_vec());
        self.with(npz, zipped(&members))
    }

    /// Adds or replaces a member of an archive, below its only folder.
    pub fn with_member(self, archive: &str, name: &str, bytes: impl AsRef<[u8]>) -> Files {
        let mut members = unzipped(&self.files[archive]);
        members.insert(format!("archive/{name}"), bytes.as_ref().to_vec());
        self.with(archive, zipped(&members))
    }

    /// Takes a member of an archive away.
    pub fn without_member(self, archive: &str, name: &str) -> Files {
        let mut members = unzipped(&self.files[archive]);
        assert!(members.remove(&format!("archive/{name}")).is_some(), "no {name}");
        self.with(archive, zipped(&members))
    }

    /// Takes an array of an npz file away.
    pub fn without_array(self, npz: &str, name: &str) -> Files {
        let mut members = unzipped(&self.files[npz]);
        assert!(members.remove(&format!("{name}.npy")).is_some(), "no {name}");
        self.with(npz, zipped(&members))
    }

    /// Writes all files to a folder, which goes when it is dropped.
    pub fn on_disk(&self) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, bytes) in &self.files {
            std::fs::write(folder.path().join(name), bytes).expect("a file");
        }
        folder
    }

    pub fn input(&self) -> DataSource {
        DataSource::memory(self.files.clone(), self.named)
    }
}

/// A sound dataset of every format, by the format's name.
pub fn sound() -> Vec<(&'static str, Files)> {
    vec![
        ("planetoid", planetoid()),
        ("ogb", ogb()),
        ("tu", tu()),
        ("powerful-gnns", powerful_gnns()),
        ("wiki-cs", wiki_cs()),
        ("graph-saint", graph_saint()),
        ("gnn-benchmark", gnn_benchmark()),
        ("gnn-benchmark", gnn_benchmark_pickled()),
        ("scipy-npz", scipy_npz()),
        ("heterophilous", heterophilous()),
        ("matrix-market", matrix_market()),
        ("struc2vec", struc2vec()),
        ("graphml", graphml()),
        ("gexf", gexf()),
        ("gml", gml()),
        ("pyg", pyg()),
        ("node-link", node_link()),
        ("moleculenet", moleculenet()),
        ("edge-list", edge_list()),
    ]
}

pub fn planetoid() -> Files {
    let parts = ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"];
    let files = parts.map(|part| format!("ind.tiny.{part}"));
    Files { named: None, files: files.map(|name| (name.clone(), fixture(&format!("planetoid1/{name}")))).into() }
}

pub fn ogb() -> Files {
    Files::folder(&[
        ("raw/num-node-list.csv", "3\n2\n"),
        ("raw/num-edge-list.csv", "2\n1\n"),
        ("raw/edge.csv", "0,1\n2,1\n0,1\n"),
        ("raw/node-feat.csv", "1,0.5\n0,1\n0,0\n1,1\n2,2\n"),
        ("raw/edge-feat.csv", "1\n2\n3\n"),
        ("raw/graph-label.csv", "1,\n0,1\n"),
        ("split/scaffold/train.csv", "0\n"),
        ("split/scaffold/valid.csv", ""),
        ("split/scaffold/test.csv", "1\n"),
    ])
}

pub fn tu() -> Files {
    Files::folder(&[
        ("TOY_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n"),
        ("TOY_graph_indicator.txt", "1\n1\n2\n2\n"),
        ("TOY_graph_labels.txt", "-1\n1\n"),
        ("TOY_node_labels.txt", "0\n1\n0\n2\n"),
        ("TOY_node_attributes.txt", "0.5, 1\n1, 1\n2, 1\n3, 1\n"),
        ("TOY_edge_labels.txt", "0\n0\n1\n1\n"),
    ])
}

pub fn powerful_gnns() -> Files {
    Files::folder(&[
        ("TOY.txt", "2\n3 0\n0 1 1 0.5\n1 2 0 2 1\n0 1 1 2\n2 1\n0 1 1 3\n0 1 0 4\n"),
        ("10fold_idx/train_idx-1.txt", "0\n"),
        ("10fold_idx/test_idx-1.txt", "1\n"),
    ])
}

pub fn wiki_cs() -> Files {
    let text = r#"{
"features": [[0.5, -1], [0.1, 0], [0, 0]],
"labels": [3, 0, 3],
"links": [[1, 1, 0], [0, 2], []],
"train_masks": [[true, false, false]],
"val_masks": [[false, true, false]],
"stopping_masks": [[false, true, false]],
"test_mask": [false, false, true]
}"#;
    Files::one("data.json", text)
}

pub fn graph_saint() -> Files {
    let features: Vec<u8> = (0..8u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
    Files::folder(&[
        ("class_map.json", "{\n\"0\": 1,\n\"1\": 0,\n\"2\": 1,\n\"3\": 1\n}"),
        ("role.json", "{\"tr\": [0, 1],\n\"va\": [2],\n\"te\": [3]}"),
    ])
    .with("adj_full.npz", fixture("path_csr.npz"))
    .with("feats.npy", npy("<f4", "(4, 2)", &features))
}

pub fn gnn_benchmark() -> Files {
    Files::one("toy.npz", fixture("benchmark.npz"))
}

pub fn gnn_benchmark_pickled() -> Files {
    Files::one("toy.npz", fixture("benchmark_pickled.npz"))
}

pub fn scipy_npz() -> Files {
    Files::one("toy_adj.npz", fixture("path_csr.npz"))
        .with("toy_features.npz", fixture("features.npz"))
        .with("toy_labels.npy", fixture("labels.npy"))
        .with("toy_splits.json", r#"{"idx_train": [0], "idx_val": [1], "idx_test": [2, 3]}"#)
}

pub fn struc2vec() -> Files {
    let labels = "node label\n5 1\n7 0\n9 1\n";
    Files::one("toy.edgelist", "5 7\n7 9\n").with("labels-toy.txt", labels)
}

pub fn graphml() -> Files {
    let text = r#"<?xml version="1.0"?>
<graphml>
<key id="w" for="edge" attr.name="weight" attr.type="double"/>
<key id="c" for="node" attr.name="class" attr.type="string"><default>red</default></key>
<key id="x" for="node" attr.name="size" attr.type="double"/>
<graph edgedefault="undirected">
<node id="a"><data key="x">1.5</data></node>
<node id="b"><data key="x">2</data><data key="c">blue</data></node>
<edge source="a" target="b"><data key="w">0.5</data></edge>
</graph>
</graphml>"#;
    Files::one("toy.graphml", text)
}

pub fn node_link() -> Files {
    let text = r#"{"directed": false,
"nodes": [{"id": "a", "class": "red", "x": [1, 0.5]},
{"id": "b", "class": "blue", "x": [2, 1]}],
"links": [{"source": "a", "target": "b", "weight": 0.5}]
}"#;
    Files::one("toy.json", text)
}

pub fn gml() -> Files {
    let text = r#"graph [
  node [ id 0 label "a" class "red" x 1.5 ]
  node [ id 1 label "b" class "blue" x 2 ]
  edge [ source 0 target 1 weight 0.5 ]
]
"#;
    Files::one("toy.gml", text)
}

pub fn matrix_market() -> Files {
    Files::one("toy.mtx", "%%MatrixMarket matrix coordinate real symmetric\n% two edges\n3 3 2\n2 1 0.5\n3 2 2\n")
}

pub fn heterophilous() -> Files {
    let masks = |marks: [u8; 6]| npy("|b1", "(2, 3)", &marks);
    let features: Vec<u8> = [0.5f32, 1.0, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let edges: Vec<u8> = [0i64, 1, 1, 2].iter().flat_map(|node| node.to_le_bytes()).collect();
    let members = BTreeMap::from([
        ("node_features.npy".into(), npy("<f4", "(3, 1)", &features)),
        ("node_labels.npy".into(), integers(&[0, 1, 1])),
        ("edges.npy".into(), npy("<i8", "(2, 2)", &edges)),
        ("train_masks.npy".into(), masks([1, 0, 0, 0, 1, 0])),
        ("val_masks.npy".into(), masks([0, 1, 0, 0, 0, 1])),
        ("test_masks.npy".into(), masks([0, 0, 1, 1, 0, 0])),
    ]);
    Files::one("toy.npz", zipped(&members))
}

pub fn gexf() -> Files {
    let attributes = "<attributes class=\"node\">\n<attribute id=\"0\" title=\"x\" type=\"double\"/>\n</attributes>";
    let value = |value: &str| format!("<attvalues><attvalue for=\"0\" value=\"{value}\"/></attvalues>");
    let nodes = format!("<node id=\"a\">{}</node>\n<node id=\"b\">{}</node>", value("1.5"), value("2"));
    let edges = "<edge source=\"a\" target=\"b\" weight=\"0.5\"/>";
    Files::one(
        "toy.gexf",
        format!(
            "<gexf>\n<graph>\n{attributes}\n<nodes>\n{nodes}\n</nodes>\n<edges>\n{edges}\n</edges>\n</graph>\n</gexf>\n"
        ),
    )
}

pub fn pyg() -> Files {
    let path = format!("{}/tests/fixtures/pyg/collated.pt", env!("CARGO_MANIFEST_DIR"));
    Files::one("toy.pt", std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

pub fn edge_list() -> Files {
    Files::one("toy.csv", "source,target,weight\n0,1,0.5\n1,2,2\n")
}

pub fn moleculenet() -> Files {
    Files::one("toy.csv", "smiles,active,id\nCCO,1,a\nc1ccccc1,0,b\n")
}

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/python/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An array as numpy saves it.
pub fn npy(of: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{of}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), values].concat()
}

/// A list of whole numbers as numpy saves it.
pub fn integers(values: &[i64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", values.len()), &bytes)
}

/// A list of real numbers as numpy saves it.
pub fn reals(values: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f4", &format!("({},)", values.len()), &bytes)
}

pub fn gzipped(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes.as_ref()).expect("memory");
    packed.finish().expect("memory")
}

pub fn zipped(members: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(name, SimpleFileOptions::default()).expect("memory");
        zip.write_all(bytes).expect("memory");
    }
    zip.finish().expect("memory").into_inner()
}

fn unzipped(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).expect("a sound archive");
    let mut members = BTreeMap::new();
    for at in 0..zip.len() {
        let mut member = zip.by_index(at).expect("a sound member");
        let name = member.name().expect("a plain name").to_string();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("a sound member");
        members.insert(name, bytes);
    }
    members
}
