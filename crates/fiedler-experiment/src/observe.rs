//! Progress, notes and interruption, all through [`Observer`].

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use fiedler_graph::{Event, Observer};
use fiedler_learn::WARNING;

use crate::error::{Error, Result};

/// What the experiments say to an observer.
pub(crate) trait Tell {
    /// Something the user should know.
    fn note(&self, text: &str);

    /// Begins a stage that works on `item`; it ends when what is returned is dropped.
    fn stage<'a>(&'a self, stage: &'a str, item: &str) -> Stage<'a>;

    /// Fails where the observer wants to stop.
    fn check(&self, stage: &str, item: &str, done: usize, total: Option<usize>) -> Result<()>;
}

impl Tell for dyn Observer + '_ {
    fn note(&self, text: &str) {
        // A note is no step: whether to stop is asked at the next one.
        let _: ControlFlow<()> = self.event(&Event::Note(text));
    }

    fn stage<'a>(&'a self, stage: &'a str, item: &str) -> Stage<'a> {
        let _: ControlFlow<()> = self.event(&Event::Begin { stage, total: None });
        if !item.is_empty() {
            let _: ControlFlow<()> = self.event(&Event::Progress { stage, item, done: 0, total: None, value: None });
        }
        Stage { observer: self, stage }
    }

    fn check(&self, stage: &str, item: &str, done: usize, total: Option<usize>) -> Result<()> {
        match self.goes_on(&Event::Progress { stage, item, done, total, value: None }) {
            true => Ok(()),
            false => Err(Error::Stopped { message: "stopped".into(), folder: None }),
        }
    }
}

/// Passes everything on, and keeps the warnings, which belong beside the result.
pub(crate) struct KeepWarnings<'a> {
    observer: &'a dyn Observer,
    kept: Mutex<Vec<String>>,
}

impl<'a> KeepWarnings<'a> {
    pub(crate) fn new(observer: &'a dyn Observer) -> KeepWarnings<'a> {
        KeepWarnings { observer, kept: Mutex::default() }
    }

    /// The warnings so far, each once, without the word.
    pub(crate) fn kept(&self) -> Vec<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for KeepWarnings<'_> {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::Note(text) = event
            && let Some(warning) = text.strip_prefix(WARNING)
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if !kept.iter().any(|other| other == warning) {
                kept.push(warning.to_owned());
            }
        }
        self.observer.event(event)
    }
}

/// A stage under way.
pub(crate) struct Stage<'a> {
    observer: &'a (dyn Observer + 'a),
    stage: &'a str,
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _: ControlFlow<()> = self.observer.event(&Event::End { stage: self.stage });
    }
}
