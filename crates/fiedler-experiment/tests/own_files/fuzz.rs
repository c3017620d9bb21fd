//! What fuzzing found once, and what it starts from.

#[path = "../../../../fuzz/src/models.rs"]
pub mod models;
#[path = "../../../../fuzz/src/own_files.rs"]
pub mod own_files;

use std::fs;
use std::path::Path;

use fiedler_graph::random::stream;
use rand::RngExt;
use serde_json::Value;

use super::{entries, fixtures};

/// All targets of files of our own.
fn targets() -> impl Iterator<Item = &'static str> {
    models::TARGETS.iter().copied().chain(["scheme"])
}

fn run(target: &str, data: &[u8]) {
    if target == "scheme" { own_files::scheme(data) } else { models::run(target, data) }
}

#[test]
fn what_was_found_is_read_without_harm() {
    for folder in ["fuzz", "own"] {
        for target in targets() {
            for input in entries(&fixtures(folder).join(target)) {
                run(target, &fs::read(&input).unwrap());
            }
        }
    }
}

/// Changes of the seeds that need no fuzzer: nothing guides them, but they are made with every run of the tests.
/// `FIEDLER_MUTATIONS` says how many of each seed.
#[test]
fn changed_files_are_read_without_harm() {
    let count = std::env::var("FIEDLER_MUTATIONS").map_or(40, |count| count.parse().unwrap());
    let words = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/dictionary")).unwrap();
    let words: Vec<Vec<u8>> =
        words.lines().filter_map(|line| serde_json::from_str::<String>(line).ok()).map(String::into_bytes).collect();
    assert!(words.len() > 40, "{}", words.len());
    for target in targets() {
        let mut seeds: Vec<Vec<u8>> =
            entries(&fixtures("own").join(target)).iter().map(|path| fs::read(path).unwrap()).collect();
        if target == "recipe" {
            let files = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes"));
            seeds.extend(files.iter().filter(|path| path.is_file()).step_by(4).map(|path| fs::read(path).unwrap()));
        }
        if ["encoder", "scheme", "checkpoint"].contains(&target) {
            seeds.extend(seeds.clone().iter().map(|file| pieces(file)));
        }
        assert!(!seeds.is_empty(), "{target} has no seeds");
        for (at, seed) in seeds.iter().enumerate() {
            for mutation in 0..count {
                let mut random = stream(at as u64, target, mutation);
                let mut input = seed.clone();
                for _ in 0..random.random_range(1..4) {
                    mutate(&mut input, &words, &mut random);
                }
                run(target, &input);
            }
        }
    }
}

fn mutate(input: &mut Vec<u8>, words: &[Vec<u8>], random: &mut impl RngExt) {
    let place = random.random_range(0..=input.len());
    let end = (place + random.random_range(0..12)).min(input.len());
    let numbers: [&[u8]; 6] = [b"0", b"-1", b"1e9", b"18446744073709551615", b"4611686018427387904", b"null"];
    match random.random_range(0..7) {
        0 if place < input.len() => input[place] ^= 1 << random.random_range(0..8),
        1 if place < input.len() => input[place] = random.random(),
        2 => drop(input.drain(place..end)),
        3 => drop(input.splice(place..place, words[random.random_range(0..words.len())].iter().copied())),
        4 => {
            let piece = input[place..end].to_vec();
            input.splice(place..place, piece);
        }
        // Numbers, which files of ours are full of, become others.
        5 | 6 => {
            let Some(from) = (place..input.len()).find(|&at| input[at].is_ascii_digit()) else { return };
            let to = (from..input.len()).find(|&at| !input[at].is_ascii_digit()).unwrap_or(input.len());
            input.splice(from..to, numbers[random.random_range(0..numbers.len())].iter().copied());
        }
        _ => input.truncate(place),
    }
}

#[test]
fn a_file_of_pieces_is_read_as_the_file_itself() {
    // The seeds of the fuzzer are made of these files; if the pieces did not make up a file, everything behind would be out of reach.
    for target in ["encoder", "scheme", "checkpoint"] {
        let files = entries(&fixtures("own").join(target));
        assert!(!files.is_empty(), "{target} has no seeds");
        for path in files {
            let file = fs::read(path).unwrap();
            let made = own_files::container(&pieces(&file), &|_| {}).unwrap();
            let [one, other] = [&file, &made].map(|file| own_files::note(file));
            assert!(one.is_object() && one == other);
            let [one, other] = [&file, &made].map(|file| tensors(file));
            assert_eq!(one, other);
        }
    }
}

/// Names, shapes and values of a safetensors file, by names.
fn tensors(file: &[u8]) -> Vec<(String, Value, Vec<u8>)> {
    let length = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let tensors = header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__");
    let bytes = |tensor: &Value| {
        let [from, to] = [0, 1].map(|at| 8 + length + tensor["data_offsets"][at].as_u64().unwrap() as usize);
        file[from..to].to_vec()
    };
    tensors.map(|(name, tensor)| (name.clone(), tensor["shape"].clone(), bytes(tensor))).collect()
}

/// A safetensors file as `fuzz/seeds.py` cuts it.
fn pieces(file: &[u8]) -> Vec<u8> {
    let (note, tensors, data) = cut(file);
    [note.as_bytes(), tensors.join("\n").as_bytes(), &data].join(own_files::SEPARATOR)
}

/// The note of a safetensors file, a line for each tensor, and their values.
pub fn cut(file: &[u8]) -> (String, Vec<String>, Vec<u8>) {
    let length = u64::from_le_bytes(*file.first_chunk().unwrap()) as usize;
    let header: Value = serde_json::from_slice(&file[8..8 + length]).unwrap();
    let note = header["__metadata__"]["fiedler"].as_str().unwrap().to_owned();
    let mut tensors: Vec<_> = header.as_object().unwrap().iter().filter(|(name, _)| *name != "__metadata__").collect();
    tensors.sort_by_key(|(_, tensor)| [0, 1].map(|at| tensor["data_offsets"][at].as_u64()));
    let line = |(name, tensor): &(&String, &Value)| {
        let sizes = tensor["shape"].as_array().unwrap().iter().map(|size| format!(" {size}")).collect::<String>();
        format!("{name} {}{sizes}", tensor["dtype"].as_str().unwrap())
    };
    (note, tensors.iter().map(line).collect(), file[8 + length..].to_vec())
}
