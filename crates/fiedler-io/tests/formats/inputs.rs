//! Files as people have them: what pandas adds, what is missing, and what labels may mean.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fiedler_graph::{Dataset, Features, Labels};
use fiedler_io::read::{self, Fill, ReadOptions, TargetKind};
use fiedler_io::{Error, tables};
use tempfile::TempDir;

use crate::common::{memory, read as read_input};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Files of these names and texts in a folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn edges(dataset: &Dataset) -> Vec<(String, String)> {
    let graph = dataset.graphs.block_diagonal();
    graph.edge_pairs().map(|(a, b)| (graph.name(a), graph.name(b))).collect()
}

fn pair(a: &str, b: &str) -> (String, String) {
    (a.into(), b.into())
}

fn read_text(text: &str) -> Dataset {
    read_input(&memory(&[("g.csv", text.as_bytes())], Some("g.csv"))).unwrap()
}

#[test]
fn one_table_may_hold_labels_and_splits() {
    let files =
        folder(&[("g.csv", "a,b\nb,c\nc,d\n"), ("nodes.csv", "id,label,split\nd,x,test\nb,y,val\na,x,Train\nc,,\n")]);
    let options = ReadOptions { labels: Some(files.path().join("nodes.csv")), ..ReadOptions::default() };
    let dataset = read::read(files.path().join("g.csv"), &options).unwrap();
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).unwrap();
    assert_eq!(
        (classes.names(), classes.of()),
        (&["x".to_owned(), "y".into()][..], &[Some(0), Some(1), None, Some(0)][..])
    );
    let split = &dataset.splits[0];
    assert_eq!((&*split.train, &*split.validation, &*split.test), (&[0][..], &[1][..], &[3][..]));
    assert_eq!(dataset.report.notes, ["1 of 4 nodes have no label"]);
    // The same table by itself, as `evaluate --labels` reads it.
    let table = tables::read_labels(files.path().join("nodes.csv")).unwrap();
    assert_eq!(
        (table.columns, table.splits[0].test.clone(), table.labels.missing()),
        (vec!["label".to_owned()], vec![0], 1)
    );
}

#[test]
fn one_table_may_hold_features_and_what_is_to_be_predicted() {
    let table = "id,age,city,income,split\nd,20,Rome,1,test\nb,30,Paris,2,val\na,40,Rome,3,train\nc,50,Oslo,4,test\n";
    let files = folder(&[("g.csv", "a,b\nb,c\nc,d\n"), ("people.csv", table)]);
    let options = |targets: &[&str]| ReadOptions {
        features: Some(files.path().join("people.csv")),
        columns: targets.iter().map(|&name| name.to_owned()).collect(),
        ..ReadOptions::default()
    };
    let read = |targets: &[&str]| read::read(files.path().join("g.csv"), &options(targets));
    let dataset = read(&["city"]).unwrap();
    assert_eq!(dataset.feature_names, Some(vec!["age".to_owned(), "income".into()]));
    assert_eq!(dataset.features.unwrap().to_dense().values(), [40.0, 3.0, 30.0, 2.0, 50.0, 4.0, 20.0, 1.0]);
    let classes = dataset.node_labels.as_ref().and_then(Labels::classes).unwrap();
    assert_eq!(classes.of(), [Some(2), Some(1), Some(0), Some(2)]);
    assert_eq!((&*dataset.splits[0].train, &*dataset.splits[0].test), (&[0][..], &[2, 3][..]));
    let error = read(&["town"]).unwrap_err().to_string();
    assert!(error.ends_with("people.csv: columns age, city, income; expected a column \"town\" to predict"), "{error}");
    let error = read(&[]).unwrap_err();
    assert!(error.to_string().contains("\"Rome\" in column \"city\"") && error.hint().unwrap().contains("--targets"));
}

