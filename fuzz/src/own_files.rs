//! Files that fiedler writes itself: whatever stands in them, reading ends in an error or in something that can be used and written again.
//!
//! An input of a target whose files are safetensors is taken twice. Once as the file itself. And once as pieces, cut at [`SEPARATOR`],
//! that a file is made of whose container is sound, because blind changes of a header hardly ever leave one: the note as JSON, then a
//! line `NAME DTYPE SIZE SIZE …` for each tensor, then bytes that all tensors are filled with, over and over.
//! The tests of `fiedler-experiment` compile this file too, to read again what fuzzing once found.

use fiedler_augment::{Scheme, ViewKey};
use fiedler_graph::{Dataset, Graph, GraphSet};
use serde_json::{Value, json};

/// Stands between the pieces of one input.
pub const SEPARATOR: &[u8] = b"\n--8<--\n";

/// Most bytes of the tensors that are made of pieces.
const MOST: usize = 1 << 20;

/// Takes an input for a file, and for the pieces of one.
pub fn each_container(data: &[u8], mend: &dyn Fn(&mut Value), read: &dyn Fn(&[u8])) {
    read(data);
    if let Some(file) = container(data, mend) {
        read(&file);
    }
}

/// A safetensors file made of pieces; `mend` puts right what would end the reading at once.
pub fn container(data: &[u8], mend: &dyn Fn(&mut Value)) -> Option<Vec<u8>> {
    let (note, rest) = cut(data)?;
    let (tensors, values) = cut(rest)?;
    let note = match serde_json::from_slice::<Value>(note) {
        Ok(mut note) => {
            mend(&mut note);
            note.to_string()
        }
        Err(_) => String::from_utf8_lossy(note).into_owned(),
    };
    let mut header = serde_json::Map::new();
    header.insert("__metadata__".into(), json!({ "fiedler": note }));
    let mut end = 0usize;
    for line in String::from_utf8_lossy(tensors).lines() {
        let mut words = line.split(' ');
        let (Some(name), Some(dtype)) = (words.next(), words.next()) else { continue };
        let shape: Vec<u64> = words.map_while(|size| size.parse().ok()).collect();
        let width = if dtype.ends_with("64") { 8 } else { 4 };
        let bytes = shape.iter().try_fold(width, |bytes: usize, &size| bytes.checked_mul(usize::try_from(size).ok()?));
        let Some(next) = bytes.and_then(|bytes| end.checked_add(bytes)).filter(|&next| next <= MOST) else { continue };
        header.insert(name.into(), json!({ "dtype": dtype, "shape": shape, "data_offsets": [end, next] }));
        end = next;
    }
    let header = Value::Object(header).to_string();
    let mut file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
    match values {
        [] => file.resize(file.len() + end, 0),
        values => file.extend(values.iter().cycle().take(end)),
    }
    Some(file)
}

fn cut(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = data.windows(SEPARATOR.len()).position(|window| window == SEPARATOR)?;
    Some((&data[..at], &data[at + SEPARATOR.len()..]))
}

pub fn put(note: &mut Value, key: &str, value: Value) {
    if let Some(note) = note.as_object_mut() {
        note.insert(key.into(), value);
    }
}

/// Four rings of five nodes, half of them with a chord.
pub fn rings() -> Dataset {
    let ring = |ring: u32| (0..5).map(move |node| (5 * ring + node, 5 * ring + (node + 1) % 5));
    let pairs = (0..4).flat_map(ring).chain([(0, 2), (10, 12)]).collect();
    let (graph, _) = Graph::from_pairs(20, pairs).expect("a graph");
    Dataset::set("rings", GraphSet::from_block_diagonal(graph, vec![5; 4]).expect("a set"))
}

/// The note of a safetensors file that has one.
pub fn note(file: &[u8]) -> Value {
    let length = file.first_chunk().map_or(0, |length| u64::from_le_bytes(*length) as usize);
    let header: Value =
        file.get(8..8 + length).and_then(|header| serde_json::from_slice(header).ok()).unwrap_or_default();
    let note = header["__metadata__"]["fiedler"].as_str().unwrap_or_default();
    serde_json::from_str(note).unwrap_or_default()
}

/// A scheme is written, read again and drawn from.
pub fn scheme(data: &[u8]) {
    each_container(data, &|note| put(note, "fingerprint", json!(rings().graphs.fingerprint())), &read_scheme);
}

fn read_scheme(bytes: &[u8]) {
    let graphs = rings().graphs;
    let Ok(scheme) = Scheme::from_bytes(bytes, &graphs) else { return };
    let written = scheme.to_bytes().expect("a scheme that was read can be written");
    let again = Scheme::from_bytes(&written, &graphs).expect("what was written can be read");
    for view in 0..scheme.views().len().min(4) as u32 {
        for epoch in 0..2 {
            let key = ViewKey::new(1, epoch, view);
            let [one, other] = [&scheme, &again].map(|scheme| scheme.draw(&graphs.whole(), key));
            match (one, other) {
                (Ok(one), Ok(other)) => assert!(one == other, "it is another scheme when it is read again"),
                (one, other) => assert_eq!(one.is_ok(), other.is_ok()),
            }
        }
    }
}
