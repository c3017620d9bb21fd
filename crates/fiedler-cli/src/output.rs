//! Where words go: results to standard output, everything else to standard error. Progress is watched here: a bar for people, a line now
//! and then for logs.

use std::io::{ErrorKind as Io, Write};
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fiedler_experiment::{Error, ErrorKind, Result};
use fiedler_graph::{Event, Observer};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::interrupt;

/// Time that a stage has before the first line of a log, and between two lines.
const FIRST_LINE: Duration = Duration::from_secs(3);
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Bars for work of known and of unknown length.
const STEPS: &str = "{msg} {wide_bar} {pos}/{len} {eta}";
const SPINNER: &str = "{spinner} {msg} {elapsed}";

/// The two streams, whether the second is to be used at all, and the stages under way.
#[derive(Debug)]
pub struct Output {
    quiet: bool,
    terminal: bool,
    stages: Mutex<Vec<Stage>>,
}

/// A stage under way.
#[derive(Debug)]
struct Stage {
    name: String,
    /// The first item that is worked on.
    of: String,
    bar: ProgressBar,
    counts: bool,
    started: Instant,
    /// Steps that an earlier run had done.
    before: Option<usize>,
    /// When it last had a line of a log.
    last_line: Option<Instant>,
}

impl Output {
    /// `terminal`: whether a person watches standard error.
    pub fn new(quiet: bool, terminal: bool) -> Output {
        Output { quiet, terminal, stages: Mutex::new(Vec::new()) }
    }

    /// Prints a result. A reader that has gone away, as `head` does, is no failure.
    pub fn result(&self, text: &str) -> Result<()> {
        let mut stdout = anstream::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != Io::BrokenPipe => {
                Err(Error::new(ErrorKind::Output, format!("cannot write to standard output: {error}"), None))
            }
            _ => Ok(()),
        }
    }

    /// Prints a value as one line of JSON.
    pub fn json(&self, value: &impl serde::Serialize) -> Result<()> {
        match serde_json::to_string(value) {
            Ok(json) => self.result(&format!("{json}\n")),
            Err(error) => {
                Err(Error::new(ErrorKind::Unexpected, format!("cannot express the result as JSON: {error}"), None))
            }
        }
    }

    /// Tells the user something beside the result.
    pub fn note(&self, text: &str) {
        if self.quiet {
            return;
        }
        let bar = self.stages().last().map(|stage| stage.bar.clone());
        match bar {
            Some(bar) => bar.suspend(|| anstream::eprintln!("{text}")),
            None => anstream::eprintln!("{text}"),
        }
    }

    /// From now on Ctrl-C stops at the next step.
    pub fn listen(&self) {
        interrupt::listen(self.quiet);
    }

    /// A bar for work of a known length in bytes; invisible where nobody watches.
    pub fn bytes_bar(&self, length: Option<u64>, what: &str) -> ProgressBar {
        match length {
            Some(_) => self.bar(length, what, "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}"),
            None => self.bar(length, what, "{msg} {spinner} {bytes} {bytes_per_sec}"),
        }
    }

    /// A spinner for work of unknown length; invisible where nobody watches.
    pub fn spinner(&self, what: &str) -> ProgressBar {
        self.bar(None, what, SPINNER)
    }

    fn bar(&self, length: Option<u64>, what: &str, template: &str) -> ProgressBar {
        if self.quiet || !self.terminal {
            return ProgressBar::hidden();
        }
        let bar = match length {
            Some(length) => ProgressBar::new(length),
            None => ProgressBar::new_spinner(),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        bar.set_message(what.to_owned());
        bar
    }

    fn stages(&self) -> MutexGuard<'_, Vec<Stage>> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, name: &str) {
        let (now, bar) = (Instant::now(), self.bar(None, name, SPINNER));
        let name = name.to_owned();
        let of = String::new();
        self.stages().push(Stage { name, of, bar, counts: false, started: now, before: None, last_line: None });
    }

    fn end(&self, name: &str) {
        let mut stages = self.stages();
        if let Some(at) = stages.iter().rposition(|stage| stage.name == name) {
            stages.remove(at).bar.finish_and_clear();
        }
    }

    /// Shows how far a stage is; what is to be said beside its bar is given back.
    fn progress(
        &self,
        name: &str,
        item: &str,
        done: usize,
        total: Option<usize>,
        value: Option<f64>,
    ) -> Option<String> {
        let mut stages = self.stages();
        let stage = stages.iter_mut().rev().find(|stage| stage.name == name)?;
        if stage.of.is_empty() {
            stage.of = item.to_owned();
        }
        let Some(total) = total else {
            let words = stage.words(item);
            stage.bar.set_message(words.clone());
            return stage
                .is_time_for_a_line(self.logs())
                .then(|| format!("{words}: {}", in_words(stage.started.elapsed())));
        };
        if !std::mem::replace(&mut stage.counts, true)
            && let Ok(style) = ProgressStyle::with_template(STEPS)
        {
            stage.bar.set_style(style);
        }
        stage.bar.set_length(total as u64);
        stage.bar.set_position(done as u64);
        match value.filter(|_| name == "training") {
            Some(loss) => stage.training(done, total, loss, self.logs()),
            None => {
                let value = match (name, value) {
                    (_, None) => String::new(),
                    ("attack", Some(loss)) => format!(" attack loss {loss:.4},"),
                    (_, Some(norm)) => format!(" {norm:.4} of the norm,"),
                };
                stage.bar.set_message(format!("{}:{value}", stage.words(item)));
                stage.is_time_for_a_line(self.logs()).then(|| stage.line(item, done, total, &value))
            }
        }
    }

    /// Whether lines of a log take the place of bars.
    fn logs(&self) -> bool {
        !self.quiet && !self.terminal
    }
}