#[test]
fn a_split_of_other_words_is_an_error() {
    let files = folder(&[("g.csv", "a,b\nb,c\n"), ("nodes.csv", "id,label,split\na,x,3\nb,y,test\n")]);
    let options = ReadOptions { labels: Some(files.path().join("nodes.csv")), ..ReadOptions::default() };
    let error = read::read(files.path().join("g.csv"), &options).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("nodes.csv: \"3\" in column \"split\"; expected train, validation, test or nothing"),
        "{error}"
    );
}

#[test]
fn files_beside_an_edge_list_belong_to_it() {
    let files = folder(&[
        ("g.csv", "a,b\nb,c\n"),
        ("g.features.csv", "node,x\nc,3\na,1\nb,2\n"),
        ("g.labels.csv", "node,class,split:own\na,x,train\nb,y,test\nc,x,\n"),
        ("other.labels.csv", "nothing"),
    ]);
    let dataset = read::read(files.path().join("g.csv"), &ReadOptions::default()).unwrap();
    assert_eq!(dataset.features.as_ref().unwrap().to_dense().values(), [1.0, 2.0, 3.0]);
    assert_eq!((dataset.splits[0].name.as_str(), dataset.node_labels.is_some()), ("own", true));
    let said = |what: &str| dataset.report.notes.iter().any(|note| note.contains(what));
    assert!(said("features were read from g.features.csv") && said("labels were read from g.labels.csv"));
    assert!(
        read::read(files.path().join("g.labels.csv"), &ReadOptions::default()).is_ok(),
        "a table is an edge list to whoever asks"
    );
}

#[test]
fn an_index_of_pandas_is_no_node() {
    let plain = read_text("person,friend\nann,bob\nbob,cid\n");
    assert_eq!(plain.graphs.num_nodes(), 5, "words without a known header are an edge like all others");
    for text in [",person,friend\n0,ann,bob\n1,bob,cid\n", "Unnamed: 0,person,friend\n0,ann,bob\n1,bob,cid\n"] {
        let dataset = read_text(text);
        assert_eq!(edges(&dataset), [pair("ann", "bob"), pair("bob", "cid")], "{text}");
        assert!(dataset.report.notes.is_empty(), "{:?}", dataset.report.notes);
    }
    let weighted = read_text(",a,b,strength\n0,5,6,0.5\n1,6,7,2\n");
    assert_eq!(weighted.graphs.block_diagonal().edge_weights(), Some(vec![0.5, 2.0]));
    let named = read_text(",source,target\n0,5,6\n1,6,7\n");
    assert_eq!((edges(&named).len(), named.report.notes.len()), (2, 0), "{:?}", named.report.notes);
    // A first column that counts nothing is an end as ever.
    assert_eq!(read_text("index,to\n3,4\n4,5\n").graphs.num_nodes(), 3);
}

#[test]
#[cfg(feature = "parquet")]
fn what_pandas_writes_as_parquet_is_read() {
    let dataset = read::read(fixture("edges.parquet"), &ReadOptions::default()).unwrap();
    assert_eq!(edges(&dataset), [pair("a", "b"), pair("b", "c")]);
    assert_eq!(dataset.graphs.block_diagonal().edge_weights(), Some(vec![0.5, 2.0]));
    assert_eq!(dataset.report.notes, ["column \"since\" was ignored"]);

    let files = folder(&[("g.csv", "a,b\nb,c\n")]);
    let with = |features: &str, fill: Option<Fill>| {
        let options = ReadOptions { features: Some(fixture(features)), fill, ..ReadOptions::default() };
        read::read(files.path().join("g.csv"), &options)
    };
    let named = with("named-index.parquet", None).unwrap();
    assert_eq!(
        (named.features.unwrap().to_dense().values(), named.feature_names.unwrap()),
        (&[1.0, 3.0, 5.0][..], vec!["x".to_owned()])
    );
    let error = with("counted-index.parquet", None).unwrap_err();
    assert!(
        error.to_string().contains("row 1: \"\" in column \"x\"") && error.hint().unwrap().contains("--fill"),
        "{error}"
    );
    let filled = with("counted-index.parquet", Some(Fill::Mean)).unwrap();
    assert_eq!(filled.features.unwrap().to_dense().values(), [3.0, 1.0, 4.0, 2.0, 5.0, 3.0]);
}

