//! Reproducible randomness: every use draws from its own named stream.

use rand::SeedableRng;
use rand::seq::index;
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

/// So many of the numbers below `of`, or all where there are not more: drawn without replacement, in ascending order.
///
/// ```
/// use fiedler_graph::random::choose;
/// let drawn = choose(7, "graphs", 100, 10);
/// assert!(drawn.len() == 10 && drawn.is_sorted() && drawn == choose(7, "graphs", 100, 10));
/// assert_eq!(choose(7, "graphs", 3, 10), [0, 1, 2]);
/// ```
pub fn choose(seed: u64, purpose: &str, of: usize, count: usize) -> Vec<u32> {
    if count >= of {
        return (0..of as u32).collect();
    }
    let drawn = index::sample(&mut stream(seed, purpose, 0), of, count);
    let mut drawn: Vec<u32> = drawn.into_iter().map(|item| item as u32).collect();
    drawn.sort_unstable();
    drawn
}
