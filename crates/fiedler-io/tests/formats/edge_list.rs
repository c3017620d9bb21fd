#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::PathBuf;

use fiedler_graph::{Dataset, Features, Labels, Names};
use fiedler_io::Error;
use fiedler_io::read::{self, ReadOptions};
use proptest::prelude::*;

use crate::common::{self, memory};

fn parse_as(name: &str, bytes: &[u8], options: &ReadOptions) -> Result<Dataset, Error> {
    read::read_source(&memory(&[(name, bytes)], Some(name)), options)
}

fn parse(text: &str) -> Dataset {
    match parse_as("edges.txt", text.as_bytes(), &ReadOptions::default()) {
        Ok(dataset) => dataset,
        Err(error) => panic!("{text:?}: {error}"),
    }
}

fn fails(text: &str) -> (String, String) {
    match parse_as("edges.txt", text.as_bytes(), &ReadOptions::default()) {
        Ok(_) => panic!("{text:?} was read"),
        Err(error) => (error.to_string(), error.hint().unwrap_or_default()),
    }
}

fn edges(dataset: &Dataset) -> Vec<(String, String)> {
    let graph = dataset.graph().unwrap();
    graph.edge_pairs().map(|(a, b)| (graph.name(a), graph.name(b))).collect()
}

fn pairs(dataset: &Dataset) -> Vec<(u32, u32)> {
    dataset.graph().unwrap().edge_pairs().collect()
}

fn weights(dataset: &Dataset) -> Option<Vec<f32>> {
    dataset.graph().unwrap().edge_weights()
}

#[test]
fn separators_line_ends_comments_and_marks_are_told_by_looking() {
    for text in [
        "0 1\n1 2\n",
        "0,1\n1,2",
        "0, 1\n1 ,2\n",
        "0;1\n1;2\n",
        "0\t1\n1\t2\n",
        "  0   1 \r\n\r\n1\t2\t\r\n",
        "\u{feff}# SNAP\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
        "% sym unweighted\n% 2 3 3\n0 1 \n1 2 \n",
        "// a comment\n0 1\n\n   \n  # another\n1 2",
        "source,target\n0,1\n1,2\n",
        "\u{feff}From;To\r\n0;1\r\n1;2\r\n",
        "first second\n0 1\n1 2\n",
        "\"0\",\"1\"\n\"1\",\"2\"\n",
    ] {
        let dataset = parse(text);
        assert_eq!(pairs(&dataset), [(0, 1), (1, 2)], "{text:?}");
        assert_eq!(dataset.graph().unwrap().names(), None, "{text:?}");
        assert_eq!(weights(&dataset), None, "{text:?}");
        assert_eq!(dataset.report.format, "edge-list");
    }
}

#[test]
fn whole_numbers_are_numbered_in_order() {
    for text in
        ["30 10\n10 20\n", "4000000000 -5\n-5 7\n", "30 10\n10 123456789012345678\n", "9223372036854775807 3\n3 4\n"]
    {
        let dataset = parse(text);
        let graph = dataset.graph().unwrap();
        let Some(Names::Integers(names)) = graph.names() else { panic!("{text:?}") };
        assert!(names.is_sorted() && names.len() == 3, "{text:?}");
        assert_eq!(graph.num_edges(), 2);
    }
    assert_eq!(edges(&parse("30 10\n10 20\n")), [("10".into(), "20".into()), ("10".into(), "30".into())]);
}

#[test]
fn words_are_numbered_by_first_appearance() {
    let dataset = parse("name,friend\n\"Doe, \"\"J\"\"\",zoë\nzoë,007\n007,7\n");
    let names: Vec<String> = (0..5).map(|node| dataset.graph().unwrap().name(node)).collect();
    // Nothing says that the first line is a header.
    assert_eq!(names, ["name", "friend", "Doe, \"J\"", "zoë", "007"]);
    let dataset = parse("New York\tBoston\nBoston\t\"Weird Al\" Yankovic\n");
    assert_eq!(dataset.graph().unwrap().name(2), "\"Weird Al\" Yankovic");
}

