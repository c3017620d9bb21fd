//! Labels and embeddings that stand by themselves.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use fiedler_graph::{Classes, Dataset, Graph, GraphSet, GraphSource, Labels};
use fiedler_io::tables::{ItemKind, ItemNames, Items, Matching, RowIds, ids_beside, read_embeddings, read_labels};
use fiedler_io::write;
use tempfile::TempDir;

fn file(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn matched(path: &Path, items: Items<'_>, matching: Matching) -> (Vec<f32>, Vec<String>) {
    let table = read_embeddings(path, items, matching).unwrap();
    (table.values.values().to_vec(), table.notes)
}

fn values(path: &Path, items: Items<'_>) -> (Vec<f32>, Vec<String>) {
    matched(path, items, Matching::Automatic)
}

fn refusal(path: &Path, items: Items<'_>) -> (String, String) {
    let error = read_embeddings(path, items, Matching::Automatic).unwrap_err();
    (error.to_string(), error.hint().unwrap_or_default())
}

/// Labels of so many items, of two classes.
fn classes(count: usize) -> Labels {
    Labels::Classes(Classes::from_labels((0..count).map(|item| Some(if item % 2 == 0 { "even" } else { "odd" }))))
}

fn items<'a>(labels: &'a Labels, names: ItemNames<'a>) -> Items<'a> {
    Items { names, kind: ItemKind::Node, labels, label_columns: &[] }
}

#[test]
fn labels_with_and_without_ids() {
    let folder = tempfile::tempdir().unwrap();
    let table = read_labels(file(&folder, "y.csv", "id,class\nann,red\nbob,blue\n")).unwrap();
    assert_eq!(table.ids, Some(vec!["ann".to_owned(), "bob".to_owned()]));
    assert_eq!(table.labels.classes().unwrap().names(), ["blue", "red"]);
    let table = read_labels(file(&folder, "z.csv", "1\n0\n1\n")).unwrap();
    assert!(table.ids.is_none() && matches!(&table.labels, Labels::Classes(classes) if classes.of().len() == 3));
    let error = read_labels(file(&folder, "twice.csv", "id,class\nann,red\nann,blue\n")).unwrap_err().to_string();
    assert!(error.ends_with("twice.csv, line 3: \"ann\" once more; expected one row for each id"), "{error}");
}

#[test]
fn rows_are_matched_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let labels = read_labels(file(&folder, "y.csv", "id,class\nann,red\nbob,blue\n")).unwrap();
    let x = file(&folder, "x.csv", "id,a\nbob,2\ncid,3\nann,1\n");
    let left_out = "1 rows belong to no labelled node and were left out".to_owned();
    assert_eq!(values(&x, labels.items()), (vec![1.0, 2.0], vec![left_out]));

    let (message, hint) = refusal(&file(&folder, "x.csv", "id,a\nbob,2\ncid,3\n"), labels.items());
    assert!(message.ends_with("x.csv: no row for node \"ann\"; expected a row for every node"), "{message}");
    assert!(hint.starts_with("ids must be the names that the labels have; its own begin with \"bob\""), "{hint}");
    let (message, _) = refusal(&file(&folder, "x.csv", "id,a\ncid,2\ndan,3\n"), labels.items());
    assert!(message.contains("no row for 2 nodes, the first of them \"ann\""), "{message}");
    let (message, hint) = refusal(&file(&folder, "none.csv", "id,a\n"), labels.items());
    assert!(!message.is_empty() && !hint.is_empty(), "{message}");
}

