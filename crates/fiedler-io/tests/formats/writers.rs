//! Every writer's file, read by every reader that claims it, gives back everything, or the writer has said what it leaves out.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use fiedler_graph::{
    Classes, Dataset, Dense, Features, Graph, GraphSet, GraphSource, Labels, MultiLabel, Names, Regression, Sparse,
    Split,
};
use fiedler_io::read::{self, ReadOptions};
use fiedler_io::{DataSource, write};
use proptest::prelude::*;

/// Words that trouble separators, quotes and markup.
const ODD: &str = "[a-c #%/;,\"'&<>\t\\\\.\u{e9}\u{1f600}0-2-]{1,6}";

/// Which part of a dataset goes by which words in a note that it is left out.
const NOTED: [(&str, &str); 7] = [
    ("names", "names of nodes"),
    ("weights", "edge weights"),
    ("feature names", "feature names"),
    ("node labels", "classes of nodes"),
    ("graph labels", "names of classes"),
    ("splits", "splits"),
    ("edge features", "edge features"),
];

/// All that a user sees of a dataset, part by part.
fn parts(dataset: &Dataset) -> BTreeMap<&'static str, String> {
    let arena = dataset.graphs.block_diagonal();
    let names: Vec<String> = (0..arena.num_nodes() as u32).map(|node| arena.name(node)).collect();
    let counted = dataset.graphs.len() > 1 && arena.names().is_none();
    // Without edges there is no weight to tell a weighted graph by.
    let weights = arena.edge_weights().filter(|weights| !weights.is_empty());
    let dense = |features: &Option<Features>| {
        let features = features.as_ref().filter(|features| features.columns() > 0);
        format!("{:?}", features.map(|features| (features.columns(), features.to_dense().values().to_vec())))
    };
    let mut splits = dataset.splits.clone();
    for split in &mut splits {
        for ids in [&mut split.train, &mut split.validation, &mut split.test, &mut split.stopping] {
            ids.sort_unstable();
        }
    }
    let graph_names = dataset.graph_source.as_ref().and_then(|source| source.names.clone());
    BTreeMap::from([
        ("graphs", format!("{:?}", dataset.graphs.node_offsets())),
        ("edges", format!("{:?}", arena.edge_pairs().collect::<Vec<_>>())),
        ("names", if counted { "counted".into() } else { format!("{names:?}") }),
        ("weights", format!("{weights:?}")),
        ("features", dense(&dataset.features)),
        ("feature names", format!("{:?}", dataset.feature_names)),
        ("edge features", dense(&dataset.edge_features)),
        ("node labels", words(&dataset.node_labels)),
        ("graph labels", words(&dataset.graph_labels)),
        ("graph names", format!("{graph_names:?}")),
        ("splits", format!("{splits:?}")),
    ])
}

/// Labels as the user sees them; when all of them are missing, their kind cannot be told.
fn words(labels: &Option<Labels>) -> String {
    let Some(labels) = labels.as_ref().filter(|labels| labels.missing() < labels.len()) else { return "none".into() };
    let label = |item: usize| match labels {
        Labels::Classes(classes) => format!("{:?}", classes.of()[item].map(|class| &classes.names()[class as usize])),
        Labels::MultiLabel(tasks) => format!("{:?}", tasks.row(item)),
        Labels::Regression(values) => format!("{:?}", values.row(item)),
    };
    format!("{:?}", (0..labels.len()).map(label).collect::<Vec<_>>())
}

/// Writes, reads by everyone who claims to, and compares; `may_lose` are the parts that this format has no place for.
fn check(dataset: &Dataset, name: &str, may_lose: &[&str]) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let before = write::left_out(dataset, &path).unwrap();
    let written = write::write(dataset, &path, &write::WriteOptions::default()).unwrap();
    prop_assert!(before.iter().all(|note| written.notes.contains(note)), "told before as after: {:?}", before);
    let first = &written.files[0];
    let source = DataSource::open(first).unwrap();
    let readers: Vec<&str> =
        read::FORMATS.iter().filter(|format| (format.recognizes)(&source)).map(|format| format.name).collect();
    prop_assert!(readers.contains(&write::Format::of(&path).unwrap().name), "{}: {:?}", name, readers);
    for reader in readers {
        let options = ReadOptions { format: Some(reader.into()), ..ReadOptions::default() };
        let back = read::read(first, &options).map_err(|error| TestCaseError::fail(format!("{name}: {error}")))?;
        let (given, got) = (parts(dataset), parts(&back));
        for (part, value) in &given {
            if got[part] != *value {
                let noted = NOTED.iter().find(|(of, _)| of == part).map(|(_, words)| *words);
                let said = noted.is_some_and(|words| written.notes.iter().any(|note| note.contains(words)));
                prop_assert!(
                    said && may_lose.contains(part),
                    "{}: {} by {}: {} became {}",
                    name,
                    part,
                    reader,
                    value,
                    got[part]
                );
            }
        }
    }
    Ok(())
}

