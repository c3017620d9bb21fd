//! Training as it is watched: a bar for people, a line now and then for logs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use fiedler_learn::trainer::Progress;
use indicatif::{HumanDuration, ProgressBar};

use crate::program::output::Output;

/// Time between two lines of a log.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows how far training is.
pub struct Display<'a> {
    output: &'a Output,
    bar: ProgressBar,
    started: Instant,
    /// Epochs that an earlier run had done.
    before: Cell<Option<usize>>,
    last_line: Cell<Instant>,
}

impl<'a> Display<'a> {
    pub fn new(output: &'a Output) -> Display<'a> {
        let now = Instant::now();
        let bar = output.steps_bar("training");
        Display { output, bar, started: now, before: Cell::new(None), last_line: Cell::new(now) }
    }

    pub fn show(&self, progress: &Progress) {
        let Progress { epoch, epochs, loss } = *progress;
        // The first epoch that is heard of is the first after those of an earlier run.
        let before = self.before.get().unwrap_or(epoch - 1);
        self.before.set(Some(before));
        let speed = (epoch - before) as f64 / self.started.elapsed().as_secs_f64().max(1e-9);
        self.bar.set_length(epochs as u64);
        self.bar.set_position(epoch as u64);
        self.bar.set_message(format!("loss {loss:.4}, {speed:.1} epochs a second,"));
        if !self.output.is_watched() && self.last_line.get().elapsed() >= BETWEEN_LINES {
            let left = Duration::from_secs_f64((epochs - epoch) as f64 / speed);
            let left = HumanDuration(left);
            self.output
                .note(&format!("epoch {epoch} of {epochs}: loss {loss:.4}, {speed:.1} epochs a second, {left} left"));
            self.last_line.set(Instant::now());
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
