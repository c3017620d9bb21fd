//! Faults in pickles and arrays of Python.

use std::path::Path;

use super::files::{self, Files, integers, npy, reals};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    let benchmark = files::gnn_benchmark;
    let planetoid = files::planetoid;
    let scipy = files::scipy_npz;
    vec![
        case("a pickle cut short", planetoid().cut("ind.tiny.allx", 3))
            .says("ind.tiny.allx", "more bytes of a pickle")
            .hints("download it again"),
        case("text under the name of a pickle", planetoid().with("ind.tiny.graph", "0 1\n1 2\n"))
            .says("ind.tiny.graph", "expected a value before it")
            .hints("no pickle"),
        case("a pickle of something else", planetoid().with("ind.tiny.graph", "]."))
            .says("ind.tiny.graph", "expected a dictionary of neighbors"),
        case("Planetoid: a neighbor that is no node", planetoid().with("ind.tiny.graph", "(dI0\n(lI99\nas."))
            .says("ind.tiny.graph", "expected a node id below 6"),
        case("Planetoid: a test id twice", planetoid().with("ind.tiny.test.index", "5\n5\n"))
            .says("ind.tiny.test.index, line 2", "each once"),
        case("Planetoid: a test id among those of allx", planetoid().with("ind.tiny.test.index", "5\n1\n"))
            .says("ind.tiny.test.index, line 2", "expected a node id from 3, where allx ends"),
        case("Planetoid: fewer test ids than rows", planetoid().with("ind.tiny.test.index", "5\n"))
            .says("ind.tiny.test.index", "expected 2, one for each row of tx")
            .hints("different datasets"),
        case("Planetoid: no labels", planetoid().without("ind.tiny.ally"))
            .says("memory has no ind.tiny.ally", "which the planetoid format needs")
            .hints("put ind.tiny.ally beside the other files"),
        case("Planetoid: labels of other rows", {
            let files = planetoid();
            let y = files.files["ind.tiny.y"].clone();
            files.with("ind.tiny.ally", y)
        })
        .says("ind.tiny.ally", "expected 3, the rows of the features")
        .hints("different datasets"),
        case(
            "npy: a header that claims more than there is",
            benchmark().with_array("toy.npz", "labels", npy("<i8", "(1000000000000,)", &[1; 24])),
        )
        .says("toy.npz, labels.npy", "expected integers of 64 bits in the shape (1000000000000)")
        .hints("truncated"),
        case(
            "npy: a type that is not read",
            benchmark().with_array("toy.npz", "labels", npy("<c16", "(3,)", &[0; 48])),
        )
        .says("toy.npz, labels.npy", "expected bools, integers, floats, strings or objects")
        .hints("astype"),
        case("npy: no array", benchmark().with_array("toy.npz", "labels", "1 0 1"))
            .says("toy.npz, labels.npy", "expected a file written by numpy.save")
            .hints("not what its name says"),
        case("npz: fewer labels than nodes", benchmark().with_array("toy.npz", "labels", integers(&[1, 0])))
            .says("toy.npz, labels.npy", "expected 3, one a node"),
        case("npz: rows that do not ascend", benchmark().with_array("toy.npz", "adj_indptr", integers(&[0, 3, 1, 4])))
            .says("toy.npz, adj", "expected 4 that ascend from 0")
            .hints("damaged"),
        case("npz: a negative column", benchmark().with_array("toy.npz", "adj_indices", integers(&[1, -1, 2, 1])))
            .says("toy.npz, adj_indices.npy", "expected whole numbers from 0"),
        case("npz: a column outside", benchmark().with_array("toy.npz", "adj_indices", integers(&[1, 1, 3, 1])))
            .says("toy.npz, adj", "expected one below 3")
            .hints("damaged"),
        case("npz: fewer columns than rows say", benchmark().with_array("toy.npz", "adj_indices", integers(&[1])))
            .says("toy.npz, adj", "expected 4, as indptr says")
            .hints("damaged"),
        case("npz: an array missing", benchmark().without_array("toy.npz", "adj_data"))
            .says("toy.npz", "expected a member adj_data.npy"),
        case("npz: a NaN among the features", benchmark().with_array("toy.npz", "attr_data", reals(&[1.0, f32::NAN])))
            .says("toy.npz, attr", "expected finite numbers"),
        case(
            "npz: an adjacency matrix that is not square",
            benchmark().with_array("toy.npz", "adj_shape", integers(&[3, 4])),
        )
        .says("toy.npz, adj", "expected a square adjacency matrix"),
        case(
            "npz: a huge matrix of nothing",
            benchmark().with_array("toy.npz", "adj_shape", integers(&[1 << 40, 1 << 40])),
        )
        .says("toy.npz, adj", "expected at most 2147483647 of each"),
        case("scipy: rows that nothing speaks for", rows_of_nothing())
            .says("toy_adj.npz", "expected at most 1048576 rows")
            .hints("csr"),
        case("scipy: a negative weight", Files::one("toy_adj.npz", negative()))
            .says("toy_adj.npz", "expected positive edge weights"),
        case("scipy: an infinite weight", scipy().with_array("toy_adj.npz", "data", reals(&[f32::INFINITY; 6])))
            .says("toy_adj.npz", "expected finite numbers"),
        case("scipy: a format that is not read", scipy().with_array("toy_adj.npz", "format", npy("|S3", "()", b"lil")))
            .says("toy_adj.npz", "expected csr, csc, coo, bsr or dia")
            .hints(".tocsr()"),
        case(
            "scipy: a split that is no JSON",
            scipy().with("toy_splits.json", "{\n\"idx_train\": [0],\n\"idx_test\": 1\n}"),
        )
        .says("toy_splits.json, line 3", "expected {\"idx_train\": [ids]"),
        case(
            "scipy: infinite features",
            scipy().without("toy_features.npz").with("toy_features.npy", reals(&[1.0, 2.0, f32::INFINITY, 0.0])),
        )
        .says("toy_features.npy", "expected finite features"),
        case("GraphSAINT: no split", files::graph_saint().without("role.json"))
            .format("graph-saint")
            .says("memory has no role.json", "graph-saint format needs")
            .hints("put role.json beside"),
        case("GraphSAINT: an id in two parts", files::graph_saint().replacing("role.json", "[2]", "[1]"))
            .says("role.json", "expected an id that is not in train already"),
        case("GraphSAINT: a split of another graph", files::graph_saint().replacing("role.json", "[3]", "[4]"))
            .says("role.json", "expected an id below 4"),
        case("GraphSAINT: a label of no node", files::graph_saint().replacing("class_map.json", "\"3\"", "\"9\""))
            .says("class_map.json", "expected node ids below 4")
            .hints("different datasets"),
        case("GraphSAINT: JSON cut short", files::graph_saint().cut("class_map.json", 4))
            .says("class_map.json, line 5", "expected a class or a list of 0 and 1 for each node"),
        case("GraphSAINT: features of fewer nodes", files::graph_saint().with("feats.npy", reals(&[1.0, 2.0])))
            .says("feats.npy", "expected 4, one a node"),
        case(
            "GraphSAINT: a NaN among the features",
            files::graph_saint().with("feats.npy", reals(&[1.0, 2.0, f32::NAN, 3.0])),
        )
        .says("feats.npy", "expected finite features"),
    ]
}

/// Blocks of 65536 rows, all of them empty: 2³¹ rows in a file of a few bytes.
fn rows_of_nothing() -> Files {
    files::scipy_npz()
        .with_array("toy_adj.npz", "format", npy("|S3", "()", b"bsr"))
        .with_array("toy_adj.npz", "shape", integers(&[65536 * 32767, 65536 * 32767]))
        .with_array("toy_adj.npz", "indptr", npy("|i1", "(32768,)", &[0; 32768]))
        .with_array("toy_adj.npz", "indices", integers(&[]))
        .with_array("toy_adj.npz", "data", npy("<f4", "(0, 65536, 65536)", &[]))
}

fn negative() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/python/negative.npz");
    std::fs::read(path).expect("a fixture")
}
