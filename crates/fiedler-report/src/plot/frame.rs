//! What surrounds the data: axes, their ticks and names, and the legend.

use std::fmt::Write;

use super::axis::{Axis, Tick};
use super::label::{shorten, width};
use super::shape::mark;
use crate::markup::{escape, pixels};
use crate::theme::series;

/// Width of a plot, for a column of a page and of a paper.
pub const WIDTH: f64 = 480.0;
/// Height of a plot whose rows are not counted.
pub const HEIGHT: f64 = 300.0;
/// Size of words.
pub const SIZE: f64 = 13.0;
const TICK_SIZE: f64 = 12.0;
const LINE: f64 = 18.0;
const RIGHT: f64 = 14.0;

/// An entry of the legend.
pub struct Entry<'a> {
    pub name: &'a str,
    /// Its color.
    pub series: usize,
    /// Its mark, or else a line.
    pub mark: Option<usize>,
}

/// A drawing that has begun: the surroundings are there, the data are to come.
pub struct Frame {
    svg: String,
    x: Axis,
    y: Axis,
    x_range: (f64, f64),
    y_range: (f64, f64),
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    height: f64,
}

/// What a frame is made from.
pub struct Surroundings<'a> {
    pub x: &'a Axis,
    pub x_range: (f64, f64),
    pub y: &'a Axis,
    pub y_range: (f64, f64),
    pub height: f64,
    /// Room on the left for rows that have names in place of an axis.
    pub rows: Option<f64>,
    /// Whether places have no meaning of their own, so that a border is all there is to draw.
    pub bare: bool,
    /// Room on the right for words beside the data.
    pub beside: f64,
    pub legend: Vec<Entry<'a>>,
}

impl Frame {
    pub fn new(around: Surroundings<'_>) -> Frame {
        let legend = legend(&around.legend);
        let top = 10.0 + legend.1;
        let y_ticks = match around.rows {
            None if !around.bare => around.y.ticks(around.y_range, 5),
            _ => Vec::new(),
        };
        let widest = y_ticks.iter().map(|tick| width(&tick.label, TICK_SIZE)).fold(0.0, f64::max);
        let left = if around.bare { RIGHT } else { around.rows.unwrap_or(widest + SIZE + 22.0) };
        let height = around.height + legend.1;
        let mut frame = Frame {
            svg: String::new(),
            x: around.x.clone(),
            y: around.y.clone(),
            x_range: around.x_range,
            y_range: around.y_range,
            left,
            right: WIDTH - RIGHT - around.beside,
            top,
            bottom: if around.bare { height - 10.0 } else { height - 46.0 },
            height,
        };
        frame.svg.push_str(&legend.0);
        match around.bare {
            true => frame.draw_border(),
            false => {
                frame.draw_y(&y_ticks);
                frame.draw_x();
            }
        }
        frame
    }

    fn draw_border(&mut self) {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        let _ = write!(
            self.svg,
            "<rect class=\"grid\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            pixels(self.left),
            pixels(self.top),
            pixels(width),
            pixels(height)
        );
    }

    fn draw_y(&mut self, ticks: &[Tick]) {
        for tick in ticks {
            let y = self.y(tick.value);
            let _ = write!(
                self.svg,
                "<path class=\"grid\" d=\"M{} {}H{}\"/><text class=\"quiet\" x=\"{}\" y=\"{}\" font-size=\"{TICK_SIZE}\" \
                 text-anchor=\"end\">{}</text>",
                pixels(self.left),
                pixels(y),
                pixels(self.right),
                pixels(self.left - 6.0),
                pixels(y + 4.0),
                escape(&tick.label)
            );
        }
        if !self.y.title.is_empty() {
            let (x, y) = (SIZE, (self.top + self.bottom) / 2.0);
            let title = shorten(&self.y.title, SIZE, self.bottom - self.top + 30.0);
            let _ = write!(
                self.svg,
                "<text class=\"text\" font-size=\"{SIZE}\" text-anchor=\"middle\" transform=\"translate({} {}) rotate(-90)\">{}</text>",
                pixels(x),
                pixels(y),
                escape(&title)
            );
        }
    }

