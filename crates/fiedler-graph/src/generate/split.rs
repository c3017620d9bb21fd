//! The split that comes with generated classes.

use rand::seq::SliceRandom;

use crate::random::stream;
use crate::split::Split;

/// Nodes of each class to learn from, as in the citation networks' public split.
const TRAIN_PER_CLASS: usize = 20;

/// Twenty nodes of each class to learn from (of a small class a half), a quarter of the rest to choose on, the others to test.
pub(super) fn public_split(class_of: &[u32], classes: usize, seed: u64) -> Split {
    let mut members = vec![Vec::new(); classes];
    for (node, &class) in class_of.iter().enumerate() {
        members[class as usize].push(node as u32);
    }
    let mut random = stream(seed, "split", 0);
    let mut split = Split { name: "public".into(), ..Default::default() };
    let mut rest = Vec::new();
    for mut class in members {
        class.shuffle(&mut random);
        let (train, others) = class.split_at(TRAIN_PER_CLASS.min(class.len() / 2));
        split.train.extend(train);
        rest.extend(others);
    }
    rest.shuffle(&mut random);
    split.test = rest.split_off(rest.len() / 4);
    split.validation = rest;
    for part in [&mut split.train, &mut split.validation, &mut split.test] {
        part.sort_unstable();
    }
    split
}
