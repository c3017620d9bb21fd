#![allow(clippy::unwrap_used)]

use std::path::Path;

use fiedler_graph::{Classes, Dataset, Dense, Features, Graph, Labels, MultiLabel, Names, Regression, Sparse, Split};
use fiedler_io::Error;
use fiedler_io::read::{self, ReadOptions};
use fiedler_io::write::{self, write};
use proptest::prelude::*;

/// Everything a dataset can hold that a writer must keep.
fn datasets() -> impl Strategy<Value = Dataset> {
    (1usize..12).prop_flat_map(|nodes| {
        let ids = 0..nodes as u32;
        let pairs = prop::collection::vec((ids.clone(), ids), 0..30);
        let weights = prop::option::of(prop::collection::vec(1e-30f32..1e30, 30));
        (pairs, weights, names(nodes), features(nodes), labels(nodes)).prop_map(
            move |(pairs, weights, names, features, labels)| {
                let (graph, _) = match weights {
                    Some(weights) => {
                        let weights = weights[..pairs.len().min(30)].to_vec();
                        Graph::from_weighted_pairs(nodes, pairs, weights).unwrap()
                    }
                    None => Graph::from_pairs(nodes, pairs).unwrap(),
                };
                let graph = match names {
                    Some(names) => graph.with_names(names).unwrap(),
                    None => graph,
                };
                let mut dataset = Dataset::single("random", graph);
                dataset.features = features;
                dataset.node_labels = labels;
                dataset
            },
        )
    })
}

fn names(nodes: usize) -> impl Strategy<Value = Option<Names>> {
    let integers = prop::collection::hash_set(any::<i64>(), nodes)
        .prop_map(|names| Names::Integers(names.into_iter().collect()).unless_counting());
    let permuted = Just((0..nodes as i64).collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(|names| Names::Integers(names).unless_counting());
    let odd = "[a-c #%/;,\"'&<>\t\\\\.\u{e9}\u{1f600}0-2-]{0,6}";
    let words = prop::collection::hash_set(odd, nodes)
        .prop_map(|names| Some(Names::Strings(names.into_iter().map(Into::into).collect())));
    prop_oneof![Just(None), integers, permuted, words]
}

fn features(nodes: usize) -> impl Strategy<Value = Option<Features>> {
    let dense = (1usize..4).prop_flat_map(move |columns| {
        prop::collection::vec(prop_oneof![Just(0.0), -1e9f32..1e9], nodes * columns)
            .prop_map(move |values| Some(Features::Dense(Dense::new(nodes, columns, values).unwrap())))
    });
    let sparse = prop::collection::vec(prop::option::of((0u32..9, 0.5f32..2.0)), nodes).prop_map(|rows| {
        let mut offsets = vec![0];
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        for (index, value) in rows.into_iter().flat_map(|entry| [entry, None]).map(Option::unzip) {
            indices.extend(index);
            values.extend(value);
            offsets.push(indices.len());
        }
        let offsets = offsets.into_iter().step_by(2).collect();
        Some(Features::Sparse(Sparse::new(9, offsets, indices, values).unwrap()))
    });
    prop_oneof![Just(None), dense, sparse]
}

fn labels(nodes: usize) -> impl Strategy<Value = Option<Labels>> {
    let words = prop::collection::vec(prop::option::of("[a-c ,\"&<]{1,3}x"), nodes);
    let numbers = prop::collection::vec(prop::option::of(-3i64..3), nodes);
    let values = prop::collection::vec(prop::option::of(0.25f32..0.75), nodes);
    prop_oneof![
        Just(None),
        words.prop_map(|labels| Some(Labels::Classes(Classes::from_labels(labels)))),
        numbers.prop_map(|labels| Some(Labels::Classes(Classes::from_integers(labels)))),
        values.prop_map(|values| Some(Labels::Regression(Regression::new(vec!["class".into()], values).unwrap()))),
    ]
}

/// Labels of several columns, which not every format can hold.
fn tables_of_labels(nodes: usize) -> impl Strategy<Value = Labels> {
    let columns = || vec!["one".to_owned(), "two, \"quoted\"".to_owned()];
    let answers = prop::collection::vec(prop::option::of(any::<bool>()), 2 * nodes);
    let values = prop::collection::vec(prop::option::of(2.25f32..2.75), 2 * nodes);
    prop_oneof![
        answers.prop_map(move |answers| Labels::MultiLabel(MultiLabel::new(columns(), answers).unwrap())),
        values.prop_map(move |values| Labels::Regression(Regression::new(columns(), values).unwrap())),
    ]
}

/// Writes, and reads back with whatever was written beside.
fn there_and_back(dataset: &Dataset, name: &str) -> Dataset {
    let folder = tempfile::tempdir().unwrap();
    let written = write(dataset, folder.path().join(name), &write::WriteOptions::default()).unwrap();
    let companion = |ending: &str| written.files.iter().find(|path| path.to_string_lossy().ends_with(ending)).cloned();
    let options = ReadOptions {
        features: companion(".features.npy").or_else(|| companion(".features.csv")),
        labels: companion(".labels.csv"),
        ..ReadOptions::default()
    };
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), written.files.len(), "nothing else may be left in the folder");
    read::read(&written.files[0], &options).unwrap()
}