#[test]
fn one_side_with_ids_and_one_without_is_an_error_that_says_how_to_say_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let (x, three) = (file(&folder, "x.csv", "a\n1\n2\n3\n"), classes(3));
    let names = ["ann", "bob", "cid"].map(str::to_owned);
    let nodes = items(&three, ItemNames::Known(&names));
    let (message, hint) = refusal(&x, nodes);
    assert!(message.ends_with("x.csv: rows without ids; expected ids, as the labelled nodes have"), "{message}");
    assert!(hint.contains("--match order") && hint.contains("--match number") && hint.contains("`id`"), "{hint}");
    assert_eq!(matched(&x, nodes, Matching::Order), (vec![1.0, 2.0, 3.0], vec![]));
    for names in [ItemNames::Counted, ItemNames::Unknown] {
        assert_eq!(values(&x, items(&three, names)), (vec![1.0, 2.0, 3.0], vec![]), "neither side has ids");
    }

    let (numbers, two) = (["2", "0"].map(str::to_owned), classes(2));
    let labelled = items(&two, ItemNames::Known(&numbers));
    refusal(&x, labelled);
    let left_out = "1 rows belong to no labelled node and were left out".to_owned();
    assert_eq!(matched(&x, labelled, Matching::Number), (vec![3.0, 1.0], vec![left_out]));

    let with_ids = file(&folder, "ids.csv", "node,a\ncid,3\nann,1\nbob,2\n");
    let (message, hint) = refusal(&with_ids, items(&three, ItemNames::Unknown));
    assert!(message.contains("rows with ids, where the labelled nodes have none"), "{message}");
    assert!(hint.contains("--match order"), "{hint}");
    let (message, _) = refusal(&with_ids, items(&three, ItemNames::Counted));
    assert!(message.contains("no row for 3 nodes, the first of them \"0\""), "{message}");
    assert_eq!(matched(&with_ids, nodes, Matching::Order).0, [3.0, 1.0, 2.0]);
    assert_eq!(values(&with_ids, nodes).0, [1.0, 2.0, 3.0]);
}

#[test]
fn graphs_are_called_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let x = file(&folder, "x.csv", "a\n1\n2\n3\n");
    let two = classes(2);
    let graphs = Items { kind: ItemKind::Graph, ..items(&two, ItemNames::Counted) };
    let (message, hint) = refusal(&x, graphs);
    assert!(message.ends_with("3 rows; expected 2, one a graph"), "{message}");
    assert_eq!(hint, "embeddings of nodes have to be pooled, graph by graph");
}

#[test]
fn what_is_to_be_predicted_is_no_embedding() {
    let folder = tempfile::tempdir().unwrap();
    let labels = read_labels(file(&folder, "y.csv", "id,species\na,5\nb,7\nc,5\nd,7\n")).unwrap();
    let refused = |table: &str| refusal(&file(&folder, "x.csv", table), labels.items());
    for header in ["label", "Species", "class", "target"] {
        let (message, hint) = refused(&format!("id,x0,{header}\na,1,4\nb,2,1\nc,3,2\nd,4,3\n"));
        let said = format!("a column {header:?}, which is called like what is to be predicted");
        assert!(message.contains(&said) && hint.contains("remove the column"), "{message} {hint}");
    }
    for [one, other] in [["5", "7"], ["0", "1"], ["5.0", "7"]] {
        let table = format!("id,x0,code\na,1,{one}\nb,2,{other}\nc,3,{one}\nd,4,{other}\n");
        assert!(refused(&table).0.contains("column \"code\", which equals the classes"), "{table}");
    }
    // One of many numbers may be that good, which is told.
    let x = file(&folder, "x.csv", "id,0,1\na,1,0\nb,2,1\nc,3,0\nd,4,1\n");
    let notes = values(&x, labels.items()).1;
    assert_eq!(notes, ["there is a column \"1\", which equals the classes: is it part of the embeddings?"]);
    // Neither coordinates nor columns that are called by a number are labels.
    let values = |table: &str| values(&file(&folder, "x.csv", table), labels.items()).0;
    assert_eq!(values("id,x,y\na,1,2\nb,2,4\nc,3,2\nd,4,4\n"), [1., 2., 2., 4., 3., 2., 4., 4.]);
    let real = read_labels(file(&folder, "z.csv", "0.5\n1.5\n2.5\n")).unwrap();
    let x = file(&folder, "x.csv", "a,0\n0.25,1\n0.5,2\n0.75,3\n");
    assert_eq!(matched(&x, real.items(), Matching::Order).0.len(), 6);
    let (message, _) = refusal(&file(&folder, "x.csv", "u,v\n1,0.5\n1,1.5\n4,2.5\n"), real.items());
    assert!(message.contains("column \"v\", which equals the label \"0\""), "{message}");
}

