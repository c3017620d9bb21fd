//! Progress of an evaluation, told to an observer that may stop it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fiedler_graph::{Event, Observer};

use crate::error::{Error, Result};

/// Name of the stage in events.
pub(crate) const STAGE: &str = "evaluation";

/// Counts the steps that are done, and asks the observer whether to go on.
pub(crate) struct Progress<'a> {
    observer: &'a dyn Observer,
    done: AtomicUsize,
    total: usize,
    stopped: AtomicBool,
}

impl<'a> Progress<'a> {
    pub(crate) fn begin(total: usize, observer: &'a dyn Observer) -> Progress<'a> {
        let goes_on = observer.goes_on(&Event::Begin { stage: STAGE, total: Some(total) });
        let progress = Progress { observer, done: AtomicUsize::new(0), total, stopped: AtomicBool::new(!goes_on) };
        progress.tell("", 0);
        progress
    }

    /// One more step is done.
    pub(crate) fn advance(&self, item: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(item, done);
    }

    /// # Errors
    /// When the observer has asked to stop.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// The same, asking once more; for steps that take long.
    pub(crate) fn ask(&self, item: &str) -> Result<()> {
        self.tell(item, self.done.load(Ordering::Relaxed));
        self.go_on()
    }

    /// The stage is over, well or not.
    pub(crate) fn end(&self) {
        // There is nothing left to stop.
        let _ = self.observer.event(&Event::End { stage: STAGE });
    }

    /// A wish to stop that comes when all is done is too late.
    fn tell(&self, item: &str, done: usize) {
        let event = Event::Progress { stage: STAGE, item, done, total: Some(self.total), value: None };
        if !self.observer.goes_on(&event) && done < self.total {
            self.stopped.store(true, Ordering::Relaxed);
        }
    }
}