fn graph(nodes: usize) -> impl Strategy<Value = Graph> {
    let ids = 0..nodes as u32;
    let pairs = prop::collection::vec((ids.clone(), ids), 0..2 * nodes);
    let weights = prop::option::of(prop::collection::vec(1e-30f32..1e30, 2 * nodes));
    (pairs, weights).prop_map(move |(pairs, weights)| {
        let count = pairs.len();
        match weights {
            Some(weights) => Graph::from_weighted_pairs(nodes, pairs, weights[..count].to_vec()).unwrap().0,
            None => Graph::from_pairs(nodes, pairs).unwrap().0,
        }
    })
}

fn names(nodes: usize) -> impl Strategy<Value = Option<Names>> {
    let integers = prop::collection::hash_set(any::<i64>(), nodes)
        .prop_map(|names| Names::Integers(names.into_iter().collect()).unless_counting());
    let words = prop::collection::hash_set(ODD, nodes)
        .prop_map(|names| Some(Names::Strings(names.into_iter().map(Into::into).collect())));
    prop_oneof![Just(None), integers, words]
}

/// Dense or sparse, with columns of nothing but zeros, with or without names.
fn features(rows: usize) -> impl Strategy<Value = (Option<Features>, Option<Vec<String>>)> {
    let dense = (0usize..4).prop_flat_map(move |columns| {
        prop::collection::vec(prop_oneof![2 => Just(0.0), 1 => -1e9f32..1e9], rows * columns)
            .prop_map(move |values| Features::Dense(Dense::new(rows, columns, values).unwrap()))
    });
    let sparse = prop::collection::vec(prop::option::of(0u32..5), rows).prop_map(|ones| {
        let mut offsets = vec![0];
        offsets.extend(ones.iter().scan(0, |sum, one| {
            *sum += usize::from(one.is_some());
            Some(*sum)
        }));
        let indices: Vec<u32> = ones.into_iter().flatten().collect();
        let values = vec![1.0; indices.len()];
        Features::Sparse(Sparse::new(5, offsets, indices, values).unwrap())
    });
    let titles = prop::option::of(prop::collection::hash_set("[d-w][a-zA-Z0-9 _.,\"&<\u{e9}]{0,5}[a-z][0-9]", 5));
    let some = (prop_oneof![dense, sparse], titles).prop_map(|(features, titles)| {
        let titles = titles.filter(|_| features.columns() > 0);
        let names = titles.map(|titles| titles.into_iter().take(features.columns()).collect());
        (Some(features), names)
    });
    prop_oneof![1 => Just((None, None)), 4 => some]
}

fn labels(items: usize, missing: bool) -> impl Strategy<Value = Option<Labels>> {
    fn column<T: std::fmt::Debug + Clone>(
        value: impl Strategy<Value = T>,
        items: usize,
        missing: bool,
    ) -> impl Strategy<Value = Vec<Option<T>>> {
        let known = prop::bool::weighted(0.7).prop_map(move |known| known || !missing);
        prop::collection::vec((known, value).prop_map(|(known, value)| known.then_some(value)), items)
    }
    let words = column("[a-c ,\"&<\u{e9}]{1,3}x", items, missing);
    let numbers = column(-3i64..3, items, missing);
    let values = column(0.25f32..0.75, items, missing);
    prop_oneof![
        Just(None),
        words.prop_map(|labels| Some(Labels::Classes(Classes::from_labels(labels)))),
        numbers.prop_map(|labels| Some(Labels::Classes(Classes::from_integers(labels)))),
        values.prop_map(|values| Some(Labels::Regression(Regression::new(vec!["class".into()], values).unwrap()))),
    ]
}

