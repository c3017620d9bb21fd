//! Datasets made of other datasets by a line of text.
#![cfg(feature = "molecules")]
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use fiedler_graph::{Dataset, Features, Labels, molecule};
use fiedler_io::{ReadOptions, open};

fn made(line: &str) -> Dataset {
    open(line, &ReadOptions::default(), 0).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn refusal(line: &str) -> String {
    open(line, &ReadOptions::default(), 0).expect_err(line).to_string()
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn on_one_and_two_threads(line: &str) -> [Dataset; 2] {
    [1, 2].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| made(line)))
}

#[test]
fn hashes_agree_with_canonical_smiles_of_rdkit() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/canonical.csv");
    let options = ReadOptions { columns: vec!["molecule".into()], ..ReadOptions::default() };
    let dataset = open(path.to_str().unwrap(), &options, 0).unwrap();
    assert_eq!((dataset.report.skipped, dataset.graphs.len()), (0, 360));
    let Some(Labels::Regression(numbers)) = &dataset.graph_labels else { panic!("{:?}", dataset.graph_labels) };
    let hashes = molecule::canonical_hashes(&dataset).unwrap();
    let (mut of_hash, mut of_number) = (HashMap::new(), HashMap::new());
    for (graph, &hash) in hashes.iter().enumerate() {
        let number = numbers.row(graph)[0].unwrap() as i64;
        let line = dataset.graph_source.as_ref().unwrap().lines[graph];
        assert_eq!(*of_hash.entry(hash).or_insert(number), number, "line {line}: two molecules have one hash");
        assert_eq!(*of_number.entry(number).or_insert(hash), hash, "line {line}: one molecule has two hashes");
    }
    assert!(of_hash.len() > 50);
    let error = molecule::canonical_hashes(&made("karate")).unwrap_err().to_string();
    assert!(error.contains("not those of molecules in karate"), "{error}");
}

#[test]
fn molecules_of_held_out_parts_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    // The same as in the test part, but for stereochemistry and spelling, and one of the training part, which may stay.
    let pool = file(&folder, "pool.smi", "C[C@H](N)C(=O)O\nCCO\nCCCC\nOC=O\nCC(C)C\n");
    let target = file(
        &folder,
        "target.csv",
        "smiles,active,split\nOC(=O)[C@@H](C)N,1,test\nC(C)CC,0,valid\nOCC,1,train\nCCCCCC,0,train\n",
    );
    let left = made(&format!("without:{pool},of={target}"));
    assert_eq!(left.graph_source.as_ref().unwrap().lines, [2, 4, 5]);
    let note = left.report.notes.last().unwrap();
    assert_eq!(note, "2 of 5 molecules occur in the validation or test part of target and were left out");
    assert_eq!((left.name.as_str(), left.graphs.num_nodes()), ("pool-without-target", 10));
    left.check().unwrap();

    let left = made(&format!("without:{pool},of={target},parts=all"));
    assert_eq!(left.graph_source.as_ref().unwrap().lines, [4, 5]);
    // Without a split nothing says what is held out.
    let left = made(&format!("without:{target},of={pool}"));
    assert_eq!(left.graph_source.as_ref().unwrap().lines, [5]);
    assert!(left.report.notes.iter().any(|note| note.contains("has no split")), "{:?}", left.report.notes);
    assert_eq!(made(&format!("without:{pool},of={target}+{target}")).graphs.len(), 3);

    // The split of one molecule is of its atoms.
    let alone = file(&folder, "alone.csv", "smiles,y,split\nCCO,1,test\n");
    assert_eq!(made(&format!("without:{pool},of={alone}")).graphs.len(), 4);
    assert!(refusal(&format!("scaffold:{alone}")).contains("at least two molecules"));
    assert!(refusal(&format!("without:{pool}")).contains("of is missing"));
    assert!(refusal(&format!("without:{pool},of={pool}")).contains("number of molecules that are left is 0"));
    assert!(refusal(&format!("without:karate,of={pool}")).contains("not those of molecules"));
    assert!(refusal(&format!("without:{pool},of={pool},parts=some")).contains("held-out or all"));
}