/// A graph as the user sees it.
#[derive(Debug, PartialEq)]
struct Content {
    names: Vec<String>,
    edges: Vec<(u32, u32)>,
    weights: Option<Vec<f32>>,
}

impl Content {
    fn of(dataset: &Dataset) -> Content {
        let graph = dataset.graph().unwrap();
        let names = (0..graph.num_nodes() as u32).map(|node| graph.name(node)).collect();
        // Without edges there is no weight to tell a weighted graph by.
        let weights = graph.edge_weights().filter(|weights| !weights.is_empty());
        Content { names, edges: graph.edge_pairs().collect(), weights }
    }
}

fn check(dataset: &Dataset, name: &str) -> Result<(), TestCaseError> {
    let back = there_and_back(dataset, name);
    prop_assert_eq!(Content::of(dataset), Content::of(&back), "{}", name);
    let dense = |dataset: &Dataset| dataset.features.as_ref().map(Features::to_dense);
    prop_assert_eq!(dense(dataset), dense(&back), "{}", name);
    prop_assert_eq!(known(dataset), known(&back), "{}", name);
    Ok(())
}

/// The labels as the user sees them; when all of them are missing, their kind cannot be told.
fn known(dataset: &Dataset) -> Option<Vec<String>> {
    let labels = dataset.node_labels.as_ref().filter(|labels| labels.missing() < labels.len())?;
    let label = |node: usize| match labels {
        Labels::Classes(classes) => format!("{:?}", classes.of()[node].map(|class| &classes.names()[class as usize])),
        Labels::MultiLabel(tasks) => format!("{:?}", tasks.row(node)),
        Labels::Regression(values) => format!("{:?}", values.row(node)),
    };
    Some((0..labels.len()).map(label).collect())
}

proptest! {
    #[test]
    fn edge_lists_are_read_back(dataset in datasets()) {
        for name in ["g.csv", "g.tsv", "g.txt", "g.edgelist.gz"] {
            check(&dataset, name)?;
        }
    }

    #[test]
    fn edge_lists_hold_tables_of_labels(labels in tables_of_labels(3)) {
        let (graph, _) = Graph::from_pairs(3, vec![(0, 1)]).unwrap();
        let mut dataset = Dataset::single("tables", graph);
        dataset.node_labels = Some(labels);
        if dataset.node_labels.as_ref().unwrap().missing() < 6 {
            prop_assert_eq!(&there_and_back(&dataset, "g.csv").node_labels, &dataset.node_labels);
        }
    }

    #[test]
    fn graphml_is_read_back(dataset in datasets()) {
        check(&dataset, "g.graphml")?;
    }

    #[test]
    fn npz_is_read_back(dataset in datasets()) {
        check(&dataset, "g.npz")?;
    }

    #[test]
    fn fiedler_is_read_back(dataset in datasets()) {
        check(&dataset, "g.fiedler")?;
    }
}

proptest! {
    /// What columns are called and which order they have, and splits where the format keeps them.
    #[test]
    fn names_of_columns_and_splits_are_read_back(
        titles in prop::collection::hash_set("[a-z][a-zA-Z0-9 _.,\"&<]{0,5}[0-9]", 1..6),
        values in prop::collection::vec(prop_oneof![Just(0.0f32), -9.0f32..9.0], 20),
        parts in prop::collection::vec(0usize..5, 4),
    ) {
        let titles: Vec<String> = titles.into_iter().collect();
        let values = values[..4 * titles.len()].to_vec();
        let (graph, _) = Graph::from_pairs(4, vec![(0, 2)]).unwrap();
        let mut dataset = Dataset::single("named", graph);
        dataset.features = Some(Features::Dense(Dense::new(4, titles.len(), values).unwrap()));
        dataset.feature_names = Some(titles);
        let part = |wanted: usize| (0..4u32).filter(|node| parts[*node as usize] == wanted).collect();
        let split = Split { name: "own".into(), train: part(0), validation: part(1), test: part(2), stopping: part(3) };
        dataset.splits = vec![split.clone(), Split { name: "other".into(), ..Default::default() }];
        for name in ["g.csv", "g.txt", "g.graphml", "g.npz", "g.fiedler"] {
            let back = there_and_back(&dataset, name);
            prop_assert_eq!(&back.feature_names, &dataset.feature_names, "{}", name);
            prop_assert_eq!(back.features.as_ref().unwrap().to_dense(), dataset.features.as_ref().unwrap().to_dense());
            prop_assert_eq!(Content::of(&back), Content::of(&dataset), "{}", name);
            if ["g.npz", "g.fiedler"].contains(&name) {
                prop_assert_eq!(&back.splits, &dataset.splits);
            }
        }
    }
}

