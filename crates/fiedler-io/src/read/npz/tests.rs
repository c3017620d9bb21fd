use fiedler_graph::Labels;

use super::*;
use crate::error::Result;
use crate::input::File;
use crate::read::pickle::{Pickle, Value};

fn fixture(name: &str) -> File {
    let path = format!("{}/tests/fixtures/python/{name}", env!("CARGO_MANIFEST_DIR"));
    File::new(&path, std::fs::read(&path).unwrap())
}

fn array(name: &str) -> Array {
    Array::from_npy(fixture(name)).unwrap()
}

/// An npy file of version 1.
fn npy(descr: &str, shape: &str, values: &[u8]) -> File {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    File::new("a.npy", bytes)
}

fn doubles(shape: &str, values: &[f64]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array::from_npy(npy("<f8", shape, &bytes)).unwrap()
}

#[test]
fn every_type_and_byte_order_gives_the_same_numbers() {
    let arrays = Arrays::open(fixture("ones.npz")).unwrap();
    assert_eq!(arrays.names().count(), 24);
    let names: Vec<String> = arrays.names().map(Into::into).collect();
    for name in names {
        let array = arrays.get(&name).unwrap();
        assert_eq!(array.shape(), [3, 2], "{name}");
        assert_eq!(array.to_i64().unwrap(), [1, 0, 0, 1, 1, 1], "{name}");
        assert_eq!(array.to_f32().unwrap(), [1.0, 0.0, 0.0, 1.0, 1.0, 1.0], "{name}");
        assert_eq!(array.to_usize().unwrap(), [1, 0, 0, 1, 1, 1], "{name}");
    }
    assert!(arrays.find("nothing").unwrap().is_none());
    assert!(arrays.get("nothing").unwrap_err().to_string().contains("a member nothing.npy"));
}

#[test]
fn values_come_row_after_row() {
    let expected: Vec<f64> = (0..24).map(f64::from).collect();
    assert_eq!(array("columns_first.npy").to_f64().unwrap(), expected);
    assert_eq!(array("texts.npy").to_strings().unwrap(), ["a", "∆é", "", "𝔾"]);
    assert_eq!(array("bytes.npy").to_strings().unwrap(), ["ab", ""]);
    assert_eq!(array("objects.npy").to_strings().unwrap(), ["one", "two"]);
    let halves = array("halves.npy").to_f64().unwrap();
    assert_eq!(halves[..7], [0.0, 0.0, 1.5, -2.0, 65504.0, 2f64.powi(-24), f64::INFINITY]);
    assert!(halves[7].is_nan());
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let error = array("limits.npy").to_i64().unwrap_err().to_string();
    assert!(error.ends_with("18446744073709552000 as value 0; expected whole numbers"), "{error}");
    assert!(doubles("(1,)", &[0.5]).to_i64().is_err());
    assert!(doubles("(1,)", &[f64::NAN]).to_i64().is_err());
    assert!(doubles("(1,)", &[2f64.powi(63)]).to_i64().is_err());
    assert!(doubles("(1,)", &[-1.0]).to_usize().is_err());
    assert!(doubles("(1,)", &[2f64.powi(32)]).to_u32().is_err());
    assert!(doubles("(1,)", &[1e39]).to_f32().is_err());
    assert!(doubles("(1,)", &[f64::INFINITY]).to_f32().is_ok());
    assert!(doubles("(1,)", &[f64::INFINITY]).to_features().is_err());
    assert!(array("texts.npy").to_f32().is_err());
    assert!(doubles("(1,)", &[1.0]).to_strings().is_err());
    assert!(Array::from_npy(npy("<U1", "(1,)", &[0xff; 4])).unwrap().to_strings().is_err());
    assert!(Array::from_npy(fixture("records.npy")).unwrap_err().hint().is_none_or(|hint| hint.contains("Python")));
}