#[test]
fn what_is_used_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let four = classes(4);
    let used = |name: &str, table: &str| {
        let path = file(&folder, name, table);
        read_embeddings(path, items(&four, ItemNames::Counted), Matching::Automatic).unwrap()
    };
    let by_id = used("x.csv", "graph,0,1\n3,1,9\n2,2,8\n1,3,7\n0,4,6\n");
    assert_eq!(by_id.used.to_string(), "2 columns, 0 … 1; id column `graph`");
    assert_eq!(by_id.values.values(), [4., 6., 3., 7., 2., 8., 1., 9.]);
    assert_eq!(
        used("x.csv", "u,v,id\n5,9,0\n6,8,1\n7,7,2\n8,6,3\n").used.to_string(),
        "2 columns, u … v; id column `id`"
    );
    assert_eq!(used("x.csv", "5 9\n6 8\n7 7\n8 6\n").used.to_string(), "2 columns; rows by their order");
    let counting: String = (0..12).map(|row| format!("{row},{}\n", 50 - row)).collect();
    let twelve = classes(12);
    let path = file(&folder, "x.csv", &format!("number,v\n{counting}"));
    let table = read_embeddings(path, items(&twelve, ItemNames::Unknown), Matching::Automatic).unwrap();
    assert!(table.notes[0].contains("column \"number\" counts the rows"), "{:?}", table.notes);
}

/// Every format of embeddings with every kind of ids, written and read back in the order that labels ask for.
#[test]
fn ids_that_are_written_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = Graph::from_pairs(3, vec![(0, 1), (1, 2)]).unwrap();
    let odd = ["# a", "b, \"c\"", " d "].map(Box::from).to_vec();
    let named = Dataset::single("named", path.clone().with_names(fiedler_graph::Names::Strings(odd)).unwrap());
    let plain = Dataset::single("plain", path.clone());
    let mut set = Dataset::set("set", GraphSet::from_block_diagonal(path.clone(), vec![3, 0, 0]).unwrap());
    let with_source = {
        let names = Some(["x", "y", "y"].map(str::to_owned).to_vec());
        set.graph_source = Some(GraphSource { lines: vec![2, 5, 6], names });
        set.clone()
    };
    set.graph_source = None;
    let (labels, values) = (classes(3), [1.5f32, 2.5, 3.5]);
    for dataset in [&named, &plain, &set, &with_source] {
        let ids = RowIds::of(dataset);
        let [npy, csv, parquet] = ["npy", "csv", "parquet"].map(|kind| folder.path().join(format!("e.{kind}")));
        let mut bytes = Vec::new();
        write::npy(&mut bytes, [3, 1], &values).unwrap();
        std::fs::write(&npy, &bytes).unwrap();
        let mut bytes = Vec::new();
        ids.write_csv(&mut bytes, 0, &[]).unwrap();
        std::fs::write(ids_beside(&npy), &bytes).unwrap();
        let mut bytes = Vec::new();
        ids.write_csv(&mut bytes, 1, &values).unwrap();
        std::fs::write(&csv, &bytes).unwrap();
        let mut bytes = Vec::new();
        write::parquet(&mut bytes, &ids, 1, &values).unwrap();
        std::fs::write(&parquet, &bytes).unwrap();
        for (_, column) in ids.columns() {
            let reversed: Vec<String> = column.iter().rev().cloned().collect();
            let unique = reversed.iter().collect::<std::collections::HashSet<_>>().len() == 3;
            for path in [&npy, &csv, &parquet].into_iter().filter(|_| unique) {
                let wanted = items(&labels, ItemNames::Known(&reversed));
                let table = read_embeddings(path, wanted, Matching::Automatic);
                let table = table.unwrap_or_else(|error| panic!("{}, {}: {error}", dataset.name, path.display()));
                assert_eq!(table.values.values(), [3.5, 2.5, 1.5], "{}, {}", dataset.name, path.display());
            }
        }
    }
    // Ids of other embeddings are not those of these.
    std::fs::write(ids_beside(&folder.path().join("e.npy")), "node\na\n").unwrap();
    let (message, _) = refusal(&folder.path().join("e.npy"), items(&labels, ItemNames::Counted));
    assert!(message.contains("e.ids.csv: 1 rows; expected 3"), "{message}");
}
