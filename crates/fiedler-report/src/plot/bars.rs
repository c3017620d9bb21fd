//! Named amounts, one below the other.

use super::axis::Axis;
use super::frame::{Frame, Surroundings};
use super::label::{shorten, width};
use crate::markup::{escape, pixels};
use crate::theme::series;

/// A named amount.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// What it is of.
    pub name: String,
    /// How much.
    pub value: f64,
    /// How far it may be off.
    pub deviation: Option<f64>,
    /// How that is written.
    pub label: String,
    /// Whether it is the one that the picture is about.
    pub marked: bool,
}

/// Bars that begin at zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Bars {
    /// What is measured, with its unit.
    pub x: Axis,
    /// The bars.
    pub bars: Vec<Bar>,
}

const ROW: f64 = 24.0;
const NAME_ROOM: f64 = 150.0;
const SIZE: f64 = 12.0;

impl Bars {
    /// The picture.
    pub fn draw(&self) -> String {
        let names: Vec<String> = self.bars.iter().map(|bar| shorten(&bar.name, SIZE, NAME_ROOM)).collect();
        let widest = names.iter().map(|name| width(name, SIZE)).fold(20.0, f64::max);
        let beside = self.bars.iter().map(|bar| width(&bar.label, SIZE)).fold(0.0, f64::max);
        let ends = self.bars.iter().map(|bar| bar.value + bar.deviation.unwrap_or(0.0));
        let most = ends.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let rows = Axis::linear("");
        let mut frame = Frame::new(Surroundings {
            x: &self.x,
            x_range: (0.0, if most > 0.0 { most } else { 1.0 }),
            y: &rows,
            y_range: (0.0, 1.0),
            height: ROW * self.bars.len() as f64 + 62.0,
            rows: Some(widest + 14.0),
            bare: false,
            beside: beside + 8.0,
            legend: Vec::new(),
        });
        let (left, _, top, _) = frame.room();
        for (at, (bar, name)) in self.bars.iter().zip(&names).enumerate() {
            let y = top + ROW * at as f64 + 4.0;
            let end = if bar.value.is_finite() { frame.x(bar.value.max(0.0)) } else { left };
            frame.text("text", left - 8.0, y + 12.0, "end", name);
            if bar.value.is_finite() {
                frame.push(&format!(
                "<rect class=\"mark {} fill\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" data-x=\"{}\"><title>{}</title></rect>",
                series(usize::from(bar.marked)),
                pixels(left),
                pixels(y),
                pixels((end - left).max(0.5)),
                pixels(ROW - 8.0),
                bar.value,
                escape(&format!("{}: {}", bar.name, bar.label))
            ));
            }
            let deviation = bar.deviation.filter(|deviation| bar.value.is_finite() && *deviation > 0.0);
            let reach = deviation.map_or(end, |deviation| {
                let (low, high) = (frame.x((bar.value - deviation).max(0.0)), frame.x(bar.value + deviation));
                let middle = y + (ROW - 8.0) / 2.0;
                frame.push(&format!(
                    "<path class=\"axis\" stroke-width=\"1.5\" d=\"M{low} {middle}H{high}M{low} {up}v6M{high} {up}v6\"/>",
                    low = pixels(low),
                    high = pixels(high),
                    middle = pixels(middle),
                    up = pixels(middle - 3.0)
                ));
                high
            });
            frame.text("quiet", reach + 6.0, y + 12.0, "start", &bar.label);
        }
        frame.finish()
    }
}
