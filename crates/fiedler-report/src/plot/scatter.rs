//! Points on a plane, colored by what they belong to.

use super::axis::Axis;
use super::frame::{Entry, Frame, Surroundings, WIDTH};
use super::shape::mark;
use crate::markup::escape;
use crate::theme::{SERIES, series};

/// Points that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// For the legend.
    pub name: String,
    /// Where they lie, and what each is called; only the names of few are kept.
    pub points: Vec<(f64, f64, String)>,
}

/// A plane of points, whose places mean something only beside each other: there are no axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Scatter {
    /// The groups.
    pub groups: Vec<Group>,
}

/// More points than this are not named one by one: a page is to stay small.
const NAMED: usize = 1500;

impl Scatter {
    /// The picture.
    pub fn draw(&self) -> String {
        let is_somewhere = |point: &&(f64, f64, String)| point.0.is_finite() && point.1.is_finite();
        let points = || self.groups.iter().flat_map(|group| &group.points);
        let all = points().count();
        let radius = if all <= 300 { 4.0 } else { 2.6 };
        let several = self.groups.iter().enumerate().filter(|_| self.groups.len() > 1);
        let axis = Axis::linear("");
        let mut frame = Frame::new(Surroundings {
            x: &axis,
            x_range: axis.range(points().map(|point| point.0), 0.03),
            y: &axis,
            y_range: axis.range(points().map(|point| point.1), 0.03),
            height: 0.8 * WIDTH,
            rows: None,
            bare: true,
            beside: 0.0,
            legend: several
                .map(|(number, group)| Entry { name: &group.name, series: number, mark: Some(number / SERIES) })
                .collect(),
        });
        for (number, group) in self.groups.iter().enumerate() {
            frame.push(&format!("<g class=\"{} fill\" fill-opacity=\"0.8\">", series(number)));
            if all > NAMED {
                frame.push(&format!("<title>{}</title>", escape(&group.name)));
            }
            for (x, y, of) in group.points.iter().filter(is_somewhere) {
                let place = (frame.x(*x), frame.y(*y));
                frame.push(&match all > NAMED {
                    true => mark(number / SERIES, place, radius, "", ""),
                    false => mark(number / SERIES, place, radius, "class=\"mark\"", &format!("{of} ({})", group.name)),
                });
            }
            frame.push("</g>");
        }
        frame.finish()
    }
}