#[test]
fn shapes_are_checked_against_the_bytes() {
    for shape in ["(2,)", "(4294967296, 4294967296)", "(0, 99999999999)", "(18446744073709551615,)"] {
        assert!(Array::from_npy(npy("<f8", shape, &[0; 8])).is_err(), "{shape}");
    }
    assert!(Array::from_npy(npy("<U0", "(99999999999,)", &[])).is_err());
    assert!(Array::from_npy(npy("<U4611686018427387904", "(0,)", &[])).is_err());
    assert_eq!(Array::from_npy(npy("<f8", "()", &[0; 8])).unwrap().to_f64().unwrap(), [0.0]);
    assert_eq!(Array::from_npy(npy("<f8", "(0, 7)", &[])).unwrap().to_features().unwrap().columns(), 7);
}

#[test]
fn labels_are_told_by_their_values() {
    let classes = |labels: Labels| labels.classes().map(|classes| (classes.names().to_vec(), classes.of().to_vec()));
    let named = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        classes(doubles("(3,)", &[5.0, f64::NAN, 2.0]).to_labels().unwrap()),
        Some((named(&["2", "5"]), vec![Some(1), None, Some(0)]))
    );
    assert_eq!(
        classes(doubles("(2, 2)", &[0.0, 1.0, 0.0, 0.0]).to_labels().unwrap()),
        Some((named(&["1"]), vec![Some(0), None]))
    );
    assert_eq!(classes(array("bytes.npy").to_labels().unwrap()), Some((named(&["", "ab"]), vec![Some(1), Some(0)])));
    let Labels::MultiLabel(tasks) = doubles("(1, 3)", &[1.0, f64::NAN, 1.0]).to_labels().unwrap() else { panic!() };
    assert_eq!(tasks.row(0), [Some(true), None, Some(true)]);
    let Labels::Regression(values) = doubles("(2,)", &[0.5, f64::NAN]).to_labels().unwrap() else { panic!() };
    assert_eq!((values.row(0), values.row(1)), (&[Some(0.5)][..], &[None][..]));
    assert!(doubles("(1, 1, 1)", &[0.0]).to_labels().is_err());
    let close = Array::from_npy(npy("<i8", "(2,)", &integers(&[1 << 60, (1 << 60) + 1]))).unwrap();
    assert_eq!(close.to_labels().unwrap().classes().unwrap().count(), 2);
}

fn entry<'a>(pickle: &'a Pickle, name: &str) -> Value<'a> {
    pickle.root().entries().and_then(|entries| entries.get(name)).unwrap()
}

#[test]
fn arrays_in_pickles_are_read_from_every_protocol() {
    let names = (0..=5).map(|protocol| format!("arrays.{protocol}.pkl"));
    for name in names.chain((0..=2).map(|protocol| format!("python2.{protocol}.pkl"))) {
        let file = fixture(&name);
        let pickle = Pickle::read(&file).unwrap();
        let array = |entry_name| Array::from_pickle(entry(&pickle, entry_name), file.place()).unwrap();
        assert_eq!(array("big_endian").to_i64().unwrap(), [1, -2, 300], "{name}");
        assert_eq!(array("columns_first").to_f32().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "{name}");
        assert_eq!(array("flags").to_i64().unwrap(), [1, 0], "{name}");
        assert_eq!(array("old_texts").to_strings().unwrap(), ["ab", "c"], "{name}");
        assert_eq!(array("scalar").to_f64().unwrap(), [2.5], "{name}");
        if name.starts_with("arrays") {
            assert_eq!(array("texts").to_strings().unwrap(), ["a", "∆é"], "{name}");
            assert_eq!(array("objects").to_strings().unwrap(), ["one", "two"], "{name}");
            assert_eq!(array("none").shape(), [0, 3], "{name}");
        }
        assert!(Array::from_pickle(pickle.root(), file.place()).is_err());
    }
}