#[test]
fn missing_features_are_filled_if_asked() {
    let files = folder(&[("g.csv", "a,b\nb,c\nc,d\n"), ("x.csv", "id,p,q\na,1,\nb,nan,4\nd,3,8\n")]);
    let with = |fill: Option<Fill>| -> Result<Dataset, Error> {
        let options = ReadOptions { features: Some(files.path().join("x.csv")), fill, ..ReadOptions::default() };
        read::read(files.path().join("g.csv"), &options)
    };
    let error = with(None).unwrap_err();
    assert!(error.hint().unwrap().contains("--fill zeros"), "{error}");
    let values = |dataset: &Dataset| dataset.features.as_ref().unwrap().to_dense().values().to_vec();
    let zeros = with(Some(Fill::Zeros)).unwrap();
    assert_eq!(values(&zeros), [1.0, 0.0, 0.0, 4.0, 0.0, 0.0, 3.0, 8.0]);
    assert!(zeros.report.notes.contains(&"4 missing feature values were filled with zeros".to_owned()));
    assert_eq!(values(&with(Some(Fill::Mean)).unwrap()), [1.0, 6.0, 2.0, 4.0, 2.0, 6.0, 3.0, 8.0]);
}

#[test]
fn missing_attributes_are_filled_if_asked() {
    let json =
        br#"{"nodes": [{"id": 0, "p": 1}, {"id": 1}, {"id": 2, "p": 3}], "links": [{"source": 0, "target": 1}]}"#;
    let with = |fill| {
        let options = ReadOptions { fill, ..ReadOptions::default() };
        read::read_source(&memory(&[("g.json", json)], Some("g.json")), &options).unwrap()
    };
    let left_out = with(None);
    assert!(left_out.features.is_none() && left_out.report.notes[0].contains("--fill"), "{:?}", left_out.report.notes);
    assert_eq!(with(Some(Fill::Mean)).features.unwrap().to_dense().values(), [1.0, 2.0, 3.0]);
}

#[test]
fn labels_are_what_was_asked_for() {
    let files = folder(&[
        ("g.csv", "0,1\n1,2\n"),
        ("y.csv", "2\n0.5\n\n"),
        ("whole.csv", "3\n1\n2\n"),
        ("words.csv", "a\nb\na\n"),
    ]);
    let with = |labels: &str, target: Option<TargetKind>| -> Result<Labels, Error> {
        let options = ReadOptions { labels: Some(files.path().join(labels)), target, ..ReadOptions::default() };
        read::read(files.path().join("g.csv"), &options).map(|dataset| dataset.node_labels.unwrap())
    };
    assert!(matches!(with("whole.csv", None).unwrap(), Labels::Classes(_)));
    let Labels::Regression(values) = with("whole.csv", Some(TargetKind::Regression)).unwrap() else { panic!("values") };
    assert_eq!([0, 1, 2].map(|row| values.row(row)[0]), [Some(3.0), Some(1.0), Some(2.0)]);
    let error = with("words.csv", Some(TargetKind::Regression)).unwrap_err().to_string();
    assert!(error.contains("label is \"a\"; expected a number, for --target regression"), "{error}");
    let fractions = folder(&[("g.csv", "0,1\n1,2\n"), ("y.csv", "2\n0.5\n2\n")]);
    let options = ReadOptions {
        labels: Some(fractions.path().join("y.csv")),
        target: Some(TargetKind::Class),
        ..ReadOptions::default()
    };
    let dataset = read::read(fractions.path().join("g.csv"), &options).unwrap();
    assert_eq!(dataset.node_labels.as_ref().and_then(Labels::classes).unwrap().names(), ["0.5", "2"]);
}

