//! How far an evaluation has come, and whether it should go on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// How far an evaluation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Parts that are done: splits or, where a split takes long, the settings tried on it.
    pub done: usize,
    /// Parts there are.
    pub of: usize,
}

/// Counts what is done, and asks whoever watches whether to go on.
pub(super) struct Progress<'a> {
    watch: &'a (dyn Fn(Stage) -> bool + Sync),
    done: AtomicUsize,
    of: usize,
    stopped: AtomicBool,
}

impl<'a> Progress<'a> {
    pub(super) fn new(of: usize, watch: &'a (dyn Fn(Stage) -> bool + Sync)) -> Progress<'a> {
        let stopped = AtomicBool::new(!watch(Stage { done: 0, of }));
        Progress { watch, done: AtomicUsize::new(0), of, stopped }
    }

    /// One more part is done.
    pub(super) fn advance(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(done);
    }

    /// # Errors
    /// When whoever watches wants to stop.
    pub(super) fn go_on(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// The same, asking once more; for work between parts that takes long.
    pub(super) fn ask(&self) -> Result<()> {
        self.tell(self.done.load(Ordering::Relaxed));
        self.go_on()
    }

    /// A wish to stop that comes when all is done is too late.
    fn tell(&self, done: usize) {
        if !(self.watch)(Stage { done, of: self.of }) && done < self.of {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}