#[test]
fn samples_are_drawn_by_seed_and_keep_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let smiles = |row: usize| "C".repeat(row + 1);
    let rows: Vec<String> =
        (0..40).map(|row| format!("{},{},{}", smiles(row), row, ["train", "test"][row % 2])).collect();
    let table = file(&folder, "chains.csv", &format!("smiles,y,split\n{}\n", rows.join("\n")));
    let all = made(&table);
    let line = format!("sample:{table},n=10,seed=3");
    let [sample, again] = on_one_and_two_threads(&line);
    assert_eq!(sample, again);
    assert_eq!((sample.graphs.len(), sample.name.as_str()), (10, "chains-10"));
    sample.check().unwrap();
    let Some(Labels::Regression(values)) = &sample.graph_labels else { panic!("{:?}", sample.graph_labels) };
    let lines = &sample.graph_source.as_ref().unwrap().lines;
    assert!(lines.is_sorted());
    for (graph, &line) in lines.iter().enumerate() {
        let row = values.row(graph)[0].unwrap() as usize;
        assert_eq!((sample.graphs.node_range(graph).len(), line), (row + 1, row as u64 + 2));
        assert_eq!(sample.splits[0].train.contains(&(graph as u32)), row.is_multiple_of(2));
    }
    assert_ne!(sample, made(&format!("sample:{table},n=10,seed=4")));
    // The seed of the program serves where the line has none.
    let seeded = |line: &str, seed| open(line, &ReadOptions::default(), seed).unwrap();
    assert_eq!(seeded(&format!("sample:{table},n=10"), 3), sample);
    // Drawn before reading or after, it is the same.
    assert_eq!(
        all.select(&lines.iter().map(|line| *line as u32 - 2).collect::<Vec<_>>()).unwrap().graphs,
        sample.graphs
    );
    assert_eq!(made(&format!("sample:{table},n=100")).graphs.len(), 40);

    // A sample of what is left has as many as were asked for.
    let one = file(&folder, "one.smi", "CCC\nCCCC\n");
    let line = format!("sample:without:{table},of={one},n=38");
    assert_eq!(made(&line).graphs.len(), 38);
    assert!(refusal("sample:karate,n=5").contains("ego:DATA"));
    assert!(refusal(&format!("sample:{table},n=0")).contains("at least 1"));
    assert!(refusal(&format!("sample:{table},n=many")).contains("a whole number"));
}