#[test]
fn many_whole_numbers_are_asked_about() {
    let years = |first: usize| {
        let edges: String = (0..69).map(|node| format!("{node},{}\n", node + 1)).collect();
        let labels: String = (0..70).map(|node| format!("{}\n", first + node)).collect();
        let files = folder(&[("g.csv", &edges), ("y.csv", &labels)]);
        let options = ReadOptions { labels: Some(files.path().join("y.csv")), ..ReadOptions::default() };
        let asked = read::read(files.path().join("g.csv"), &options).unwrap().report.notes;
        let told = ReadOptions { target: Some(TargetKind::Class), ..options };
        assert!(read::read(files.path().join("g.csv"), &told).unwrap().report.notes.is_empty());
        asked
    };
    assert_eq!(
        years(1950),
        [
            "the labels are 70 different whole numbers from 1950 to 2019 and were read as classes; --target regression reads them as values"
        ]
    );
    assert!(years(0).is_empty() && years(1).is_empty(), "classes that count from 0 or 1 are classes");
}

#[test]
fn nodes_may_be_declared_behind_any_mark() {
    for text in
        ["# node: 7\n0 1\n", "#node:7\n0 1\n", "% node: 7\n0 1\n", "0 1\n// Node: 7\n", "a b\n#  node: \"x y\"\n"]
    {
        let dataset = read_input(&memory(&[("g.txt", text.as_bytes())], Some("g.txt"))).unwrap();
        assert_eq!((dataset.graphs.num_nodes(), dataset.graphs.num_edges()), (3, 1), "{text:?}");
    }
    let snap = "# Nodes: 5 Edges: 1\n0 1\n";
    assert_eq!(read_input(&memory(&[("g.txt", snap.as_bytes())], Some("g.txt"))).unwrap().graphs.num_nodes(), 2);
    let airports: [(&str, &[u8]); 2] =
        [("g.edgelist", b"# node: 9\n5 7\n"), ("labels-g.txt", b"node label\n5 1\n7 0\n")];
    assert_eq!(read_input(&memory(&airports, Some("g.edgelist"))).unwrap().graphs.num_nodes(), 3);
}

#[test]
fn attributes_and_values_of_tu_sets_are_used_or_noted() {
    let files: [(&str, &[u8]); 5] = [
        ("T_A.txt", b"1, 2\n3, 4\n"),
        ("T_graph_indicator.txt", b"1\n1\n2\n2\n"),
        ("T_graph_labels.txt", b"0.5\n-1\n"),
        ("T_node_labels.txt", b"0\n1\n0\n1\n"),
        ("T_node_attributes.txt", b"0.5, 1\n1, 2\n3, 4\n5, 6\n"),
    ];
    let dataset = read_input(&memory(&files, None)).unwrap();
    let Some(Labels::Regression(values)) = &dataset.graph_labels else { panic!("{:?}", dataset.graph_labels) };
    assert_eq!((values.row(0), values.row(1)), (&[Some(0.5)][..], &[Some(-1.0)][..]));
    assert_eq!(dataset.features.as_ref().map(Features::columns), Some(2));
    let note = "2 continuous attributes of nodes are left out beside node labels; --attributes uses both";
    assert_eq!(dataset.report.notes, [note]);
    let options = ReadOptions { attributes: true, ..ReadOptions::default() };
    let both = read::read_source(&memory(&files, None), &options).unwrap();
    assert_eq!((both.features.as_ref().map(Features::columns), both.report.notes.len()), (Some(4), 0));
}

#[test]
fn a_table_of_molecules_may_have_a_split() {
    let text = b"smiles,label,split\nCCO,a,train\nCC,b,valid\nno molecule,a,train\nCCC,b,test\nC,a,\n";
    let dataset = read_input(&memory(&[("m.csv", text)], Some("m.csv"))).unwrap();
    let split = &dataset.splits[0];
    assert_eq!((&*split.train, &*split.validation, &*split.test), (&[0][..], &[1][..], &[2][..]));
    assert_eq!(dataset.graph_labels.as_ref().and_then(Labels::classes).unwrap().names(), ["a", "b"]);
    assert!(!dataset.report.notes.iter().any(|note| note.contains("\"split\"")), "{:?}", dataset.report.notes);
}