/// networkx announces attributes in the reverse of the order that nodes have them in.
#[test]
fn columns_have_the_order_that_nodes_have_them_in() {
    let written = |titles: [&str; 3]| {
        let keys: String = (0..3)
            .rev()
            .map(|at| format!("<key id=\"d{at}\" for=\"node\" attr.name=\"{}\" attr.type=\"double\"/>", titles[at]))
            .collect();
        let data =
            |first: usize| (0..3).map(|at| format!("<data key=\"d{at}\">{}</data>", first + at)).collect::<String>();
        let nodes = format!("<node id=\"0\">{}</node><node id=\"1\">{}</node>", data(0), data(5));
        let text = format!("<graphml>{keys}<graph>{nodes}<edge source=\"0\" target=\"1\"/></graph></graphml>");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("g.graphml"), text).unwrap();
        read::read(folder.path().join("g.graphml"), &ReadOptions::default()).unwrap()
    };
    for titles in [["red", "green", "blue"], ["f0", "f1", "f2"]] {
        let dataset = written(titles);
        assert_eq!(dataset.features.unwrap().to_dense().values(), [0., 1., 2., 5., 6., 7.]);
        let names = (titles[0] == "red").then(|| titles.map(str::to_owned).to_vec());
        assert_eq!(dataset.feature_names, names, "columns that our writer numbered have no names");
    }
}

fn path_graph() -> Dataset {
    Dataset::single("path", Graph::from_pairs(3, vec![(0, 1), (1, 2)]).unwrap().0)
}

#[test]
fn nothing_is_replaced_unless_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.csv");
    let mut dataset = path_graph();
    dataset.node_labels = Some(Labels::Classes(Classes::from_integers([Some(0), Some(1), None])));
    std::fs::write(folder.path().join("g.labels.csv"), "mine").unwrap();
    let error = write(&dataset, &path, &write::WriteOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::Exists { path } if path.ends_with("g.labels.csv")), "{error}");
    assert!(!path.exists());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let written = write(&dataset, &path, &write::WriteOptions { force: true }).unwrap();
    assert_eq!(written.files.len(), 2);
    assert!(written.notes[0].contains("g.labels.csv"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "source,target\n0,1\n1,2\n");
}

#[test]
#[cfg(unix)]
fn files_have_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    std::fs::write(folder.path().join("usual"), "").unwrap();
    write(&path_graph(), folder.path().join("g.npz"), &write::WriteOptions::default()).unwrap();
    assert_eq!(mode(&folder.path().join("g.npz")), mode(&folder.path().join("usual")));
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fails = |dataset: &Dataset, name: &str| {
        let error = write(dataset, folder.path().join(name), &write::WriteOptions::default()).unwrap_err().to_string();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{name}");
        error
    };
    assert!(fails(&path_graph(), "g.mtx").contains(".csv, .tsv, .txt, .edgelist"));
    let (arena, _) = Graph::from_pairs(4, vec![(0, 1), (2, 3)]).unwrap();
    let set = Dataset::set("two", fiedler_graph::GraphSet::from_block_diagonal(arena, vec![2, 2]).unwrap());
    assert!(fails(&set, "g.graphml").contains("number of graphs is 2; expected one graph"));
    let named = |name: &str| {
        let names = Names::Strings(vec![name.into(), "b".into()]);
        Dataset::single("named", Graph::from_pairs(2, vec![(0, 1)]).unwrap().0.with_names(names).unwrap())
    };
    assert!(fails(&named("a\nb"), "g.csv").contains("line breaks"));
    assert!(fails(&named("a\u{1}"), "g.graphml").contains("control characters"));
    assert!(fails(&named("a\0"), "g.npz").contains("null character"));
    assert!(fails(&path_graph(), "nowhere/g.csv").contains("cannot create a file in"));
}