#[test]
fn a_header_may_put_the_columns_anywhere() {
    let dataset = parse("Id,Source,Type,Target,Weight\n0,a,Undirected,b,2.5\n1,b,Undirected,c,1\n");
    assert_eq!(edges(&dataset), [("a".into(), "b".into()), ("b".into(), "c".into())]);
    assert_eq!(weights(&dataset), Some(vec![2.5, 1.0]));
    assert_eq!(dataset.report.notes, ["columns \"Id\", \"Type\" were ignored"]);
}

#[test]
fn the_third_column_is_a_weight_if_it_can_be() {
    assert_eq!(weights(&parse("0 1 0.5\n1 2 1e3\n")), Some(vec![0.5, 1000.0]));
    let konect = parse("% asym weighted\n1 2 3 1082008561\n2 3 4 1082008562\n");
    assert_eq!(weights(&konect), Some(vec![3.0, 4.0]));
    assert_eq!(konect.report.notes, ["column 4 was ignored"]);
    let counted = parse("a,b,letters\nx,y,3\ny,z,4\n");
    assert_eq!(weights(&counted), Some(vec![3.0, 4.0]));
    assert_eq!(counted.report.notes, ["column \"letters\" was read as edge weights"]);
    for text in ["9 8 1251147667\n8 7 1251147669\n", "0 1 friend\n1 2 foe\n", "u,v,time\n1,2,3\n2,3,4\n"] {
        let dataset = parse(text);
        assert_eq!(weights(&dataset), None, "{text:?}");
        assert_eq!(dataset.report.notes.len(), 1, "{text:?}");
    }
    let unweighted = ReadOptions { unweighted: true, ..ReadOptions::default() };
    assert_eq!(weights(&parse_as("e.csv", b"0,1,-1\n1,2,0\n", &unweighted).unwrap()), None);
}

#[test]
fn duplicates_and_loops_are_counted() {
    let report = parse("0 1\n1 0\n0 1\n2 2\n1 2\n").report.edges;
    assert_eq!((report.pairs, report.edges, report.mirrored, report.repeated, report.self_loops), (5, 2, 1, 1, 1));
    let dataset = parse("0 1 1\n1 0 3\n0 1 2\n");
    assert_eq!(weights(&dataset), Some(vec![3.0]));
}

#[test]
fn nodes_can_be_declared() {
    let dataset = parse("# node: 2\n0 1\n1 4\n");
    assert_eq!(dataset.graph().unwrap().num_nodes(), 4);
    assert_eq!(dataset.graph().unwrap().degree(2), 0);
    let ordered = parse("# node: 9\n# node: 3\n# node: 5\n3 9\n");
    assert_eq!(ordered.graph().unwrap().names(), Some(&Names::Integers(vec![9, 3, 5])));
    let words = parse("source target\n# node: \"a b\"\nc d\n");
    assert_eq!(words.graph().unwrap().name(0), "a b");
    assert_eq!(parse("# node: 0\n# node: 1\n").graph().unwrap().num_nodes(), 2);
}

