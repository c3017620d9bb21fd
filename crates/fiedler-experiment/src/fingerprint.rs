//! Short names for settings and labels that differ wherever these do.

use fiedler_graph::Labels;
use serde::Serialize;

/// Fowler–Noll–Vo, fixed for all time, so that folders are found again.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

/// Of anything that can be written down.
pub fn of(value: &impl Serialize) -> String {
    let mut hash = Hash::new();
    hash.add(serde_json::to_string(value).unwrap_or_default().as_bytes());
    hash.text()
}

/// Of all labels, those that are missing included.
pub fn of_labels(labels: &Labels) -> String {
    let mut hash = Hash::new();
    for item in 0..labels.len() {
        match labels {
            Labels::Classes(classes) => hash.add(&classes.of()[item].map_or(u32::MAX, |class| class).to_le_bytes()),
            Labels::MultiLabel(tasks) => {
                tasks.row(item).iter().for_each(|answer| hash.add(&[answer.map_or(2, u8::from)]));
            }
            Labels::Regression(values) => {
                values.row(item).iter().for_each(|value| hash.add(&value.unwrap_or(f32::NAN).to_le_bytes()));
            }
        }
    }
    hash.text()
}
