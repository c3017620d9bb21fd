//! Lines through points, with deviations where there are any.

use std::fmt::Write;

use super::axis::Axis;
use super::frame::{Entry, Frame, HEIGHT, Surroundings};
use super::shape::mark;
use crate::markup::pixels;
use crate::number::figure;
use crate::theme::series;

/// A point of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// How far it may be off, up and down.
    pub deviation: Option<f64>,
}

impl Point {
    /// A point that is known exactly.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, deviation: None }
    }
}

/// A line with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// For the legend.
    pub name: String,
    /// In their order.
    pub points: Vec<Point>,
}

/// A level to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// What it is.
    pub name: String,
    /// Where it lies.
    pub y: f64,
}

/// Several lines in one picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub lines: Vec<Line>,
    /// Levels to compare with.
    pub baselines: Vec<Baseline>,
}

/// Points of a line that are drawn at most; more can't be seen.
const MOST_POINTS: usize = 480;
/// Points of a line that can be pointed at, at most.
const MOST_TARGETS: usize = 60;
/// A line of at most so many points shows each as a mark.
const MARKED: usize = 24;

impl Lines {
    /// A picture without lines yet.
    pub fn new(x: Axis, y: Axis) -> Lines {
        Lines { x, y, lines: Vec::new(), baselines: Vec::new() }
    }

    /// The picture.
    pub fn draw(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let spans = points().flat_map(|point| {
            let deviation = point.deviation.unwrap_or(0.0);
            [point.y - deviation, point.y + deviation]
        });
        let legend = self.lines.iter().enumerate().filter(|_| self.lines.len() > 1);
        let mut frame = Frame::new(Surroundings {
            x: &self.x,
            x_range: self.x.range(points().map(|point| point.x), 0.0),
            y: &self.y,
            y_range: self.y.range(spans.chain(self.baselines.iter().map(|baseline| baseline.y)), 0.06),
            height: HEIGHT,
            rows: None,
            bare: false,
            beside: 0.0,
            legend: legend
                .map(|(number, line)| Entry {
                    name: &line.name,
                    series: number,
                    mark: line.is_marked().then_some(number),
                })
                .collect(),
        });
        for baseline in &self.baselines {
            draw_baseline(&mut frame, baseline);
        }
        for (number, line) in self.lines.iter().enumerate() {
            self.draw_line(&mut frame, number, line);
        }
        frame.finish()
    }

    fn draw_line(&self, frame: &mut Frame, number: usize, line: &Line) {
        let class = series(number);
        let points: Vec<&Point> =
            line.points.iter().filter(|point| point.x.is_finite() && point.y.is_finite()).collect();
        let mut path = String::new();
        for point in thinned(&points, MOST_POINTS) {
            let letter = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{} {}", pixels(frame.x(point.x)), pixels(frame.y(point.y)));
        }
        frame
            .push(&format!("<path class=\"{class} line\" stroke-width=\"2\" stroke-linejoin=\"round\" d=\"{path}\"/>"));
        for point in thinned(&points, MOST_TARGETS) {
            let (x, y) = (frame.x(point.x), frame.y(point.y));
            if let Some(deviation) = point.deviation.filter(|deviation| *deviation > 0.0) {
                let (low, high) = (frame.y(point.y - deviation), frame.y(point.y + deviation));
                frame.push(&format!(
                    "<path class=\"{class} line\" d=\"M{x} {low}V{high}M{left} {low}h6M{left} {high}h6\"/>",
                    x = pixels(x),
                    left = pixels(x - 3.0),
                    low = pixels(low),
                    high = pixels(high)
                ));
            }
            let words = self.words(line, point);
            let (shape, radius, hidden) = match line.is_marked() {
                true => (number, 4.0, ""),
                false => (0, 6.0, " fill-opacity=\"0\""),
            };
            let attributes =
                format!("class=\"mark {class} fill\"{hidden} data-x=\"{}\" data-y=\"{}\"", point.x, point.y);
            frame.push(&mark(shape, (x, y), radius, &attributes, &words));
        }
    }

    fn words(&self, line: &Line, point: &Point) -> String {
        let x = if point.x.fract() == 0.0 { format!("{}", point.x) } else { figure(point.x) };
        let deviation = point.deviation.map_or(String::new(), |deviation| format!(" ± {}", figure(deviation)));
        let name = if self.lines.len() > 1 { format!("{}, ", line.name) } else { String::new() };
        format!("{name}{} {x}: {}{deviation}", self.x.title, figure(point.y))
    }
}

impl Line {
    fn is_marked(&self) -> bool {
        self.points.len() <= MARKED
    }
}

fn draw_baseline(frame: &mut Frame, baseline: &Baseline) {
    let (left, right, top, _) = frame.room();
    let y = frame.y(baseline.y);
    frame.push(&format!(
        "<path class=\"axis\" stroke-dasharray=\"5 4\" d=\"M{} {}H{}\"/>",
        pixels(left),
        pixels(y),
        pixels(right)
    ));
    // Above the level, but not out of the picture.
    let y = if y - 6.0 < top + 6.0 { y + 15.0 } else { y - 6.0 };
    frame.text("quiet", right - 2.0, y, "end", &baseline.name);
}

/// Evenly chosen points, the last among them.
fn thinned<'a>(points: &[&'a Point], most: usize) -> Vec<&'a Point> {
    let every = points.len().div_ceil(most).max(1);
    let mut chosen: Vec<&Point> = points.iter().step_by(every).copied().collect();
    if let Some(last) = points.last()
        && chosen.last() != Some(last)
    {
        chosen.push(last);
    }
    chosen
}