#[test]
fn errors_name_line_and_remedy() {
    for (text, found, hint) in [
        ("0 1\n# x\n\n2\n", "edges.txt, line 4: \"2\"; expected two node ids", "# node: NAME"),
        ("a,b\n,c\n", "line 2: an empty node id", ""),
        ("0 1 1\n1 2 -3\n", "line 2: the weight -3; expected a positive finite number", "--unweighted"),
        ("0 1 1\n1 2 0\n", "line 2: the weight 0;", "--unweighted"),
        ("0 1 1\n1 2 nan\n", "line 2: the weight nan;", "--unweighted"),
        ("0 1 1\n1 2 inf\n", "line 2: the weight inf;", "--unweighted"),
        ("0 1 1\n1 2\n", "line 2: no weight in \"1 2\"", "--unweighted"),
        ("", "no edge", ""),
        ("# nothing\n", "no edge", ""),
    ] {
        let (error, said) = fails(text);
        assert!(error.contains(found), "{text:?}: {error}");
        assert!(said.contains(hint), "{text:?}: {said}");
    }
    let mut late = "0 1 1\n".repeat(200_000);
    late.push_str("1 2 x\n");
    assert!(fails(&late).0.contains("line 200001: the weight \"x\""), "{}", fails(&late).0);
    let latin = [b"0 a\n".as_slice(), b"\xe9 b\n"].concat();
    let error = parse_as("e.txt", &latin, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    // In a comment of a file of numbers it does no harm.
    let latin = [b"# caf\xe9\n".as_slice(), b"0 1\n"].concat();
    assert!(parse_as("e.txt", &latin, &ReadOptions::default()).is_ok());
}

#[test]
fn what_networkx_writes_is_read() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for name in ["karate.edgelist", "karate-weighted.edgelist"] {
        let dataset = common::read_path(folder.join(name));
        let graph = dataset.graph().unwrap();
        assert_eq!((graph.num_nodes(), graph.num_edges()), (34, 78), "{name}");
        assert_eq!(weights(&dataset).unwrap().iter().sum::<f32>(), 231.0, "{name}");
        assert!(dataset.report.notes.is_empty(), "{name}: {:?}", dataset.report.notes);
    }
    assert_eq!(weights(&parse("a b {}\nb c {}\n")), None);
}

#[test]
fn gzipped_lists_are_unpacked() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"0 1\n1 2\n").unwrap();
    let dataset = parse_as("out.edges.gz", &encoder.finish().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(dataset.graph().unwrap().num_edges(), 2);
}

#[test]
fn published_airports() {
    for (name, nodes, edges, loops) in [("usa", 1190, 13599, 0), ("brazil", 131, 1003, 71)] {
        let Some(path) = common::published(&format!("airports/{name}-airports.edgelist")) else { return };
        let labels = path.with_file_name(format!("labels-{name}-airports.txt"));
        let options = ReadOptions { format: Some("edge-list".into()), labels: Some(labels), ..ReadOptions::default() };
        let dataset = read::read(path, &options).unwrap();
        let graph = dataset.graph().unwrap();
        assert_eq!((graph.num_nodes(), graph.num_edges()), (nodes, edges), "{name}");
        assert_eq!(dataset.report.edges.self_loops, loops, "{name}");
        assert_eq!(dataset.node_labels.unwrap().classes().unwrap().count(), 4);
    }
}

proptest! {
    /// The fast path and the general path understand numbers alike, whatever the chunks.
    #[test]
    fn both_paths_agree(pairs in prop::collection::vec((0u32..50, 0u32..50), 1..200), weighted in any::<bool>()) {
        let line = |quote: &str, (at, (a, b)): (usize, &(u32, u32))| {
            let weight = if weighted { format!(" {}", at % 7 + 1) } else { String::new() };
            format!("{a} {quote}{b}{quote}{weight}\n")
        };
        let plain: String = pairs.iter().enumerate().map(|entry| line("", entry)).collect();
        let quoted: String = pairs.iter().enumerate().map(|entry| line("\"", entry)).collect();
        prop_assert_eq!(parse(&plain), parse(&quoted));
    }
}

/// A table in a file of its own, since options name paths.
struct Tables(tempfile::TempDir);

