//! How many of something lie where.

use std::fmt::Write;

use super::axis::{Axis, Scale};
use super::frame::{Entry, Frame, HEIGHT, Surroundings};
use crate::markup::{escape, pixels};
use crate::number::figure;
use crate::theme::series;

/// A part of the axis and how many lie in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How many lie in it.
    pub count: f64,
}

/// A distribution with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// For the legend.
    pub name: String,
    /// One beside the other.
    pub bins: Vec<Bin>,
}

/// One distribution as bars, or several as outlines over each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// What is counted.
    pub x: Axis,
    /// How many there are.
    pub y: Axis,
    /// The distributions.
    pub outlines: Vec<Outline>,
}

impl Histogram {
    /// The picture.
    pub fn draw(&self) -> String {
        let bins = || self.outlines.iter().flat_map(|outline| &outline.bins);
        let counts = bins().map(|bin| bin.count).filter(|&count| count > 0.0);
        let y = match self.y.scale {
            Scale::Linear => self.y.clone().including([0.0]),
            // A single one must be seen too.
            Scale::Logarithmic => self.y.clone().including([0.7]),
        };
        let legend = self.outlines.iter().enumerate().filter(|_| self.outlines.len() > 1);
        let mut frame = Frame::new(Surroundings {
            x: &self.x,
            x_range: exact_range(&self.x, bins().flat_map(|bin| [bin.from, bin.to])),
            y: &y,
            y_range: y.range(counts, 0.0),
            height: HEIGHT,
            rows: None,
            bare: false,
            beside: 0.0,
            legend: legend.map(|(number, outline)| Entry { name: &outline.name, series: number, mark: None }).collect(),
        });
        for (number, outline) in self.outlines.iter().enumerate() {
            self.draw_outline(&mut frame, number, outline);
        }
        frame.finish()
    }

    fn draw_outline(&self, frame: &mut Frame, number: usize, outline: &Outline) {
        let class = series(number);
        let (_, _, _, bottom) = frame.room();
        let alone = self.outlines.len() == 1;
        let mut path = String::new();
        for bin in outline.bins.iter().filter(|bin| bin.count.is_finite()) {
            let (left, right) = (frame.x(bin.from), frame.x(bin.to));
            let top = if bin.count > 0.0 { frame.y(bin.count).min(bottom) } else { bottom };
            let begin = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{begin}{} {}H{}", pixels(left), pixels(top), pixels(right));
            if bin.count > 0.0 {
                let gap = if alone && right - left > 3.0 { 0.5 } else { 0.0 };
                let opacity = if alone { "" } else { " fill-opacity=\"0\"" };
                // What is asked for lies under the pointer, however low the bar is.
                let high = if alone { top } else { top - 8.0 };
                frame.push(&format!(
                    "<rect class=\"mark {class} fill\"{opacity} x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" data-y=\"{}\"><title>{}</title></rect>",
                    pixels(left + gap),
                    pixels(high),
                    pixels((right - left - 2.0 * gap).max(0.5)),
                    pixels((bottom - high).max(0.5)),
                    bin.count,
                    escape(&self.words(outline, bin))
                ));
            }
        }
        if !alone {
            frame.push(&format!(
                "<path class=\"{class} line\" stroke-width=\"2\" pointer-events=\"none\" d=\"{path}\"/>"
            ));
        }
    }

    fn words(&self, outline: &Outline, bin: &Bin) -> String {
        let name = if self.outlines.len() > 1 { format!("{}, ", outline.name) } else { String::new() };
        let count = if bin.count.fract() == 0.0 { format!("{}", bin.count) } else { figure(bin.count) };
        let place = match (self.x.whole, bin.from.ceil(), bin.to.ceil() - 1.0) {
            (true, first, last) if first >= last => format!("{first}"),
            (true, first, last) => format!("{first} to {last}"),
            (false, ..) => format!("{} to {}", figure(bin.from), figure(bin.to)),
        };
        format!("{name}{} {place}: {count}", self.x.title)
    }
}

/// Bars begin and end where the axis does.
fn exact_range(axis: &Axis, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = axis.range(values, 0.0);
    match axis.scale {
        Scale::Linear => (low, high),
        Scale::Logarithmic => (low * 1.05, high / 1.05),
    }
}
