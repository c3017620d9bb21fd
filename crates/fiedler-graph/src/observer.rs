//! Watching a long computation, and stopping it.

use std::ops::ControlFlow;

/// What a long computation tells while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A stage begins, such as `reading`, `scheme`, `training`, `embedding` or `evaluation`.
    Begin {
        /// Name of the stage.
        stage: &'a str,
        /// The number of its steps, where it is known.
        total: Option<usize>,
    },
    /// Some steps of the stage are done. The same count may be told again: long steps ask whether to go on.
    Progress {
        /// Name of the stage.
        stage: &'a str,
        /// What is worked on: a view, a dataset, a trial; may be empty.
        item: &'a str,
        /// Steps done.
        done: usize,
        /// The number of steps, where it is known.
        total: Option<usize>,
        /// The loss or objective after these steps.
        value: Option<f64>,
    },
    /// A stage is done.
    End {
        /// Name of the stage.
        stage: &'a str,
    },
    /// Something the user should know.
    Note(&'a str),
}

/// Hears of every [`Event`]; answering [`ControlFlow::Break`] asks the computation to stop at its next opportunity.
///
/// Any closure of that form is an observer:
///
/// ```
/// use std::ops::ControlFlow;
/// use fiedler_graph::{Event, Observer};
///
/// let stop_at_ten = |event: &Event<'_>| match event {
///     Event::Progress { done: 10.., .. } => ControlFlow::Break(()),
///     _ => ControlFlow::Continue(()),
/// };
/// let progress = |done| Event::Progress { stage: "training", item: "", done, total: Some(20), value: None };
/// assert!(stop_at_ten.goes_on(&progress(9)));
/// assert!(!stop_at_ten.goes_on(&progress(10)));
/// ```
pub trait Observer: Sync {
    /// Hears of an event, and says whether to go on.
    fn event(&self, event: &Event<'_>) -> ControlFlow<()>;

    /// Whether to go on after an event.
    fn goes_on(&self, event: &Event<'_>) -> bool {
        self.event(event).is_continue()
    }
}

impl<F: Fn(&Event<'_>) -> ControlFlow<()> + Sync> Observer for F {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// Watches nothing and never stops anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
