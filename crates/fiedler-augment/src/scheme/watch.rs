//! Telling how far a computation is, and being told to stop.

/// Hears of progress; returning false stops the computation.
pub type Watch<'a> = &'a (dyn Fn(&Stage<'_>) -> bool + Sync);

/// How far a computation is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage<'a> {
    /// The view at work.
    pub view: &'a str,
    /// What is counted: steps of one graph, or graphs of a set.
    pub unit: &'static str,
    /// How many are done.
    pub done: usize,
    /// How many there are.
    pub of: usize,
    /// What is optimized, relative to the norm of the original spectrum; of one graph only.
    pub relative_norm: Option<f64>,
}

/// Watches nothing.
pub fn unwatched(_: &Stage<'_>) -> bool {
    true
}