#[test]
fn ego_nets_are_sets_of_graphs_with_degrees_of_the_whole() {
    let line = "ego:sbm:nodes=400,classes=3,degree=30,seed=1,hops=2,cap=24,count=50,seed=5";
    let [nets, again] = on_one_and_two_threads(line);
    assert_eq!(nets, again);
    nets.check().unwrap();
    assert_eq!((nets.graphs.len(), nets.name.as_str()), (50, "sbm-ego"));
    let sizes: Vec<usize> = (0..50).map(|net| nets.graphs.node_range(net).len()).collect();
    assert!(sizes.iter().all(|&size| (1..=24).contains(&size)) && sizes.contains(&24), "{sizes:?}");
    assert_eq!(nets.graph_labels.as_ref().unwrap().len(), 50);
    assert_eq!(nets.feature_names.as_ref().unwrap().len(), 16);
    // Degrees are those of the whole graph, not of what the cap has left.
    let row = |node: usize| nets.features.as_ref().unwrap().to_dense().row(node).iter().position(|value| *value == 1.0);
    let whole = (0..50).filter(|&net| row(nets.graphs.node_range(net).start as usize).unwrap() >= 4).count();
    assert!(whole > 40, "{whole} centres have eight neighbors or more");

    assert_ne!(nets.graphs, made(&line.replace("seed=5", "seed=6")).graphs);
    // Every node where no number is given; isolated nodes are nets of their own.
    let path = made("ego:path:nodes=4,hops=1");
    assert_eq!(path.graphs.node_offsets(), [0, 2, 5, 8, 10]);
    let folder = tempfile::tempdir().unwrap();
    let lone = file(&folder, "lone.smi", "[Na+].[Cl-]\nCCO\n");
    let nets = made(&format!("ego:{lone},hops=1"));
    assert_eq!(nets.graphs.node_offsets(), [0, 1, 2, 4, 7, 9]);
    assert_eq!(nets.features.as_ref().unwrap().to_dense().row(0)[0], 1.0);

    let both = made("ego:karate+path:nodes=6,hops=1,count=40");
    assert_eq!((both.graphs.len(), both.graph_labels.is_none()), (40, true));
    let given = made("ego:citation:nodes=60,hops=1,count=9,features=given");
    assert_eq!(given.features.as_ref().unwrap().columns(), made("citation:nodes=60").features.unwrap().columns());

    for (line, expected) in [
        ("ego:karate,restart=1", "a probability"),
        ("ego:karate,cap=0", "at least 1"),
        ("ego:karate,count=0", "none for all"),
        ("ego:karate,features=own", "degrees or given"),
        ("ego:karate,buckets=1", "2 to 33"),
        ("ego:karat", "no dataset is called"),
        ("ego:karate,hop=2", "no parameter of ego is called \"hop\""),
    ] {
        let error = refusal(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn degrees_mean_the_same_in_every_graph() {
    let (star, path) = (made("degrees:star:nodes=6"), made("degrees:path:nodes=3"));
    let column = |dataset: &Dataset, node: usize| {
        let Some(Features::Sparse(rows)) = &dataset.features else { panic!() };
        rows.row(node).0[0]
    };
    assert_eq!(star.feature_names, path.feature_names);
    assert_eq!((column(&star, 0), column(&star, 1), column(&path, 0), column(&path, 1)), (3, 1, 1, 2));
    assert_eq!(column(&made("degrees:star:nodes=6,buckets=3"), 0), 2);
}

#[test]
fn the_table_of_moses_and_that_of_zinc_have_nothing_to_predict() {
    let folder = tempfile::tempdir().unwrap();
    let moses = file(&folder, "moses.csv", "SMILES,SPLIT\nCCO,train\nCCC,train\nCCN,test\nCCF,test_scaffolds\n");
    let dataset = made(&moses);
    assert!(dataset.graph_labels.is_none(), "{:?}", dataset.graph_labels);
    assert_eq!((&dataset.splits[0].train[..], &dataset.splits[0].test[..]), (&[0, 1][..], &[2, 3][..]));

    let zinc = file(&folder, "zinc.csv", "smiles,zinc_id\nCCO,1054867\nCCC,2331\n");
    let dataset = made(&zinc);
    assert!(dataset.graph_labels.is_none() && dataset.report.notes.is_empty(), "{:?}", dataset.report.notes);
    assert_eq!(dataset.graph_source.unwrap().names.unwrap(), ["1054867", "2331"]);
}

/// Needs FIEDLER_DATA.
#[test]
fn the_stand_in_for_two_million_molecules_is_drawn_from_moses() {
    if std::env::var_os("FIEDLER_DATA").is_none() || fiedler_io::catalogue::locate("moses").is_err() {
        eprintln!("skipped: no MOSES in FIEDLER_DATA");
        return;
    }
    let stand_in = made("MOSES-50K");
    assert_eq!((stand_in.name.as_str(), stand_in.graphs.len(), stand_in.report.skipped), ("moses-50k", 50_000, 0));
    assert!(stand_in.report.notes.is_empty(), "{:?}", stand_in.report.notes);
    let hashes: HashSet<u64> = molecule::canonical_hashes(&stand_in).unwrap().into_iter().collect();
    assert_eq!(hashes.len(), 50_000, "MOSES has every molecule once");
}

#[test]
fn scaffolds_are_those_of_rdkit_and_divide_a_set() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/scaffolds.csv");
    let options = ReadOptions { columns: vec!["scaffold".into()], ..ReadOptions::default() };
    let dataset = open(path.to_str().unwrap(), &options, 0).unwrap();
    let Some(Labels::Regression(numbers)) = &dataset.graph_labels else { panic!("{:?}", dataset.graph_labels) };
    let hashes = molecule::scaffold_hashes(&dataset).unwrap();
    let (mut of_hash, mut of_number) = (HashMap::new(), HashMap::new());
    for (graph, &hash) in hashes.iter().enumerate() {
        let number = numbers.row(graph)[0].unwrap() as i64;
        let line = dataset.graph_source.as_ref().unwrap().lines[graph];
        assert_eq!(*of_hash.entry(hash).or_insert(number), number, "line {line}: two scaffolds have one hash");
        assert_eq!(*of_number.entry(number).or_insert(hash), hash, "line {line}: one scaffold has two hashes");
    }
    assert!(of_hash.len() > 100);

    // Groups of 4, 3, 2 and 1: the first fills the part to train on, the second the part to validate on, and the last has room to be trained on again.
    let folder = tempfile::tempdir().unwrap();
    let rings = ["c1ccccc1", "c1ccncc1", "C1CCCC1", "CC"];
    let sizes = [3, 2, 1, 4];
    let smiles: Vec<String> = rings
        .iter()
        .zip(sizes)
        .flat_map(|(ring, size)| (0..size).map(move |at| format!("{ring}{}", "C".repeat(at))))
        .collect();
    let line = format!("scaffold:{},train=0.5,validation=0.2", file(&folder, "rings.smi", &smiles.join("\n")));
    let [one, two] = on_one_and_two_threads(&line);
    assert_eq!(one.splits, two.splits);
    let split = &one.splits[0];
    assert_eq!(split.train, [5, 6, 7, 8, 9]);
    assert_eq!((&split.validation[..], &split.test[..]), (&[0, 1, 2][..], &[3, 4][..]));
    assert!(refusal(&line.replace("0.5", "0.9")).contains("shares of train and validation"));
    assert!(refusal("scaffold:karate").contains("not those of molecules"));
}

#[test]
fn published_scaffold_splits_are_nearly_those_of_scaffolds_without_chirality() {
    let Some(folder) = std::env::var_os("FIEDLER_DATA") else {
        return eprintln!("skipped: FIEDLER_DATA is not set");
    };
    for name in ["ogbg-molbbbp", "ogbg-molesol", "ogbg-moltox21"] {
        if !PathBuf::from(&folder).join("ogb").is_dir() {
            return eprintln!("skipped: no OGB data");
        }
        let (published, ours) = (made(name), made(&format!("scaffold:{name}")));
        let parts = |split: &fiedler_graph::Split| {
            [&split.train, &split.validation, &split.test].map(|part| part.iter().copied().collect::<HashSet<u32>>())
        };
        let (published, ours) = (parts(&published.splits[0]), parts(&ours.splits[0]));
        let same: usize =
            published.iter().zip(&ours).map(|(published, ours)| published.intersection(ours).count()).sum();
        let all: usize = published.iter().map(HashSet::len).sum();
        eprintln!("{name}: {same} of {all}");
        assert!(same as f64 >= 0.9 * all as f64, "{name}: {same} of {all} molecules in the same part");
    }
}
