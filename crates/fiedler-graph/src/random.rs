//! Reproducible randomness: every use draws from its own named stream.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::fingerprint::Fnv;

/// A generator that depends only on the seed, the purpose it serves and an index, never on what else has been drawn.
///
/// ```
/// use fiedler_graph::random::stream;
/// use rand::RngExt;
/// let draw = |purpose, index| stream(7, purpose, index).random::<u64>();
/// assert_eq!(draw("edges", 0), draw("edges", 0));
/// assert_ne!(draw("edges", 0), draw("edges", 1));
/// assert_ne!(draw("edges", 0), draw("features", 0));
/// ```
pub fn stream(seed: u64, purpose: &str, index: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&index.to_le_bytes());
    key[16..24].copy_from_slice(&Fnv::of(purpose.as_bytes()).finish().to_le_bytes());
    ChaCha8Rng::from_seed(key)
}
