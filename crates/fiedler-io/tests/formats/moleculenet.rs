//! Tables and lists of molecules, and how their graphs agree with RDKit's.

use std::io::Read;
use std::path::Path;

use fiedler_graph::{Dataset, Features, Labels};
use fiedler_io::molecule::{ATOM_CARDINALITIES, BOND_CARDINALITIES, Molecule};
use fiedler_io::read::{self, ReadOptions};

use crate::common::{self, memory, published, read_path};

fn table(text: &str) -> Dataset {
    let input = memory(&[("table.csv", text.as_bytes())], Some("table.csv"));
    common::read(&input).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(name: &str, text: &[u8], options: &ReadOptions) -> String {
    match read::read_source(&memory(&[(name, text)], Some(name)), options) {
        Ok(_) => panic!("read {:?}", String::from_utf8_lossy(text)),
        Err(error) => error.to_string(),
    }
}

fn tasks(dataset: &Dataset) -> &fiedler_graph::MultiLabel {
    match &dataset.graph_labels {
        Some(Labels::MultiLabel(tasks)) => tasks,
        other => panic!("{other:?}"),
    }
}

fn values(dataset: &Dataset) -> &fiedler_graph::Regression {
    match &dataset.graph_labels {
        Some(Labels::Regression(values)) => values,
        other => panic!("{other:?}"),
    }
}

fn codes(features: &Option<Features>, row: usize) -> &[u8] {
    match features {
        Some(Features::Categorical(categorical)) => categorical.row(row),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_table_becomes_graphs_with_features_and_answers() {
    let dataset = table("mol_id,smiles,active,toxic\nA,CCO,1,0\nB,\"C1=CC=CC=C1\",0,\nC,[Na+].[Cl-],,1.0\n");
    assert_eq!(dataset.report.format, "moleculenet");
    assert_eq!(dataset.name, "table");
    assert_eq!((dataset.graphs.len(), dataset.graphs.num_nodes(), dataset.graphs.num_edges()), (3, 11, 8));
    assert_eq!(dataset.graphs.graph(0).neighbors(1), [0, 2]);
    assert_eq!(dataset.graphs.graph(1).neighbors(0), [1, 5]);
    assert_eq!(codes(&dataset.features, 2), [7, 0, 2, 5, 1, 0, 2, 0, 0]);
    assert_eq!(codes(&dataset.features, 3), [5, 0, 3, 5, 1, 0, 1, 1, 1]);
    assert_eq!(codes(&dataset.edge_features, 2), [3, 0, 1]);
    assert_eq!(tasks(&dataset).names(), ["active", "toxic"]);
    assert_eq!(tasks(&dataset).row(0), [Some(true), Some(false)]);
    assert_eq!(tasks(&dataset).row(1), [Some(false), None]);
    assert_eq!(tasks(&dataset).row(2), [None, Some(true)]);
}

#[test]
fn features_of_bonds_follow_the_order_of_edges() {
    // Written so that bonds are not in the order of the graph's edges: the ring closes to the first atom.
    let dataset = table("smiles\nC1(=O)CC=CC1\n");
    let kinds: Vec<u8> = (0..dataset.graphs.num_edges()).map(|edge| codes(&dataset.edge_features, edge)[0]).collect();
    let pairs: Vec<_> = dataset.graphs.block_diagonal().edge_pairs().collect();
    assert_eq!(pairs, [(0, 1), (0, 2), (0, 5), (2, 3), (3, 4), (4, 5)]);
    assert_eq!(kinds, [1, 0, 0, 0, 1, 0]);
}

#[test]
fn rows_without_a_molecule_are_left_out_and_named() {
    let dataset = table("smiles,y\nCCO,0.5\nC(C)(C)(C)(C)C,0.6\nCC1C,0.7\n,0.8\nCC,0.9\n");
    assert_eq!((dataset.graphs.len(), dataset.report.skipped), (2, 3));
    assert_eq!(values(&dataset).row(1), [Some(0.9)]);
    let note = &dataset.report.notes[0];
    assert!(note.contains("3 of 5 rows"), "{note}");
    assert!(note.contains("line 3 (character 1: C has valence 5, more than is possible)"), "{note}");
    assert!(note.contains("line 4 (character 3: ring 1 is never closed)"), "{note}");
    assert!(note.contains("line 5 (the text is empty)"), "{note}");
}

#[test]
fn lists_have_no_header() {
    for text in ["CCO\nc1ccccc1\n", "\u{feff}CC(=O)O acetic acid\nCCO\tethanol\n\n", "CCO\r\nCC"] {
        let input = memory(&[("list.smi", text.as_bytes())], Some("list.smi"));
        let dataset = common::read(&input).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((dataset.graphs.len(), &dataset.graph_labels), (2, &None), "{text:?}");
    }
}

#[test]
fn the_columns_to_predict_are_those_published_or_chosen() {
    let freesolv = "iupac,smiles,expt,calc\nmethane,C,2.0,2.4\n";
    assert_eq!(values(&table(freesolv)).names(), ["expt"]);
    let bace = "mol,CID,Class,Model,pIC50\nCCO,BACE_1,1,Train,9.1\n";
    assert_eq!(tasks(&table(bace)).names(), ["Class"]);

    let mixed = "SMILES,weight,active\nCCO,46.07,1\nCC,30.07,0\n";
    let dataset = table(mixed);
    assert_eq!(tasks(&dataset).names(), ["active"]);
    assert!(dataset.report.notes[0].contains("weight"), "{:?}", dataset.report.notes);

    let choose = |target: &str| ReadOptions { columns: vec![target.into()], ..ReadOptions::default() };
    let input = memory(&[("table.csv", mixed.as_bytes())], Some("table.csv"));
    let dataset = read::read_source(&input, &choose("Weight")).unwrap();
    assert_eq!(values(&dataset).row(0), [Some(46.07)]);
    let error = refusal("table.csv", mixed.as_bytes(), &choose("height"));
    assert_eq!(error, "no column to predict is called \"height\"");
    let error = refusal("table.csv", b"smiles,name\nC,methane\n", &choose("name"));
    assert!(error.contains("line 2") && error.contains("\"methane\""), "{error}");
}

#[test]
fn words_are_classes_and_every_column_that_is_left_out_is_noted() {
    let rows = ["CCO,yes,1.5,a", "CC,no,>6,b", "C,yes,2.5,c", "CCC,no,3,d", "CCCC,yes,4,e", "CCN,,5,f"];
    let dataset = table(&format!("smiles,active,weight,note\n{}\n", rows.join("\n")));
    let Some(Labels::Classes(classes)) = &dataset.graph_labels else { panic!("{:?}", dataset.graph_labels) };
    assert_eq!(classes.names(), ["no", "yes"]);
    assert_eq!(classes.of(), [Some(1), Some(0), Some(1), Some(0), Some(1), None]);
    let note = dataset.report.notes.join("\n");
    assert!(
        note.contains("\"active\" is taken") && note.contains("\"weight\" (\">6\" on line 3 is no number)"),
        "{note}"
    );
    assert!(note.contains("\"note\" (\"a\" on line 2 is no number)"), "{note}");

    let text = "smiles,solubility,source,batch\nC,0.5,x,u\nCC,1.5,y,v\nCCC,2.5,x,u\nCCCC,3.5,y,v\n";
    let dataset = table(text);
    assert_eq!(values(&dataset).names(), ["solubility"]);
    assert!(dataset.report.notes[0].contains("\"source\" (words), \"batch\" (words)"), "{:?}", dataset.report.notes);
    let input = memory(&[("table.csv", text.as_bytes())], Some("table.csv"));
    let chosen = ReadOptions { columns: vec!["source".into()], ..ReadOptions::default() };
    let dataset = read::read_source(&input, &chosen).unwrap();
    assert_eq!(dataset.graph_labels.unwrap().classes().unwrap().names(), ["x", "y"]);
    let both = ReadOptions { columns: vec!["solubility".into(), "source".into()], ..ReadOptions::default() };
    assert!(refusal("table.csv", text.as_bytes(), &both).contains("line 2"));
    let dataset = table("smiles,source,batch\nC,x,u\nCC,y,v\nCCC,x,u\nCCCC,y,v\n");
    assert!(dataset.graph_labels.is_none() && dataset.report.notes[0].contains("name one"), "{:?}", dataset.report);
}

#[test]
fn every_molecule_knows_its_line_and_its_name() {
    let lines = |text: &str| table(text).graph_source.unwrap();
    for end in ["\n", "\r\n"] {
        let rows =
            ["name,smiles,y", "", "ethanol,CCO,1.5", "broken,CC1C,2.5", "", "", "\"a", "b\",CC,3.5", "last,C,4.5"];
        let source = lines(&(rows.join(end) + end));
        assert_eq!(source.lines, [3, 7, 9], "{end:?}");
        let quoted = format!("a{end}b");
        assert_eq!(source.names, Some(["ethanol", quoted.as_str(), "last"].map(str::to_owned).to_vec()));
        let note = &table(&(rows.join(end) + end)).report.notes[0];
        assert!(note.contains("line 4 ("), "{note}");
    }
    let input = memory(&[("list.smi", b"CCO ethanol\n\nCC(=O)O acetic acid\n")], Some("list.smi"));
    let options = ReadOptions { format: Some("moleculenet".into()), ..ReadOptions::default() };
    let source = read::read_source(&input, &options).unwrap().graph_source.unwrap();
    assert_eq!((source.lines, source.names), (vec![1, 3], Some(vec!["ethanol".into(), "acetic acid".into()])));
}

#[test]
fn what_holds_no_molecule_is_refused_with_a_reason() {
    let options = ReadOptions { format: Some("moleculenet".into()), ..ReadOptions::default() };
    let error = refusal("a.csv", b"name,weight\nalice,1\n", &options);
    assert!(error.contains("the columns name, weight") && error.contains("a column called smiles"), "{error}");
    let error = refusal("a.csv", b"smiles,y\nCCO,1\nCC,1,2\n", &options);
    assert_eq!(error, "a.csv, line 3: 3 fields; expected 2, as in the header");
    let error = refusal("a.csv", b"smiles\nC1\n", &options);
    assert!(error.contains("line 2, character 2: ring 1 is never closed"), "{error}");
    for bytes in [b"".as_slice(), b"\n", b"smiles", b"smiles\n\xff\xfe\n", b"\xff\xff\xff", b"\"smiles", b"smiles\n\"C"]
    {
        let _ = read::read_source(&memory(&[("a.csv", bytes)], Some("a.csv")), &options);
    }
}

#[test]
fn edge_lists_and_tables_of_features_are_not_taken_for_molecules() {
    for (name, text) in
        [("a.txt", "0 1\n1 2\n"), ("a.csv", "source,target\nC,O\n"), ("a.txt", "C O\nN C\n"), ("a.graph", "CCO\n")]
    {
        let read = common::read(&memory(&[(name, text.as_bytes())], Some(name)));
        assert!(read.is_err() || read.is_ok_and(|dataset| dataset.report.format != "moleculenet"), "{name}: {text:?}");
    }
}

/// File, molecules kept, rows left out, columns to predict, whether those are yes-or-no questions.
const PUBLISHED: [(&str, usize, u64, usize, bool); 10] = [
    ("BBBP.csv", 2039, 11, 1, true),
    ("Lipophilicity.csv", 4200, 0, 1, false),
    ("SAMPL.csv", 642, 0, 1, false),
    // The Open Graph Benchmark has one fewer: it leaves auranofin out, which RDKit reads.
    ("clintox.csv", 1478, 6, 2, true),
    ("delaney-processed.csv", 1128, 0, 1, false),
    ("hiv.csv.gz", 41_127, 0, 1, true),
    ("muv.csv.gz", 93_087, 0, 17, true),
    ("sider.csv", 1427, 0, 27, true),
    ("tox21.csv", 7831, 0, 12, true),
    ("toxcast.csv.gz", 8576, 0, 617, true),
];

#[test]
fn published_tables_have_their_published_counts() {
    for (name, graphs, skipped, targets, questions) in PUBLISHED {
        let Some(path) = published(&format!("moleculenet/{name}")) else { continue };
        let dataset = read_path(path);
        assert_eq!((dataset.graphs.len(), dataset.report.skipped), (graphs, skipped), "{name}");
        match &dataset.graph_labels {
            Some(Labels::MultiLabel(tasks)) if questions => assert_eq!(tasks.names().len(), targets, "{name}"),
            Some(Labels::Regression(values)) if !questions => assert_eq!(values.names().len(), targets, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn published_lists_are_read_whole() {
    let Some(path) = published("zinc/jtvae_zinc250k_test.txt") else { return };
    let dataset = read_path(path);
    assert_eq!((dataset.graphs.len(), dataset.report.skipped), (5000, 0));
}

const ATOM_COLUMNS: [&str; 9] = [
    "atomic number",
    "chirality",
    "degree",
    "charge",
    "hydrogens",
    "radicals",
    "hybridisation",
    "aromatic",
    "in a ring",
];
const BOND_COLUMNS: [&str; 5] = ["first atom", "second atom", "kind", "stereo", "conjugated"];
const OGB: [&str; 8] = ["bbbp", "clintox", "esol", "freesolv", "hiv", "lipo", "sider", "tox21"];

/// The share of rows in which a column must agree with RDKit's. The sets were made by several of its releases, which differ
/// among themselves in radicals, hybridisation and conjugation of metal compounds.
const AGREEMENT: f64 = 0.9997;

/// How often each column differs from the published one.
#[derive(Default)]
struct Comparison {
    molecules: usize,
    identical: usize,
    sizes_differ: usize,
    atoms: usize,
    bonds: usize,
    atom_columns: [usize; 9],
    bond_columns: [usize; 5],
}

impl Comparison {
    fn compare(&mut self, molecule: &Molecule, atoms: &[Vec<u32>], bonds: &[Vec<u32>]) {
        self.molecules += 1;
        if molecule.atoms.len() != atoms.len() || molecule.bonds.len() != bonds.len() {
            self.sizes_differ += 1;
            return;
        }
        let before = (self.atom_columns, self.bond_columns);
        for (found, expected) in molecule.atoms.iter().zip(atoms) {
            self.atoms += 1;
            for (column, (&found, &expected)) in found.iter().zip(expected).enumerate() {
                self.atom_columns[column] += usize::from(u32::from(found) != expected);
            }
        }
        for (bond, expected) in molecule.bonds.iter().zip(bonds) {
            self.bonds += 1;
            let [kind, stereo, conjugated] = bond.codes.map(u32::from);
            let found = [bond.ends.0, bond.ends.1, kind, stereo, conjugated];
            for (column, (found, &expected)) in found.into_iter().zip(expected).enumerate() {
                self.bond_columns[column] += usize::from(found != expected);
            }
        }
        self.identical += usize::from(before == (self.atom_columns, self.bond_columns));
    }

    fn check(&self) {
        println!(
            "{} molecules: {} identical, {} of another size; {} atoms, {} bonds",
            self.molecules, self.identical, self.sizes_differ, self.atoms, self.bonds
        );
        let atoms = ATOM_COLUMNS.iter().zip(self.atom_columns).map(|(name, differ)| (name, differ, self.atoms));
        let bonds = BOND_COLUMNS.iter().zip(self.bond_columns).map(|(name, differ)| (name, differ, self.bonds));
        let columns: Vec<_> = atoms.chain(bonds).collect();
        for (name, differ, rows) in &columns {
            println!("{name:>15} {differ:>6} differ, {:.4} % agree", 100.0 * (1.0 - *differ as f64 / *rows as f64));
        }
        assert_eq!(self.sizes_differ, 0);
        for (name, differ, rows) in columns {
            assert!((differ as f64) < (1.0 - AGREEMENT) * rows as f64, "{name} differs in {differ} of {rows}");
        }
    }
}

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text).expect("a whole gzip file");
    text
}

fn numbers(path: &Path) -> Vec<Vec<u32>> {
    unpacked(path)
        .lines()
        .map(|line| line.split(',').map(|field| field.trim().parse().expect("a number")).collect())
        .collect()
}

#[test]
fn atoms_and_bonds_agree_with_those_of_rdkit() {
    let mut comparison = Comparison::default();
    for name in OGB {
        let Some(folder) = published(&format!("ogb/ogbg_mol{name}")) else { continue };
        let raw = |file: &str| numbers(&folder.join("raw").join(file));
        let (atoms, bonds) = (raw("node-feat.csv.gz"), raw("edge-feat.csv.gz"));
        let ends = raw("edge.csv.gz");
        let bonds: Vec<Vec<u32>> = ends.into_iter().zip(bonds).map(|(ends, codes)| [ends, codes].concat()).collect();
        let sizes = raw("num-node-list.csv.gz").into_iter().zip(raw("num-edge-list.csv.gz"));

        let mapping = unpacked(&folder.join("mapping/mol.csv.gz"));
        let mut reader = csv::Reader::from_reader(mapping.as_bytes());
        let smiles = reader.headers().unwrap().iter().position(|name| name == "smiles").unwrap();
        let (mut atom, mut bond) = (0, 0);
        for (record, (nodes, edges)) in reader.records().zip(sizes) {
            let record = record.unwrap();
            let (next_atom, next_bond) = (atom + nodes[0] as usize, bond + edges[0] as usize);
            match Molecule::from_smiles(&record[smiles]) {
                Ok(molecule) => comparison.compare(&molecule, &atoms[atom..next_atom], &bonds[bond..next_bond]),
                Err(error) => panic!("{name}: {}: {error}", &record[smiles]),
            }
            (atom, bond) = (next_atom, next_bond);
        }
    }
    if comparison.molecules > 0 {
        assert_eq!(comparison.molecules, 59_871);
        comparison.check();
    }
}

#[test]
fn codes_stay_below_their_cardinalities() {
    for smiles in
        ["*", "[U+6]", "[C-6]", "[Og]", "[CH9]", "[SH9+3]", "C$C", "F[P@TB1](F)(F)(Cl)Br", "[Fe]->[Fe]", "[H+]"]
    {
        let Ok(molecule) = Molecule::from_smiles(smiles) else { continue };
        for atom in &molecule.atoms {
            assert!(atom.iter().zip(ATOM_CARDINALITIES).all(|(&code, count)| u16::from(code) < count), "{smiles}");
        }
        for bond in &molecule.bonds {
            assert!(
                bond.codes.iter().zip(BOND_CARDINALITIES).all(|(&code, count)| u16::from(code) < count),
                "{smiles}"
            );
        }
    }
}
