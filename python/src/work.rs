//! Long work: on the pool, detached from Python, with progress, and stopped by Ctrl-C.
//!
//! Signals and callbacks belong to the thread that called: threads of a pool are never told of Ctrl-C. So that thread waits, looks for
//! signals now and then, and passes on what the work tells of itself. Whatever goes wrong there asks the work to stop.

use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use fiedler_experiment::{Error, Result};
use fiedler_graph::{Event, Observer};
use pyo3::prelude::*;

use crate::{errors, pool};

/// Time between two looks at signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// What is listened to between two looks at signals.
const MOST_AT_ONCE: usize = 10_000;

/// What the work tells the thread that waits.
enum Told<T> {
    Progress {
        stage: String,
        done: usize,
        total: usize,
    },
    Note(String),
    /// The last: what came of it, or nothing where it panicked.
    Done(Option<Result<T>>),
}

/// Passes on what the work tells.
struct Watch<T> {
    stop: Arc<AtomicBool>,
    tell: Sender<Told<T>>,
}

impl<T: Send> Observer for Watch<T> {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        let told = match event {
            Event::Begin { stage, total } => Some((stage, 0, *total)),
            Event::Progress { stage, done, total, .. } => Some((stage, *done, *total)),
            Event::Note(text) => {
                // Nobody is left to hear it where the caller has gone.
                let _ = self.tell.send(Told::Note((*text).to_owned()));
                None
            }
            _ => None,
        };
        if let Some((stage, done, total)) = told {
            let total = total.unwrap_or(0);
            let _ = self.tell.send(Told::Progress { stage: (*stage).to_owned(), done, total });
        }
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Runs work on the pool and waits for it. `progress` is called as `progress(stage, done, total)`, where a total that is not known is 0;
/// what it raises stops the work and is raised here, as Ctrl-C is. A second Ctrl-C does not wait for the work to stop.
pub fn run<T, F>(py: Python<'_>, progress: Option<&Bound<'_, PyAny>>, work: F) -> PyResult<T>
where
    T: Send + 'static,
    F: FnOnce(&dyn Observer) -> Result<T> + Send + 'static,
{
    let (tell, mut hear) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let watch = Watch { stop: Arc::clone(&stop), tell: tell.clone() };
    pool::get(py)?.spawn(move || {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| work(&watch))).ok();
        let _ = tell.send(Told::Done(outcome));
    });
    let mut failure: Option<PyErr> = None;
    loop {
        let heard;
        (hear, heard) = py.detach(move || wait(hear));
        if let Some(outcome) = heard.done {
            return finish(py, outcome, failure);
        }
        let mut told = heard.notes.iter().try_for_each(|note| log(py, note));
        if let (Some((stage, done, total)), Some(progress)) = (&heard.progress, progress) {
            told = told.and_then(|()| progress.call1((stage, done, total)).map(drop));
        }
        if let Err(error) = told.and_then(|()| py.check_signals()) {
            if failure.is_some() {
                return Err(error);
            }
            stop.store(true, Ordering::Relaxed);
            failure = Some(error);
        }
    }
}

/// What was heard since the last time.
struct Heard<T> {
    notes: Vec<String>,
    progress: Option<(String, usize, usize)>,
    done: Option<Option<Result<T>>>,
}

/// Waits a little; of what was told meanwhile only the latest progress matters.
fn wait<T>(hear: Receiver<Told<T>>) -> (Receiver<Told<T>>, Heard<T>) {
    let mut heard = Heard { notes: Vec::new(), progress: None, done: None };
    let mut patience = PATIENCE;
    // Those who tell of much must not keep the caller from looking at signals.
    for _ in 0..MOST_AT_ONCE {
        match hear.recv_timeout(patience) {
            Ok(Told::Progress { stage, done, total }) => heard.progress = Some((stage, done, total)),
            Ok(Told::Note(note)) => heard.notes.push(note),
            Ok(Told::Done(outcome)) => {
                heard.done = Some(outcome);
                break;
            }
            Err(RecvTimeoutError::Disconnected) => {
                heard.done = Some(None);
                break;
            }
            Err(RecvTimeoutError::Timeout) => break,
        }
        patience = Duration::ZERO;
    }
    (hear, heard)
}

fn finish<T>(py: Python<'_>, outcome: Option<Result<T>>, failure: Option<PyErr>) -> PyResult<T> {
    match (failure, outcome) {
        (Some(failure), outcome) => {
            if let Some(Err(Error::Stopped { folder: Some(folder), .. })) = outcome {
                errors::add_note(
                    py,
                    &failure,
                    &format!("the run in {} can be gone on with: make the same call again", folder.display()),
                );
            }
            Err(failure)
        }
        (None, Some(outcome)) => outcome.map_err(|error| errors::raised(py, &error)),
        (None, None) => Err(errors::bug(py)),
    }
}

/// What a user may want to know goes to Python's logger `fiedler`.
fn log(py: Python<'_>, note: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("fiedler",))?;
    logger.call_method1("info", (note,)).map(drop)
}

/// Short work: on the pool, detached from Python, and not to be stopped.
pub fn quickly<T, F>(py: Python<'_>, work: F) -> PyResult<T>
where
    T: Send,
    F: FnOnce() -> Result<T> + Send,
{
    let pool = pool::get(py)?;
    let outcome = py.detach(|| panic::catch_unwind(AssertUnwindSafe(|| pool.install(work))));
    match outcome {
        Ok(outcome) => outcome.map_err(|error| errors::raised(py, &error)),
        Err(_) => Err(errors::bug(py)),
    }
}
