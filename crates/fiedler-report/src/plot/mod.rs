//! Plots as SVG: axes with names and sensible ticks, marks that say what they are when pointed at.
//!
//! Every plot is a struct with plain data and a `draw` that gives an `<svg>` element for a [`Figure`](crate::Figure). Words
//! of users are escaped here.
//!
//! ```
//! use fiedler_report::plot::{Axis, Line, Lines, Point};
//!
//! let points = (1..=4).map(|epoch| Point::new(epoch.into(), 1.0 / f64::from(epoch))).collect();
//! let line = Line { name: "loss".into(), points };
//! let svg = Lines { lines: vec![line], ..Lines::new(Axis::linear("epoch"), Axis::linear("loss")) }.draw();
//! assert!(svg.starts_with("<svg") && svg.contains("epoch 2"));
//! ```

mod axis;
mod bars;
mod dots;
mod frame;
mod histogram;
pub(crate) mod label;
mod lines;
mod scatter;
mod shape;

pub use axis::{Axis, Scale, Tick};
pub use bars::{Bar, Bars};
pub use dots::{Dot, DotRow, Dots};
pub use histogram::{Bin, Histogram, Outline};
pub use lines::{Baseline, Line, Lines, Point};
pub use scatter::{Group, Scatter};
