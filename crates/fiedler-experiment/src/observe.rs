//! Progress, notes and interruption, all through [`Observer`].
//!
//! `fiedler-augment`, `fiedler-learn` and `fiedler-evaluate` still have callbacks of their own; the adapters at the end of this file go
//! when they take an observer themselves.

use std::ops::ControlFlow;

use fiedler_graph::{Event, Observer};

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
        Stage { observer: Bridge(self), stage }
    }

    fn check(&self, stage: &str, item: &str, done: usize, total: Option<usize>) -> Result<()> {
        match self.goes_on(&Event::Progress { stage, item, done, total, value: None }) {
            true => Ok(()),
            false => Err(Error::Stopped { message: "stopped".into(), folder: None }),
        }
    }
}

/// A stage under way.
pub(crate) struct Stage<'a> {
    observer: Bridge<'a>,
    stage: &'a str,
}

struct Bridge<'a>(&'a (dyn Observer + 'a));

impl Stage<'_> {
    /// Tells how far it is; false where the observer wants to stop.
    fn goes_on(&self, item: &str, done: usize, total: usize, value: Option<f64>) -> bool {
        let stage = self.stage;
        self.observer.0.goes_on(&Event::Progress { stage, item, done, total: Some(total), value })
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let _: ControlFlow<()> = self.observer.0.event(&Event::End { stage: self.stage });
    }
}

/// For [`fiedler_augment::Settings::compute`].
pub(crate) fn of_scheme<'a>(stage: &'a Stage<'_>) -> impl Fn(&fiedler_augment::scheme::Stage<'_>) -> bool + Sync + 'a {
    |at| stage.goes_on(at.view, at.done, at.of, at.relative_norm)
}

/// For [`fiedler_learn::run::Run::watch`].
pub(crate) fn of_training<'a>(stage: &'a Stage<'_>) -> impl Fn(&fiedler_learn::trainer::Progress) -> bool + 'a {
    |at| stage.goes_on("", at.epoch, at.epochs, Some(at.loss.into()))
}

/// For [`fiedler_evaluate::evaluate()`].
pub(crate) fn of_evaluation<'a>(stage: &'a Stage<'_>) -> impl Fn(fiedler_evaluate::Stage) -> bool + Sync + 'a {
    |at| stage.goes_on("", at.done, at.of, None)
}