#[test]
fn matrices_in_pickles_are_read_from_every_protocol_and_format() {
    for protocol in 0..=5 {
        let file = fixture(&format!("arrays.{protocol}.pkl"));
        let pickle = Pickle::read(&file).unwrap();
        for format in ["csr", "csc", "coo", "bsr", "dia", "csr_array"] {
            let matrix = Matrix::from_pickle(entry(&pickle, format), file.place()).unwrap();
            assert_eq!((matrix.rows(), matrix.columns()), (3, 3), "{format} {protocol}");
            let dense = matrix.into_features(3).unwrap().to_dense();
            assert_eq!(dense.values(), [0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 3.0], "{format} {protocol}");
        }
        let error = Matrix::from_pickle(entry(&pickle, "lil"), file.place()).unwrap_err();
        assert!(error.to_string().contains("\"lil\""), "{error}");
    }
}

/// Whatever the bytes, reading ends in values or in an error.
#[test]
fn damaged_files_do_no_harm() {
    for name in ["arrays.0.pkl", "arrays.2.pkl", "arrays.5.pkl", "python2.1.pkl"] {
        let whole = fixture(name).into_bytes();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
            let _ = read_all(&File::new(name, bytes));
        }
    }
    for name in ["objects.npy", "texts.npy", "columns_first.npy", "halves.npy"] {
        let whole = fixture(name).into_bytes();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x15;
            let _ = Array::from_npy(File::new(name, bytes))
                .map(|array| (array.to_f32().is_ok(), array.to_strings().is_ok()));
            let _ = Array::from_npy(File::new(name, whole[..at].to_vec()));
        }
    }
}

fn read_all(file: &File) -> Result<()> {
    let pickle = Pickle::read(file)?;
    for (_, value) in pickle.root().entries().into_iter().flat_map(|entries| entries.iter()) {
        if let Ok(array) = Array::from_pickle(value, file.place()) {
            let _ = (array.to_f64().is_ok(), array.to_strings().is_ok(), array.to_labels().is_ok());
        }
        if let Ok(matrix) = Matrix::from_pickle(value, file.place()) {
            let _ = (matrix.clone().into_graph().is_ok(), matrix.into_features(3).is_ok());
        }
    }
    Ok(())
}

#[test]
fn one_long_string_used_often_is_not_written_out() {
    let long = 1 << 20;
    let mut bytes =
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01J".to_vec();
    let count = 100_000u32;
    bytes.extend(count.to_le_bytes());
    bytes.extend(b"\x85cnumpy\ndtype\nU\x02O8K\x00K\x01\x87R\x89](X");
    bytes.extend((long as u32).to_le_bytes());
    bytes.extend(vec![b'x'; long]);
    bytes.extend(b"q\x00");
    bytes.extend(b"h\x00".repeat(count as usize - 1));
    bytes.extend(b"etb.");
    let file = File::new("bomb.pkl", bytes);
    let pickle = Pickle::read(&file).unwrap();
    let array = Array::from_pickle(pickle.root(), file.place()).unwrap();
    assert_eq!(array.shape(), [count as usize]);
    assert!(array.to_strings().unwrap_err().to_string().contains("more text"));
}

/// An npz of arrays given by type, shape and values.
fn npz(members: &[(&str, &str, &str, Vec<u8>)]) -> Arrays {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, descr, shape, values) in members {
        zip.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut zip, npy(descr, shape, values).bytes()).unwrap();
    }
    Arrays::open(File::new("a.npz", zip.finish().unwrap().into_inner())).unwrap()
}