    fn draw_x(&mut self) {
        let ticks = fitting(self.x.ticks(self.x_range, 6), |value| self.x(value));
        let _ = write!(
            self.svg,
            "<path class=\"axis\" d=\"M{} {}H{}",
            pixels(self.left),
            pixels(self.bottom),
            pixels(self.right)
        );
        for tick in &ticks {
            let _ = write!(self.svg, "M{} {}v4", pixels(self.x(tick.value)), pixels(self.bottom));
        }
        self.svg.push_str("\"/>");
        for tick in &ticks {
            // Words at the ends stay inside the picture.
            let half = width(&tick.label, TICK_SIZE) / 2.0;
            let x = self.x(tick.value).clamp(half + 1.0, WIDTH - half - 1.0);
            let _ = write!(
                self.svg,
                "<text class=\"quiet\" x=\"{}\" y=\"{}\" font-size=\"{TICK_SIZE}\" text-anchor=\"middle\">{}</text>",
                pixels(x),
                pixels(self.bottom + 17.0),
                escape(&tick.label)
            );
        }
        let title = shorten(&self.x.title, SIZE, WIDTH - 20.0);
        let half = width(&title, SIZE) / 2.0;
        let middle = ((self.left + self.right) / 2.0).clamp(half + 4.0, (WIDTH - half - 4.0).max(half + 4.0));
        let _ = write!(
            self.svg,
            "<text class=\"text\" x=\"{}\" y=\"{}\" font-size=\"{SIZE}\" text-anchor=\"middle\">{}</text>",
            pixels(middle),
            pixels(self.height - 8.0),
            escape(&title)
        );
    }

    /// Where a value lies from left to right.
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.x.share(value, self.x_range).clamp(-0.02, 1.02) * (self.right - self.left)
    }

    /// Where a value lies from top to bottom.
    pub fn y(&self, value: f64) -> f64 {
        self.bottom - self.y.share(value, self.y_range).clamp(-0.02, 1.02) * (self.bottom - self.top)
    }

    /// The edges of the data's room: left, right, top, bottom.
    pub fn room(&self) -> (f64, f64, f64, f64) {
        (self.left, self.right, self.top, self.bottom)
    }

    /// Adds something.
    pub fn push(&mut self, svg: &str) {
        self.svg.push_str(svg);
    }

    /// Adds words; `anchor` is `start`, `middle` or `end`.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: &str, words: &str) {
        let _ = write!(
            self.svg,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" font-size=\"{TICK_SIZE}\" text-anchor=\"{anchor}\">{}</text>",
            pixels(x),
            pixels(y),
            escape(words)
        );
    }

    /// The whole picture.
    pub fn finish(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\">{}</svg>",
            pixels(WIDTH),
            pixels(self.height),
            self.svg
        )
    }
}

/// As many ticks as have room side by side.
fn fitting(ticks: Vec<Tick>, x: impl Fn(f64) -> f64) -> Vec<Tick> {
    let mut every = 1;
    loop {
        let kept: Vec<Tick> = ticks.iter().step_by(every).cloned().collect();
        let overlap = kept.windows(2).any(|pair| {
            let gap = x(pair[1].value) - x(pair[0].value);
            gap < (width(&pair[0].label, TICK_SIZE) + width(&pair[1].label, TICK_SIZE)) / 2.0 + 6.0
        });
        if !overlap || kept.len() <= 2 {
            return kept;
        }
        every += 1;
    }
}

/// The legend in as many lines as it needs, and its height.
fn legend(entries: &[Entry<'_>]) -> (String, f64) {
    if entries.is_empty() {
        return (String::new(), 0.0);
    }
    let (mut svg, mut x, mut y) = (String::new(), 6.0, 14.0);
    for entry in entries {
        let name = shorten(entry.name, TICK_SIZE, WIDTH - 50.0);
        let length = 24.0 + width(&name, TICK_SIZE) + 14.0;
        if x + length > WIDTH && x > 6.0 {
            (x, y) = (6.0, y + LINE);
        }
        let class = series(entry.series);
        let sign = match entry.mark {
            Some(shape) => mark(shape, (x + 8.0, y), 4.5, &format!("class=\"{class} fill\""), ""),
            None => {
                format!("<path class=\"{class} line\" stroke-width=\"2.5\" d=\"M{} {}h16\"/>", pixels(x), pixels(y))
            }
        };
        let _ = write!(
            svg,
            "{sign}<text class=\"text\" x=\"{}\" y=\"{}\" font-size=\"{TICK_SIZE}\">{}</text>",
            pixels(x + 21.0),
            pixels(y + 4.0),
            escape(&name)
        );
        x += length;
    }
    (svg, y + 8.0)
}