impl Stage {
    fn words(&self, item: &str) -> String {
        match self.name.as_str() {
            "reading" => format!("reading {item}"),
            "scheme" if item == self.of => format!("scheme {item}"),
            "scheme" => format!("scheme {}, view {item}", self.of),
            name if item.is_empty() => name.to_owned(),
            _ => item.to_owned(),
        }
    }

    /// A bar with the loss, or a line for a log where it is time for one.
    fn training(&mut self, epoch: usize, epochs: usize, loss: f64, logs: bool) -> Option<String> {
        // The first epoch that is heard of is the first after those of an earlier run.
        let before = *self.before.get_or_insert(epoch.saturating_sub(1));
        let speed = (epoch.saturating_sub(before)) as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        self.bar.set_message(format!("loss {loss:.4}, {speed:.1} epochs a second,"));
        if !self.is_time_for_a_line(logs) {
            return None;
        }
        let left = in_words(Duration::from_secs_f64(epochs.saturating_sub(epoch) as f64 / speed.max(1e-9)));
        Some(format!("epoch {epoch} of {epochs}: loss {loss:.4}, {speed:.1} epochs a second, {left} left"))
    }

    /// Whether a log should hear of the stage now: some time after its start, and now and then.
    fn is_time_for_a_line(&mut self, logs: bool) -> bool {
        let due = match self.last_line {
            Some(last) => last.elapsed() >= BETWEEN_LINES,
            None => self.started.elapsed() >= FIRST_LINE,
        };
        if logs && due {
            self.last_line = Some(Instant::now());
        }
        logs && due
    }

    /// A line of a log on steps that may end before all are done.
    fn line(&self, item: &str, done: usize, total: usize, value: &str) -> String {
        let elapsed = self.started.elapsed();
        let left = elapsed.as_secs_f64() / done.max(1) as f64 * total.saturating_sub(done) as f64;
        let left = match done {
            0 => String::new(),
            _ => format!(", at most {} left", in_words(Duration::from_secs_f64(left))),
        };
        format!("{}:{value} step {done} of at most {total}, {}{left}", self.words(item), in_words(elapsed))
    }
}

/// A time as people say it.
fn in_words(time: Duration) -> HumanDuration {
    HumanDuration(time)
}

impl Observer for Output {
    fn event(&self, event: &Event<'_>) -> ControlFlow<()> {
        match *event {
            Event::Begin { stage, .. } => self.begin(stage),
            Event::End { stage } => self.end(stage),
            Event::Note(text) => self.note(text),
            Event::Progress { stage, item, done, total, value } => {
                if let Some(line) = self.progress(stage, item, done, total, value) {
                    self.note(&line);
                }
            }
            _ => {}
        }
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