fn integers(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A matrix as `save_npz` writes it, of whole numbers.
fn saved(format: &str, shape: &[i64], data: (&str, &[i64]), others: &[(&str, &[i64])]) -> Result<Matrix> {
    let length = |values: &[i64]| format!("({},)", values.len());
    let lengths: Vec<_> = others.iter().map(|(_, values)| length(values)).collect();
    let shape_length = length(shape);
    let mut members = vec![
        ("format", "|S3", "()", format.as_bytes().to_vec()),
        ("shape", "<i8", shape_length.as_str(), integers(shape)),
        ("data", "<i8", data.0, integers(data.1)),
    ];
    for ((name, values), length) in others.iter().zip(&lengths) {
        members.push((name, "<i8", length, integers(values)));
    }
    Matrix::from_scipy(&npz(&members))
}

#[test]
fn matrices_whose_parts_do_not_fit_are_refused() {
    let rows = |shape: &[i64], indptr: &[i64], indices: &[i64]| {
        saved("csr", shape, ("(2,)", &[1, 1]), &[("indptr", indptr), ("indices", indices)])
    };
    assert_eq!(rows(&[2, 2], &[0, 1, 2], &[1, 0]).unwrap().entries(), [(0, 1), (1, 0)]);
    for (shape, indptr, indices, complaint) in [
        (&[2, 2][..], &[0, 1][..], &[1, 0][..], "expected 3 that ascend from 0"),
        (&[2, 2], &[0, 2, 1], &[1, 0], "expected 3 that ascend from 0"),
        (&[2, 2], &[1, 1, 2], &[1, 0], "expected 3 that ascend from 0"),
        (&[2, 2], &[0, 1, 3], &[1, 0, 1], "2 entries; expected 3, as indptr says"),
        (&[2, 2], &[0, 1, 2], &[1, 2], "an entry in column 2; expected one below 2"),
        (&[2, 2], &[0, 1, 2], &[1, -1], "-1 as value 1"),
        (&[2, 2, 2], &[0, 1, 2], &[1, 0], "3 dimensions"),
        (&[-2, 2], &[0, 1, 2], &[1, 0], "-2 as value 0"),
        (&[1 << 40, 1 << 40], &[0, 1, 2], &[1, 0], "at most 2147483647 of each"),
        (&[0, 0], &[], &[], "0 row offsets"),
    ] {
        let error = rows(shape, indptr, indices).unwrap_err().to_string();
        assert!(error.contains(complaint), "{error}");
    }

    let coordinates = |shape: &[i64], row: &[i64], col: &[i64]| {
        saved("coo", shape, ("(1,)", &[1]), &[("row", row), ("col", col)]).map(|matrix| matrix.entries().to_vec())
    };
    assert_eq!(coordinates(&[2, 2], &[0], &[1]).unwrap(), [(0, 1)]);
    assert!(coordinates(&[2, 2], &[2], &[1]).is_err());
    assert!(coordinates(&[2, 2], &[0, 1], &[1, 0]).is_err());
    let error = coordinates(&[2_000_000_000, 2_000_000_000], &[0], &[1]).unwrap_err().to_string();
    assert!(error.contains("2000000000 rows claimed by 1 entries"), "{error}");

    let diagonals = |offset: i64| saved("dia", &[2, 2], ("(1, 2)", &[1, 1]), &[("offsets", &[offset])]);
    assert_eq!(diagonals(1).unwrap().entries(), [(0, 1)]);
    for offset in [i64::MIN, i64::MAX, 5, -5] {
        assert_eq!(diagonals(offset).unwrap().entries(), []);
    }

    let blocks = |data_shape: &str, indices: &[i64]| {
        saved("bsr", &[2, 2], (data_shape, &[1, 0, 0, 1]), &[("indptr", &[0, 1]), ("indices", indices)])
    };
    assert_eq!(blocks("(1, 2, 2)", &[0]).unwrap().entries().len(), 4);
    for (data_shape, index) in [("(4,)", 0), ("(1, 2, 2)", 1), ("(1, 0, 2)", 0), ("(1, 4, 1)", 0), ("(4, 1, 1)", 0)] {
        assert!(blocks(data_shape, &[index]).is_err(), "{data_shape}");
    }
    assert!(saved("lil", &[2, 2], ("(1,)", &[1]), &[]).is_err());
}