fn splits(items: usize) -> impl Strategy<Value = Vec<Split>> {
    let parts = prop::collection::vec(0usize..5, items);
    let named = ("[a-z ,:\"<\u{e9}-]{0,6}", parts).prop_map(|(name, parts)| {
        let part = |wanted: usize| (0..).zip(&parts).filter(|(_, part)| **part == wanted).map(|(id, _)| id).collect();
        Split { name, train: part(0), validation: part(1), test: part(2), stopping: part(3) }
    });
    prop::collection::vec(named, 0..3).prop_map(|mut splits| {
        splits.dedup_by(|one, other| one.name == other.name);
        splits
    })
}

fn single_graphs() -> impl Strategy<Value = Dataset> {
    (1usize..10).prop_flat_map(|nodes| {
        (graph(nodes), names(nodes), features(nodes), labels(nodes, true), splits(nodes)).prop_map(
            |(graph, names, (features, feature_names), labels, splits)| {
                let graph = match names {
                    Some(names) => graph.with_names(names).unwrap(),
                    None => graph,
                };
                let edges = graph.num_edges();
                let mut dataset = Dataset::single("random", graph);
                (dataset.features, dataset.feature_names) = (features, feature_names);
                (dataset.node_labels, dataset.splits) = (labels, splits);
                if edges == 2 {
                    dataset.edge_features = Some(Features::Dense(Dense::new(2, 1, vec![0.0, 2.5]).unwrap()));
                }
                dataset
            },
        )
    })
}

/// Sets of two or more graphs, some of one node; graph labels with gaps if asked for.
fn sets(missing: bool) -> impl Strategy<Value = Dataset> {
    prop::collection::vec(1u32..5, 2..5).prop_flat_map(move |sizes| {
        let (graphs, nodes) = (sizes.len(), sizes.iter().sum::<u32>() as usize);
        let parts = prop::collection::vec((any::<u32>(), any::<u32>()), 0..3 * nodes);
        let weighted = any::<bool>();
        let titles = prop::option::of(prop::collection::vec("[a-z ,\"]{1,4}", graphs));
        (
            parts,
            weighted,
            names(nodes),
            features(nodes),
            labels(nodes, true),
            labels(graphs, missing),
            splits(graphs),
            titles,
        )
            .prop_map(move |(draws, weighted, names, features, of_nodes, of_graphs, splits, titles)| {
                let starts: Vec<u32> = sizes
                    .iter()
                    .scan(0, |sum, size| {
                        *sum += size;
                        Some(*sum - size)
                    })
                    .collect();
                let pairs: Vec<(u32, u32)> = draws
                    .iter()
                    .map(|(a, b)| {
                        let graph = *a as usize % sizes.len();
                        (starts[graph] + (a >> 8) % sizes[graph], starts[graph] + b % sizes[graph])
                    })
                    .collect();
                let weights = draws.iter().map(|(a, _)| 0.5 + (a % 64) as f32).collect();
                let (arena, _) = if weighted {
                    Graph::from_weighted_pairs(nodes, pairs, weights).unwrap()
                } else {
                    Graph::from_pairs(nodes, pairs).unwrap()
                };
                let arena = match names {
                    Some(names) => arena.with_names(names).unwrap(),
                    None => arena,
                };
                let edges = arena.num_edges();
                let mut dataset = Dataset::set("set", GraphSet::from_block_diagonal(arena, sizes.clone()).unwrap());
                (dataset.features, dataset.feature_names) = features;
                (dataset.node_labels, dataset.graph_labels, dataset.splits) = (of_nodes, of_graphs, splits);
                dataset.graph_source =
                    titles.map(|names| GraphSource { lines: (1..=sizes.len() as u64).collect(), names: Some(names) });
                if edges > 0 && !weighted {
                    let values = (0..edges).map(|edge| edge as f32 - 1.5).collect();
                    dataset.edge_features = Some(Features::Dense(Dense::new(edges, 1, values).unwrap()));
                }
                dataset
            })
    })
}