impl Tables {
    fn new() -> Tables {
        Tables(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> Option<PathBuf> {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Some(path)
    }
}

fn with_features(edges: &str, table: impl AsRef<[u8]>) -> Result<Dataset, Error> {
    let tables = Tables::new();
    let options = ReadOptions { features: tables.file("features.csv", table), ..ReadOptions::default() };
    parse_as("edges.txt", edges.as_bytes(), &options)
}

fn with_labels(edges: &str, table: impl AsRef<[u8]>) -> Result<Dataset, Error> {
    let tables = Tables::new();
    let options = ReadOptions { labels: tables.file("labels.csv", table), ..ReadOptions::default() };
    parse_as("edges.txt", edges.as_bytes(), &options)
}

fn rows(dataset: &Dataset) -> Vec<Vec<f32>> {
    let dense = dataset.features.as_ref().map(Features::to_dense).unwrap();
    (0..dataset.graphs.num_nodes()).map(|row| dense.row(row).to_vec()).collect()
}

#[test]
fn features_are_matched_by_id_or_by_number() {
    for table in ["node,x,y\nb,3,4\na,1,2\nc,5,6\n", ",x,y\nb,3,4\nc,5,6\na,1,2\n", "c 5 6\nb 3 4\na 1 2\n"] {
        let dataset = with_features("a b\nb c\n", table).unwrap();
        assert_eq!(rows(&dataset), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "{table:?}");
    }
    for table in ["1,2\n3,4\n5,6\n", "x\ty\n1\t2\n3\t4\n5\t6\n"] {
        let dataset = with_features("0 1\n1 2\n", table).unwrap();
        assert_eq!(rows(&dataset), [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "{table:?}");
    }
}

#[test]
fn rows_without_ids_make_isolated_nodes_known() {
    let dataset = with_features("1 3\n", "1\n2\n3\n4\n5\n").unwrap();
    let graph = dataset.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.names()), (5, None));
    assert_eq!(graph.neighbors(3), [1]);
    // One-based ids: as many rows as nodes, so they go in order.
    assert_eq!(with_features("1 2\n2 3\n", "1\n2\n3\n").unwrap().graphs.num_nodes(), 3);
    let error = with_features("1 2\n2 7\n", "1\n2\n3\n4\n").unwrap_err();
    assert!(error.to_string().contains("4 rows; expected 3, one a node"), "{error}");
}

#[test]
fn faults_of_features_are_named() {
    for (table, found) in [
        ("node,x\na,1\n", "no row for node \"b\""),
        ("node,x\na,1\nb,nan\n", "line 3: \"nan\" in column \"x\"; expected a finite number"),
        ("node,x\na,1\nb,\n", "line 3: an empty field in column \"x\""),
        ("node,x\na,1\na,2\nb,1\n", "line 3: node \"a\" once more"),
        ("node,x\na,1,2\n", "line 2: 3 fields; expected 2 fields"),
        ("node,x\nq,1\n", "none of which is a node"),
        ("", "an empty table"),
    ] {
        let error = with_features("a b\n", table).unwrap_err().to_string();
        assert!(error.contains(found), "{table:?}: {error}");
    }
    let extra = with_features("a b\n", "node,x\na,1\nz,2\nb,1\n").unwrap();
    assert_eq!(extra.report.notes, ["1 node has features and no edges, the first of them \"z\""]);
    let graph = extra.graph().unwrap();
    assert_eq!((graph.num_nodes(), graph.name(2).as_str(), graph.degree(2)), (3, "z", 0));
    let Some(fiedler_graph::Features::Dense(features)) = &extra.features else { panic!("no features") };
    assert_eq!(features.values(), [1.0, 1.0, 2.0]);
}

#[test]
fn nodes_that_only_features_name_keep_weights_and_numbers() {
    let dataset = with_features("5 7 0.5\n7 9 2\n", "node,x\n9,3\n4,4\n5,1\n7,2\n").unwrap();
    let graph = dataset.graph().unwrap();
    assert_eq!(graph.names(), Some(&fiedler_graph::Names::Integers(vec![5, 7, 9, 4])));
    assert_eq!(graph.edge_weights().unwrap(), [0.5, 2.0]);
    assert_eq!(graph.degree(3), 0);
}

#[test]
fn labels_are_of_the_kind_their_column_suggests() {
    let classes = |dataset: Dataset| match dataset.node_labels {
        Some(Labels::Classes(classes)) => (classes.names().to_vec(), classes.of().to_vec()),
        other => panic!("{other:?}"),
    };
    let (names, of) = classes(with_labels("a b\nb c\n", "node,label\na,x\nc,y\nb,\n").unwrap());
    assert_eq!((names, of), (vec!["x".into(), "y".into()], vec![Some(0), None, Some(1)]));
    let (names, of) = classes(with_labels("0 1\n1 2\n", "10\n9\n10\n").unwrap());
    assert_eq!((names, of), (vec!["9".into(), "10".into()], vec![Some(1), Some(0), Some(1)]));
    // pandas makes whole numbers with gaps into floats.
    let (names, of) = classes(with_labels("0 1\n1 2\n", "y\n1.0\n\"\"\n2.0\n").unwrap());
    assert_eq!((names, of), (vec!["1".into(), "2".into()], vec![Some(0), None, Some(1)]));
    let partial = with_labels("a b\nb c\n", "node,label\na,x\n").unwrap();
    assert_eq!(partial.report.notes, ["2 nodes have no row of labels and so no label"]);
    assert_eq!(classes(partial).1, [Some(0), None, None]);

    match with_labels("a b\n", "node,toxic,soluble\na,1,\nb,0,1\n").unwrap().node_labels {
        Some(Labels::MultiLabel(tasks)) => {
            assert_eq!(tasks.names(), ["toxic", "soluble"]);
            assert_eq!(
                (tasks.row(0), tasks.row(1)),
                ([Some(true), None].as_slice(), [Some(false), Some(true)].as_slice())
            );
        }
        other => panic!("{other:?}"),
    }
    match with_labels("a b\n", "node,logp\na,0.5\nb,nan\n").unwrap().node_labels {
        Some(Labels::Regression(values)) => {
            assert_eq!((values.row(0), values.row(1)), ([Some(0.5)].as_slice(), [None].as_slice()))
        }
        other => panic!("{other:?}"),
    }
    let error = with_labels("a b\n", "node,one,two\na,x,1\nb,y,2\n").unwrap_err();
    assert!(error.to_string().contains("\"x\" in the label column \"one\""), "{error}");
}

/// An npy file as numpy writes it.
fn npy(kind: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:<117}\n");
    [b"\x93NUMPY\x01\x00", (header.len() as u16).to_le_bytes().as_slice(), header.as_bytes(), values].concat()
}

