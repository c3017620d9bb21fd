//! Rows of measured values with their deviations, one below the other.

use std::fmt::Write;

use super::axis::Axis;
use super::frame::{Entry, Frame, Surroundings};
use super::label::{width, wrap};
use super::shape::mark;
use crate::markup::pixels;
use crate::number::{figure, mean_and_deviation};
use crate::theme::series;

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dot {
    /// The value, or the mean of several.
    pub mean: f64,
    /// How far it may be off.
    pub deviation: Option<f64>,
}

/// A row with a value for each kind, where there is one.
#[derive(Debug, Clone, PartialEq)]
pub struct DotRow {
    /// What is measured.
    pub name: String,
    /// In the order of the kinds.
    pub dots: Vec<Option<Dot>>,
}

/// Rows of values, of one kind or of several such as ours and a paper's.
#[derive(Debug, Clone, PartialEq)]
pub struct Dots {
    /// What is measured, with its unit.
    pub x: Axis,
    /// The kinds.
    pub kinds: Vec<String>,
    /// The rows.
    pub rows: Vec<DotRow>,
}

const ROW: f64 = 34.0;
const NAME_ROOM: f64 = 150.0;
const SIZE: f64 = 12.0;

impl Dots {
    /// The picture.
    pub fn draw(&self) -> String {
        let dots = || self.rows.iter().flat_map(|row| row.dots.iter().flatten()).filter(|dot| dot.mean.is_finite());
        let spans = dots().flat_map(|dot| {
            let deviation = dot.deviation.unwrap_or(0.0);
            [dot.mean - deviation, dot.mean + deviation]
        });
        let names: Vec<Vec<String>> = self.rows.iter().map(|row| wrap(&row.name, SIZE, NAME_ROOM, 2)).collect();
        let widest = names.iter().flatten().map(|line| width(line, SIZE)).fold(30.0, f64::max);
        let beside = self.rows.iter().map(|row| width(&self.beside(row), SIZE)).fold(0.0, f64::max);
        let rows = Axis::linear("");
        let several = self.kinds.iter().enumerate().filter(|_| self.kinds.len() > 1);
        let mut frame = Frame::new(Surroundings {
            x: &self.x,
            x_range: self.x.range(spans, 0.06),
            y: &rows,
            y_range: (0.0, 1.0),
            height: ROW * self.rows.len() as f64 + 66.0,
            rows: Some(widest + 14.0),
            bare: false,
            beside: beside + 8.0,
            legend: several.map(|(kind, name)| Entry { name, series: kind, mark: Some(kind) }).collect(),
        });
        let (left, right, top, _) = frame.room();
        for (at, (row, name)) in self.rows.iter().zip(&names).enumerate() {
            let y = top + ROW * (at as f64 + 0.5) + 2.0;
            frame.push(&format!("<path class=\"grid\" d=\"M{} {}H{}\"/>", pixels(left), pixels(y), pixels(right)));
            for (line, words) in name.iter().enumerate() {
                let shift = 14.0 * (line as f64 - (name.len() as f64 - 1.0) / 2.0);
                frame.text("text", left - 8.0, y + 4.0 + shift, "end", words);
            }
            frame.text("quiet", right + 8.0, y + 4.0, "start", &self.beside(row));
            for (kind, dot) in row.dots.iter().enumerate() {
                if let Some(dot) = dot.filter(|dot| dot.mean.is_finite()) {
                    let shift = 9.0 * (kind as f64 - (self.kinds.len() as f64 - 1.0) / 2.0);
                    self.draw_dot(&mut frame, row, kind, &dot, y + shift);
                }
            }
        }
        frame.finish()
    }

    /// The first kind's value, written out.
    fn beside(&self, row: &DotRow) -> String {
        match row.dots.first().copied().flatten() {
            Some(dot) if dot.mean.is_finite() => mean_and_deviation(dot.mean, dot.deviation),
            _ => String::new(),
        }
    }

    fn draw_dot(&self, frame: &mut Frame, row: &DotRow, kind: usize, dot: &Dot, y: f64) {
        let class = series(kind);
        let mut svg = String::new();
        if let Some(deviation) = dot.deviation.filter(|deviation| *deviation > 0.0) {
            let (low, high) = (frame.x(dot.mean - deviation), frame.x(dot.mean + deviation));
            let _ = write!(
                svg,
                "<path class=\"{class} line\" stroke-width=\"1.5\" d=\"M{low} {y}H{high}M{low} {up}v6M{high} {up}v6\"/>",
                low = pixels(low),
                high = pixels(high),
                y = pixels(y),
                up = pixels(y - 3.0)
            );
        }
        let of = match self.kinds.get(kind) {
            Some(kind) if self.kinds.len() > 1 => format!(", {kind}"),
            _ => String::new(),
        };
        let deviation = dot.deviation.map_or(String::new(), |deviation| format!(" ± {}", figure(deviation)));
        let words = format!("{}{of}: {}{deviation}", row.name, figure(dot.mean));
        let attributes = format!("class=\"mark {class} fill\" data-x=\"{}\"", dot.mean);
        svg.push_str(&mark(kind, (frame.x(dot.mean), y), 5.0, &attributes, &words));
        frame.push(&svg);
    }
}