proptest! {
    #[test]
    fn a_graph_comes_back_from_every_format(dataset in single_graphs()) {
        for name in ["g.csv", "g.tsv", "g.txt", "g.edgelist.gz", "g.graphml", "g.json"] {
            check(&dataset, name, &["edge features"])?;
        }
        check(&dataset, "g.npz", &[])?;
        check(&dataset, "g.fiedler", &[])?;
        check(&dataset, "g_A.txt", &["names", "weights", "feature names", "node labels", "splits"])?;
    }

    #[test]
    fn a_set_comes_back_from_every_format(dataset in sets(true)) {
        check(&dataset, "g.json", &["edge features"])?;
        check(&dataset, "g.npz", &[])?;
        check(&dataset, "g.fiedler", &[])?;
    }

    #[test]
    fn a_set_comes_back_from_the_tu_layout(mut dataset in sets(false)) {
        // Names of graphs have no place there, which a note says as for all others.
        dataset.graph_source = None;
        for name in ["g.zip", "g_A.txt"] {
            check(&dataset, name, &["names", "weights", "feature names", "node labels", "graph labels", "splits"])?;
        }
    }

    #[test]
    fn npz_knows_what_labels_are(answers in prop::collection::vec(prop::option::of(any::<bool>()), 6), whole in -3i8..3) {
        let mut dataset = Dataset::single("tasks", Graph::from_pairs(3, vec![(0, 1)]).unwrap().0);
        let names = vec!["one".to_owned(), "two, \"quoted\"".to_owned()];
        for labels in [
            Labels::MultiLabel(MultiLabel::new(names.clone(), answers).unwrap()),
            Labels::Regression(Regression::new(names[..1].to_vec(), vec![Some(f32::from(whole)), None, Some(2.0)]).unwrap()),
        ] {
            dataset.node_labels = Some(labels);
            let folder = tempfile::tempdir().unwrap();
            let written = write::write(&dataset, folder.path().join("g.npz"), &write::WriteOptions::default()).unwrap();
            let back = read::read(&written.files[0], &ReadOptions::default()).unwrap();
            prop_assert_eq!(&back.node_labels, &dataset.node_labels);
        }
    }
}

#[test]
fn nothing_of_another_graph_is_left_beside_an_edge_list() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.csv");
    let mut dataset = Dataset::single("g", Graph::from_pairs(2, vec![(0, 1)]).unwrap().0);
    std::fs::write(folder.path().join("g.labels.csv"), "node,class\n0,old\n1,old\n").unwrap();
    let refused = write::write(&dataset, &path, &write::WriteOptions::default()).unwrap_err();
    assert!(refused.to_string().ends_with("g.labels.csv exists already"), "{refused}");
    write::write(&dataset, &path, &write::WriteOptions { force: true }).unwrap();
    assert!(read::read(&path, &ReadOptions::default()).unwrap().node_labels.is_none());
    dataset.features = Some(Features::Dense(Dense::new(2, 1, vec![1.0, 2.0]).unwrap()));
    write::write(&dataset, &path, &write::WriteOptions { force: true }).unwrap();
    dataset.feature_names = Some(vec!["size".into()]);
    write::write(&dataset, &path, &write::WriteOptions { force: true }).unwrap();
    assert_eq!(read::read(&path, &ReadOptions::default()).unwrap().feature_names, dataset.feature_names);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn labels_that_will_be_read_as_something_else_are_told() {
    let mut dataset = Dataset::single("g", Graph::from_pairs(3, vec![(0, 1)]).unwrap().0);
    let told = |dataset: &Dataset| write::left_out(dataset, "g.csv".as_ref()).unwrap().join("; ");
    dataset.node_labels = Some(Labels::Regression(Regression::new(vec!["y".into()], vec![Some(1.0); 3]).unwrap()));
    assert!(told(&dataset).contains("--target regression"), "{}", told(&dataset));
    dataset.node_labels = Some(Labels::Classes(Classes::from_labels([Some("1.5"), Some("2.5"), None])));
    assert!(told(&dataset).contains("--target class"), "{}", told(&dataset));
    dataset.node_labels = Some(Labels::Classes(Classes::from_labels([Some("a"), Some("b"), None])));
    assert_eq!(told(&dataset), "");
}