#[test]
fn arrays_are_tables_too() {
    let floats: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let dataset = with_features("0 1\n", npy("<f4", "(2, 2)", &floats)).unwrap();
    assert_eq!(rows(&dataset), [[1.0, 2.0], [3.0, 4.0]]);
    let integers: Vec<u8> = [7i64, -1].iter().flat_map(|value| value.to_le_bytes()).collect();
    let labels = with_labels("0 1\n", npy("<i8", "(2,)", &integers)).unwrap().node_labels.unwrap();
    assert_eq!(labels.classes().unwrap().names(), ["-1", "7"]);
    for (kind, shape, found) in [("<f4", "(2, 3)", "bytes"), ("<f4", "(9223372036854775807, 9)", "bytes")] {
        let error = with_features("0 1\n", npy(kind, shape, &floats)).unwrap_err().to_string();
        assert!(error.contains(found), "{error}");
    }
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_is_a_table_too() {
    let fixture = |name: &str| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let options = ReadOptions {
        features: Some(fixture("features.parquet")),
        labels: Some(fixture("labels.parquet")),
        ..ReadOptions::default()
    };
    let dataset = parse_as("edges.txt", b"a b\nb c\n", &options).unwrap();
    assert_eq!(rows(&dataset), [[1.0, 2.0], [3.0, 4.5], [5.0, 6.0]]);
    assert_eq!(dataset.node_labels.unwrap().classes().unwrap().names(), ["x", "y"]);
}
